//! `popfib diff`: two tables in; out come the routes that differ or the ranges of addresses whose answers do, on request only their
//! counts (`summary`), the updates between them (`updates`) or the changes of origins (`origins`).
//!
//! Each table numbers its records for itself; they are compared by what their columns say (`columns`). The records
//! of the new table are looked up in the old one once, so that comparing two routes is comparing two numbers.

mod columns;
mod lists;
mod origins;
mod summary;
mod updates;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use popfib::diff::{AnswerChange, RouteChange};
use popfib::family::Family;
use popfib::{Address, IpPrefix, NextHop, diff};
use popfib_formats::text::counted;
use popfib_formats::{Escaped, PeerFilter, RouteTable, RouteValue};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::args::{ReadArgs, at_most_one_stdin};
use crate::destination::{DestinationForm, DestinationFormParser};
use crate::forms::FormArgs;
use crate::image::is_image_table;
use crate::output::{AsText, StandardOutput, note};
use crate::records::CellText;
use crate::rov::read_vrps;
use crate::rows::{RowField, RowForm};
use crate::screen::{ADDED, CHANGED, PREFIX, REMOVED};
use crate::table;
use columns::{ComparedColumns, DiffSide, DiffValue};
use summary::DiffSummary;

/// Print the differences between two tables.
///
/// The exit status is 1 if there are any. Routes are printed as `+ PREFIX NEXTHOP` (only in NEW), `- PREFIX NEXTHOP` (only in OLD) and
/// `~ PREFIX OLD NEW` (another next hop). With --effective, ranges of addresses whose answer differs are
/// printed as `FIRST-LAST OLD NEW COUNT`, where `-` means no route; tables that give all addresses the same
/// answers are equal then, whatever their routes. Next hops are compared by name.
///
/// With several columns (--columns) all are compared, each by its name, and what changed has a line for each
/// column that did, separated by tabs: `~ PREFIX COLUMN OLD NEW`, `FIRST-LAST COLUMN OLD NEW COUNT`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib diff yesterday.txt.gz today.txt.gz
  popfib diff --effective --json yesterday.txt.gz today.txt.gz
  popfib aggregate --table routes.txt | popfib diff --effective routes.txt -
  popfib diff --effective --without 8.8.8.0/24 routes.txt
  popfib diff --columns '*' City-old.mmdb City-new.mmdb
  popfib diff --updates exabgp installed.txt wanted.txt
  popfib diff old.txt new.txt --to ipset --name drop | ipset restore
  popfib diff --origins --vrps vrps.json yesterday.gz today.gz")]
#[command(
    after_long_help = "  popfib diff --summary --peer AS1 --new-peer AS2 rib.mrt.gz rib.mrt.gz

JSON, one object a line: change (added, removed, changed), prefix, old, new;
with --effective: first, last, old, new, addresses. old and new are null where
there is no route, and objects of all columns if there are several. With
--summary: next_hop, added, removed, gained, lost, with --effective also
family. With --origins: change
(origin, more-specific), prefix, old_prefix, old, new, old_state, new_state;
the states are null without --vrps.

Exit status: 0 no difference, 1 differences, 2 bad usage or input."
)]
pub(crate) struct DiffArgs {
    /// Table to compare with; `-` is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// Table to compare; `-` is standard input
    #[arg(value_name = "NEW", required_unless_present = "without")]
    new: Option<PathBuf>,

    /// In place of NEW: OLD without its route of exactly PREFIX
    ///
    /// To see which addresses that changes. May be given several times.
    #[arg(long, value_name = "PREFIX", conflicts_with_all = ["new", "new_peer"])]
    without: Vec<IpPrefix>,

    /// Peer of NEW, where --peer is that of OLD
    #[arg(long, value_name = "PEER")]
    new_peer: Option<PeerFilter>,

    /// Compare the answers of all addresses, not the routes
    #[arg(long)]
    effective: bool,

    /// Count the changed routes of each next hop
    ///
    /// In place of printing them: those that only one table has (added, removed), those that came from and went to another next
    /// hop (gained, lost). With --effective addresses of each family are counted.
    #[arg(long)]
    summary: bool,

    /// Print changed origin AS, and new routes inside of others
    ///
    /// As `~ PREFIX PREFIX OLD NEW` and `+ PREFIX COVERING OLD NEW`, separated by tabs: the route, the one that it had or that the old
    /// table has around it, and the origins of both. Values are origins as for `popfib rov`.
    #[arg(long, conflicts_with_all = ["effective", "summary", "updates", "without"])]
    origins: bool,

    /// VRPs that validate these origins
    ///
    /// Two columns more: the states of the old route and of the new one.
    #[arg(long, value_name = "FILE", requires = "origins")]
    vrps: Option<PathBuf>,

    /// Print the updates that make OLD equal to NEW
    ///
    /// In prefix order, IPv4 before IPv6. `popfib convert OLD --updates` and `popfibd --updates` apply them.
    #[arg(long, value_name = "FORM", value_enum, conflicts_with_all = ["effective", "summary", "json"])]
    updates: Option<updates::DiffUpdatesForm>,

    /// Print the changes of a firewall's list that has the prefixes of OLD
    ///
    /// `ipset`, `iptables` (for `iptables-restore --noflush`), or a template with {action}, which is `delete` or `add`, and the fields of
    /// prefixes: '{action} {family} {prefix}'. What is deleted comes first. Without a difference nothing is printed.
    #[arg(long, value_name = "FORM", value_parser = DestinationFormParser, hide_possible_values = true)]
    #[arg(conflicts_with_all = ["effective", "summary", "json", "updates", "origins"])]
    to: Option<DestinationForm>,

    /// Name of the list in the firewall [default: popfib]
    #[arg(long, value_name = "NAME", requires = "to")]
    name: Option<String>,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    read: ReadArgs,
}

impl DiffArgs {
    /// Where differences are printed: as these rows, or objects with these members.
    fn output(&self, rows: RowForm, members: &str) -> Result<StandardOutput, Failure> {
        StandardOutput::of_form(rows, FormArgs::of_json(self.json), members)
    }
}

pub(crate) fn run(args: &DiffArgs) -> Result<Verdict, Failure> {
    let inputs = [Some(&args.old), args.new.as_ref(), args.vrps.as_ref()];
    at_most_one_stdin(inputs.into_iter().flatten(), "tables and the VRPs")?;
    if let (true, Some(new)) = (args.origins, &args.new) {
        return origins(args, new);
    }
    let changes = args.to.as_ref();
    let changes = changes.map(|form| lists::ListDifference::new(form, args.name.clone()));
    let changes = changes.transpose()?;
    let load = |path: &Path, peer| {
        let read = ReadArgs {
            peer,
            is_list: changes.is_some(),
            ..args.read.clone()
        };
        table::read(table::open_list(path, &read)?, &read, &read.options())
    };
    let old = load(&args.old, args.read.peer)?;
    let new = match &args.new {
        Some(new) => load(new, args.new_peer.or(args.read.peer))?,
        None => without(&old, &args.without)?,
    };
    let bar = progress::is_apart().then(|| progress::step("comparing"));
    if let Some(changes) = changes {
        drop(bar);
        return changes.print(&old, &new);
    }
    let (old, new) = (old.content, new.content);
    let columns = ComparedColumns::new(old.records, new.records);
    if args.summary && columns.are_several() {
        return Err("--summary counts the routes of one column; --columns NAME chooses it".into());
    }
    if args.updates.is_some() && columns.are_several() {
        return Err("--updates have the next hops of one column; --columns NAME chooses it".into());
    }
    let in_old = columns.numbers_in_old();
    let same = |old, new: NextHop| in_old[new.get() as usize - 1] == Some(old);
    let mut report = DiffReport {
        columns: &columns,
        output: args.output(RowForm::separated(columns.separator()), "")?,
        summary: args.summary.then(DiffSummary::default),
        updates: args.updates,
        counts: [0; 3],
    };
    let summary = if args.effective {
        let ipv4 = report.answers(diff::answers(&old.ribs.ipv4, &new.ribs.ipv4, same))?;
        report.sum_up(Some("IPv4"))?;
        let ipv6 = report.answers(diff::answers(&old.ribs.ipv6, &new.ribs.ipv6, same))?;
        report.sum_up(Some("IPv6"))?;
        effective_summary(&ipv4, &ipv6)
    } else {
        report.routes(diff::routes(&old.ribs.ipv4, &new.ribs.ipv4, same))?;
        report.routes(diff::routes(&old.ribs.ipv6, &new.ribs.ipv6, same))?;
        report.sum_up(None)?;
        let [added, removed, changed] = report.counts;
        (added + removed + changed > 0).then(|| {
            let added = counted(added, "route");
            format!("{added} added, {removed} removed, {changed} changed")
        })
    };
    drop(bar);
    report.output.flush()?;
    Ok(verdict(summary))
}

/// Notes the line that sums up the differences; without one there are none.
fn verdict(summary: Option<String>) -> Verdict {
    if let Some(summary) = &summary {
        note(summary);
    }
    Verdict::good_if(summary.is_none())
}

/// Prints the changes of origins.
fn origins(args: &DiffArgs, new: &Path) -> Result<Verdict, Failure> {
    let vrps = args.vrps.as_deref().map(|path| read_vrps(path, &args.read));
    let vrps = vrps.transpose()?;
    let load = |path: &Path, peer| {
        let mut read = ReadArgs {
            peer,
            ..args.read.clone()
        };
        // The values of an image were chosen when it was compiled.
        if !is_image_table(path) {
            read.value.get_or_insert(RouteValue::OriginOrValue);
        }
        let options = read.options();
        table::one_column(&options)?;
        table::read(table::open_list(path, &read)?, &read, &options)
    };
    let old = load(&args.old, args.read.peer)?;
    let new = load(new, args.new_peer.or(args.read.peer))?;
    let mut output = args.output(RowForm::TABS, origins::NAMES)?;
    let summary = origins::print(&old, &new, vrps.as_ref(), &mut output)?;
    output.flush()?;
    Ok(verdict(summary))
}

/// `table` without its routes of exactly `prefixes`.
fn without(table: &RouteTable, prefixes: &[IpPrefix]) -> Result<RouteTable, Failure> {
    let mut rest = table.clone();
    for prefix in prefixes {
        let removed = popfib::by_family!(*prefix, |prefix: Prefix<A>| A::of_mut(&mut rest.ribs)
            .remove(prefix));
        if removed.is_none() {
            let name = table.name.escape_debug();
            return Err(format!("{name}: there is no route for {prefix} to leave out; `popfib routes --covering {prefix}` lists those that there are").into());
        }
    }
    Ok(rest)
}

/// Prints differences, or counts them.
struct DiffReport<'a> {
    columns: &'a ComparedColumns,
    output: StandardOutput,
    /// The counts, if routes are counted and not printed.
    summary: Option<DiffSummary<'a>>,
    /// The form of updates, if routes are printed as such.
    updates: Option<updates::DiffUpdatesForm>,
    /// How many routes were added, removed and changed.
    counts: [u64; 3],
}

#[derive(Serialize)]
struct DiffRouteLine<'a> {
    change: &'static str,
    prefix: AsText<IpPrefix>,
    old: DiffValue<'a>,
    new: DiffValue<'a>,
}

#[derive(Serialize)]
struct DiffAnswerLine<'a> {
    first: IpAddr,
    last: IpAddr,
    old: DiffValue<'a>,
    new: DiffValue<'a>,
    addresses: AddressCount,
}

impl<'a> DiffReport<'a> {
    /// Prints changed routes.
    fn routes<A: Family>(
        &mut self,
        changes: impl Iterator<Item = RouteChange<A>>,
    ) -> Result<(), Failure> {
        for RouteChange { prefix, old, new } in changes {
            let prefix = A::ip_prefix(prefix);
            let old = self.columns.value(DiffSide::Old, old);
            let new = self.columns.value(DiffSide::New, new);
            let (change, sign, style, at) = match (&old.0, &new.0) {
                (None, _) => ("added", '+', ADDED, 0),
                (_, None) => ("removed", '-', REMOVED, 1),
                _ => ("changed", '~', CHANGED, 2),
            };
            self.counts[at] += 1;
            if let Some(summary) = &mut self.summary {
                summary.count(old.text(), new.text(), 1);
            } else if let Some(form) = self.updates {
                let [old, new] = [old.text(), new.text()];
                let line = form.line(prefix, old.as_deref(), new.as_deref())?;
                self.output.text(line)?;
            } else if !self.output.is_text() {
                self.output.record(&DiffRouteLine {
                    change,
                    prefix: AsText(prefix),
                    old,
                    new,
                })?;
            } else if change == "changed" && self.columns.are_several() {
                for (name, old, new) in columns::changed(&old, &new) {
                    self.output.led_by(
                        CHANGED,
                        &format_args!("~ {prefix}"),
                        &[&name, &old, &new],
                    )?;
                }
            } else {
                let cells = [&old, &new].into_iter().flat_map(DiffValue::shown);
                let is_shown = |cell: &CellText<'_>| {
                    change == "changed" || self.columns.are_several() || !cell.0.is_empty()
                };
                let cells: Vec<_> = cells.filter(is_shown).collect();
                let route = format_args!("{sign} {prefix}");
                let route = [RowField::styled(style, &route)];
                let fields = route
                    .into_iter()
                    .chain(cells.iter().map(|cell| RowField::new(cell)));
                self.output.row(fields)?;
            }
        }
        Ok(())
    }

    /// Prints the counts so far, if changes are counted: of a family, or of both.
    fn sum_up(&mut self, family: Option<&'static str>) -> Result<(), Failure> {
        match &mut self.summary {
            Some(summary) => std::mem::take(summary).print(&mut self.output, family),
            None => Ok(()),
        }
    }

    /// Prints ranges of addresses whose answers changed.
    fn answers<A: Family>(
        &mut self,
        changes: impl Iterator<Item = AnswerChange<A>>,
    ) -> Result<ChangedRanges, Failure> {
        let mut ranges = ChangedRanges::default();
        for AnswerChange {
            first,
            last,
            old,
            new,
        } in changes
        {
            let old = self.columns.value(DiffSide::Old, old);
            let new = self.columns.value(DiffSide::New, new);
            let addresses = AddressCount::of(first, last);
            ranges.ranges += 1;
            ranges.addresses = ranges.addresses.plus(addresses);
            let (first, last) = (first.ip(), last.ip());
            if let Some(summary) = &mut self.summary {
                summary.count(old.text(), new.text(), addresses.at_most());
            } else if !self.output.is_text() {
                self.output.record(&DiffAnswerLine {
                    first,
                    last,
                    old,
                    new,
                    addresses,
                })?;
            } else if self.columns.are_several() {
                for (name, old, new) in columns::changed(&old, &new) {
                    self.output.led_by(
                        PREFIX,
                        &format_args!("{first}-{last}"),
                        &[&name, &old, &new, &addresses],
                    )?;
                }
            } else {
                let [old, new] = [old.text(), new.text()];
                let [old, new] = [&old, &new].map(|hop| Escaped(hop.as_deref().unwrap_or("-")));
                self.output.led_by(
                    PREFIX,
                    &format_args!("{first}-{last}"),
                    &[&old, &new, &addresses],
                )?;
            }
        }
        Ok(ranges)
    }
}

/// How many ranges of addresses changed their answer, and how many addresses these have.
#[derive(Default)]
struct ChangedRanges {
    ranges: u64,
    addresses: AddressCount,
}

/// The line for standard error, if there are differences.
fn effective_summary(ipv4: &ChangedRanges, ipv6: &ChangedRanges) -> Option<String> {
    let said: Vec<_> = [("IPv4", ipv4), ("IPv6", ipv6)]
        .into_iter()
        .filter(|(_, found)| found.ranges > 0)
        .map(|(family, found)| {
            let ranges = counted(found.ranges, "range");
            format!(
                "{} {family} addresses in {ranges} get another answer",
                found.addresses
            )
        })
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// A number of addresses, up to all 2^128 of IPv6, which `u128` does not hold.
#[derive(Clone, Copy, Default)]
pub(crate) struct AddressCount {
    is_all: bool,
    count: u128,
}

impl AddressCount {
    /// As many as from `first` to `last`.
    pub(crate) fn of<A: Address>(first: A, last: A) -> Self {
        Self::default()
            .plus(Self {
                is_all: false,
                count: last.to_u128() - first.to_u128(),
            })
            .plus(Self {
                is_all: false,
                count: 1,
            })
    }

    /// As a number; of all addresses of IPv6 it is one less, the most that there is a number for.
    fn at_most(self) -> u128 {
        if self.is_all { u128::MAX } else { self.count }
    }

    /// The sum; of addresses of one family, none counted twice.
    fn plus(self, other: Self) -> Self {
        let (count, overflow) = self.count.overflowing_add(other.count);
        Self {
            is_all: self.is_all || other.is_all || overflow,
            count,
        }
    }
}

impl fmt::Display for AddressCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all {
            f.write_str("340282366920938463463374607431768211456")
        } else {
            self.count.fmt(f)
        }
    }
}

impl Serialize for AddressCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_all {
            // No integer of serde has it.
            let number = RawValue::from_string(self.to_string());
            number.map_err(S::Error::custom)?.serialize(serializer)
        } else {
            serializer.serialize_u128(self.count)
        }
    }
}
