//! `popfib set`: tables and lists as sets of addresses, put together and compared.
//!
//! Only the prefixes count, not their values. The library's algebra is lazy, so an operation on
//! several lists is a chain of iterators over their Ribs, and what comes out of it a new Rib.

mod free;
mod overlaps;
mod split;

use std::iter::empty;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use popfib::algebra::{self, Coverage};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::RouteTable;
use serde::Serialize;

use crate::args::{Family, ReadArgs, is_stdin};
use crate::destination::{Destination, DestinationArgs};
use crate::failure::Failure;
use crate::output::{AsText, Output, note};
use crate::program::Verdict;
use crate::progress;
use crate::rows::Field;
use crate::screen::PREFIX;
use crate::table::{self, counted};

/// Combine or compare tables as sets of addresses.
///
/// A list is any table that popfib reads; its values are ignored. The result is the smallest list of prefixes
/// that covers exactly these addresses, in order, IPv4 first.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib set union drop.txt edrop.txt > blocked.txt
  popfib set subtract announced.txt.gz blocked.txt
  popfib set intersect --keep-routes table.txt.gz customers.txt
  popfib set complement --family ipv4 routed.txt
  popfib set split /24 customers.txt
  popfib set free 10.0.0.0/8 used.txt --length 24
  popfib set overlaps blocked.txt
  popfib set compare customers.txt blocked.txt")]
#[command(after_long_help = "
Exit status: 0 success, 1 an empty result (compare: a prefix of A is not
entirely in B), 2 bad usage or input. A list without prefixes is bad input.")]
pub(crate) struct SetArgs {
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Subcommand)]
enum Operation {
    /// Addresses in any of the lists
    ///
    /// Of a single list, the smallest equal one.
    #[command(after_help = "\
Examples:
  popfib set union drop.txt edrop.txt > blocked.txt
  popfib set union drop.txt --to nftables --name drop")]
    Union {
        /// Lists; `-` is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Addresses in all of the lists
    #[command(after_help = "\
Examples:
  popfib set intersect customers.txt blocked.txt
  popfib set intersect --keep-routes table.txt.gz customers.txt")]
    Intersect {
        /// Lists; `-` is standard input
        #[arg(value_name = "FILE", num_args = 2.., required = true)]
        files: Vec<PathBuf>,
        /// Print the routes of the first list that are in all others
        ///
        /// Entirely, and unchanged.
        #[arg(long)]
        keep_routes: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Addresses in the first list and in none of the others
    #[command(after_help = "\
Examples:
  popfib set subtract announced.txt.gz blocked.txt")]
    Subtract {
        /// Lists; `-` is standard input
        #[arg(value_name = "FILE", num_args = 2.., required = true)]
        files: Vec<PathBuf>,
        /// Print the routes of the first list that are not in the others
        ///
        /// Not entirely; they are unchanged.
        #[arg(long)]
        keep_routes: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Addresses in none of the lists
    #[command(after_help = "\
Examples:
  popfib set complement --family ipv4 routed.txt")]
    Complement {
        /// Lists; `-` is standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Addresses in exactly one of two lists
    ///
    /// Of more lists, in an odd number of them.
    #[command(after_help = "\
Examples:
  popfib set symmetric yesterday.txt today.txt")]
    Symmetric {
        /// Lists; `-` is standard input
        #[arg(value_name = "FILE", num_args = 2.., required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        common: Common,
    },
    /// Prefixes of one length with the addresses of the lists
    ///
    /// Longer ones stay.
    #[command(after_help = "\
Examples:
  popfib set split /24 customers.txt
  popfib set split /48 customers6.txt --to plain")]
    Split(split::SplitArgs),
    /// What of a prefix or range is in none of the lists
    #[command(after_help = "\
Examples:
  popfib set free 10.0.0.0/8 used.txt
  popfib set free 10.0.0.0/8 used.txt --length 24
  popfib set free 10.0.0.0/8 used.txt --largest 3")]
    #[command(after_long_help = "
Exit status: 0 success, 1 nothing is free, 2 bad usage or input.")]
    Free(free::FreeArgs),
    /// Print the prefixes of a list that lie in others of it
    ///
    /// Lines are PREFIX, VALUE, and the longest prefix that covers it with its value, separated by tabs.
    #[command(after_help = "\
Examples:
  popfib set overlaps blocked.txt")]
    #[command(after_long_help = "
JSON, one object a line: prefix, value, covered_by, covered_by_value.

Exit status: 0 if there are such prefixes, 1 if not, 2 bad usage or input.")]
    Overlaps(overlaps::OverlapsArgs),
    /// Print each prefix of A and how much of it is in B
    ///
    /// Lines are PREFIX, a tab, and whole, part or none.
    #[command(after_help = "\
Examples:
  popfib set compare customers.txt blocked.txt")]
    #[command(after_long_help = "
JSON, one object a line: prefix, covered (whole, part, none).

Exit status: 0 if all of A lies in B, 1 if not, 2 bad usage or input.")]
    Compare {
        /// List whose prefixes are printed; `-` is standard input
        #[arg(value_name = "A")]
        list: PathBuf,
        /// Lists to compare with; several are taken together
        #[arg(value_name = "B", required = true)]
        others: Vec<PathBuf>,
        /// Addresses of one family
        #[arg(long, value_enum)]
        family: Option<Family>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        read: ReadArgs,
    },
}

#[derive(Args)]
struct Common {
    /// Addresses of one family
    #[arg(long, value_enum)]
    family: Option<Family>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    destination: DestinationArgs,
}

/// What is done with the lists, one after the other.
#[derive(Clone, Copy)]
enum Rule {
    Union,
    Intersect,
    Subtract,
    Complement,
    Symmetric,
}

type Prefixes<'a, A> = Box<dyn Iterator<Item = Prefix<A>> + 'a>;

fn prefixes<A: popfib::Family>(list: &RouteTable) -> Prefixes<'_, A> {
    Box::new(A::of(&list.ribs).iter().map(|(prefix, _)| prefix))
}

impl Rule {
    /// The addresses of `lists`, of which there is at least one, under this rule.
    fn of<'a, A: popfib::Family>(self, lists: &'a [RouteTable]) -> Prefixes<'a, A> {
        let all = |start: Prefixes<'a, A>, lists: &'a [RouteTable], rule: Self| {
            lists.iter().fold(start, |found, list| {
                let list = prefixes(list);
                match rule {
                    Self::Union | Self::Complement => Box::new(algebra::union(found, list)),
                    Self::Intersect => Box::new(algebra::intersection(found, list)),
                    Self::Subtract => Box::new(algebra::difference(found, list)),
                    Self::Symmetric => Box::new(algebra::symmetric_difference(found, list)),
                }
            })
        };
        match self {
            Self::Union | Self::Symmetric => all(Box::new(empty()), lists, self),
            Self::Intersect | Self::Subtract => all(prefixes(&lists[0]), &lists[1..], self),
            Self::Complement => Box::new(algebra::complement(all(Box::new(empty()), lists, self))),
        }
    }

    /// The routes of the first of `lists` that are kept as they are.
    fn routes<A: popfib::Family>(
        self,
        lists: &[RouteTable],
    ) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
        let (others, wanted) = match self {
            Self::Intersect => {
                let others = &lists[1..];
                (Self::Intersect.of(others), true)
            }
            _ => (Self::Union.of(&lists[1..]), false),
        };
        let routes = A::of(&lists[0].ribs).iter();
        let found = algebra::compare(prefixes::<A>(&lists[0]), others);
        // Both walk the same Rib.
        routes
            .zip(found)
            .filter(move |(_, (_, how))| (*how == Coverage::Whole) == wanted)
            .map(|(route, _)| route)
    }

    /// Puts one family into the result: prefixes without a value, or routes of the first list.
    fn put<A: popfib::Family>(self, lists: &[RouteTable], keep_routes: bool, to: &mut RouteTable) {
        let name = to.next_hops.intern("");
        *A::of_mut(&mut to.ribs) = match keep_routes {
            true => self.routes(lists).collect(),
            false => self.of(lists).map(|prefix| (prefix, name)).collect(),
        };
    }
}

pub(crate) fn run(args: &SetArgs) -> Result<Verdict, Failure> {
    let (rule, files, keep_routes, common) = match &args.operation {
        Operation::Union { files, common } => (Rule::Union, files, false, common),
        Operation::Intersect {
            files,
            keep_routes,
            common,
        } => (Rule::Intersect, files, *keep_routes, common),
        Operation::Subtract {
            files,
            keep_routes,
            common,
        } => (Rule::Subtract, files, *keep_routes, common),
        Operation::Complement { files, common } => (Rule::Complement, files, false, common),
        Operation::Symmetric { files, common } => (Rule::Symmetric, files, false, common),
        Operation::Split(args) => return split::run(args),
        Operation::Free(args) => return free::run(args),
        Operation::Overlaps(args) => return overlaps::run(args),
        Operation::Compare {
            list,
            others,
            family,
            json,
            read,
        } => {
            let files: Vec<_> = [list].into_iter().chain(others).collect();
            return compare(&load(&files, read)?, *family, *json);
        }
    };
    let destination = common.destination.open()?;
    let mut tables = load(&files.iter().collect::<Vec<_>>(), &common.read)?;
    let mut result = RouteTable::default();
    let bar = progress::step("combining {spinner}");
    if common.family != Some(Family::Ipv6) {
        rule.put::<u32>(&tables, keep_routes, &mut result);
    }
    if common.family != Some(Family::Ipv4) {
        rule.put::<u128>(&tables, keep_routes, &mut result);
    }
    drop(bar);
    if keep_routes {
        let first = tables.swap_remove(0);
        (result.name, result.next_hops) = (first.name, first.next_hops);
    }
    finish(common, destination, &result)
}

/// Writes the result; an empty one is a negative answer.
fn finish(
    common: &Common,
    destination: Destination,
    result: &RouteTable,
) -> Result<Verdict, Failure> {
    common.destination.write(destination, result)?;
    Ok(if result.route_count() == 0 {
        note(format_args!("no prefix is left"));
        Verdict::Bad
    } else {
        Verdict::Good
    })
}

/// A prefix length, as `/24` or `24`.
fn parse_length(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix('/').unwrap_or(text).parse();
    let number = number.ok().filter(|&number| number <= 128);
    number.ok_or_else(|| "a length from /0 to /128, please".to_owned())
}

fn load(files: &[&PathBuf], read: &ReadArgs) -> Result<Vec<RouteTable>, Failure> {
    if files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err("only one of the lists can be standard input".into());
    }
    let lists = files.iter().map(|file| table::load_file(file, read));
    lists.collect()
}

#[derive(Serialize)]
struct Line {
    prefix: AsText<IpPrefix>,
    covered: &'static str,
}

/// How many prefixes lie in the other list.
#[derive(Default)]
struct Counts {
    whole: u64,
    part: u64,
    none: u64,
}

fn compare(tables: &[RouteTable], family: Option<Family>, json: bool) -> Result<Verdict, Failure> {
    let mut output = Output::new();
    let mut counts = Counts::default();
    if family != Some(Family::Ipv6) {
        compare_family::<u32>(tables, json, &mut output, &mut counts)?;
    }
    if family != Some(Family::Ipv4) {
        compare_family::<u128>(tables, json, &mut output, &mut counts)?;
    }
    output.flush()?;
    let Counts { whole, part, none } = counts;
    if part + none == 0 {
        return Ok(Verdict::Good);
    }
    let whole = counted_prefixes(whole);
    note(format_args!("{whole} whole, {part} in part, {none} none"));
    Ok(Verdict::Bad)
}

fn counted_prefixes(count: u64) -> String {
    if count == 1 {
        counted(count, "prefix")
    } else {
        format!("{count} prefixes")
    }
}

fn compare_family<A: popfib::Family>(
    lists: &[RouteTable],
    json: bool,
    output: &mut Output,
    counts: &mut Counts,
) -> Result<(), Failure> {
    let others = Rule::Union.of(&lists[1..]);
    for (prefix, how) in algebra::compare(prefixes::<A>(&lists[0]), others) {
        let (covered, count) = match how {
            Coverage::Whole => ("whole", &mut counts.whole),
            Coverage::Part => ("part", &mut counts.part),
            Coverage::None => ("none", &mut counts.none),
        };
        *count += 1;
        if json {
            let prefix = AsText(A::ip_prefix(prefix));
            output.json(&Line { prefix, covered })?;
        } else {
            output.row([Field::styled(PREFIX, &prefix), Field::new(&covered)])?;
        }
    }
    Ok(())
}
