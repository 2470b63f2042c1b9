//! `popfib xdp`: tables for BPF programs in, a pinned map out, and what is in it.
//!
//! The map is that of `popfib_bpf`; this file has the options and what only reads the map.

mod contents;
mod verify;

use std::collections::HashMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use popfib_bpf::{BpfError, FibKind, MappedTable, PinnedCounts, PinnedMap, ValueKind};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use serde::Serialize;

use crate::args::FileArgs;
use crate::forms::FormArgs;
use crate::lookup;
use crate::output::StandardOutput;
use crate::records::{NEXT_HOP, number, text};
use crate::rows::{Alignment, RowForm};
use crate::verify::probes::ProbeArgs;

/// Load tables where BPF programs (XDP, tc) look up in them.
///
/// A table is in a map that is pinned in a folder of a BPF file system; it stays there without this command. A new table takes the
/// place of the previous one as a whole: no packet sees a mixture. docs/xdp.md has programs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib xdp load drop.txt
  popfib xdp show
  popfib xdp lookup 192.0.2.1")]
pub(crate) struct XdpArgs {
    #[command(subcommand)]
    action: XdpAction,
}

/// Which map.
#[derive(Args, Debug)]
pub(crate) struct PinArgs {
    /// Folder in which maps are pinned, of a BPF file system
    #[arg(long, value_name = "DIR", default_value = "/sys/fs/bpf")]
    pin: PathBuf,

    /// Name of the map there, as the programs declare it
    #[arg(
        long,
        value_name = "NAME",
        default_value = "popfib",
        hide_short_help = true
    )]
    map: String,
}

impl PinArgs {
    fn open(&self) -> Result<PinnedMap, BpfError> {
        PinnedMap::open(&self.pin.join(&self.map))
    }

    /// The table that is loaded.
    fn table(&self) -> Result<MappedTable, Failure> {
        self.open().and_then(|map| map.table()).map_err(failure)
    }
}

/// Which of several tables.
#[derive(Args)]
struct TableId {
    /// Id of the table, where several are loaded
    #[arg(long, value_name = "N", default_value_t = 0, hide_short_help = true)]
    id: u32,
}

#[derive(Subcommand)]
enum XdpAction {
    /// Load a table, in place of the previous one
    ///
    /// The map is made if there is none. Programs get the number of a value in the table, and popfib_value() gives them the value
    /// itself if all values are numbers, such as AS numbers, or what --ids says. With --vrf '*' all tables of the file are loaded, for
    /// popfib_lookup4_in() and popfib_lookup6_in(): their names are their ids if all are numbers, otherwise these are their order, from 0 on.
    #[command(after_help = "\
Examples:
  popfib xdp load drop.txt
  popfib xdp load --vrf '*' interfaces.fib
  popfib xdp load --ids ports.txt routes.fib")]
    Load {
        #[command(flatten)]
        pin: PinArgs,

        /// Also load what popfib_match4() and popfib_match6() need
        ///
        /// They find the length of the prefix that matches. It takes about as much memory again.
        #[arg(long)]
        matches: bool,

        /// File with a number for each value: VALUE NUMBER
        ///
        /// One a line. So a value has the same number in all tables that are loaded.
        #[arg(long, value_name = "FILE")]
        ids: Option<PathBuf>,

        #[command(flatten)]
        table: FileArgs,
    },
    /// Print what is loaded
    #[command(
        after_help = "\
Examples:
  popfib xdp show --json",
        after_long_help = "
JSON, one object: pin, generation (how many tables were loaded so far), bytes,
values (how many different ones), value (what programs get: number, the value
itself, or id), matches, tables (all ids are lower), ipv4 and ipv6, each with
routes."
    )]
    Show {
        #[command(flatten)]
        pin: PinArgs,

        #[command(flatten)]
        form: FormArgs,
    },
    /// Print the longest match of addresses, as programs find it
    ///
    /// As `popfib lookup`; the prefix is - if the table was loaded without --matches.
    #[command(after_help = "\
Examples:
  popfib xdp lookup 192.0.2.1 2001:db8::1")]
    Lookup {
        #[command(flatten)]
        pin: PinArgs,

        #[command(flatten)]
        form: FormArgs,

        #[command(flatten)]
        id: TableId,

        /// Addresses
        #[arg(value_name = "ADDR", required = true)]
        addresses: Vec<String>,
    },
    /// Compare what is loaded with a table
    ///
    /// As `popfib verify`. Exit status 1 if any answer differs.
    #[command(after_help = "\
Examples:
  popfib xdp verify drop.txt")]
    Verify {
        #[command(flatten)]
        pin: PinArgs,

        #[command(flatten)]
        probes: ProbeArgs,

        #[command(flatten)]
        form: FormArgs,

        #[command(flatten)]
        id: TableId,

        #[command(flatten)]
        table: FileArgs,
    },
    /// Print what a program has counted
    ///
    /// Packets, bytes and value, of the map NAME_counts beside the table's: of each value that popfib_count() was called with.
    #[command(
        after_help = "\
Examples:
  popfib xdp stats",
        after_long_help = "
JSON, one object a line: packets, bytes, number, value (null for no match)."
    )]
    Stats {
        #[command(flatten)]
        pin: PinArgs,

        #[command(flatten)]
        form: FormArgs,
    },
}

fn failure(error: BpfError) -> Failure {
    match error {
        BpfError::Table(error) => error.into(),
        _ => Failure::Message(error.to_string()),
    }
}

pub(crate) fn run(args: XdpArgs) -> Result<Verdict, Failure> {
    match args.action {
        XdpAction::Load {
            pin,
            matches,
            ids,
            table,
        } => {
            // Before minutes of reading.
            let map = PinnedMap::open_or_create(&pin.pin.join(&pin.map)).map_err(failure)?;
            contents::load(&map, &table, matches, ids.as_deref())
        }
        XdpAction::Show { pin, form } => show(&pin, form),
        XdpAction::Lookup {
            pin,
            form,
            id,
            addresses,
        } => look_up(&pin, form, id.id, &addresses),
        XdpAction::Verify {
            pin,
            probes,
            form,
            id,
            table,
        } => verify::run((&pin.table()?, id.id), &table, probes, form),
        XdpAction::Stats { pin, form } => stats(&pin, form),
    }
}

/// What is loaded, for `show`.
#[derive(Serialize)]
struct XdpReport {
    pin: String,
    generation: u32,
    bytes: usize,
    values: u32,
    value: &'static str,
    matches: bool,
    tables: u32,
    ipv4: XdpFamily,
    ipv6: XdpFamily,
}

#[derive(Serialize)]
struct XdpFamily {
    routes: usize,
}

fn show(pin: &PinArgs, form: FormArgs) -> Result<Verdict, Failure> {
    let table = pin.table()?;
    let family = |kind| XdpFamily {
        routes: table.routes(kind),
    };
    let report = XdpReport {
        pin: pin.pin.join(&pin.map).display().to_string(),
        generation: table.generation(),
        bytes: table.bytes(),
        values: table.value_count().saturating_sub(1),
        value: match table.value_kind() {
            ValueKind::Numbers => "number",
            ValueKind::Integers => "itself",
            ValueKind::Ids => "id",
        },
        matches: table.has_matches(),
        tables: table.tables(),
        ipv4: family(FibKind::Ipv4),
        ipv6: family(FibKind::Ipv6),
    };
    let columns = &[Alignment::Left(12), Alignment::Left(1)];
    let names = "pin generation bytes values value matches tables ipv4.routes ipv6.routes";
    let mut output = StandardOutput::of_form(RowForm::fixed(columns), form, names)?;
    if !output.is_text() {
        output.record(&report)?;
    } else {
        let rows: [(&str, &dyn std::fmt::Display); 9] = [
            ("pin", &report.pin),
            ("generation", &report.generation),
            ("bytes", &report.bytes),
            ("IPv4 routes", &report.ipv4.routes),
            ("IPv6 routes", &report.ipv6.routes),
            ("values", &report.values),
            ("value", &report.value),
            (
                "matches",
                &if report.matches {
                    "loaded"
                } else {
                    "not loaded"
                },
            ),
            ("tables", &report.tables),
        ];
        for (name, value) in rows {
            output.cells(&[&name, &value])?;
        }
    }
    output.end(Verdict::Good)
}

fn look_up(
    pin: &PinArgs,
    form: FormArgs,
    id: u32,
    addresses: &[String],
) -> Result<Verdict, Failure> {
    let asked = addresses.iter().map(|text| {
        let asked = lookup::parse(text, false)?;
        let reason = || format!("{asked}: programs look up addresses, not prefixes");
        Ok::<_, Failure>((asked, asked.address().ok_or_else(reason)?))
    });
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    let table = pin.table()?;
    let names = "address prefix next_hop";
    let mut output = StandardOutput::of_form(RowForm::TABS, form, names)?;
    for (asked, address) in asked {
        let prefix = table.longest_match(id, address).map(|(prefix, _)| prefix);
        let value = match table.lookup(id, address) {
            0 => None,
            number => Some(text_of(&table, number)),
        };
        let cell = value.as_deref().map(text);
        lookup::write_answer(&mut output, asked, prefix, &[(NEXT_HOP, cell)])?;
    }
    output.end(Verdict::Good)
}

/// What a number stands for: its value in the table, or itself if the table has no values.
fn text_of(table: &MappedTable, number: u32) -> String {
    let text = table.text(number);
    text.unwrap_or_else(|| number.to_string())
}

fn stats(pin: &PinArgs, form: FormArgs) -> Result<Verdict, Failure> {
    let counts = pin.pin.join(format!("{}_counts", pin.map));
    let counts = PinnedCounts::open(&counts)
        .and_then(|counts| counts.read())
        .map_err(failure)?;
    let table = pin.table()?;
    // Counts are by value; the first number that has it gives its text.
    let numbers = (1..table.value_count()).rev();
    let number_of: HashMap<_, _> = numbers
        .map(|number| (table.value(number), number))
        .collect();
    let names = "packets bytes number value";
    let mut output = StandardOutput::of_form(RowForm::TABS, form, names)?;
    for (of, packets, bytes) in counts {
        let value = (of > 0).then(|| match number_of.get(&of) {
            Some(found) => text_of(&table, *found),
            None => of.to_string(),
        });
        if !output.is_text() {
            let value = value.as_deref().map(text);
            let cells = [number(packets), number(bytes), number(of)].map(Some);
            output.values(&[], &[&cells[..], &[value]].concat())?;
        } else {
            let value = value.as_deref().unwrap_or("-").escape_debug().to_string();
            output.cells(&[&packets, &bytes, &value])?;
        }
    }
    output.end(Verdict::Good)
}
