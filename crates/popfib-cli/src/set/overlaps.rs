//! `popfib set overlaps`: a list in; out come its prefixes that are inside or equal to others of it, each with the longest that covers it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use popfib::family::Family;
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::{LoadOptions, RouteTable};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::args::{FamilyArg, ReadArgs};
use crate::forms::FormArgs;
use crate::output::StandardOutput;
use crate::records::text;
use crate::rows::RowForm;
use crate::screen::{PREFIX, VALUE};
use crate::table;

#[derive(Args)]
pub(super) struct OverlapsArgs {
    /// List; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Prefixes of one family
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    read: ReadArgs,
}

pub(super) fn run(args: &OverlapsArgs) -> Result<Verdict, Failure> {
    let mut read = args.read.clone();
    read.is_list = true;
    let options = LoadOptions {
        all: true,
        ..read.options()
    };
    table::one_column(&options)?;
    let mut list = table::read(table::open_list(&args.file, &read)?, &read, &options)?;
    if let Some(family) = args.family {
        family.keep(&mut list);
    }
    let names = "prefix value covered_by covered_by_value";
    let mut output = StandardOutput::of_form(RowForm::TABS, args.form, names)?;
    let is_any = print::<u32>(&list, &mut output)? | print::<u128>(&list, &mut output)?;
    output.end(Verdict::good_if(is_any))
}

/// Prints those of one family; returns whether there are any.
fn print<A: Family>(list: &RouteTable, output: &mut StandardOutput) -> Result<bool, Failure> {
    // Of a list, all values are empty.
    let is_text = output.is_text();
    let shown = |value: Cow<'_, str>| match is_text && value.is_empty() {
        true => "-".to_owned(),
        false => value.into_owned(),
    };
    let mut equal: HashMap<IpPrefix, Vec<NextHop>> = HashMap::new();
    for &(prefix, number) in &list.others {
        equal.entry(prefix).or_default().push(number);
    }
    // The prefixes that cover the one at hand, the longest last: prefixes come in order, a covering one before the covered. Of
    // several lines for a prefix, each covers the next.
    let mut open: Vec<(Prefix<A>, NextHop)> = Vec::new();
    let mut is_any = false;
    for (prefix, last) in A::of(&list.ribs).iter() {
        while open.pop_if(|(outer, _)| !outer.covers(&prefix)).is_some() {}
        let earlier = equal.remove(&A::ip_prefix(prefix)).unwrap_or_default();
        for number in earlier.into_iter().chain([last]) {
            if let Some(&(outer, outer_number)) = open.last() {
                is_any = true;
                let [value, outer_value] = [number, outer_number].map(|of| shown(list.value(of)));
                let cells = [prefix.to_string(), value, outer.to_string(), outer_value];
                let cells = cells.each_ref().map(|cell| Some(text(cell)));
                output.values(&[PREFIX, VALUE, PREFIX, VALUE], &cells)?;
            }
            open.push((prefix, number));
        }
    }
    Ok(is_any)
}
