//! `popfib set overlaps`: a list in; out come its prefixes that are inside or equal to others of it, each with the longest that covers it.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use popfib::family::Family;
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::{Escaped, LoadOptions, RouteTable};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use serde::Serialize;

use crate::args::{self, ReadArgs};
use crate::forms::FormArgs;
use crate::output::{AsText, StandardOutput};
use crate::rows::{RowField, RowForm};
use crate::screen::{PREFIX, VALUE};
use crate::table;

#[derive(Args)]
pub(super) struct OverlapsArgs {
    /// List; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Prefixes of one family
    #[arg(long, value_enum)]
    family: Option<args::FamilyArg>,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    read: ReadArgs,
}

/// A prefix and the one that covers it, as JSON.
#[derive(Serialize)]
struct SetOverlapLine<'a> {
    prefix: AsText<IpPrefix>,
    value: &'a str,
    covered_by: AsText<IpPrefix>,
    covered_by_value: &'a str,
}

pub(super) fn run(args: &OverlapsArgs) -> Result<Verdict, Failure> {
    let mut read = args.read.clone();
    read.is_list = true;
    let options = LoadOptions {
        all: true,
        ..read.options()
    };
    table::one_column(&options)?;
    let list = table::read(table::open_list(&args.file, &read)?, &read, &options)?;
    let names = "prefix value covered_by covered_by_value";
    let mut output = StandardOutput::of_form(RowForm::TABS, args.form, names)?;
    let mut is_any = false;
    if args.family != Some(args::FamilyArg::Ipv6) {
        is_any |= print::<u32>(&list, &mut output)?;
    }
    if args.family != Some(args::FamilyArg::Ipv4) {
        is_any |= print::<u128>(&list, &mut output)?;
    }
    output.flush()?;
    Ok(Verdict::good_if(is_any))
}

/// Prints those of one family; returns whether there are any.
fn print<A: Family>(list: &RouteTable, output: &mut StandardOutput) -> Result<bool, Failure> {
    // Of a list, all values are empty.
    fn shown(value: &str) -> Escaped<'_> {
        Escaped(if value.is_empty() { "-" } else { value })
    }
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
                let (value, outer_value) = (list.value(number), list.value(outer_number));
                let line = SetOverlapLine {
                    prefix: AsText(A::ip_prefix(prefix)),
                    value: &value,
                    covered_by: AsText(A::ip_prefix(outer)),
                    covered_by_value: &outer_value,
                };
                match output.is_text() {
                    false => output.record(&line)?,
                    true => output.row([
                        RowField::styled(PREFIX, &prefix),
                        RowField::styled(VALUE, &shown(&value)),
                        RowField::styled(PREFIX, &outer),
                        RowField::styled(VALUE, &shown(&outer_value)),
                    ])?,
                }
            }
            open.push((prefix, number));
        }
    }
    Ok(is_any)
}
