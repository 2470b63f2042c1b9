//! Where in lines addresses are taken from if nobody says so: the first lines in, a part of all lines out, and a note for the user.
//!
//! ```text
//! {"dest_ip":"192.0.2.9","src_ip":"198.51.100.7"}      the member src_ip, whatever the order: it is the client's by its name
//! #Fields: date s-ip c-ip                              the field c-ip
//! 192.0.2.1 - - "GET /?ip=198.51.100.7"                the first of each line; that there are more is said
//! ```
//! The first line with an address decides, so that no line waits for another.

use serde_json::Value;

use super::field_names::FieldNames;
use super::find::find_address;
use super::finder::field;
use super::head::is_address;
use super::json_path::unmarked;
use super::options::{AddressOptions, ChosenPart, LinePart};
use crate::error::quote;

/// What names of clients contain, the best first; of two that are as good the first in the alphabet is taken.
const CLIENTS: [&str; 8] = [
    "c-ip", "client", "src", "source", "orig", "remote", "saddr", "peer",
];

/// How many lines are looked at.
const LINES: u64 = 1000;

/// What lines have inside of them.
#[derive(Debug)]
pub(super) enum LineMembers {
    /// Nothing that has a name.
    None,
    /// Members of a JSON object.
    Json,
    /// Fields.
    Fields(FieldNames),
}

/// Looks at the first lines.
#[derive(Debug)]
pub(super) struct PlaceChoice {
    members: LineMembers,
    chosen: ChosenPart,
    /// Lines that were looked at.
    lines: u64,
    is_done: bool,
    note: Option<String>,
}

/// The note about addresses that are taken from one of several places, `what`, that have names.
pub(super) fn taken_from(what: &str, name: &str, others: &[String]) -> String {
    let more = match others {
        [] => String::new(),
        others => format!("; there are more in {}", others.join(", ")),
    };
    format!("addresses are taken from {what} {name}{more}")
}

impl PlaceChoice {
    /// For lines of which nothing is asked.
    pub(super) fn new(members: LineMembers, options: &AddressOptions, chosen: ChosenPart) -> Self {
        Self {
            members,
            chosen,
            lines: 0,
            is_done: !options.chooses,
            note: None,
        }
    }

    pub(super) fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// Looks at the next lines.
    #[inline]
    pub(super) fn look(&mut self, text: &[u8]) {
        if !self.is_done {
            self.look_at(text);
        }
    }

    #[cold]
    fn look_at(&mut self, text: &[u8]) {
        let is_headed = matches!(self.members, LineMembers::Fields(_));
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            self.lines += 1;
            if is_headed && line.starts_with(b"#") {
                continue;
            }
            if let Some(found) = find_address(line, 0) {
                let is_more = find_address(line, found.range.end).is_some();
                self.is_done = match &self.members {
                    LineMembers::None if is_more => {
                        let line = self.lines;
                        self.note = Some(format!(
                            "addresses are the first of their lines; there are more, as in line {line}; --address chooses"
                        ));
                        true
                    }
                    LineMembers::None => false,
                    LineMembers::Json => self.choose_member(line),
                    LineMembers::Fields(_) => self.choose_field(line),
                };
            }
            self.is_done |= self.lines == LINES;
            if self.is_done {
                return;
            }
        }
    }

    fn choose_field(&mut self, line: &[u8]) -> bool {
        let LineMembers::Fields(names) = &self.members else {
            return false;
        };
        let names: Vec<_> = names
            .names()
            .into_iter()
            .map(String::from_utf8_lossy)
            .collect();
        let parts = names.iter().filter_map(|name| match self.members {
            LineMembers::Fields(ref names) => names.field(name).map(|part| (name, part)),
            _ => None,
        });
        let parts = parts.filter_map(|(name, part)| match part {
            LinePart::Field(number, delimiter) => {
                let text = field(line, number, delimiter).ok()?;
                Some((name.clone().into_owned(), part, text.to_vec()))
            }
            _ => None,
        });
        let parts: Vec<_> = parts.collect();
        self.choose("field", parts)
    }

    fn choose_member(&mut self, line: &[u8]) -> bool {
        let Ok(object) = serde_json::from_slice(unmarked(line)) else {
            return false;
        };
        let mut strings = Vec::new();
        add_strings(&object, String::new(), &mut strings);
        let parts = strings.into_iter();
        let parts = parts.map(|(path, text)| (path.clone(), LinePart::Path(path), text.into()));
        let parts = parts.collect();
        self.choose("member", parts)
    }

    /// Chooses one of these parts, which have names and texts: one that is an address before those that have one in them.
    fn choose(&mut self, what: &str, parts: Vec<(String, LinePart, Vec<u8>)>) -> bool {
        let rank = |name: &str| {
            let name = name.to_ascii_lowercase();
            let best = CLIENTS.iter().position(|client| name.contains(client));
            (best.unwrap_or(CLIENTS.len()), name)
        };
        let mut parts: Vec<_> = parts
            .into_iter()
            .filter(|(_, _, text)| find_address(text, 0).is_some())
            .map(|(name, part, text)| {
                (
                    (!is_address(&text), rank(&name)),
                    quote(name.as_bytes()),
                    part,
                )
            })
            .collect();
        parts.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        parts.dedup_by(|(_, a, _), (_, b, _)| a == b);
        let mut parts = parts.into_iter();
        let Some((_, name, part)) = parts.next() else {
            return false;
        };
        let others: Vec<_> = parts.map(|(_, name, _)| name).collect();
        self.note = Some(taken_from(what, &name, &others));
        self.chosen.set(part).is_ok()
    }
}

/// Adds the strings of a JSON value, each with the path to it.
fn add_strings(value: &Value, path: String, strings: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => strings.push((path, text.clone())),
        Value::Array(elements) => {
            for element in elements {
                add_strings(element, path.clone(), strings);
            }
        }
        Value::Object(members) => {
            let dot = if path.is_empty() { "" } else { "." };
            for (key, value) in members {
                add_strings(value, format!("{path}{dot}{key}"), strings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
