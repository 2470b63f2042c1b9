//! `popfib routes`: a table in, its routes that meet all conditions out, in prefix order.
//!
//! The Rib finds the routes at the prefixes of one option, without a walk over the whole table; the other conditions are tests of what
//! it found. The prefixes of an option are a set, so that many of them cost each route no more than one.

use std::fmt::Display;
use std::mem;

use clap::Args;
use popfib::family::ByFamily;
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::{LoadOptions, RouteTable};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_table::{Cell, Records, Ribs};

use crate::args::{FamilyArg, FileArgs, TableArgs, may_be_on_stdin};
use crate::condition::{self, Condition, OtherRecords};
use crate::forms::{Form, FormArgs};
use crate::output::{StandardOutput, note};
use crate::places::{PlaceArgs, Relation, set_of};
use crate::records::{self, CellText, text};
use crate::rows::{RowField, RowForm};
use crate::screen::{PREFIX, VALUE};
use crate::table;

/// Print the routes of a table that match all conditions.
///
/// The exit status is 1 if there are none. Without conditions all routes are printed: IPv4 before IPv6, each in
/// prefix order. A PREFIX may also be an address (a host prefix), or @FILE: each prefix of a list or table in any
/// format that popfib reads. If an option is given several times, a route has to match one of its prefixes; with
/// --each every prefix is answered separately.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib routes --covering 8.8.8.8
  popfib routes --covered-by 2001:4860::/32 --longer-than 32
  popfib routes --each --covering @prefixes.txt
  popfib routes --where value=15169,36040 --family ipv6 --json")]
#[command(
    after_long_help = "  popfib routes City.mmdb --where country.iso_code=AT --columns city.names.en

JSON, one object a line: prefix, next_hop (none in a list without values) or the
columns; with --each also query, and null where no route was found.

Exit status: 0 routes were found, 1 none, 2 bad usage or input."
)]
pub(crate) struct RoutesArgs {
    #[command(flatten)]
    places: PlaceArgs,

    /// Answer each PREFIX separately
    ///
    /// It is printed before each of its routes, or a line with `-` if there are none.
    #[arg(long)]
    each: bool,

    /// Routes with values of a column (country=RU,BY, country!=RU)
    ///
    /// Whose record has one of the values of the column, or none of them; of a list, an element. The column `value` is that of
    /// a lookup. Of several all have to be met. Of several lines for a prefix, the last that meets them counts.
    #[arg(long = "where", value_name = "CONDITION")]
    conditions: Vec<Condition>,

    /// Print every record that a prefix has, not only the last
    ///
    /// A prefix is printed once for each record that lines of the table's file have for it.
    #[arg(long)]
    all: bool,

    /// Routes with a prefix length above BITS
    #[arg(long, value_name = "BITS")]
    longer_than: Option<u8>,

    /// Routes with a prefix length below BITS
    #[arg(long, value_name = "BITS")]
    shorter_than: Option<u8>,

    /// Routes of one family
    #[arg(long, value_enum)]
    family: Option<FamilyArg>,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    table: FileArgs,
}

/// The conditions on prefixes, their lengths and their family.
struct RouteConditions<'a> {
    /// Of each option that was given: its prefixes as they came.
    places: Vec<(Relation, Vec<IpPrefix>)>,
    args: &'a RoutesArgs,
}

impl<'a> RouteConditions<'a> {
    fn new(args: &'a RoutesArgs, asked: &TableArgs) -> Result<Self, Failure> {
        let places = args.places.read(&asked.read, asked.is_stdin())?;
        if args.each && places.len() != 1 {
            return Err(
                "--each answers the prefixes of one option: --covering, --covered-by, \
                        --overlapping or --exact"
                    .into(),
            );
        }
        Ok(Self { places, args })
    }

    /// Whether a prefix has one of the lengths that are asked for.
    fn allow<A: popfib::family::Family>(&self, prefix: Prefix<A>) -> bool {
        let (longer_than, shorter_than) = (self.args.longer_than, self.args.shorter_than);
        longer_than.is_none_or(|bits| prefix.len() > bits)
            && shorter_than.is_none_or(|bits| prefix.len() < bits)
    }

    /// Whether routes of the family are asked for.
    fn wants<A: popfib::family::Family>(&self) -> bool {
        self.args.family.is_none_or(FamilyArg::is::<A>)
    }

    /// The routes of a family that meet the conditions, in prefix order; `places` has the prefixes of each option as a set.
    fn select<A: popfib::family::Family>(
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
                    // A place inside another one brings no route that the outer one does not.
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
        found.retain(|&(prefix, _)| {
            self.allow(prefix) && places.iter().all(|(r, set)| r.holds(prefix, set))
        });
        found.into_iter().map(ip).collect()
    }

    /// The routes that `place` alone finds, in prefix order.
    fn answer<A: popfib::family::Family>(
        &self,
        table: &RouteTable,
        relation: Relation,
        place: Prefix<A>,
    ) -> Vec<(IpPrefix, NextHop)> {
        if !self.wants::<A>() {
            return Vec::new();
        }
        let found = relation.find(&table.ribs, place).into_iter();
        let found = found.filter(|&(prefix, _)| self.allow(prefix));
        found.map(ip).collect()
    }
}

/// The route with a prefix of either family.
fn ip<A: popfib::family::Family>((prefix, to): (Prefix<A>, NextHop)) -> (IpPrefix, NextHop) {
    (A::ip_prefix(prefix), to)
}

/// The records that routes lead to: which meet the conditions, and which of their columns are printed.
struct RouteRecords {
    records: Records,
    columns: Vec<usize>,
    /// By their numbers, the records that meet the conditions.
    selected: Vec<bool>,
    others: OtherRecords,
    /// Whether all records of a prefix that meet the conditions are printed, or only the last of them.
    all: bool,
}

impl RouteRecords {
    fn new(args: &RoutesArgs, table: &mut RouteTable) -> Result<Self, Failure> {
        let others = condition::others(table);
        let records = mem::take(&mut table.records);
        let columns = match &args.table.options.read.columns[..] {
            [] => vec![records.value_column()],
            _ if args.conditions.is_empty() => (0..records.columns().len()).collect(),
            [all] if all == "*" => (0..records.columns().len()).collect(),
            names => {
                let index = |name: &String| condition::column(&records, name);
                let columns = names.iter().map(index).collect::<Result<_, _>>();
                columns.map_err(|reason| format!("--columns: {reason}"))?
            }
        };
        Ok(Self {
            selected: condition::selected(&args.conditions, &records, true)?,
            columns,
            records,
            others,
            all: args.all,
        })
    }

    /// These routes with their records that meet the conditions; those without any are left out.
    fn routes(&self, found: Vec<(IpPrefix, NextHop)>) -> Vec<(IpPrefix, NextHop)> {
        let mut routes = Vec::with_capacity(found.len());
        for (prefix, last) in found {
            let others = self.others.get(&prefix).map_or(&[][..], Vec::as_slice);
            let records = others.iter().copied().chain([last]);
            let mut records = records.filter(|to| self.selected[to.get() as usize]);
            match self.all {
                true => routes.extend(records.map(|to| (prefix, to))),
                false => routes.extend(records.next_back().map(|to| (prefix, to))),
            }
        }
        routes
    }

    /// The printed columns of a record; without a record all are absent.
    fn cells(&self, to: Option<NextHop>) -> impl Iterator<Item = Option<Cell<'_>>> {
        let columns = self.columns.iter();
        columns.map(move |&column| self.records.cell(to?, column))
    }
}

/// Prints routes.
struct RoutesReport<'a> {
    records: &'a RouteRecords,
    output: StandardOutput,
    /// Whether a route was printed.
    is_found: bool,
}

impl RoutesReport<'_> {
    /// Prints a route, or that there is none, after the `query` that it answers.
    fn route(
        &mut self,
        query: Option<IpPrefix>,
        route: Option<(IpPrefix, NextHop)>,
    ) -> Result<(), Failure> {
        self.is_found |= route.is_some();
        let (prefix, to) = route.unzip();
        if !self.output.is_text() {
            let [query, prefix] = [query, prefix].map(|some| some.map(|some| some.to_string()));
            let query = query.as_deref().map(|query| Some(text(query)));
            let head = query.into_iter().chain([prefix.as_deref().map(text)]);
            let values: Vec<_> = head.chain(self.records.cells(to)).collect();
            return self.output.values(&[], &values);
        }
        let prefix: &dyn Display = match &prefix {
            Some(prefix) => prefix,
            None => &"-",
        };
        let is_one = self.records.columns.len() == 1;
        let both;
        let route = match &query {
            None => [None, Some(RowField::styled(PREFIX, prefix))],
            Some(query) if is_one => [
                Some(RowField::new(query)),
                Some(RowField::styled(PREFIX, prefix)),
            ],
            // A blank stands between these two, whatever separates the values.
            Some(query) => {
                both = format!("{query} {prefix}");
                [None, Some(RowField::styled(PREFIX, &both))]
            }
        };
        let values: Vec<_> = (self.records.cells(to))
            .map(CellText::new)
            .filter(|value| !is_one || !value.0.is_empty())
            .collect();
        let values = values.iter().map(|value| match &*value.0 {
            "-" => RowField::new(value),
            _ => RowField::styled(VALUE, value),
        });
        self.output.row(route.into_iter().flatten().chain(values))
    }
}

pub(crate) fn run(mut args: RoutesArgs) -> Result<Verdict, Failure> {
    let is_asked = args.places.are_given() || !args.conditions.is_empty();
    let mut asked = args.table.or_stdin(is_asked);
    if asked.is_built_in() && args.form.form() == Form::Text {
        args.table.options.read.show_names();
        asked.read.clone_from(&args.table.options.read);
    }
    let args = &args;
    if !args.conditions.is_empty() {
        let is_named = asked.table.is_some() || asked.live.is_some();
        if !is_named && !args.places.are_given() && may_be_on_stdin() {
            note("--where asks the built-in table, -t built-in; -t - asks standard input");
        }
        let columns = &asked.read.columns;
        let of_conditions = condition::columns(&args.conditions);
        asked.read.columns = match columns.is_empty() {
            true => of_conditions,
            false => vec!["*".to_owned()],
        };
    }
    // A record may meet the conditions although a later line of its prefix replaces it.
    let all = args.all || !args.conditions.is_empty();
    let options = LoadOptions {
        all,
        ..asked.read.options()
    };
    let mut table = table::load(&asked, options)?;
    let records = RouteRecords::new(args, &mut table)?;
    let conditions = RouteConditions::new(args, &asked)?;
    // Several values, which may have blanks in them, are separated by tabs.
    let rows = RowForm::separated(if records.columns.len() > 1 { '\t' } else { ' ' });
    let cells = records::names(&records.records, records.columns.iter().copied());
    let query = args.each.then_some("query");
    let mut output = StandardOutput::of_rows(rows);
    output.begin(args.form, query.into_iter().chain(["prefix"]).chain(cells))?;
    let mut report = RoutesReport {
        records: &records,
        output,
        is_found: false,
    };
    if args.each {
        for (relation, prefixes) in &conditions.places {
            for &query in prefixes {
                let found =
                    popfib::by_family!(query, |place| conditions.answer(&table, *relation, place));
                let found = records.routes(found);
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
        for route in records.routes(conditions.select::<u32>(&table, &places)) {
            report.route(None, Some(route))?;
        }
        for route in records.routes(conditions.select::<u128>(&table, &places)) {
            report.route(None, Some(route))?;
        }
    }
    report.output.end(Verdict::good_if(report.is_found))
}
