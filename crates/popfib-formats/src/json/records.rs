//! JSON objects with a prefix and a value, one a line or in an array: objects in, a route of each out.
//!
//! ```text
//! {"prefix":"10.0.0.0/8","next_hop":"192.0.2.1"}
//! {"network":"2001:db8::/32","asn":64496}
//! ```
//! This is also what the command prints with `--json`; a lookup that found no route has a prefix of null there and is
//! left out. The names of members tell which ones count; [`names`](crate::names) has the usual ones:
//!
//! - The prefix may be an address, in an object without a value, or beside a length or a mask
//!   ([`masks`](crate::masks)). An address beside a value alone is more likely a line of a log, which is no route.
//! - Further prefixes in an object, of the other family or in objects and lists inside of it, have its value, too, as in
//!   [`lists`](super::lists).
//! - If the names in the first object say nothing, its one member that is a prefix with its length, or a range, is that of
//!   all objects; or those that are called as the ends of a range and are addresses.
//! - A value that is empty or null is absent. If the first object has no value at all, none may have one: it is a list of
//!   prefixes.
//! - An object of the type `metadata`, with which Spamhaus ends its lists, is about the file.

use std::fmt;
use std::net::IpAddr;

use serde::Deserializer;
use serde::de::{Deserialize, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::finder::PrefixFinder;
use super::node::{MemberValue, listed_prefixes, node, prefixes, remove, several};
use super::shape::OuterKeys;
use super::strings::{HeadString, StringRole, strings};
use super::{first_byte, first_value, frr, is_others, reason, record};
use crate::error::quote;
use crate::grammar::{Grammar, document, head_lines, lines};
use crate::leaves::{RecordLeaves, RecordNode};
use crate::masks::Length;
use crate::names::{ADDRESS, FIRST, LAST, PREFIX, VALUE, explicit, rank};
use crate::ranges::is_prefix;
use crate::registry::Capability::{ManyValues, PrefixColumn};
use crate::rows::{RouteRows, RowValue};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::{ColumnSelection, ValueBook};

pub(crate) static LINES: TableEntry = TableEntry {
    name: "json-lines",
    description: "JSON objects, one a line, with `prefix`, `network` or `cidr` and `next_hop`, `value`, `asn`, `origin` or `country`",
    can: &[ManyValues, PrefixColumn],
    detect: detect_lines,
    open: |input, options| Ok(lines(PrefixObjects::new(options), input, options)),
};

pub(crate) static ARRAY: TableEntry = TableEntry {
    name: "json",
    description: "a JSON array of such objects",
    can: &[ManyValues, PrefixColumn],
    detect: detect_array,
    open: |input, options| Ok(document(PrefixObjects::new(options), input, options)),
};

/// Whether objects at this depth have a prefix.
pub(super) fn has_prefix(head: &[u8], at_depth: usize) -> bool {
    strings(head).take(256).any(|string| {
        let StringRole::Key(key) = string.role else {
            return false;
        };
        string.depth == at_depth && rank(&key, PREFIX).is_some()
    })
}

/// Whether objects at this depth have an address and a mask, or an address and nothing else: beside other members an
/// address is mostly that of a log.
fn has_address(head: &[u8], at_depth: usize) -> bool {
    let (mut addresses, mut others, mut has_mask) = (0, 0, false);
    for string in strings(head).take(256) {
        let StringRole::Key(key) = string.role else {
            continue;
        };
        if string.depth == at_depth {
            match rank(&key, ADDRESS) {
                Some(_) => addresses += 1,
                None => others += 1,
            }
            has_mask |= Length::named(&key).is_some_and(|(rank, _)| Length::is_clear(rank));
        }
    }
    addresses > 0 && (others == 0 || has_mask)
}

/// Whether the first object of a document has exactly one member that is a prefix by its content, or the ends of a range, in case
/// that no name says where the prefix is.
pub(super) fn has_one_prefix(head: &[u8]) -> bool {
    let elements = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let first = first_value(elements.strip_prefix(b"[").unwrap_or(elements));
    let first = first.filter(|first| first.starts_with('{') && !is_others(head));
    // Lists of prefixes in an object are another format's (`json-lists`).
    let has_lists = |first: &str| {
        let mut strings = strings(first.as_bytes());
        strings.any(|string| matches!(string.role, StringRole::Element(text) if is_prefix(&text)))
    };
    first.is_some_and(|first| {
        node(first).is_ok_and(|first| prefixes(&first).len() == 1 || range_ends(&first).is_some())
            && !has_lists(first)
            && OuterKeys::of(head) == OuterKeys::Names
    })
}

/// The names of the members that are the ends of a range, in an object that has both.
pub(super) fn range_ends(object: &RecordNode<'_>) -> Option<[String; 2]> {
    let RecordNode::Map(members) = object else {
        return None;
    };
    let end = |names| {
        let names = explicit(names);
        let is_address = |node: &RecordNode<'_>| match node {
            RecordNode::Scalar(_, text) => text.parse::<IpAddr>().is_ok(),
            _ => false,
        };
        let ends = members.iter().filter(|(_, node)| is_address(node));
        let ranked = ends.filter_map(|(key, _)| Some((rank(key, names)?, key)));
        ranked.min().map(|(_, key)| key.to_string())
    };
    Some([end(FIRST)?, end(LAST)?])
}

fn detect_lines(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| {
        let is_named = || has_prefix(line, 1) || has_address(line, 1);
        // An object that goes on after its line is no such line.
        let is_whole = || first_value(line).is_some();
        line.trim_ascii_start().starts_with(b"{")
            && (is_named() || is_whole() && has_one_prefix(head))
    }) && !frr::is_of_router(head)
}

fn detect_array(head: &[u8]) -> bool {
    first_byte(head) == Some(b'[')
        && (has_prefix(head, 2) || has_address(head, 2) || has_one_prefix(head))
}

/// Whether the first line is an object in which these keys lead to a text.
pub(crate) fn leads_to(head: &[u8], path: &str) -> bool {
    let first = head_lines(head).find(|line| !line.trim_ascii().is_empty());
    let first = first.and_then(|line| std::str::from_utf8(line).ok());
    let first = first.and_then(|line| node(line).ok());
    first.is_some_and(|first| {
        matches!(
            first.at(path),
            Some(RecordNode::Scalar(..) | RecordNode::Null)
        )
    })
}

/// The [`Grammar`] of such objects.
struct PrefixObjects {
    /// Where the prefix and its length are: as the user says, or for the prefix what the first object has.
    prefix: Option<String>,
    length: Option<String>,
    /// The members with the ends of a range, if those of the first object are.
    range: Option<[String; 2]>,
    /// Whether the names in an object said where the prefix is; then its content is not asked any more.
    is_named: bool,
    columns: ColumnSelection,
    /// What reads them, unless one value is read.
    leaves: Option<RecordLeaves>,
}

impl PrefixObjects {
    fn new(options: &LoadOptions) -> Self {
        Self {
            prefix: options.prefix_column.clone(),
            length: options.length_column.clone(),
            range: None,
            is_named: false,
            columns: options.columns.clone(),
            leaves: RecordLeaves::of(&options.columns),
        }
    }

    /// Puts the prefix and its length into `found` from where the user says they are.
    fn places(&self, object: &RecordNode<'_>, found: &mut ObjectParts) {
        let cell = |path: &str| match object.at(path) {
            Some(RecordNode::Scalar(_, text)) => MemberValue::Text(text.clone().into_owned()),
            Some(RecordNode::Null) => MemberValue::Null,
            Some(RecordNode::Map(_) | RecordNode::Array(_)) | None => MemberValue::Absent,
        };
        if let Some(path) = &self.prefix {
            found.prefix = cell(path);
            found.length = None;
        }
        if let Some([first, last]) = &self.range {
            found.prefix = match (cell(first), cell(last)) {
                (MemberValue::Text(first), MemberValue::Text(last)) => {
                    MemberValue::Text(format!("{first}-{last}"))
                }
                (MemberValue::Null, MemberValue::Null) => MemberValue::Null,
                _ => MemberValue::Absent,
            };
        }
        if let Some(path) = &self.length {
            found.length = match cell(path) {
                MemberValue::Text(length) => Some((Length::Plain, length)),
                MemberValue::Null | MemberValue::Absent => Some((Length::Plain, String::new())),
            };
        }
    }
}

impl Grammar for PrefixObjects {
    fn read(&mut self, _: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        // Nothing stands on an empty line, and nothing else is an empty item.
        if json.trim().is_empty() {
            return Ok(());
        }
        // Any member may be a column.
        rows.free_text()?;
        // One pass for what nearly all files need; those below, over a tree of the object, are for places that names
        // don't tell.
        let mut parser = serde_json::Deserializer::from_str(json);
        let read = parser.deserialize_map(ObjectVisitor);
        let found = read.and_then(|found| parser.end().map(|()| found));
        let mut found = found.map_err(|e| reason(&e))?;
        self.is_named |= !matches!(found.prefix, MemberValue::Absent);
        let is_known = self.prefix.is_some() || self.range.is_some();
        if !is_known && !self.is_named && !found.is_metadata {
            let object = node(json)?;
            match &mut prefixes(&object)[..] {
                [] => self.range = range_ends(&object),
                [path] if let Some(listed) = listed_prefixes(&object) => {
                    return Err(several([&**path, listed].into_iter()));
                }
                [path] => self.prefix = Some(std::mem::take(path)),
                paths => return Err(several(paths.iter().map(|path| &**path))),
            }
        }
        if self.prefix.is_some() || self.length.is_some() || self.range.is_some() {
            let object = node(json)?;
            self.places(&object, &mut found);
        }
        let span = match found.prefix {
            MemberValue::Absent if found.is_metadata => return rows.detail(),
            MemberValue::Absent if let Some(path) = &self.prefix => {
                return Err(format!("no {} in this object", quote(path)));
            }
            MemberValue::Absent => {
                return Err(
                    "no prefix in this object; `prefix_column` names the member that has it"
                        .to_owned(),
                );
            }
            MemberValue::Null => return rows.leave_out("object", " without a prefix"),
            MemberValue::Text(prefix) => match &found.length {
                Some((kind, length)) => rows.span(&kind.join(&prefix, length)?)?,
                None => rows.span(&prefix)?,
            },
        };
        let text;
        let value = match (&mut self.leaves, found.value) {
            (None, MemberValue::Text(value)) if !value.trim().is_empty() => {
                text = value;
                RowValue::Text(&text)
            }
            (None, MemberValue::Absent) => RowValue::Text(""),
            // What is empty or null is a value that is not known.
            (None, _) => RowValue::Text(rows.absent()),
            (Some(leaves), _) => {
                rows.may_lack();
                let mut members = match node(json)? {
                    RecordNode::Map(members) => members,
                    _ => Vec::new(),
                };
                // What the prefix was read from is no column, whatever else is called so.
                let is_named = self.range.is_none();
                let by_name: [(bool, RankOfName); 2] = [
                    (is_named && self.prefix.is_none(), prefix_rank),
                    (is_named && self.length.is_none(), length_rank),
                ];
                for (_, rank) in by_name.iter().filter(|(is_used, _)| *is_used) {
                    let ranked = members.iter().enumerate();
                    let ranked = ranked.filter_map(|(at, (key, _))| Some((rank(key)?, at)));
                    if let Some((_, at)) = ranked.min() {
                        members.remove(at);
                    }
                }
                let chosen = [&self.prefix, &self.length].into_iter().flatten();
                let chosen = chosen.chain(self.range.iter().flatten());
                // Only if all columns are read: whoever asks for this member by its name gets it.
                for path in chosen.filter(|_| rows.values.wants_all()) {
                    remove(&mut members, path);
                }
                let is_bare = members.is_empty() && rows.values.wants_all();
                record(leaves, &RecordNode::Map(members), is_bare, rows);
                RowValue::Record
            }
        };
        let is_chosen = self.prefix.is_some() || self.length.is_some() || self.range.is_some();
        if is_chosen || !found.has_more {
            return rows.elements_of(span, value);
        }
        let mut all = PrefixFinder {
            rows,
            value,
            named: [None; 2],
            are_prefixes: &mut None,
            scalar: &mut None,
            lost: &mut None,
            is_nameless: false,
        };
        all.read(json)
    }

    fn notes(&self) -> Vec<String> {
        self.leaves.iter().flat_map(RecordLeaves::notes).collect()
    }

    fn values(&mut self) -> ValueBook {
        ValueBook::new(&self.columns).ranked(|name| rank(name, VALUE))
    }
}

/// How good a name is for a part of an object; 0 is the best.
type RankOfName = fn(&str) -> Option<usize>;

/// Of the member that has the prefix: an address does if nothing is called a prefix.
fn prefix_rank(name: &str) -> Option<usize> {
    rank(name, PREFIX).or_else(|| rank(name, ADDRESS).map(|rank| PREFIX.len() + rank))
}

/// Of the member that has its length.
fn length_rank(name: &str) -> Option<usize> {
    Length::named(name).map(|(rank, _)| rank)
}

/// What one pass over an object finds.
#[derive(Default)]
struct ObjectParts {
    prefix: MemberValue,
    /// The length of an address that is the prefix.
    length: Option<(Length, String)>,
    value: MemberValue,
    is_metadata: bool,
    /// Whether there are prefixes beside that of the best name.
    has_more: bool,
}

/// Reads an object in one pass and keeps the members with the best names. A type with a field for each name would
/// not do: names come in all spellings.
struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = ObjectParts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectParts, A::Error> {
        let mut found = ObjectParts::default();
        let (mut best_prefix, mut best_value, mut best_length) =
            (usize::MAX, usize::MAX, usize::MAX);
        while let Some(MemberName {
            prefix,
            value,
            length,
            is_type,
        }) = map.next_key()?
        {
            let mut cell =
                || MemberValue::of(map.next_value::<&RawValue>()?.get()).map_err(A::Error::custom);
            let is_prefix = prefix.is_some_and(|rank| rank < PREFIX.len());
            found.has_more |= is_prefix && best_prefix < PREFIX.len();
            if let Some(rank) = prefix.filter(|&rank| rank < best_prefix) {
                best_prefix = rank;
                found.prefix = cell()?;
            } else if let Some(rank) = value.filter(|&rank| rank < best_value) {
                // Objects and null under a good name don't hide what else there is.
                match cell()? {
                    text @ MemberValue::Text(_) => {
                        best_value = rank;
                        found.value = text;
                    }
                    MemberValue::Null if best_value == usize::MAX => {
                        found.value = MemberValue::Null
                    }
                    _ => {}
                }
            } else if let Some((rank, kind)) = length.filter(|&(rank, _)| rank < best_length) {
                let text = match cell()? {
                    MemberValue::Text(text) => text,
                    MemberValue::Null => String::new(),
                    MemberValue::Absent => continue,
                };
                best_length = rank;
                found.length = Some((kind, text));
            } else if is_type {
                found.is_metadata =
                    matches!(cell()?, MemberValue::Text(text) if text == "metadata");
            } else {
                found.has_more |= has_prefixes(map.next_value::<&RawValue>()?.get());
            }
        }
        found.has_more &= best_prefix < PREFIX.len();
        // An address beside a value and no mask: a log's.
        if best_prefix >= PREFIX.len()
            && !matches!(found.value, MemberValue::Absent)
            && !Length::is_clear(best_length)
        {
            found.prefix = MemberValue::Absent;
        }
        Ok(found)
    }
}

/// Whether a member has prefixes in it, as elements of lists or by the names of its own members.
fn has_prefixes(json: &str) -> bool {
    let is_prefix = |string: HeadString<'_>| match string.role {
        StringRole::Key(key) => rank(&key, PREFIX).is_some(),
        StringRole::Element(text) => is_prefix(&text),
        StringRole::Value(_) => false,
    };
    json.starts_with(['[', '{']) && json.contains('/') && strings(json.as_bytes()).any(is_prefix)
}

/// How good a member's name is for each part of an object, ranked while it is parsed so that none is copied.
struct MemberName {
    prefix: Option<usize>,
    value: Option<usize>,
    length: Option<(usize, Length)>,
    is_type: bool,
}

impl<'de> Deserialize<'de> for MemberName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberNameVisitor;
        impl Visitor<'_> for MemberNameVisitor {
            type Value = MemberName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<MemberName, E> {
                Ok(MemberName {
                    prefix: prefix_rank(name),
                    value: rank(name, VALUE),
                    length: Length::named(name),
                    is_type: name == "type",
                })
            }
        }
        deserializer.deserialize_str(MemberNameVisitor)
    }
}
