//! `popfib calc`: prefixes, ranges and addresses in; out comes what each prefix is: its ends, masks, halves, what it is registered for,
//! and its zone in the reverse DNS.

use clap::Args;
use popfib::family::Family;
use popfib::{IpPrefix, Prefix};
use popfib_formats::{ColumnSelection, Input, LoadOptions, LookupTable, load};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use serde::Serialize;

use crate::args::ReadArgs;
use crate::diff::AddressCount;
use crate::forms::FormArgs;
use crate::output::{AsText, StandardOutput};
use crate::rows::{LEFT, RowField, RowForm};
use crate::screen::{HEADING, PREFIX};
use crate::table;

/// Print what a prefix is: ends, masks, halves, special use.
///
/// Host bits are cleared. A range is the prefixes that it consists of. `special` is what IANA has registered the prefix for,
/// `reverse` the zones of its names in the DNS.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib calc 10.0.0.0/22
  popfib calc 192.0.2.5 255.255.255.192
  popfib calc 2001:db8::/33 --json
  popfib calc 10.0.0.0-10.0.1.255")]
#[command(after_long_help = "
JSON, one object a line: prefix, netmask, wildcard, first, last, addresses,
halves, special, reverse (its first zone and its last).")]
pub(crate) struct CalcArgs {
    /// Prefixes, ranges or addresses; an address may have its mask after it
    #[arg(value_name = "PREFIX", required = true)]
    prefixes: Vec<String>,

    #[command(flatten)]
    form: FormArgs,
}

#[derive(Serialize)]
struct CalcLine {
    prefix: AsText<IpPrefix>,
    netmask: String,
    wildcard: String,
    first: String,
    last: String,
    addresses: AddressCount,
    halves: Vec<String>,
    special: Option<String>,
    reverse: Vec<String>,
}

pub(crate) fn run(args: &CalcArgs) -> Result<Verdict, Failure> {
    const HELP: &str = "what is asked for is a prefix, a range or an address";
    let read = ReadArgs {
        mask: true,
        ..ReadArgs::default()
    };
    let all = ColumnSelection::All;
    let options = LoadOptions {
        columns: all,
        ..LoadOptions::new()
    };
    let special: LookupTable = load(Input::special(), &options)?;
    let mut texts: Vec<String> = Vec::new();
    for text in &args.prefixes {
        match texts.last_mut() {
            Some(address) if text.starts_with("255.") && !address.contains('/') => {
                *address = format!("{address}/{text}");
            }
            _ => texts.push(text.clone()),
        }
    }
    let prefixes = texts
        .iter()
        .map(|text| table::prefixes_of_text(text, HELP, &read));
    let prefixes = prefixes.collect::<Result<Vec<_>, _>>()?.concat();
    let names = "prefix netmask wildcard first last addresses halves special reverse";
    let rows = RowForm::tabs(&[LEFT, LEFT]);
    let mut output = StandardOutput::of_form(rows, args.form, names)?;
    for (index, prefix) in prefixes.into_iter().enumerate() {
        let line = popfib::by_family!(prefix, |prefix| line(prefix, &special)?);
        if !output.is_text() {
            output.record(&line)?;
            continue;
        }
        if index > 0 {
            output.text("\n")?;
        }
        for (name, text) in [
            ("prefix", prefix.to_string()),
            ("netmask", line.netmask),
            ("wildcard", line.wildcard),
            ("first", line.first),
            ("last", line.last),
            ("addresses", line.addresses.to_string()),
            ("halves", line.halves.join(" ")),
            ("special", line.special.unwrap_or_default()),
            ("reverse", line.reverse.join(" to ")),
        ] {
            if !text.is_empty() {
                output.row([
                    RowField::styled(HEADING, &name),
                    RowField::styled(PREFIX, &text),
                ])?;
            }
        }
    }
    output.end(Verdict::Good)
}

/// What a prefix is.
fn line<A: Family>(prefix: Prefix<A>, special: &LookupTable) -> Result<CalcLine, Failure> {
    let (first, last) = (prefix.first(), prefix.last());
    let wildcard = first ^ last;
    let halves = A::ip_prefix(prefix).halves();
    let mut number = None;
    special.supernets(A::ip_prefix(prefix), |(_, found)| number = Some(found))?;
    let registered = special.records().zip(number).map(|(records, number)| {
        let cells = ["name", "rfc"].map(|name| records.cell(number, records.column(name)?));
        cells
            .into_iter()
            .flatten()
            .map(|cell| cell.to_text().into_owned())
            .collect::<Vec<_>>()
            .join(", ")
    });
    let mut reverse = vec![zone(first, prefix.len()), zone(last, prefix.len())];
    reverse.dedup();
    Ok(CalcLine {
        prefix: AsText(A::ip_prefix(prefix)),
        netmask: (!wildcard).ip().to_string(),
        wildcard: wildcard.ip().to_string(),
        first: first.ip().to_string(),
        last: last.ip().to_string(),
        addresses: AddressCount::of(first, last),
        halves: halves
            .into_iter()
            .flatten()
            .map(|half| half.to_string())
            .collect(),
        special: registered,
        reverse,
    })
}

/// The zone with the names of the addresses around `address` that have so many bits in common: a label is 8 bits of IPv4, of which the
/// last has no zones of its own, or 4 of IPv6.
fn zone<A: Family>(address: A, len: u8) -> String {
    let (bits, root) = match A::WIDTH {
        32 => (8, "in-addr.arpa"),
        _ => (4, "ip6.arpa"),
    };
    let labels = len.div_ceil(bits).min(A::WIDTH / bits - 1);
    let label = |at: u8| {
        let label = address.to_u128() >> (A::WIDTH - (at + 1) * bits) & ((1 << bits) - 1);
        match A::WIDTH {
            32 => format!("{label}."),
            _ => format!("{label:x}."),
        }
    };
    (0..labels).rev().map(label).collect::<String>() + root
}
