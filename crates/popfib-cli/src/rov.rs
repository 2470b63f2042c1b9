//! `popfib rov`: route origin validation (RFC 6811). A table and VRPs in; out comes how many routes are in each state, or the routes in
//! some states, or those whose state other VRPs change.
//!
//! The values of the table are origin AS numbers. Each different value is parsed once, into the origins that it stands for: mostly one
//! AS, an AS set as one that no VRP can match, and several if the table joins the origins of a prefix.

mod announcement;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, NextHop, Prefix};
use popfib_formats::bgp::{Origin, origins};
use popfib_formats::text::counted;
use popfib_formats::{Escaped, Input, LoadOptions, RouteTable, RouteValue, quote};
use popfib_program::failure::{Failure, parse_asn};
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::Records;
use popfib_table::rpki::{FamilyVrps, Validity, Vrp, Vrps};
use serde::Serialize;

use crate::args::{FileArgs, ReadArgs, at_most_one_stdin, is_built_in, is_stdin};
use crate::forms::FormArgs;
use crate::image::is_image_table;
use crate::output::{AsText, StandardOutput, note};
use crate::records::text;
use crate::rows::{Alignment, RowForm};
use crate::screen::PREFIX;
use crate::table;

/// Validate the origin AS of routes against VRPs of the RPKI.
///
/// After RFC 6811. The values of the table are origin AS numbers; in a collector's dump they are taken from the AS paths.
/// Prints the number of routes that are valid, invalid by AS, invalid by length and not found. With --state
/// it prints the routes in these states: prefix, origin, state and the VRPs that decided it, separated by
/// tabs. A route whose origin is an AS set is invalid if a VRP covers it; a value of several origins joined
/// by `_` counts as one route for each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib rov bview.gz --vrps vrps.json
  popfib rov --vrps vrps.csv --state invalid-as,invalid-length
  popfib rov --vrps today.json --vrps-before yesterday.json --json
  popfib rov 193.0.0.0/21 AS3333 --vrps vrps.json")]
#[command(after_long_help = "
JSON, one object: ipv4 and ipv6, each with routes, valid, invalid_as,
invalid_length, not_found. With --state, one object a line: prefix, origin,
state, vrps (prefix, max_length, asn). With --vrps-before: prefix, origin,
before, after. With an AS, one object: prefix, origin, state, reason (as,
length, or null), vrps (prefix, max_length, asn, mismatch: as, length, or null).

Exit status: 0 success, 1 no route of the states asked for, with --vrps-before
a difference, with an AS any state but valid, 2 bad usage or input.")]
pub(crate) struct RovArgs {
    /// VRPs as JSON or CSV; `-` is standard input
    ///
    /// From rpki-client, routinator or StayRTR, also for OpenBGPD and BIRD; from FRR; compressed or not.
    #[arg(long, value_name = "FILE")]
    vrps: PathBuf,

    /// Print the routes whose state these earlier VRPs change
    ///
    /// Columns are prefix, origin, old and new state.
    #[arg(long, value_name = "FILE")]
    vrps_before: Option<PathBuf>,

    /// Print the routes in these states
    ///
    /// With --vrps-before, those that were or are in one of them.
    #[arg(long, value_name = "STATE", value_parser = states(), value_delimiter = ',')]
    state: Vec<Validity>,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    table: FileArgs,

    /// Validate one announcement: a prefix in place of FILE, from this AS
    ///
    /// Prints prefix, AS and state, then each VRP that covers the prefix: prefix and maximum length, AS, and whether it is a
    /// match, of another AS, or the prefix is too long for it.
    #[arg(
        value_name = "AS",
        help_heading = None::<&str>,
        value_parser = parse_asn,
        requires = "table_file",
        conflicts_with_all = ["vrps_before", "state"]
    )]
    asn: Option<u32>,
}

/// Parses the name of a state.
fn states() -> impl TypedValueParser<Value = Validity> {
    let of = |name: String| Validity::ALL.into_iter().find(|state| state.name() == name);
    PossibleValuesParser::new(Validity::ALL.map(Validity::name))
        .map(move |name| of(name).expect("one of the names"))
}

impl RovArgs {
    /// The names of what is printed of a route, or of all.
    fn names(&self) -> &'static str {
        match (&self.vrps_before, &self.state[..]) {
            (Some(_), _) => "prefix origin before after",
            (None, [_, ..]) => "prefix origin state vrps",
            (None, []) => {
                "ipv4.routes ipv4.valid ipv4.invalid_as ipv4.invalid_length ipv4.not_found \
                 ipv6.routes ipv6.valid ipv6.invalid_as ipv6.invalid_length ipv6.not_found"
            }
        }
    }
}

/// How many routes of a family are in which state.
#[derive(Default, Serialize)]
struct RovCounts {
    routes: u64,
    valid: u64,
    invalid_as: u64,
    invalid_length: u64,
    not_found: u64,
}

impl RovCounts {
    fn add(&mut self, state: Validity) {
        self.routes += 1;
        *match state {
            Validity::Valid => &mut self.valid,
            Validity::InvalidAs => &mut self.invalid_as,
            Validity::InvalidLength => &mut self.invalid_length,
            Validity::NotFound => &mut self.not_found,
        } += 1;
    }
}

#[derive(Serialize)]
struct RovSummary {
    ipv4: RovCounts,
    ipv6: RovCounts,
}

pub(crate) fn run(args: &RovArgs) -> Result<Verdict, Failure> {
    let inputs = [
        Some(&args.vrps),
        args.vrps_before.as_ref(),
        args.table.file(),
    ];
    at_most_one_stdin(inputs.into_iter().flatten(), "table and the VRPs")?;
    let read = &args.table.options.read;
    if let (Some(prefix), Some(asn)) = (args.table.file(), args.asn) {
        let text = prefix.to_string_lossy();
        let prefix = text.parse::<IpPrefix>();
        let prefix = prefix.map_err(|error| format!("'{}': {error}", text.escape_debug()))?;
        let vrps = read_vrps(&args.vrps, read)?;
        return announcement::print(prefix, asn, &vrps, args.form);
    }
    let mut vrps_files = [&args.vrps].into_iter().chain(&args.vrps_before);
    let is_asked = vrps_files.any(|file| is_stdin(file));
    let mut asked = args.table.or_stdin(is_asked);
    // The values of an image were chosen when it was compiled.
    if let Some(path) = &asked.table
        && !is_image_table(path)
        && !is_built_in(path)
    {
        asked.read.value.get_or_insert(RouteValue::OriginOrValue);
    }
    let options = asked.read.options();
    table::one_column(&options)?;
    let table: RouteTable = table::load(&asked, options)?;
    let vrps = read_vrps(&args.vrps, read)?;
    let before = args.vrps_before.as_deref();
    let before = before.map(|path| read_vrps(path, read)).transpose()?;
    let origins = ValueOrigins::of(&table.records);
    let mut report = RovReport {
        args,
        output: StandardOutput::of_form(RowForm::TABS, args.form, args.names())?,
        printed: 0,
        left_out: 0,
    };
    let old = before.as_ref();
    let bar = progress::is_apart().then(|| progress::step("validating"));
    let summary = RovSummary {
        ipv4: report.family::<u32>(&table, &origins, &vrps, old)?,
        ipv6: report.family::<u128>(&table, &origins, &vrps, old)?,
    };
    drop(bar);
    let verdict = report.end(&summary, before.is_some())?;
    report.output.end(verdict)
}

/// The VRPs in the file at `path`; what was left out of it is noted on standard error.
pub(crate) fn read_vrps(path: &Path, args: &ReadArgs) -> Result<ByFamily<FamilyVrps>, Failure> {
    let options = LoadOptions {
        skip_invalid: args.skip_invalid,
        mask: args.mask,
        ..LoadOptions::new()
    };
    Ok(table::read(Input::open(path)?, args, &options)?.content)
}

/// An AS, or none if it is a set, and how it is written.
type WrittenOrigin = (Option<u32>, String);

/// The origins that each value of a table stands for.
struct ValueOrigins {
    of: Vec<Option<Vec<WrittenOrigin>>>,
}

impl ValueOrigins {
    fn of(records: &Records) -> Self {
        let of = records.values().map(|name| {
            let origin = |(origin, text)| match origin {
                Origin::As(asn) => (Some(asn), text),
                Origin::Set => (None, text),
            };
            let found = origins(&name)?;
            Some(found.into_iter().map(origin).collect())
        });
        Self { of: of.collect() }
    }

    /// The origins of a value; `None` if it is no origin.
    fn get(&self, value: NextHop) -> Option<&[WrittenOrigin]> {
        self.of.get(value.get() as usize - 1)?.as_deref()
    }
}

/// Counts routes, and prints those that were asked for.
struct RovReport<'a> {
    args: &'a RovArgs,
    output: StandardOutput,
    printed: u64,
    /// Routes whose value is no origin.
    left_out: u64,
}

#[derive(Serialize)]
struct VrpCell {
    prefix: AsText<IpPrefix>,
    max_length: u8,
    asn: u32,
}

impl VrpCell {
    fn of<A: Family>(vrp: &Vrp<A>) -> Self {
        Self {
            prefix: AsText(A::ip_prefix(vrp.prefix())),
            max_length: vrp.max_length(),
            asn: vrp.asn(),
        }
    }
}

#[derive(Serialize)]
struct RovRouteLine<'a> {
    prefix: AsText<IpPrefix>,
    origin: &'a str,
    state: &'static str,
    vrps: Vec<VrpCell>,
}

impl RovReport<'_> {
    /// Validates the routes of a family, and counts those in each state.
    fn family<A: Family>(
        &mut self,
        table: &RouteTable,
        origins: &ValueOrigins,
        vrps: &ByFamily<FamilyVrps>,
        before: Option<&ByFamily<FamilyVrps>>,
    ) -> Result<RovCounts, Failure> {
        let (vrps, before) = (A::of(vrps), before.map(A::of));
        let mut counts = RovCounts::default();
        for (prefix, value) in A::of(&table.ribs) {
            let Some(found) = origins.get(value) else {
                let is_absent = table.absent.is_some() && table.value(value).is_empty();
                let read = &self.args.table.options.read;
                if is_absent || read.skip_invalid {
                    self.left_out += 1;
                    continue;
                }
                let help = match read.value {
                    None | Some(RouteValue::OriginOrValue) => {
                        "--columns chooses AS numbers in CSV, JSON and MaxMind databases"
                    }
                    Some(_) => "without --value, origins are taken from AS paths",
                };
                return Err(no_origin(table, A::ip_prefix(prefix), value, help).into());
            };
            for (origin, text) in found {
                let origin = *origin;
                let state = vrps.validate(prefix, origin);
                counts.add(state);
                match before {
                    Some(before) => {
                        let before = before.validate(prefix, origin);
                        self.change(A::ip_prefix(prefix), text, before, state)?;
                    }
                    None if self.args.state.contains(&state) => {
                        self.route(prefix, (origin, text), state, vrps)?;
                    }
                    None => {}
                }
            }
        }
        Ok(counts)
    }

    /// Prints a route with its state and the VRPs that decided it.
    fn route<A: Family>(
        &mut self,
        prefix: Prefix<A>,
        (origin, text): (Option<u32>, &str),
        state: Validity,
        vrps: &Vrps<A>,
    ) -> Result<(), Failure> {
        self.printed += 1;
        let deciding = vrps.deciding(prefix, origin, state);
        if !self.output.is_text() {
            let vrps = deciding.map(VrpCell::of);
            return self.output.record(&RovRouteLine {
                prefix: AsText(A::ip_prefix(prefix)),
                origin: text,
                state: state.name(),
                vrps: vrps.collect(),
            });
        }
        let mut cell = String::new();
        for vrp in deciding {
            let comma = if cell.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(
                cell,
                "{comma}{}-{} AS{}",
                vrp.prefix(),
                vrp.max_length(),
                vrp.asn()
            );
        }
        let cell = if cell.is_empty() { "-" } else { &cell };
        self.output
            .led_by(PREFIX, &prefix, &[&Escaped(text), &state.name(), &cell])
    }

    /// Prints a route if its state changed, and one of the two states was asked for.
    fn change(
        &mut self,
        prefix: IpPrefix,
        origin: &str,
        before: Validity,
        after: Validity,
    ) -> Result<(), Failure> {
        let asked = &self.args.state;
        let is_asked = asked.is_empty() || asked.contains(&before) || asked.contains(&after);
        if before == after || !is_asked {
            return Ok(());
        }
        self.printed += 1;
        let prefix = prefix.to_string();
        let cells = [&prefix, origin, before.name(), after.name()];
        (self.output).values(&[PREFIX], &cells.map(|cell| Some(text(cell))))
    }

    /// Prints the summary, if nothing else was asked for, and decides the exit status.
    fn end(&mut self, summary: &RovSummary, is_diff: bool) -> Result<Verdict, Failure> {
        if self.left_out > 0 {
            let routes = counted(self.left_out, "route");
            note!("{routes} without an origin AS left out");
        }
        if is_diff {
            if self.printed == 0 {
                return Ok(Verdict::Good);
            }
            let routes = counted(self.printed, "route");
            note!("{routes} changed state");
            return Ok(Verdict::Bad);
        }
        if !self.args.state.is_empty() {
            return Ok(Verdict::good_if(self.printed > 0));
        }
        if !self.output.is_text() {
            self.output.record(summary)?;
            return Ok(Verdict::Good);
        }
        let columns = &[
            Alignment::Left(16),
            Alignment::Right(8),
            Alignment::Right(8),
        ];
        self.output.begin_rows(RowForm::fixed(columns))?;
        self.output.heading(&["", "ipv4", "ipv6"])?;
        let (ipv4, ipv6) = (&summary.ipv4, &summary.ipv6);
        for (name, ipv4, ipv6) in [
            ("routes", ipv4.routes, ipv6.routes),
            ("valid", ipv4.valid, ipv6.valid),
            ("invalid-as", ipv4.invalid_as, ipv6.invalid_as),
            ("invalid-length", ipv4.invalid_length, ipv6.invalid_length),
            ("not-found", ipv4.not_found, ipv6.not_found),
        ] {
            self.output.cells(&[&name, &ipv4, &ipv6])?;
        }
        Ok(Verdict::Good)
    }
}

/// The error of a table that has a value which is no origin.
pub(crate) fn no_origin(
    table: &RouteTable,
    prefix: IpPrefix,
    value: NextHop,
    help: &str,
) -> String {
    let name = table.name.escape_debug();
    let value = quote(table.value(value).as_bytes());
    format!("{name}: {prefix}: {value} is no origin AS; {help}")
}
