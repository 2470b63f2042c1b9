//! Feeds any bytes to the reader that the first line names, and to detection.
//!
//! Whatever comes: no panic, no endless reading, errors of one line, prefixes without host bits, none lost in silence. The first line is the name of a
//! format, as kept inputs have it; of any other its first byte is the place in the list of formats, or means detection. After it, `mask` asks for host bits to be cleared, and `all` for all columns, as records;
//! in any text, for values by an expression.

#![no_main]

use std::collections::BTreeSet;
use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use popfib::{IpPrefix, NextHop};
use popfib_formats::{
    ColumnSelection, Format, Input, LoadOptions, LookupTable, Routes, load, open_routes,
};

/// What has an empty match, and one without the group.
const VALUE: &str = "a(.*)b|c";

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|&byte| byte == b'\n');
    let Some((first, data)) = end.and_then(|end| data.split_at_checked(end + 1)) else {
        return;
    };
    let first = String::from_utf8_lossy(first);
    let words: Vec<_> = first.split_whitespace().collect();
    let name = words.first().copied().unwrap_or_default();
    let place = usize::from(first.bytes().next().unwrap_or_default());
    let format = Format::by_name(name)
        .or_else(|| Format::all().nth(place))
        .unwrap_or_else(|| Format::detect(data));
    let is_any = format.name() == "any";
    let all = words.contains(&"all");
    let options = LoadOptions {
        format: Some(format),
        mask: words.contains(&"mask"),
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
    let (mut found, mut is_whole) = (BTreeSet::new(), true);
    // A range makes many routes of a line, a byte at most as many as an IPv6 one.
    let mut left = 300 * data.len() + 1_000_000;
    loop {
        match source.next_route() {
            Ok(Some(route)) => {
                let prefix = route.prefix.to_string();
                assert_eq!(prefix.parse(), Ok(route.prefix));
                let text = route.value.and_then(|number| source.values().get(number));
                assert!(!text.is_some_and(|text| text.contains(char::is_control)));
                found.insert(route.prefix);
            }
            Ok(None) => break,
            Err(e) => {
                one_line(&e.to_string());
                is_whole = false;
                if !e.is_invalid_line() {
                    break;
                }
            }
        }
        left = left.checked_sub(1).expect("an end");
    }
    // Without an error or a note, each prefix in a prefix's place is there.
    if is_whole && source.notes().is_empty() && matches!(format.name(), "text" | "any") {
        for prefix in prefixes(data, is_any) {
            assert!(found.contains(&prefix), "{prefix} is lost");
        }
    }
});

/// The first words of lines that are prefixes with a length, or all such words.
fn prefixes(data: &[u8], all: bool) -> Vec<IpPrefix> {
    let lines = data.split(|&byte| byte == b'\n');
    let lines = lines.filter_map(|line| std::str::from_utf8(line.trim_ascii_end()).ok());
    let words = lines.flat_map(|line| {
        let words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        words.take(if all { usize::MAX } else { 1 })
    });
    words
        .filter(|word| word.contains('/'))
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// Reads all records of a table, whatever is invalid in it.
fn records(data: &[u8], options: &LoadOptions) {
    let options = LoadOptions {
        skip_invalid: true,
        ..options.clone()
    };
    let input = Input::from_reader("t", Cursor::new(data.to_vec())).max_size(1 << 16);
    let table = match load::<Routes>(input, &options) {
        Ok(table) => LookupTable::from(table),
        Err(e) => return one_line(&e.to_string()),
    };
    let records = table.records().expect("of a table that was loaded");
    let mut empty = 0;
    for number in (1..=records.len() as u32).filter_map(NextHop::new) {
        let cells = (0..records.columns().len()).filter_map(|column| records.cell(number, column));
        let texts: Vec<_> = cells.map(|cell| cell.to_string()).collect();
        empty += usize::from(texts.is_empty());
    }
    // Equal records are one.
    assert!(empty <= 1, "{empty} records have no value");
}

fn one_line(message: &str) {
    assert!(!message.contains(char::is_control), "{message:?}");
}
