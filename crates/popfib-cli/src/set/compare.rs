//! `popfib set compare`: lists in; out comes how many addresses each has, and how many of them each other list has too.

use std::path::PathBuf;

use clap::Args;
use popfib::algebra;
use popfib_formats::Escaped;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use serde::Serialize;

use super::{SetList, load, prefixes};
use crate::args::{FamilyArg, ReadArgs};
use crate::forms::{Form, FormArgs};
use crate::output::StandardOutput;
use crate::records::text;
use crate::rows::{LEFT, RIGHT, RowField, RowForm};
use crate::screen::HEADING;

#[derive(Args)]
pub(super) struct CompareArgs {
    /// Lists; `-` is standard input
    #[arg(value_name = "FILE", num_args = 2.., required = true)]
    files: Vec<PathBuf>,

    /// Addresses of one family
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,

    /// Print shares of the list's addresses, in percent, in place of their numbers
    #[arg(long)]
    shares: bool,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// The addresses of one family in a list, compared with the other lists.
#[derive(Serialize)]
struct ComparedList<'n> {
    #[serde(skip)]
    index: usize,
    list: &'n str,
    family: &'static str,
    prefixes: usize,
    addresses: u128,
    /// Addresses that no other list has.
    unique: u128,
    /// Addresses that each of the others has, too.
    shared: Vec<SharedAddresses<'n>>,
}

/// What a list shares with another one.
#[derive(Serialize)]
struct SharedAddresses<'n> {
    list: &'n str,
    addresses: u128,
    share: f64,
}

pub(super) fn run(args: &CompareArgs) -> Result<Verdict, Failure> {
    let lists = load(&args.files, &args.read, args.family)?;
    let names = args.files.iter().map(|file| file.display().to_string());
    let names: Vec<_> = names.collect();
    let mut compared = Vec::new();
    let bar = progress::step("comparing");
    compare::<u32>(&lists, &names, &mut compared);
    compare::<u128>(&lists, &names, &mut compared);
    drop(bar);
    print(args, &names, &compared)
}

/// Compares the addresses of one family, if any list has some.
fn compare<'n, A: popfib::family::Family>(
    lists: &[SetList],
    names: &'n [String],
    to: &mut Vec<ComparedList<'n>>,
) {
    if lists.iter().all(|list| A::of(list).is_empty()) {
        return;
    }
    let overlaps = algebra::overlaps(lists.iter().map(prefixes::<A>));
    for (index, list) in lists.iter().enumerate() {
        let all = overlaps.shared(index, index);
        let others = names
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != index);
        let shared = others.map(|(other, list)| SharedAddresses {
            list,
            addresses: overlaps.shared(index, other),
            share: share(overlaps.shared(index, other), all),
        });
        to.push(ComparedList {
            index,
            list: &names[index],
            family: A::NAME,
            prefixes: A::of(list).len(),
            addresses: all,
            unique: overlaps.unique(index),
            shared: shared.collect(),
        });
    }
}

/// Prints a row for each list, under a heading.
fn print(
    args: &CompareArgs,
    names: &[String],
    compared: &[ComparedList<'_>],
) -> Result<Verdict, Failure> {
    let mut output = StandardOutput::of_rows(RowForm::tabs(&[LEFT, LEFT]).then(RIGHT));
    let heading = ["list", "family", "prefixes", "addresses", "unique"].into_iter();
    // In JSON the lists have no members of their own.
    let of_lists = names.iter().map(String::as_str);
    let of_lists = of_lists.filter(|_| args.form.form() != Form::JsonLines);
    let heading: Vec<_> = heading.chain(of_lists).collect();
    output.begin(args.form, heading.iter().copied())?;
    if output.is_text() {
        let heading: Vec<_> = heading.into_iter().map(Escaped).collect();
        output.row(heading.iter().map(|name| RowField::styled(HEADING, name)))?;
    }
    for row in compared {
        let part = |count: u128| match args.shares {
            true => format!("{:.2}", 100.0 * share(count, row.addresses)),
            false => count.to_string(),
        };
        let mut counts: Vec<_> = row.shared.iter().map(|other| other.addresses).collect();
        counts.insert(row.index, row.addresses);
        let counts = [row.unique].into_iter().chain(counts);
        let fields = [row.list.to_owned(), row.family.to_owned()].into_iter();
        let fields = fields.chain([row.prefixes.to_string(), row.addresses.to_string()]);
        let fields: Vec<String> = fields.chain(counts.map(part)).collect();
        let cells: Vec<_> = fields.iter().map(|field| Some(text(field))).collect();
        match args.form.form() {
            Form::JsonLines => output.record(row)?,
            _ => output.values(&[], &cells)?,
        }
    }
    output.end(Verdict::Good)
}

/// The share that `count` is of `all`; 0 if there is nothing.
fn share(count: u128, all: u128) -> f64 {
    match all {
        0 => 0.0,
        all => count as f64 / all as f64,
    }
}
