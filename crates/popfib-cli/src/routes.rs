//! `popfib routes`: the routes that several conditions leave, in prefix order.
//!
//! The Rib finds those that touch the prefixes asked for, without a walk over
//! the whole table; the other conditions are asked of what it finds.

use clap::Args;
use popfib::{Address, IpPrefix, NextHop, Prefix, Rib};
use popfib_formats::{Escaped, RouteTable};
use serde::Serialize;

use crate::args::{Family, TableArgs};
use crate::failure::Failure;
use crate::output::{AsText, Output};
use crate::program::Verdict;
use crate::table;

/// Print the routes of a table that meet all conditions.
///
/// Without a condition all routes are printed: IPv4 before IPv6, each in prefix order. A PREFIX may
/// be an address, which is the prefix of that one address.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib routes --covering 8.8.8.8
  popfib routes --covered-by 2001:4860::/32 --longer-than 32
  popfib routes --table routes.txt.gz --next-hop 15169 --family ipv6 --json

JSON, one object a line: prefix, next_hop.")]
pub(crate) struct RoutesArgs {
    #[command(flatten)]
    table: TableArgs,

    /// Routes that cover PREFIX, itself included
    #[arg(long, value_name = "PREFIX")]
    covering: Option<String>,

    /// Routes inside PREFIX, itself included
    #[arg(long, value_name = "PREFIX")]
    covered_by: Option<String>,

    /// Routes that have an address in common with PREFIX: cover it or are inside
    #[arg(long, value_name = "PREFIX")]
    overlapping: Option<String>,

    /// The route of exactly PREFIX
    #[arg(long, value_name = "PREFIX")]
    exact: Option<String>,

    /// Routes to this next hop, spelled as in the table
    #[arg(long, value_name = "NAME")]
    next_hop: Option<String>,

    /// Routes with more than BITS of prefix length
    #[arg(long, value_name = "BITS")]
    longer_than: Option<u8>,

    /// Routes with less than BITS of prefix length
    #[arg(long, value_name = "BITS")]
    shorter_than: Option<u8>,

    /// Routes of one family
    #[arg(long, value_enum)]
    family: Option<Family>,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Where a route has to be, seen from a prefix.
#[derive(Clone, Copy)]
enum Relation {
    Covering,
    CoveredBy,
    Overlapping,
    Exact,
}

impl Relation {
    /// Whether `route` is where it has to be, seen from `prefix`.
    fn holds<A: Address>(self, route: &Prefix<A>, prefix: &Prefix<A>) -> bool {
        match self {
            Self::Covering => route.covers(prefix),
            Self::CoveredBy => prefix.covers(route),
            Self::Overlapping => route.covers(prefix) || prefix.covers(route),
            Self::Exact => route == prefix,
        }
    }
}

/// The conditions, read and understood.
struct Conditions<'a> {
    places: Vec<(Relation, IpPrefix)>,
    args: &'a RoutesArgs,
}

impl<'a> Conditions<'a> {
    fn new(args: &'a RoutesArgs) -> Result<Self, Failure> {
        let given = [
            (Relation::Exact, "--exact", &args.exact),
            (Relation::Covering, "--covering", &args.covering),
            (Relation::CoveredBy, "--covered-by", &args.covered_by),
            (Relation::Overlapping, "--overlapping", &args.overlapping),
        ];
        let mut places = Vec::new();
        for (relation, option, text) in given {
            let Some(text) = text else { continue };
            let prefix = if args.table.read.mask {
                IpPrefix::parse_masked(text)
            } else {
                text.parse()
            };
            let prefix = prefix.map_err(|e| format!("{option}: '{}': {e}", text.escape_debug()))?;
            places.push((relation, prefix));
        }
        Ok(Self { places, args })
    }

    /// Hands each route of `rib` that meets the conditions to `print`.
    fn select<A: Address>(
        &self,
        rib: &Rib<A>,
        family: Family,
        key: impl Fn(IpPrefix) -> Option<Prefix<A>>,
        next_hop: Option<NextHop>,
        mut print: impl FnMut(Prefix<A>, NextHop) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.args.family.is_some_and(|wanted| wanted != family) {
            return Ok(());
        }
        // A prefix of the other family leaves nothing of this one.
        let places = self.places.iter().map(|&(r, p)| Some((r, key(p)?)));
        let Some(places) = places.collect::<Option<Vec<_>>>() else {
            return Ok(());
        };
        let mut each = |(prefix, to): (Prefix<A>, NextHop)| {
            let wanted = places.iter().all(|(r, place)| r.holds(&prefix, place))
                && next_hop.is_none_or(|next_hop| next_hop == to)
                && self.args.longer_than.is_none_or(|bits| prefix.len() > bits)
                && self
                    .args
                    .shorter_than
                    .is_none_or(|bits| prefix.len() < bits);
            if wanted { print(prefix, to) } else { Ok(()) }
        };
        // One of the places is enough to go by; the first is the narrowest.
        match places.first() {
            None => rib.iter().try_for_each(each),
            Some(&(Relation::Exact, place)) => match rib.get(place) {
                Some(next_hop) => each((place, next_hop)),
                None => Ok(()),
            },
            Some(&(Relation::Covering, place)) => rib.supernets(place).try_for_each(each),
            Some(&(Relation::CoveredBy, place)) => rib.subnets(place).try_for_each(each),
            Some(&(Relation::Overlapping, place)) => rib
                .supernets(place)
                .filter(|(prefix, _)| *prefix != place)
                .chain(rib.subnets(place))
                .try_for_each(each),
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    prefix: AsText<IpPrefix>,
    next_hop: &'a str,
}

pub(crate) fn run(args: &RoutesArgs) -> Result<Verdict, Failure> {
    let conditions = Conditions::new(args)?;
    let table = table::load(&args.table)?;
    // A name that the table does not have leaves no route.
    let next_hop = match &args.next_hop {
        None => None,
        Some(name) => match table.next_hops.number(name) {
            None => return Ok(Verdict::Good),
            number => number,
        },
    };
    let mut output = Output::new();
    let mut print = |prefix, to| write_route(&mut output, &table, prefix, to, args.json);
    let v4 = |prefix| match prefix {
        IpPrefix::V4(prefix) => Some(prefix),
        IpPrefix::V6(_) => None,
    };
    let v6 = |prefix| match prefix {
        IpPrefix::V6(prefix) => Some(prefix),
        IpPrefix::V4(_) => None,
    };
    conditions.select(&table.ipv4, Family::Ipv4, v4, next_hop, |prefix, to| {
        print(prefix.into(), to)
    })?;
    conditions.select(&table.ipv6, Family::Ipv6, v6, next_hop, |prefix, to| {
        print(prefix.into(), to)
    })?;
    output.flush()?;
    Ok(Verdict::Good)
}

fn write_route(
    output: &mut Output,
    table: &RouteTable,
    prefix: IpPrefix,
    next_hop: NextHop,
    json: bool,
) -> Result<(), Failure> {
    let next_hop = table.next_hops.name(next_hop).unwrap_or("-");
    if json {
        output.json(&Line {
            prefix: AsText(prefix),
            next_hop,
        })
    } else {
        output.text(format_args!("{prefix} {}\n", Escaped(next_hop)))
    }
}
