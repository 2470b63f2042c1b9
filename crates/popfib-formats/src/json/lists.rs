//! Lists of prefixes inside of a JSON document, such as the address files of clouds and what bgpq4 prints: a document
//! in, each prefix out with what tells most about it.
//!
//! ```text
//! {"prefixes":[{"ip_prefix":"3.5.140.0/22","region":"ap-northeast-2","service":"S3"}]}
//! {"values":[{"name":"Storage","properties":{"addressPrefixes":["20.38.0.0/22"]}}]}
//! {"hooks":["192.30.252.0/22"],"web":["192.30.252.0/22"]}
//! { "NN": [ { "prefix": "1.0.4.0\/22", "exact": false, "less-equal": 24 } ] }
//! [["10.0.0.0/8","office"],["10.1.0.0/16","lab"]]
//! ```
//! Every cloud has a layout of its own and changes it, so there is no format for each: rules that fit all of them
//! find the prefixes.
//!
//! - An element of a list may be a string: a prefix, whose value is the key of the list. The first string tells whether a
//!   list has prefixes; lists of other things (keys, domains) are left out.
//! - It may be an object, with a prefix or lists of prefixes somewhere inside. The value is its region, scope, service or
//!   name, else the key of the list. If no name in the objects says where the prefix is, it is the one member that is a
//!   prefix with its length, or a range.
//! - It may be an array. The one element that looks like a prefix is the prefix, and the first of the others the value.
//!   If all look like prefixes, the value is the index of the array.
//!
//! The keys of the outermost object may be values or prefixes themselves ([`shape`](super::shape)).
//!
//! Elements are not turned into a [`RecordNode`] unless columns are read: [`PrefixFinder`] hands on prefixes while serde_json
//! parses, so that the largest of these files cost no copy of themselves.

use std::borrow::Cow;
use std::fmt;

use popfib_table::CellKind;
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::finder::{PrefixFinder, looks_like_addresses};
use super::node::{MemberValue, node, several};
use super::records::{has_one_prefix, has_prefix, range_ends};
use super::shape::OuterKeys;
use super::strings::{StringRole, strings};
use super::{first_byte, first_value, frr, is_others, keys, reason, record};
use crate::error::{not, quote};
use crate::grammar::{Grammar, document};
use crate::leaves::{RecordLeaves, RecordNode};
use crate::masks::Length;
use crate::names::{PREFIX, VALUE, rank};
use crate::ranges::{is_prefix, is_range};
use crate::registry::Capability::{ManyValues, PrefixColumn};
use crate::rows::{RouteRows, RowValue};
use crate::table_format::{LoadOptions, TableEntry};
use crate::values::{ColumnSelection, ValueBook};
use crate::words::may_be_element;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "json-lists",
    description: "JSON with lists of prefixes: the address files of AWS, Azure, GitHub, Google and Oracle, bgpq4 -j; regions or names",
    can: &[ManyValues, PrefixColumn],
    detect,
    open: |mut input, options| {
        let lists = JsonLists::new(input.peek(|_| false), options);
        Ok(document(lists, input, options))
    },
};

/// The members that tell most about an object, the best first.
const NAMES: &[&str] = &["region", "scope", "service", "name", "groupname"];

fn detect(head: &[u8]) -> bool {
    // The least depth of a member called `prefix`; what has one further out is an object a line, an array of
    // objects (`json-lines`, `json`) or FRR's.
    let prefix_at = match first_byte(head) {
        Some(b'{') if !has_prefix(head, 1) && !frr::is_of_router(head) => 3,
        Some(b'[') if !has_prefix(head, 2) => usize::MAX,
        _ => return false,
    };
    if is_others(head) || has_one_prefix(head) {
        return false;
    }
    if is_emptied(head) {
        return true;
    }
    let keys = OuterKeys::of(head);
    let mut is_named = false;
    // Any sign of a prefix in the head will do: an element, a member with such a name, or a value by itself deep in a list.
    keys == OuterKeys::Prefixes
        || strings(head).any(|string| match string.role {
            StringRole::Key(key) => {
                is_named = rank(&key, PREFIX).is_some();
                is_named && string.depth >= prefix_at
            }
            StringRole::Element(text) => looks_like_addresses(&text),
            StringRole::Value(text) => {
                let is_prefix = || is_prefix(&text);
                let is_below = string.is_in_list && string.depth >= 3;
                match keys {
                    OuterKeys::Values => is_prefix() || is_named && looks_like_addresses(&text),
                    _ => is_below && is_prefix(),
                }
            }
        })
}

/// Whether a document is an empty list, or an object with one that is called after prefixes.
fn is_emptied(head: &[u8]) -> bool {
    let is_empty =
        |node: &RecordNode<'_>| matches!(node, RecordNode::Array(list) if list.is_empty());
    let is_named = |key: &str| {
        let key = key.to_ascii_lowercase();
        ["prefix", "cidr", "network", "address"]
            .iter()
            .any(|name| key.contains(name))
    };
    match first_value(head).and_then(|value| node(value).ok()) {
        Some(RecordNode::Map(members)) => members
            .iter()
            .any(|(key, member)| is_named(key) && is_empty(member)),
        found => found.is_some_and(|found| is_empty(&found)),
    }
}

#[derive(Default)]
struct JsonLists {
    /// The members that have the prefix and its length, if the user says so.
    prefix: Option<String>,
    length: Option<String>,
    columns: ColumnSelection,
    /// What reads them, unless one value is read.
    leaves: Option<RecordLeaves>,
    /// What the keys of the outermost object are.
    keys: OuterKeys,
    /// Whether members are prefixes by their content, as no name in the head says where prefixes are.
    is_nameless: bool,
    /// Whether the document says that there is no prefix. Any other may have lists of other things alone.
    is_emptied: bool,
    /// The key of the list at hand, and how many arrays there were in it.
    key: String,
    arrays: usize,
    /// Whether the strings of the list at hand are prefixes, once one was seen.
    are_prefixes: Option<bool>,
}

impl JsonLists {
    /// For a document that begins with `head`.
    fn new(head: &[u8], options: &LoadOptions) -> Self {
        Self {
            keys: OuterKeys::of(head),
            is_nameless: options.prefix_column.is_none()
                && !keys(head).any(|key| rank(&key, PREFIX).is_some()),
            is_emptied: is_emptied(head),
            prefix: options.prefix_column.clone(),
            length: options.length_column.clone(),
            columns: options.columns.clone(),
            leaves: RecordLeaves::of(&options.columns),
            ..Self::default()
        }
    }

    /// Makes the columns of an object or of a prefix by itself the record at hand; or the value, if one is read: a string has the
    /// key of its list, and an object its best-named member.
    fn value(&mut self, json: &str, rows: &mut RouteRows) -> Result<Option<String>, String> {
        let Some(leaves) = &mut self.leaves else {
            if json.starts_with('"') {
                return Ok(Some(self.key.clone()));
            }
            let named = best_named(json, NAMES)?;
            return Ok(Some(named.unwrap_or_else(|| self.key.clone())));
        };
        let mut members = match node(json)? {
            RecordNode::Map(members) => members,
            _ => Vec::new(),
        };
        // Of records, the key is one more column.
        without_prefixes(&mut members);
        if !self.key.is_empty() {
            let key = RecordNode::Scalar(CellKind::Text, Cow::Borrowed(&self.key));
            members.push((Cow::Borrowed(LIST), key));
        }
        let is_bare = members.is_empty() && rows.values.wants_all();
        record(leaves, &RecordNode::Map(members), is_bare, rows);
        Ok(None)
    }
}

/// The column of the key of the list that a prefix is in.
const LIST: &str = "list";

/// Leaves out the members that are prefixes, lists of prefixes, or lists of objects that have some: they say which
/// addresses the others are about, and are no columns.
fn without_prefixes(members: &mut Vec<(Cow<'_, str>, RecordNode<'_>)>) {
    members.retain_mut(|(key, node)| {
        let is_prefix = match node {
            RecordNode::Scalar(..) => rank(key, PREFIX).is_some() || Length::named(key).is_some(),
            RecordNode::Array(elements) => match elements.first() {
                Some(RecordNode::Scalar(_, text)) => looks_like_addresses(text),
                Some(RecordNode::Map(members)) => {
                    members.iter().any(|(key, _)| rank(key, PREFIX).is_some())
                }
                Some(RecordNode::Array(_) | RecordNode::Null) | None => false,
            },
            RecordNode::Null => false,
            RecordNode::Map(members) => {
                without_prefixes(members);
                false
            }
        };
        !is_prefix
    });
}

impl Grammar for JsonLists {
    fn opens(&mut self, key: &str, is_list: bool, _: &mut RouteRows) -> bool {
        let opens = match self.keys {
            OuterKeys::Names => true,
            OuterKeys::Values => is_list || key.is_empty(),
            OuterKeys::Prefixes => key.is_empty(),
        };
        if is_list && opens {
            key.clone_into(&mut self.key);
            self.arrays = 0;
            self.are_prefixes = None;
        }
        opens
    }

    fn read(&mut self, key: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let json = json.trim();
        if key.is_empty() && is_prefix(&self.key) {
            let name = quote(&self.key);
            return Err(format!("{name}: a prefix is the name of a list"));
        }
        // What has a key is a member that was not opened.
        match (json.as_bytes().first(), self.keys) {
            (_, OuterKeys::Prefixes) if !key.is_empty() => return self.value_of(key, json, rows),
            (Some(b'['), _) if key.is_empty() => return self.array(json, rows),
            (Some(b'{' | b'"'), OuterKeys::Values) if !key.is_empty() => {
                key.clone_into(&mut self.key);
                self.are_prefixes = Some(true);
            }
            (Some(b'{' | b'"'), _) if key.is_empty() => {}
            _ if key.is_empty() && self.are_prefixes == Some(true) => {
                return Err(not(json, "a prefix"));
            }
            // A fact about the file, which may name prefixes, too.
            _ if may_be_element(json.trim_matches('"')) => {
                return rows.leave_out("prefix", " in a member that is no list");
            }
            _ => return rows.detail(),
        }
        let value = self.value(json, rows)?;
        let value = value.as_deref().map_or(RowValue::Record, RowValue::from);
        let (mut scalar, mut lost) = (None, None);
        let mut walk = PrefixFinder {
            rows,
            value,
            named: [self.prefix.as_deref(), self.length.as_deref()],
            are_prefixes: &mut self.are_prefixes,
            scalar: &mut scalar,
            lost: &mut lost,
            is_nameless: self.is_nameless,
        };
        walk.read(json)?;
        if rows.account().is_known() {
            return Ok(());
        }
        if json.starts_with('"') {
            return match scalar.or(lost) {
                Some(text) => Err(format!(
                    "{}: a prefix in a list that begins with something else",
                    quote(text)
                )),
                None => rows.detail(),
            };
        }
        let ends = node(json).ok().and_then(|object| {
            let [first, last] = range_ends(&object)?;
            let end = |path: &str| match object.at(path) {
                Some(RecordNode::Scalar(_, text)) => Some(text.to_string()),
                _ => None,
            };
            Some(format!("{}-{}", end(&first)?, end(&last)?))
        });
        match (ends, lost) {
            (Some(range), _) => rows.elements(&range, value),
            (None, Some(text)) => Err(format!(
                "{}: in an object without a prefix; `prefix_column` names the member that has it",
                quote(text)
            )),
            (None, None) => rows.leave_out("element", " without a prefix"),
        }
    }

    fn notes(&self) -> Vec<String> {
        self.leaves.iter().flat_map(RecordLeaves::notes).collect()
    }

    fn says_none(&self) -> bool {
        self.is_emptied
    }

    fn values(&mut self) -> ValueBook {
        ValueBook::new(&self.columns)
            .ranked(|name| rank(name, NAMES).or((name == LIST).then_some(NAMES.len())))
    }
}

impl JsonLists {
    /// Reads what the prefix `key` leads to: its value.
    fn value_of(&mut self, key: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let value = match &mut self.leaves {
            Some(leaves) => {
                record(leaves, &node(json)?, false, rows);
                return rows.elements(key, RowValue::Record);
            }
            None if json.starts_with('{') => best_named(json, VALUE)?,
            None => match MemberValue::of(json).map_err(|e| reason(&e))? {
                MemberValue::Text(text) if !text.trim().is_empty() => Some(text),
                MemberValue::Text(_) | MemberValue::Null | MemberValue::Absent => None,
            },
        };
        let value = value.unwrap_or_else(|| rows.absent().to_owned());
        rows.elements(key, &*value)
    }

    /// Reads an array in a list: a prefix and its value, or prefixes alone, whose value is its index.
    fn array(&mut self, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let index = self.arrays.to_string();
        self.arrays += 1;
        let RecordNode::Array(elements) = node(json)? else {
            return Ok(());
        };
        let (mut prefixes, mut members) = (Vec::new(), Vec::new());
        for (place, node) in elements.into_iter().enumerate() {
            let name = format!("[{place}]");
            let is_prefix = |text: &str| match &self.prefix {
                Some(named) => *named == name,
                None => looks_like_addresses(text),
            };
            match node {
                RecordNode::Scalar(CellKind::Text, text) if is_prefix(&text) => {
                    prefixes.push((name, text))
                }
                node => members.push((Cow::Owned(name), node)),
            }
        }
        match &prefixes[..] {
            // Of something else.
            [] => return rows.detail(),
            [(_, first), (_, last)]
                if members.is_empty() && is_range(&format!("{first}-{last}")) =>
            {
                return Err(format!(
                    "two hosts, or the ends of a range? A range has a dash between its ends: {}",
                    quote(json)
                ));
            }
            [_, _, ..] if !members.is_empty() => {
                return Err(several(prefixes.iter().map(|(name, _)| &**name)));
            }
            _ => {}
        }
        if members.is_empty() {
            let index = RecordNode::Scalar(CellKind::Text, Cow::Owned(index));
            members.push((Cow::Borrowed(LIST), index));
        }
        let text;
        let value = match &mut self.leaves {
            Some(leaves) => {
                record(leaves, &RecordNode::Map(members), false, rows);
                RowValue::Record
            }
            None => {
                text = members.into_iter().find_map(|(_, node)| match node {
                    RecordNode::Scalar(_, text) if !text.trim().is_empty() => Some(text),
                    _ => None,
                });
                RowValue::Text(match &text {
                    Some(text) => text,
                    None => rows.absent(),
                })
            }
        };
        let mut prefixes = prefixes.iter();
        prefixes.try_for_each(|(_, prefix)| rows.elements(prefix, value))
    }
}

/// The value of the best-named member of an object.
fn best_named(json: &str, names: &'static [&'static str]) -> Result<Option<String>, String> {
    let mut parser = serde_json::Deserializer::from_str(json);
    let best = parser.deserialize_map(BestNamedMember(names));
    best.map_err(|e| reason(&e))
}

/// The text of the best-named member of an object.
struct BestNamedMember(&'static [&'static str]);

impl<'de> Visitor<'de> for BestNamedMember {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut best: Option<(usize, String)> = None;
        while let Some(key) = map.next_key::<String>()? {
            match rank(&key, self.0) {
                Some(rank) if best.as_ref().is_none_or(|(known, _)| rank < *known) => {
                    let cell = MemberValue::of(map.next_value::<&RawValue>()?.get());
                    if let MemberValue::Text(text) = cell.map_err(A::Error::custom)?
                        && !text.is_empty()
                    {
                        best = Some((rank, text));
                    }
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(best.map(|(_, text)| text))
    }
}
