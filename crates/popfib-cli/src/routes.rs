//! `popfib routes`: the routes that several conditions leave, in prefix order.
//!
//! The Rib finds those that touch the prefixes asked for, without a walk over
//! the whole table; the other conditions are asked of what it finds. The prefixes of
//! an option are a set, so that many of them cost each route no more than one.

use std::collections::{HashMap, HashSet};

use clap::Args;
use popfib::{ByFamily, IpPrefix, NextHop, Prefix};
use popfib_formats::{Escaped, RouteTable};
use popfib_table::Ribs;
use serde::Serialize;

use crate::args::{Family, TableArgs};
use crate::failure::Failure;
use crate::output::{AsText, Output, is_listed};
use crate::places::{PlaceArgs, Relation, set_of};
use crate::program::Verdict;
use crate::table;

/// Print the routes of a table that match all conditions; exit 1 if there are none.
///
/// Without conditions all routes are printed: IPv4 before IPv6, each in prefix order. A PREFIX may also be an
/// address (a host prefix), or @FILE: each prefix of a list or table in any format that popfib reads. If an
/// option is given several times, a route has to match one of its prefixes; with --each every prefix is
/// answered separately.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib routes --covering 8.8.8.8
  popfib routes --covered-by 2001:4860::/32 --longer-than 32
  popfib routes --each --covering @prefixes.txt
  popfib routes --table routes.txt.gz --next-hop 15169 --next-hop 36040 --family ipv6 --json

JSON, one object a line: prefix, next_hop (none in a list without values); with --each also query, and null
where no route was found.

Exit status: 0 routes were found, 1 none, 2 bad usage or input.")]
pub(crate) struct RoutesArgs {
    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    places: PlaceArgs,

    /// Answer each PREFIX separately: print it before each of its routes, or a line with `-` if there are
    /// none
    #[arg(long)]
    each: bool,

    /// Routes to this next hop, spelled as in the table; may be given several times. Of several lines for a
    /// prefix, the last of those counts
    #[arg(long, value_name = "NAME")]
    next_hop: Vec<String>,

    /// Print a prefix once for each next hop that lines of the table's file have for it, instead of the last one's
    #[arg(long, requires = "table")]
    all: bool,

    /// Routes with a prefix length above BITS
    #[arg(long, value_name = "BITS")]
    longer_than: Option<u8>,

    /// Routes with a prefix length below BITS
    #[arg(long, value_name = "BITS")]
    shorter_than: Option<u8>,

    /// Routes of one family
    #[arg(long, value_enum)]
    family: Option<Family>,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// The conditions, read and understood.
struct Conditions<'a> {
    /// Of each option that was given: its prefixes as they came.
    places: Vec<(Relation, Vec<IpPrefix>)>,
    /// The next hops that routes may have; of all if `None`.
    next_hops: Option<HashSet<NextHop>>,
    args: &'a RoutesArgs,
}

impl<'a> Conditions<'a> {
    fn new(args: &'a RoutesArgs, table: &RouteTable) -> Result<Self, Failure> {
        let places = args.places.read(&args.table.read, args.table.is_stdin())?;
        if args.each && places.len() != 1 {
            return Err(
                "--each answers the prefixes of one option: --covering, --covered-by, \
                        --overlapping or --exact"
                    .into(),
            );
        }
        // A name that the table does not have leaves no route.
        let numbers = args
            .next_hop
            .iter()
            .filter_map(|name| table.next_hops.number(name));
        Ok(Self {
            places,
            next_hops: (!args.next_hop.is_empty()).then(|| numbers.collect()),
            args,
        })
    }

    /// Whether a route meets the conditions that are not about where it is.
    fn allow<A: popfib::Family>(&self, prefix: Prefix<A>, to: NextHop) -> bool {
        self.next_hops
            .as_ref()
            .is_none_or(|wanted| wanted.contains(&to))
            && self.args.longer_than.is_none_or(|bits| prefix.len() > bits)
            && self
                .args
                .shorter_than
                .is_none_or(|bits| prefix.len() < bits)
    }

    /// Whether routes of the family are asked for.
    fn wants<A: popfib::Family>(&self) -> bool {
        self.args.family.is_none_or(Family::is::<A>)
    }

    /// The routes of a family that meet the conditions, which are about the prefixes of these sets, in prefix order.
    fn select<A: popfib::Family>(
        &self,
        table: &RouteTable,
        places: &[(Relation, ByFamily<Ribs>)],
    ) -> Vec<(IpPrefix, NextHop)> {
        if !self.wants::<A>() {
            return Vec::new();
        }
        let mut found = Vec::new();
        match places.first() {
            None => found.extend(A::of(&table.ribs).iter()),
            Some((relation, set)) => {
                let set = A::of(set);
                for (place, _) in set {
                    // What lies inside another place comes with that one.
                    let is_inside = set
                        .supernets(place)
                        .next()
                        .is_some_and(|(widest, _)| widest != place);
                    match relation {
                        Relation::CoveredBy | Relation::Overlapping if is_inside => {}
                        _ => found.extend(relation.find(&table.ribs, place)),
                    }
                }
                // Several places are covered by the same routes.
                found.sort_unstable();
                found.dedup();
            }
        }
        found.retain(|&(prefix, to)| {
            self.allow(prefix, to) && places.iter().all(|(r, set)| r.holds(prefix, set))
        });
        found.into_iter().map(ip).collect()
    }

    /// The routes that `place` alone finds, in prefix order.
    fn answer<A: popfib::Family>(
        &self,
        table: &RouteTable,
        relation: Relation,
        place: Prefix<A>,
    ) -> Vec<(IpPrefix, NextHop)> {
        if !self.wants::<A>() {
            return Vec::new();
        }
        let found = relation.find(&table.ribs, place).into_iter();
        let found = found.filter(|&(prefix, to)| self.allow(prefix, to));
        found.map(ip).collect()
    }
}

fn ip<A: popfib::Family>((prefix, to): (Prefix<A>, NextHop)) -> (IpPrefix, NextHop) {
    (A::ip_prefix(prefix), to)
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<AsText<IpPrefix>>,
    prefix: Option<AsText<IpPrefix>>,
    #[serde(skip_serializing_if = "is_listed")]
    next_hop: Option<&'a str>,
}

/// Prints routes.
struct Report<'a> {
    table: &'a RouteTable,
    /// What else the prefixes of the table lead to.
    others: HashMap<IpPrefix, Vec<NextHop>>,
    json: bool,
    output: Output,
    /// Whether there was a route.
    is_found: bool,
}

impl Report<'_> {
    fn route(
        &mut self,
        query: Option<IpPrefix>,
        route: Option<(IpPrefix, NextHop)>,
    ) -> Result<(), Failure> {
        let Some((prefix, to)) = route else {
            return self.line(query, None);
        };
        let others = self.others.get(&prefix).cloned().unwrap_or_default();
        for to in others.into_iter().chain([to]) {
            self.line(query, Some((prefix, to)))?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        query: Option<IpPrefix>,
        route: Option<(IpPrefix, NextHop)>,
    ) -> Result<(), Failure> {
        self.is_found |= route.is_some();
        let next_hop = route.map(|(_, to)| self.table.next_hops.get(to).unwrap_or("-"));
        let prefix = route.map(|(prefix, _)| AsText(prefix));
        if self.json {
            let query = query.map(AsText);
            return self.output.json(&Line {
                query,
                prefix,
                next_hop,
            });
        }
        if let Some(query) = query {
            self.output.text(format_args!("{query} "))?;
        }
        match prefix {
            Some(AsText(prefix)) => self.output.text(format_args!("{prefix}"))?,
            None => self.output.text("-")?,
        }
        match next_hop {
            Some("") => self.output.text('\n'),
            next_hop => {
                let next_hop = Escaped(next_hop.unwrap_or("-"));
                self.output.text(format_args!(" {next_hop}\n"))
            }
        }
    }
}

/// The other next hops of each prefix, each once, in the order of the file.
fn others(table: &RouteTable) -> HashMap<IpPrefix, Vec<NextHop>> {
    let mut others: HashMap<_, Vec<_>> = HashMap::new();
    let mut known = HashSet::new();
    for &(prefix, to) in &table.others {
        let last = match prefix {
            IpPrefix::V4(prefix) => table.ribs.ipv4.get(prefix),
            IpPrefix::V6(prefix) => table.ribs.ipv6.get(prefix),
        };
        if last != Some(to) && known.insert((prefix, to)) {
            others.entry(prefix).or_default().push(to);
        }
    }
    others
}

pub(crate) fn run(args: &RoutesArgs) -> Result<Verdict, Failure> {
    let table = table::load_chosen(&args.table, &args.next_hop, args.all)?;
    let conditions = Conditions::new(args, &table)?;
    let mut report = Report {
        table: &table,
        others: others(&table),
        json: args.json,
        output: Output::new(),
        is_found: false,
    };
    if args.each {
        for (relation, prefixes) in &conditions.places {
            for &query in prefixes {
                let found = match query {
                    IpPrefix::V4(place) => conditions.answer(&table, *relation, place),
                    IpPrefix::V6(place) => conditions.answer(&table, *relation, place),
                };
                if found.is_empty() {
                    report.route(Some(query), None)?;
                }
                for route in found {
                    report.route(Some(query), Some(route))?;
                }
            }
        }
    } else {
        let places = conditions.places.iter();
        let places: Vec<_> = places.map(|(r, p)| (*r, set_of(p))).collect();
        for route in conditions.select::<u32>(&table, &places) {
            report.route(None, Some(route))?;
        }
        for route in conditions.select::<u128>(&table, &places) {
            report.route(None, Some(route))?;
        }
    }
    report.output.flush()?;
    Ok(if report.is_found {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}
