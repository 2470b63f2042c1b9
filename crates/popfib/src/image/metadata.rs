//! What an image says of itself and of its tables: lines of a key, a tab and a value.
//!
//! Lines and not a structure of numbers: a reader in any language splits them, skips keys that it does not know, and `strings`
//! shows them. They are read when they are asked for. A value has no control characters: U+FFFD is written for each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::error::ImageError;
use super::format::METADATA;
use super::sections::Sections;

const WRITER: &str = "writer";
const WRITTEN: &str = "written";
const NAME: &str = "name";
/// Begins a source; the lines after it are of this one.
const SOURCE: &str = "source";
const DESCRIPTION: &str = "description";
const LICENCE: &str = "licence";
const DATE: &str = "date";

/// Where routes or records of a table come from. What is unknown is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Usually that of a file.
    pub name: String,
    /// What the data is, in a line.
    pub description: String,
    /// The terms that it is under, in a line.
    pub licence: String,
    /// The time of the data, as RFC 3339 has it: `2026-06-17` or `2026-06-17T19:00:00Z`.
    pub date: String,
}

impl Source {
    /// That of this name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The lines of the image itself.
pub(super) fn of_image(created: u64) -> String {
    let mut lines = String::new();
    let version = concat!("popfib ", env!("CARGO_PKG_VERSION"));
    line(&mut lines, WRITER, version);
    if created != 0 {
        line(&mut lines, WRITTEN, &format!("{created}"));
    }
    lines
}

/// The lines of a table.
pub(super) fn of_table(name: &str, sources: &[Source]) -> String {
    let mut lines = String::new();
    line(&mut lines, NAME, name);
    for source in sources {
        line(&mut lines, SOURCE, &source.name);
        for (key, value) in [
            (DESCRIPTION, &source.description),
            (LICENCE, &source.licence),
            (DATE, &source.date),
        ] {
            if !value.is_empty() {
                line(&mut lines, key, value);
            }
        }
    }
    lines
}

fn line(lines: &mut String, key: &str, value: &str) {
    lines.push_str(key);
    lines.push('\t');
    for c in value.chars() {
        lines.push(match c {
            '\0'..' ' | '\x7f' => char::REPLACEMENT_CHARACTER,
            c => c,
        });
    }
    lines.push('\n');
}

/// Verifies the lines of these sections; those of a table have its name.
pub(super) fn check(sections: &Sections) -> Result<(), ImageError> {
    let (entry, bytes) = sections.get((0, METADATA))?;
    if core::str::from_utf8(bytes).is_err() {
        return Err(entry.broken(0, "it is not UTF-8"));
    }
    let mut tabs = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match (byte, tabs) {
            (b'\t', 0) => tabs = 1,
            (b'\n', 1) => tabs = 0,
            (0..b' ' | 0x7f, _) => return Err(entry.broken(at, "a line is malformed")),
            _ => {}
        }
    }
    if !matches!(bytes, [] | [.., b'\n']) {
        return Err(entry.broken(bytes.len(), "the last line is cut off"));
    }
    if sections.table > 0 && !pairs(bytes).any(|(key, _)| key == NAME) {
        return Err(entry.broken(0, "the table has no name"));
    }
    Ok(())
}

/// The keys and values of lines.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    // Of a trusted image nothing was verified.
    let text = core::str::from_utf8(bytes).unwrap_or("");
    text.split('\n').filter_map(|line| line.split_once('\t'))
}

/// The value of the first line of this key; empty if there is none.
fn value<'b>(bytes: &'b [u8], wanted: &str) -> &'b str {
    let found = pairs(bytes).find(|(key, _)| *key == wanted);
    found.map_or("", |(_, value)| value)
}

/// The program that wrote the image.
pub(super) fn writer(bytes: &[u8]) -> &str {
    value(bytes, WRITER)
}

/// When the image was written; 0 if that is unknown.
pub(super) fn created(bytes: &[u8]) -> u64 {
    value(bytes, WRITTEN).parse().unwrap_or(0)
}

/// What a table is called.
pub(super) fn name(bytes: &[u8]) -> &str {
    value(bytes, NAME)
}

/// Where a table comes from.
pub(super) fn sources(bytes: &[u8]) -> Vec<Source> {
    let mut sources = Vec::<Source>::new();
    for (key, value) in pairs(bytes) {
        if key == SOURCE {
            sources.push(Source::named(value));
        }
        let Some(source) = sources.last_mut() else {
            continue;
        };
        match key {
            DESCRIPTION => source.description = value.into(),
            LICENCE => source.licence = value.into(),
            DATE => source.date = value.into(),
            _ => {}
        }
    }
    sources
}
