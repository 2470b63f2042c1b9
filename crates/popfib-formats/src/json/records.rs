//! JSON objects with a prefix and a value: one a line, or an array of them.
//!
//! ```text
//! {"prefix":"10.0.0.0/8","next_hop":"192.0.2.1"}
//! {"network":"2001:db8::/32","asn":64496}
//! ```
//! This is also what the command prints with `--json`; a lookup that found no
//! route has a prefix of null and is left out. Other members don't matter.

use std::fmt;

use serde::Deserializer;
use serde::de::{Deserialize, DeserializeSeed, IgnoredAny, MapAccess, Visitor};

use super::{Grammar, document, first_byte, frr, keys, reason};
use crate::format::{Entry, head_lines};
use crate::names::{PREFIX, VALUE, left_out, rank};
use crate::rows::Rows;
use crate::{LoadOptions, show};

pub(crate) static LINES: Entry = Entry {
    name: "json-lines",
    description: "JSON objects, one a line, with `prefix`, `network` or `cidr` and `next_hop`, `value`, `asn`, `origin` or `country`",
    detect: detect_lines,
    open: |input, options| Ok(show::listing(Records::new(options), input, options.mask)),
};

pub(crate) static ARRAY: Entry = Entry {
    name: "json",
    description: "a JSON array of such objects",
    detect: detect_array,
    open: |input, options| Ok(document(Records::new(options), input, options.mask)),
};

fn has_prefix(object: &[u8]) -> bool {
    keys(object)
        .take(64)
        .any(|key| std::str::from_utf8(key).is_ok_and(|key| rank(key, PREFIX).is_some()))
}

fn detect_lines(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| line.trim_ascii_start().starts_with(b"{") && has_prefix(line))
        && !frr::detect(head)
}

fn detect_array(head: &[u8]) -> bool {
    first_byte(head) == Some(b'[') && has_prefix(head)
}

pub(crate) struct Records {
    prefix: String,
    value: String,
    /// The members that lead to the value, if the caller has chosen one.
    path: Option<Path>,
    /// Objects that don't have it.
    without: u64,
}

/// A path to a value: as the caller wrote it, and as a JSON pointer (RFC 6901).
struct Path {
    name: String,
    pointer: String,
}

impl Path {
    fn new(name: &str) -> Self {
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        Self {
            name: name.to_owned(),
            pointer: name
                .split('.')
                .flat_map(|key| ["/".to_owned(), escaped(key)])
                .collect(),
        }
    }

    /// Reads what it leads to in `object` to `text`; whether that is a value.
    fn follow(&self, object: &[u8], text: &mut String) -> Result<bool, String> {
        let object: serde_json::Value = serde_json::from_slice(object).map_err(|e| reason(&e))?;
        let Some(value) = object.pointer(&self.pointer) else {
            return Ok(false);
        };
        let cell = Scalar(text).deserialize(value).map_err(|e| reason(&e))?;
        Ok(cell == Cell::Text && !text.is_empty())
    }
}

impl Records {
    fn new(options: &LoadOptions) -> Self {
        let path = options.value_path.as_deref().map(Path::new);
        Self {
            prefix: String::new(),
            value: String::new(),
            path,
            without: 0,
        }
    }

    fn left_out(&self) -> Vec<String> {
        let path = self.path.as_ref();
        path.map_or_else(Vec::new, |path| {
            left_out(self.without, "object", &path.name)
        })
    }

    fn record(&mut self, json: &[u8], rows: &mut Rows) -> Result<(), String> {
        let mut parser = serde_json::Deserializer::from_slice(json);
        let read = Members(self).deserialize(&mut parser);
        let found = read.and_then(|found| parser.end().map(|()| found));
        match found.map_err(|e| reason(&e))? {
            Found {
                prefix: Cell::Absent,
                ..
            } => Err("no prefix in this object".to_owned()),
            Found {
                prefix: Cell::Null, ..
            } => Ok(()),
            found => {
                let prefix = rows.prefix(&self.prefix)?;
                if let Some(path) = &self.path {
                    if !path.follow(json, &mut self.value)? {
                        self.without += 1;
                        return Ok(());
                    }
                } else if found.value != Cell::Text || self.value.is_empty() {
                    return Err(format!("no next hop behind \"{prefix}\""));
                }
                // Strings may hold by escapes what lines may not.
                let value = show::text(self.value.as_bytes())?;
                rows.route(prefix, value);
                Ok(())
            }
        }
    }
}

impl show::Grammar for Records {
    fn line(&mut self, line: &str, rows: &mut Rows) -> Result<(), String> {
        if line.trim().is_empty() {
            return Ok(());
        }
        self.record(line.as_bytes(), rows)
    }

    fn notes(&self) -> Vec<String> {
        self.left_out()
    }
}

impl Grammar for Records {
    fn descends(&mut self, _: &str, _: &mut Rows) -> bool {
        false
    }

    fn item(&mut self, _: &str, json: &[u8], rows: &mut Rows) -> Result<(), String> {
        self.record(json, rows)
    }

    fn notes(&self) -> Vec<String> {
        self.left_out()
    }
}

/// What the member that was looked for holds.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Absent,
    Null,
    Text,
}

struct Found {
    prefix: Cell,
    value: Cell,
}

/// Reads an object, keeps the members with the best names.
struct Members<'a>(&'a mut Records);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        let mut found = Found {
            prefix: Cell::Absent,
            value: Cell::Absent,
        };
        let (mut best_prefix, mut best_value) = (usize::MAX, usize::MAX);
        while let Some(Key { prefix, value }) = map.next_key()? {
            if let Some(rank) = prefix.filter(|&rank| rank < best_prefix) {
                best_prefix = rank;
                found.prefix = map.next_value_seed(Scalar(&mut self.0.prefix))?;
            } else if let Some(rank) = value.filter(|&rank| rank < best_value) {
                let mut text = String::new();
                let cell = map.next_value_seed(Scalar(&mut text))?;
                // Objects and null under a good name don't hide what else there is.
                if cell == Cell::Text {
                    best_value = rank;
                    found.value = cell;
                    self.0.value = text;
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// The ranks of a member's name.
struct Key {
    prefix: Option<usize>,
    value: Option<usize>,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Key, E> {
                Ok(Key {
                    prefix: rank(name, PREFIX),
                    value: rank(name, VALUE),
                })
            }
        }
        deserializer.deserialize_str(Name)
    }
}

/// A string, number or truth value as text; anything else is no value.
struct Scalar<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Scalar<'_> {
    type Value = Cell;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cell, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Scalar<'_> {
    fn set<E>(self, text: &str) -> Result<Cell, E> {
        text.clone_into(self.0);
        Ok(Cell::Text)
    }
}

impl<'de> Visitor<'de> for Scalar<'_> {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Cell, E> {
        self.set(text)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Cell, E> {
        self.set(&number.to_string())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Cell, E> {
        self.set(&number.to_string())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Cell, E> {
        self.set(&number.to_string())
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Cell, E> {
        self.set(if truth { "true" } else { "false" })
    }

    fn visit_unit<E>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cell::Absent)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Cell, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cell::Absent)
    }
}
