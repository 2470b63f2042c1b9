//! Feeds any bytes to the reader that the first byte picks, and to detection.
//!
//! Whatever comes: no panic, no endless reading, errors of one line, prefixes
//! without host bits. Its highest bit asks for host bits to be cleared, the one below for all columns, as records; in any text,
//! for values by an expression.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use popfib::NextHop;
use popfib_formats::{ColumnSelection, Format, Input, LoadOptions, load_from, open_routes};

/// What the low six bits of the first byte pick; what lies beyond is detected.
/// Only ever added to at the end, so that kept inputs keep their meaning.
const NAMES: [&str; 36] = [
    "text",
    "pfx2as",
    "csv",
    "json-lines",
    "json",
    "mmdb",
    "ip-route",
    "ip-route-json",
    "frr-json",
    "show-route",
    "show-bgp",
    "bird",
    "nxos",
    "junos",
    "vrp",
    "panos",
    "routeros",
    "riswhois",
    "geofeed",
    "json-lists",
    "route-n",
    "ipset",
    "nftables",
    "filters",
    "prefix-lists",
    "iptables",
    "bgpctl",
    "hosts",
    "bgpdump",
    "bgpscanner",
    "nftables-json",
    "rir",
    "any",
    "netstat",
    "route-print",
    "rpsl",
];

/// What has an empty match, and one without the group.
const VALUE: &str = "a(.*)b|c";

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else {
        return;
    };
    let format = match NAMES.get(usize::from(first & 0x3f)) {
        Some(name) => Format::by_name(name).expect("a format of this name"),
        None => Format::detect(data),
    };
    let is_any = format.name() == "any";
    let all = first & 0x40 != 0;
    let options = LoadOptions {
        format: Some(format),
        mask: first & 0x80 != 0,
        columns: match all && !is_any {
            false => ColumnSelection::Value,
            true => ColumnSelection::All,
        },
        value_regex: (all && is_any).then(|| VALUE.parse().expect("an expression")),
        ..LoadOptions::new()
    };
    if options.columns == ColumnSelection::All {
        records(data, &options);
    }
    let input = Input::from_reader("t", Cursor::new(data.to_vec())).max_size(1 << 20);
    let mut source = match open_routes(input, &options) {
        Ok(source) => source,
        Err(e) => return one_line(&e.to_string()),
    };
    // A range makes many routes of a line, a byte at most as many as an IPv6 one.
    let mut left = 300 * data.len() + 1_000_000;
    loop {
        match source.next_route() {
            Ok(Some(route)) => {
                let prefix = route.prefix.to_string();
                assert_eq!(prefix.parse(), Ok(route.prefix));
                assert!(!route.next_hop.contains(char::is_control));
            }
            Ok(None) => break,
            Err(e) => {
                one_line(&e.to_string());
                if !e.is_invalid_line() {
                    break;
                }
            }
        }
        left = left.checked_sub(1).expect("an end");
    }
});

/// Reads all records of a table, whatever is invalid in it.
fn records(data: &[u8], options: &LoadOptions) {
    let options = LoadOptions {
        skip_invalid: true,
        ..options.clone()
    };
    let input = Input::from_reader("t", Cursor::new(data.to_vec())).max_size(1 << 16);
    let table = match load_from(input, &options) {
        Ok(table) => table.into_table(),
        Err(e) => return one_line(&e.to_string()),
    };
    let records = table.records().expect("of a table that was loaded");
    for number in (1..=records.len() as u32).filter_map(NextHop::new) {
        let cells = (0..records.columns().len()).filter_map(|column| records.cell(number, column));
        let texts: Vec<_> = cells.map(|cell| cell.to_string()).collect();
        assert!(!texts.is_empty(), "record {number} has no value");
    }
}

fn one_line(message: &str) {
    assert!(!message.contains(char::is_control), "{message:?}");
}
