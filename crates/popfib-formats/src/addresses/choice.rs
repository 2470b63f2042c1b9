//! Where in lines addresses are taken from if nobody says so: the first lines in, a part of all lines out, and a note for the user.
//!
//! ```text
//! {"dest_ip":"192.0.2.9","src_ip":"198.51.100.7"}      the member src_ip, whatever the order: it is the client's by its name
//! #Fields: date s-ip c-ip                              the field c-ip
//! 192.0.2.1 - - "GET /?ip=198.51.100.7"                the first of each line; that there are more is said
//! ```
//! The first line with an address decides, so that no line waits for another.

use super::field_names::FieldNames;
use super::find::find_address;
use super::finder::line_part;
use super::head::is_address;
use super::json_path;
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
                self.is_done = match self.members {
                    LineMembers::None => self.note_more(line, found.range.end),
                    LineMembers::Json | LineMembers::Fields(_) => self.choose(line),
                };
            }
            self.is_done |= self.lines == LINES;
            if self.is_done {
                return;
            }
        }
    }

    /// Notes that `line` has an address from `at` on, if it has one.
    fn note_more(&mut self, line: &[u8], at: usize) -> bool {
        let is_more = find_address(line, at).is_some();
        if is_more {
            let line = self.lines;
            self.note = Some(format!(
                "addresses are the first of their lines; there are more, as in line {line}; `address` chooses"
            ));
        }
        is_more
    }

    /// Chooses a part of `line`: one that is an address before those that have one in them.
    fn choose(&mut self, line: &[u8]) -> bool {
        let (what, parts): (_, Vec<_>) = match &self.members {
            LineMembers::Fields(fields) => {
                let names = fields.names().into_iter().map(String::from_utf8_lossy);
                let parts = names.filter_map(|name| Some((name.to_string(), fields.field(&name)?)));
                ("field", parts.collect())
            }
            _ => {
                let paths = json_path::paths(line, usize::MAX).into_iter();
                let parts = paths.map(|path| (path.clone(), LinePart::Path(path)));
                ("member", parts.collect())
            }
        };
        let rank = |(name, part): (String, LinePart)| {
            let text = line_part(line, &part)?;
            find_address(text, 0)?;
            let lower = name.to_ascii_lowercase();
            let best = CLIENTS.iter().position(|client| lower.contains(client));
            let best = best.unwrap_or(CLIENTS.len());
            Some(((!is_address(text), best, lower, name), part))
        };
        let mut parts: Vec<_> = parts.into_iter().filter_map(rank).collect();
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut names = parts.iter().map(|((.., name), _)| quote(name));
        let Some(name) = names.next() else {
            return false;
        };
        self.note = Some(taken_from(what, &name, &names.collect::<Vec<_>>()));
        self.chosen.set(parts.swap_remove(0).1).is_ok()
    }
}
