//! `popfib set`: tables and lists in, as sets of addresses; a combination of them out as a table, or a comparison as lines.
//!
//! Only the prefixes count, not their values. The library's algebra is lazy, so an operation on several lists is a chain of iterators
//! over their sorted prefixes.

mod compare;
mod free;
mod overlaps;
mod split;

use std::iter::empty;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use popfib::algebra::{self, Coverage};
use popfib::family::{ByFamily, PerFamily};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::RouteTable;
use popfib_formats::text::counted;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;

use crate::args::{FamilyArg, ReadArgs, at_most_one_stdin};
use crate::destination::{Destination, DestinationArgs};
use crate::forms::FormArgs;
use crate::output::{StandardOutput, note};
use crate::records::text;
use crate::rows::RowForm;
use crate::screen::PREFIX;
use crate::table;

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
  popfib set coverage customers.txt blocked.txt
  popfib set compare drop.txt edrop.txt tor.txt")]
#[command(after_long_help = "
Exit status: 0 success, 1 an empty result (coverage: a prefix of A is not
entirely in B), 2 bad usage or input. A list without prefixes is bad input.")]
pub(crate) struct SetArgs {
    #[command(subcommand)]
    operation: SetOperation,
}

#[derive(Subcommand)]
enum SetOperation {
    /// Addresses in any of the lists
    ///
    /// Of a single list, the smallest equal one.
    #[command(after_help = "\
Examples:
  popfib set union drop.txt edrop.txt > blocked.txt
  popfib set union drop.txt --to nftables --name blocked")]
    Union(SetLists<1>),
    /// Addresses in all of the lists
    #[command(after_help = "\
Examples:
  popfib set intersect customers.txt blocked.txt
  popfib set intersect --keep-routes table.txt.gz customers.txt")]
    Intersect {
        /// Print the routes of the first list that are in all others
        ///
        /// Entirely, and unchanged.
        #[arg(long)]
        keep_routes: bool,
        #[command(flatten)]
        lists: SetLists<2>,
    },
    /// Addresses in the first list and in none of the others
    #[command(after_help = "\
Examples:
  popfib set subtract announced.txt.gz blocked.txt")]
    Subtract {
        /// Print the routes of the first list that are not in the others
        ///
        /// Not entirely; they are unchanged.
        #[arg(long)]
        keep_routes: bool,
        #[command(flatten)]
        lists: SetLists<2>,
    },
    /// Addresses in none of the lists
    #[command(after_help = "\
Examples:
  popfib set complement --family ipv4 routed.txt")]
    Complement(SetLists<1>),
    /// Addresses in exactly one of two lists
    ///
    /// Of more lists, in an odd number of them.
    #[command(after_help = "\
Examples:
  popfib set symmetric yesterday.txt today.txt")]
    Symmetric(SetLists<2>),
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
    /// Lines are PREFIX, VALUE, and the longest prefix that covers it with its value, separated by tabs. Of several lines of
    /// the list for a prefix, each lies in the one before.
    #[command(after_help = "\
Examples:
  popfib set overlaps blocked.txt")]
    #[command(after_long_help = "
JSON, one object a line: prefix, value, covered_by, covered_by_value.

Exit status: 0 if there are such prefixes, 1 if not, 2 bad usage or input.")]
    Overlaps(overlaps::OverlapsArgs),
    /// Print how many addresses of each list are in each other
    ///
    /// Columns are list, family, prefixes, addresses, unique (in no other list), and for each list the addresses that it
    /// has, too. A family that no list has is left out.
    #[command(after_help = "\
Examples:
  popfib set compare drop.txt edrop.txt tor.txt")]
    #[command(after_long_help = "
JSON, one object a line: list, family, prefixes, addresses, unique, shared (of
each other list: list, addresses, share).")]
    Compare(compare::CompareArgs),
    /// Print each prefix of A and how much of it is in B
    ///
    /// Lines are PREFIX, a tab, and whole, part or none.
    #[command(after_help = "\
Examples:
  popfib set coverage customers.txt blocked.txt")]
    #[command(after_long_help = "
JSON, one object a line: prefix, covered (whole, part, none).

Exit status: 0 if all of A lies in B, 1 if not, 2 bad usage or input.")]
    Coverage {
        /// List whose prefixes are printed; `-` is standard input
        #[arg(value_name = "A")]
        list: PathBuf,
        /// Lists to compare with; several are taken together
        #[arg(value_name = "B", required = true)]
        others: Vec<PathBuf>,
        /// Addresses of one family
        #[arg(long, value_enum)]
        family: Option<FamilyArg>,
        #[command(flatten)]
        form: FormArgs,
        #[command(flatten)]
        read: ReadArgs,
    },
}

#[derive(Args)]
struct SetLists<const LEAST: usize> {
    /// Lists; `-` is standard input
    #[arg(value_name = "FILE", num_args = LEAST.., required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    common: SetCommonArgs,
}

#[derive(Args)]
struct SetCommonArgs {
    /// Addresses of one family
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    destination: DestinationArgs,
}

/// How a list is made of several.
#[derive(Clone, Copy)]
enum SetRule {
    Union,
    Intersect,
    Subtract,
    Complement,
    Symmetric,
}

/// A list: prefixes in order, each once.
type SetList = ByFamily<SortedPrefixes>;

/// For each family, its prefixes in order.
struct SortedPrefixes;

impl PerFamily for SortedPrefixes {
    type Of<A: popfib::family::Family> = Vec<Prefix<A>>;
}

type BoxedPrefixes<'a, A> = Box<dyn Iterator<Item = Prefix<A>> + 'a>;

/// The prefixes of one family.
fn prefixes<A: popfib::family::Family>(list: &SetList) -> impl Iterator<Item = Prefix<A>> {
    A::of(list).iter().copied()
}

impl SetRule {
    /// The addresses of `lists`, of which there is at least one, under this rule.
    fn of<'a, A: popfib::family::Family>(self, lists: &'a [SetList]) -> BoxedPrefixes<'a, A> {
        match self {
            Self::Union => {
                // One sort, which merges what is sorted already: in a chain of unions a prefix would go through many.
                let mut all: Vec<_> = lists.iter().flat_map(prefixes).collect();
                all.sort();
                Box::new(algebra::fewest(all))
            }
            Self::Subtract => {
                let others = Self::Union.of(&lists[1..]);
                Box::new(algebra::difference(prefixes(&lists[0]), others))
            }
            Self::Complement => Box::new(algebra::complement(Self::Union.of(lists))),
            // By halves, so that a prefix goes through few operations, however many lists there are.
            Self::Intersect | Self::Symmetric => match lists {
                [] => Box::new(empty()),
                [list] => Box::new(algebra::fewest(prefixes(list))),
                lists => {
                    let (left, right) = lists.split_at(lists.len() / 2);
                    let (left, right) = (self.of(left), self.of(right));
                    match self {
                        Self::Intersect => Box::new(algebra::intersection(left, right)),
                        _ => Box::new(algebra::symmetric_difference(left, right)),
                    }
                }
            },
        }
    }

    /// The routes of `table`, which is the first list, that are kept as they are.
    fn routes<A: popfib::family::Family>(
        self,
        table: &RouteTable,
        others: &[SetList],
    ) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
        let (others, wanted) = match self {
            Self::Intersect => (Self::Intersect.of(others), true),
            _ => (Self::Union.of(others), false),
        };
        let routes = || A::of(&table.ribs).iter();
        let found = algebra::compare(routes().map(|(prefix, _)| prefix), others);
        routes()
            .zip(found)
            .filter(move |(_, (_, how))| (*how == Coverage::Whole) == wanted)
            .map(|(route, _)| route)
    }
}

pub(crate) fn run(args: &SetArgs) -> Result<Verdict, Failure> {
    let (rule, files, keep_routes, common) = match &args.operation {
        SetOperation::Union(of) => (SetRule::Union, &of.files, false, &of.common),
        SetOperation::Intersect { keep_routes, lists } => (
            SetRule::Intersect,
            &lists.files,
            *keep_routes,
            &lists.common,
        ),
        SetOperation::Subtract { keep_routes, lists } => {
            (SetRule::Subtract, &lists.files, *keep_routes, &lists.common)
        }
        SetOperation::Complement(of) => (SetRule::Complement, &of.files, false, &of.common),
        SetOperation::Symmetric(of) => (SetRule::Symmetric, &of.files, false, &of.common),
        SetOperation::Compare(args) => return compare::run(args),
        SetOperation::Split(args) => return split::run(args),
        SetOperation::Free(args) => return free::run(args),
        SetOperation::Overlaps(args) => return overlaps::run(args),
        SetOperation::Coverage {
            list,
            others,
            family,
            form,
            read,
        } => {
            let files: Vec<_> = [list].into_iter().chain(others).cloned().collect();
            return coverage(&load(&files, read, *family)?, *form);
        }
    };
    let destination = common.destination.open()?;
    if keep_routes {
        at_most_one_stdin(files, "lists")?;
        let others = load(&files[1..], &common.read, common.family)?;
        let mut asked = common.read.clone();
        common.destination.ask(&mut asked);
        let mut table = table::read(
            table::open_list(&files[0], &asked)?,
            &asked,
            &asked.options(),
        )?;
        let bar = progress::step("combining");
        let ipv4 = rule.routes(&table, &others).collect();
        let ipv6 = rule.routes(&table, &others).collect();
        table.ribs = ByFamily { ipv4, ipv6 };
        if let Some(family) = common.family {
            family.keep(&mut table);
        }
        drop(bar);
        return finish(common, destination, &table);
    }
    let lists = load(files, &common.read, common.family)?;
    let bar = progress::step("combining");
    let result = table_of(common.family, rule.of(&lists), rule.of(&lists));
    drop(bar);
    finish(common, destination, &result)
}

/// A table of the prefixes of one family or of both, without values.
fn table_of(
    family: Option<FamilyArg>,
    ipv4: impl Iterator<Item = Prefix<u32>>,
    ipv6: impl Iterator<Item = Prefix<u128>>,
) -> RouteTable {
    let (mut table, value) = RouteTable::list();
    if family != Some(FamilyArg::Ipv6) {
        table.ribs.ipv4 = ipv4.map(|prefix| (prefix, value)).collect();
    }
    if family != Some(FamilyArg::Ipv4) {
        table.ribs.ipv6 = ipv6.map(|prefix| (prefix, value)).collect();
    }
    table
}

/// Writes the result; an empty one is a negative answer.
fn finish(
    common: &SetCommonArgs,
    destination: Destination,
    result: &RouteTable,
) -> Result<Verdict, Failure> {
    common.destination.write(destination, result)?;
    let is_empty = result.route_count() == 0;
    if is_empty {
        note!("no prefix is left");
    }
    Ok(Verdict::good_if(!is_empty))
}

/// A prefix length, as `/24` or `24`.
fn parse_length(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix('/').unwrap_or(text).parse();
    let number = number.ok().filter(|&number| number <= 128);
    number.ok_or_else(|| "a prefix length is /0 to /128".to_owned())
}

/// The lists in these files, of one family or of both.
fn load(
    files: &[PathBuf],
    read: &ReadArgs,
    family: Option<FamilyArg>,
) -> Result<Vec<SetList>, Failure> {
    at_most_one_stdin(files, "lists")?;
    table::one_column(&read.options())?;
    let list = |file: &PathBuf| {
        let all = table::prefixes_of_file(file, read)?;
        let (ipv4, ipv6) = (of_family(&all, family), of_family(&all, family));
        Ok(ByFamily { ipv4, ipv6 })
    };
    files.iter().map(list).collect()
}

/// The prefixes of one family in order, each once; none if the other is asked for.
fn of_family<A: popfib::family::Family>(
    prefixes: &[IpPrefix],
    asked: Option<FamilyArg>,
) -> Vec<Prefix<A>> {
    let is_asked = asked.is_none_or(FamilyArg::is::<A>);
    let prefixes = prefixes.iter().filter(|_| is_asked);
    let mut found: Vec<_> = prefixes.filter_map(|&prefix| A::prefix(prefix)).collect();
    found.sort();
    found.dedup();
    found
}

/// Prints how much of each prefix of the first list is in the others.
fn coverage(lists: &[SetList], form: FormArgs) -> Result<Verdict, Failure> {
    let names = "prefix covered";
    let mut output = StandardOutput::of_form(RowForm::TABS, form, names)?;
    let mut counts = [0; 3];
    coverage_of_family::<u32>(lists, &mut output, &mut counts)?;
    coverage_of_family::<u128>(lists, &mut output, &mut counts)?;
    output.flush()?;
    let [whole, part, none] = counts;
    if part + none == 0 {
        return Ok(Verdict::Good);
    }
    let whole = counted(whole, "prefix");
    note!("{whole} whole, {part} in part, {none} none");
    Ok(Verdict::Bad)
}

fn coverage_of_family<A: popfib::family::Family>(
    lists: &[SetList],
    output: &mut StandardOutput,
    counts: &mut [u64; 3],
) -> Result<(), Failure> {
    let others = SetRule::Union.of(&lists[1..]);
    for (prefix, how) in algebra::compare(prefixes::<A>(&lists[0]), others) {
        let (covered, at) = match how {
            Coverage::Whole => ("whole", 0),
            Coverage::Part => ("part", 1),
            Coverage::None => ("none", 2),
        };
        counts[at] += 1;
        let prefix = prefix.to_string();
        output.values(&[PREFIX], &[Some(text(&prefix)), Some(text(covered))])?;
    }
    Ok(())
}
