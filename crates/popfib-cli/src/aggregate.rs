//! `popfib aggregate`: a table in; out comes a smaller one with the same answers, the addresses with some of its answers as a list
//! (`--where`), or at most N prefixes that cover a list (`--at-most`). What that saved or added is printed on standard error.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use popfib::family::Family;
use popfib::{NextHop, aggregate};
use popfib_formats::text::counted;
use popfib_formats::{LoadOptions, RouteTable};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;

use crate::args::{FileArgs, at_least_one};
use crate::condition::{self, Condition};
use crate::destination::DestinationArgs;
use crate::output::note;
use crate::table;

/// Write a smaller table with the same answers.
///
/// It answers every address as the table does; addresses without a route remain without one. The number of saved routes is printed
/// on standard error. With --where, the fewest prefixes of the addresses whose answer meets the conditions, where routes of other
/// answers inside of them are left out. With --at-most, a shorter list that has some more addresses.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib aggregate -o smaller.txt.gz
  popfib aggregate routes.txt.gz --method simple > smaller.txt
  popfib aggregate country.mmdb --where country.iso_code=RU,BY --to nftables
  popfib aggregate drop.txt --at-most 1000 --to ipset
  popfib diff --effective routes.txt.gz smaller.txt")]
#[command(after_long_help = "
Exit status: 0 success, 1 an empty list, 2 bad usage or input.")]
pub(crate) struct AggregateArgs {
    /// How to aggregate
    #[arg(long, value_enum, default_value_t = AggregateMethod::Ortc)]
    method: AggregateMethod,

    /// List the addresses with values of a column (country=RU,BY)
    ///
    /// Those whose answer has one of the values of the column, or none of them (country!=RU,BY). The column `value` is that of a
    /// lookup. Of several all have to be met.
    #[arg(long = "where", value_name = "CONDITION", conflicts_with = "method")]
    conditions: Vec<Condition>,

    /// Make at most N prefixes of each family
    ///
    /// They cover the list with the fewest addresses more: exactly so if the list has n prefixes, and n times N or n - N is at
    /// most 2^27; else nearly, and a note says how nearly.
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "method")]
    at_most: Option<NonZeroUsize>,

    #[command(flatten)]
    table: FileArgs,

    #[command(flatten)]
    destination: DestinationArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum AggregateMethod {
    /// Optimal Route Table Construction: no table with the same answers has fewer routes
    Ortc,
    /// Remove routes that change no answer and merge adjacent routes with the same next hop (Poptrie paper,
    /// section 3)
    Simple,
}

impl AggregateMethod {
    /// Aggregates the routes of one family.
    fn aggregate<A: Family>(self, table: &mut RouteTable) {
        let rib = A::of_mut(&mut table.ribs);
        let aggregated = match self {
            Self::Ortc => aggregate::ortc(rib),
            Self::Simple => aggregate::simple(rib),
        };
        if !rib.is_empty() {
            let saved = rib.len() - aggregated.len();
            note!(
                "{}: {} in, {} out, {saved} saved ({:.1} %)",
                A::NAME.to_ascii_lowercase(),
                counted(rib.len() as u64, "route"),
                aggregated.len(),
                100.0 * saved as f64 / rib.len() as f64
            );
        }
        *rib = aggregated;
    }
}

pub(crate) fn run(args: &AggregateArgs) -> Result<Verdict, Failure> {
    let destination = args.destination.open()?;
    let is_list = !args.conditions.is_empty() || args.at_most.is_some();
    let mut table = match args.conditions.is_empty() {
        true => {
            let mut asked = args.table.or_stdin(false);
            asked.read.is_list = true;
            args.destination.ask(&mut asked.read);
            let options = LoadOptions {
                image_columns: true,
                ..asked.read.options()
            };
            table::load(&asked, options)?
        }
        false => answered(args)?,
    };
    let bar = progress::step("aggregating");
    match args.at_most {
        Some(at_most) => {
            one_value(&table)?;
            cover::<u32>(&mut table, at_most);
            cover::<u128>(&mut table, at_most);
        }
        None if is_list => {}
        None => {
            args.method.aggregate::<u32>(&mut table);
            args.method.aggregate::<u128>(&mut table);
        }
    }
    drop(bar);
    args.destination.write(destination, &table)?;
    if is_list && table.route_count() == 0 {
        note!("no prefix is left");
        return Ok(Verdict::Bad);
    }
    Ok(Verdict::Good)
}

/// The addresses whose answers meet the conditions, as a list.
fn answered(args: &AggregateArgs) -> Result<RouteTable, Failure> {
    let mut asked = args.table.or_stdin(false);
    asked.read.is_list = true;
    condition::ask(&mut asked.read, &args.conditions)?;
    let options = LoadOptions {
        all: true,
        ..asked.read.options()
    };
    let mut table = table::load(&asked, options)?;
    let mut others = condition::others(&table);
    let selected = condition::selected(&args.conditions, &table.records, true)?;
    condition::choose(&mut table, &mut others, &selected);
    let (mut list, value) = RouteTable::list();
    list.name.clone_from(&table.name);
    list.sources.clone_from(&table.sources);
    /// Adds the addresses of one family.
    fn put<A: Family>(
        table: &RouteTable,
        selected: &[bool],
        list: &mut RouteTable,
        value: NextHop,
    ) {
        let is_selected = |next_hop: NextHop| selected[next_hop.get() as usize];
        let prefixes = aggregate::answered(A::of(&table.ribs), is_selected);
        *A::of_mut(&mut list.ribs) = prefixes.map(|prefix| (prefix, value)).collect();
    }
    put::<u32>(&table, &selected, &mut list, value);
    put::<u128>(&table, &selected, &mut list, value);
    Ok(list)
}

/// Refuses a table of several values: the addresses that a cover adds could have any of them.
fn one_value(table: &RouteTable) -> Result<(), Failure> {
    let mut routes = table.routes().map(|(_, value)| value);
    let first = routes.next();
    if routes.any(|value| Some(value) != first) {
        let name = table.name.escape_debug();
        let reason =
            "--at-most makes lists, and this table has several values; --where chooses some";
        return Err(format!("{name}: {reason}").into());
    }
    Ok(())
}

/// Covers the routes of one family by at most so many prefixes, and notes how many addresses these have more.
fn cover<A: Family>(table: &mut RouteTable, at_most: NonZeroUsize) {
    let rib = A::of_mut(&mut table.ribs);
    let Some((_, value)) = rib.first() else {
        return;
    };
    let prefixes = || rib.iter().map(|(prefix, _)| prefix);
    let count = popfib::algebra::address_count(prefixes());
    let cover =
        popfib_table::cover(prefixes(), at_most.get()).expect("there is at least one prefix");
    let bound = match cover.extra_at_least == cover.extra {
        true => "the fewest that there are".to_owned(),
        false => format!("at least {}", cover.extra_at_least),
    };
    note!(
        "{}: {} in, {} out, {} addresses more ({:.1} %), {bound}",
        A::NAME.to_ascii_lowercase(),
        counted(rib.len() as u64, "route"),
        cover.prefixes.len(),
        cover.extra,
        100.0 * cover.extra as f64 / count as f64
    );
    *rib = cover
        .prefixes
        .into_iter()
        .map(|prefix| (prefix, value))
        .collect();
}
