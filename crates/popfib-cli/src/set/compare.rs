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
use crate::forms::FormArgs;
use crate::output::StandardOutput;
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
struct ComparedList {
    list: usize,
    family: &'static str,
    prefixes: usize,
    addresses: u128,
    /// Addresses that no other list has.
    unique: u128,
    /// Addresses that each of the lists has, too.
    shared: Vec<u128>,
}

pub(super) fn run(args: &CompareArgs) -> Result<Verdict, Failure> {
    let lists = load(&args.files, &args.read)?;
    let names = args.files.iter().map(|file| file.display().to_string());
    let names: Vec<_> = names.collect();
    let mut compared = Vec::new();
    let bar = progress::step("comparing");
    if args.family != Some(FamilyArg::Ipv6) {
        compare::<u32>(&lists, &mut compared);
    }
    if args.family != Some(FamilyArg::Ipv4) {
        compare::<u128>(&lists, &mut compared);
    }
    drop(bar);
    print(args, &names, &compared)?;
    Ok(Verdict::Good)
}

/// Compares the addresses of one family, if any list has some.
fn compare<A: popfib::family::Family>(lists: &[SetList], to: &mut Vec<ComparedList>) {
    if lists.iter().all(|list| A::of(list).is_empty()) {
        return;
    }
    let overlaps = algebra::overlaps(lists.iter().map(prefixes::<A>));
    for (index, list) in lists.iter().enumerate() {
        to.push(ComparedList {
            list: index,
            family: A::NAME,
            prefixes: A::of(list).len(),
            addresses: overlaps.shared(index, index),
            unique: overlaps.unique(index),
            shared: (0..lists.len())
                .map(|other| overlaps.shared(index, other))
                .collect(),
        });
    }
}

/// Prints a row for each list, under a heading.
fn print(args: &CompareArgs, names: &[String], compared: &[ComparedList]) -> Result<(), Failure> {
    let mut output = StandardOutput::of_rows(RowForm::tabs(&[LEFT, LEFT]).then(RIGHT));
    let heading = ["list", "family", "prefixes", "addresses", "unique"].into_iter();
    let heading: Vec<_> = heading.chain(names.iter().map(String::as_str)).collect();
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
        let counts = [row.unique].into_iter().chain(row.shared.iter().copied());
        let fields = [names[row.list].clone(), row.family.to_owned()].into_iter();
        let fields = fields.chain([row.prefixes.to_string(), row.addresses.to_string()]);
        let fields: Vec<String> = fields.chain(counts.map(part)).collect();
        match output.is_text() {
            true => {
                let fields: Vec<_> = fields.iter().map(|field| Escaped(field)).collect();
                output.row(fields.iter().map(|field| RowField::new(field)))?;
            }
            false => output.record_of(&line(names, row), || fields)?,
        }
    }
    output.flush()
}

/// The share that `count` is of `all`; 0 if there is nothing.
fn share(count: u128, all: u128) -> f64 {
    match all {
        0 => 0.0,
        all => count as f64 / all as f64,
    }
}

/// A list as JSON.
#[derive(Serialize)]
struct SetCompareLine<'a> {
    list: &'a str,
    family: &'a str,
    prefixes: usize,
    addresses: u128,
    unique: u128,
    shared: Vec<SetCompareShared<'a>>,
}

/// What it shares with another list, as JSON.
#[derive(Serialize)]
struct SetCompareShared<'a> {
    list: &'a str,
    addresses: u128,
    share: f64,
}

fn line<'n>(names: &'n [String], row: &ComparedList) -> SetCompareLine<'n> {
    let others = names.iter().zip(&row.shared).enumerate();
    let others = others.filter(|(index, _)| *index != row.list);
    let shared = others.map(|(_, (list, &count))| SetCompareShared {
        list,
        addresses: count,
        share: share(count, row.addresses),
    });
    SetCompareLine {
        list: &names[row.list],
        family: row.family,
        prefixes: row.prefixes,
        addresses: row.addresses,
        unique: row.unique,
        shared: shared.collect(),
    }
}
