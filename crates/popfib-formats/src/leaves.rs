//! The columns of records of any shape: a tree of maps and lists in, the cells of a record ([`ValueBook`]) out. A column is every
//! scalar, called by the keys that lead to it, and every list of scalars.
//!
//! ```text
//! {"country": {"iso_code": "DE", "names": {"de": "Deutschland", "en": "Germany"}}, "ports": [80, 443]}
//! country.iso_code = DE    country.names.en = Germany    ports = [80, 443]
//! ```
//! An element of a list of maps is called by its index: `subdivisions[0].iso_code`. Where all columns are read, of the names
//! of one thing in many languages the English one is, and of a list of maps the first elements are: a record with a column for
//! each language and each of a thousand elements would help nobody. Whoever asks for a column by its name gets any of them.

use std::borrow::Cow;
use std::fmt;

use popfib_table::{CellKind, MaxMindType};
use serde::Deserializer;
use serde::de::{Deserialize, MapAccess, SeqAccess, Visitor};

use crate::names::{counted, note_left_out};
use crate::values::{ColumnSelection, ValueBook};

/// How many elements of a list of maps become columns where all are read.
const MAX_ELEMENTS: usize = 16;

/// The maximum length of a column's name in bytes, and of all: below one long key a short file may have any number of columns.
const MAX_PATH: usize = 4_096;
const MAX_PATHS: usize = 1 << 20;

/// Puts the columns of each record into a book of values.
#[derive(Debug)]
pub(crate) struct RecordLeaves {
    /// The first list that was too long, and how many records have such.
    cut: Option<(String, u64)>,
    /// That of the record at hand.
    cut_here: Option<String>,
    /// How many bytes are left for names of columns.
    room: usize,
    /// How many values were left out, as their columns would have had too long names.
    nameless: u64,
}

impl RecordLeaves {
    /// For these columns; `None` if one value is read.
    pub(crate) fn of(columns: &ColumnSelection) -> Option<Self> {
        (*columns != ColumnSelection::Value).then_some(Self {
            cut: None,
            cut_here: None,
            room: MAX_PATHS,
            nameless: 0,
        })
    }

    /// What was left out of records, for the user.
    pub(crate) fn notes(&self) -> Vec<String> {
        let which = format!(
            " in columns with names longer than {MAX_PATH} bytes, or than {MAX_PATHS} in all,"
        );
        let mut notes = note_left_out(self.nameless, "value", &which);
        notes.extend(self.cut.as_ref().map(|(list, count)| {
            format!(
                "{} with more than {MAX_ELEMENTS} elements in {list}, of which the others are left out",
                counted(*count, "record")
            )
        }));
        notes
    }

    /// Makes the columns of `node` the record at hand.
    pub(crate) fn fill(&mut self, node: &RecordNode<'_>, values: &mut ValueBook) {
        values.begin();
        self.put(node, &mut String::new(), values);
        if let Some(list) = self.cut_here.take() {
            self.cut.get_or_insert((list, 0)).1 += 1;
        }
    }

    /// The index of the column called `name`; `None` if it is not asked for, or there is no room for its name.
    fn column(&mut self, name: &str, values: &mut ValueBook) -> Option<usize> {
        let known = values.names().len();
        if self.room < name.len() && values.wants_all() && !values.has(name) {
            self.nameless += 1;
            return None;
        }
        let column = values.column(name);
        if values.names().len() > known {
            self.room -= name.len();
        }
        column
    }

    /// Puts what is below `path`, at the end of which `key` comes, unless the whole is too long.
    fn put_below(
        &mut self,
        node: &RecordNode<'_>,
        path: &mut String,
        parts: [&str; 2],
        values: &mut ValueBook,
    ) {
        let len = path.len();
        if len + parts[0].len() + parts[1].len() > MAX_PATH {
            if values.wants_all() {
                self.nameless += 1;
            } else {
                // For the error that there is no column of the name that was asked for.
                path.extend(parts[1].chars().take(64));
                values.column(path);
                path.truncate(len);
            }
            return;
        }
        parts.into_iter().for_each(|part| path.push_str(part));
        self.put(node, path, values);
        path.truncate(len);
    }

    /// Puts the scalars and lists of `node`, which `path` leads to, into the record at hand.
    fn put(&mut self, node: &RecordNode<'_>, path: &mut String, values: &mut ValueBook) {
        let wants_all = values.wants_all();
        match node {
            RecordNode::Null => {
                let named = values.named(path);
                named.into_iter().for_each(|column| values.is_there(column));
            }
            RecordNode::Scalar(kind, value) => {
                // A record that is one scalar.
                let name = if path.is_empty() { "value" } else { path };
                if let Some(column) = self.column(name, values) {
                    values.put(column, *kind, value);
                }
            }
            RecordNode::Map(members) => {
                // MaxMind's names of a place, by language.
                let is_names = path.ends_with("names") && wants_all;
                let is_english = is_names && members.iter().any(|(key, _)| key == "en");
                let dot = if path.is_empty() { "" } else { "." };
                for (key, member) in members {
                    if !is_english || key == "en" {
                        self.put_below(member, path, [dot, key], values);
                    }
                }
            }
            RecordNode::Array(elements) => {
                let elements: Vec<_> = (elements.iter())
                    .filter(|element| !matches!(element, RecordNode::Null))
                    .collect();
                let scalars = elements.iter().filter_map(|element| match *element {
                    RecordNode::Scalar(kind, value) => Some((*kind, &**value)),
                    RecordNode::Null | RecordNode::Map(_) | RecordNode::Array(_) => None,
                });
                let scalars: Vec<_> = scalars.collect();
                // A list of scalars is one column; one of maps or lists is a column for each scalar in its elements.
                let is_list = scalars.len() == elements.len();
                if is_list && let Some(column) = self.column(path, values) {
                    values.put_list(column, scalars.into_iter());
                }
                if !is_list && wants_all && elements.len() > MAX_ELEMENTS {
                    self.cut_here.get_or_insert_with(|| path.clone());
                }
                let most = match wants_all {
                    true if is_list => 0,
                    true => MAX_ELEMENTS,
                    false => elements.len(),
                };
                for (index, element) in elements.iter().take(most).enumerate() {
                    let place = format!("[{index}]");
                    // One scalar of a list is a column only if it is asked for by its name.
                    if !is_list || values.named(&format!("{path}{place}")).is_some() {
                        self.put_below(element, path, [&place, ""], values);
                    }
                }
            }
        }
    }
}

/// A value in a record.
#[derive(Debug)]
pub(crate) enum RecordNode<'a> {
    /// Nothing.
    Null,
    Scalar(CellKind, Cow<'a, str>),
    Map(Vec<(Cow<'a, str>, Self)>),
    Array(Vec<Self>),
}

impl RecordNode<'_> {
    /// What these keys lead to.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        if path.is_empty() {
            return Some(self);
        }
        match self {
            Self::Map(members) => members.iter().find_map(|(key, member)| {
                let rest = path.strip_prefix(&**key)?;
                match rest.strip_prefix('.') {
                    Some(rest) => member.at(rest),
                    None if rest.is_empty() || rest.starts_with('[') => member.at(rest),
                    None => None,
                }
            }),
            Self::Array(elements) => {
                let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
                let element = elements.get(index.parse::<usize>().ok()?)?;
                element.at(rest.strip_prefix('.').unwrap_or(rest))
            }
            Self::Null | Self::Scalar(..) => None,
        }
    }
}

impl<'de> Deserialize<'de> for RecordNode<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RecordNodeVisitor)
    }
}

/// Methods of a visitor: a number or a truth value, and what kind of scalar that is.
macro_rules! scalars {
    ($($visit:ident($of:ty): $kind:expr;)*) => {$(
        fn $visit<E>(self, value: $of) -> Result<RecordNode<'de>, E> {
            Ok(RecordNode::Scalar($kind, value.to_string().into()))
        }
    )*};
}

/// Takes what serde finds: of JSON, or of a MaxMind database, whose integers have their own sizes.
struct RecordNodeVisitor;

impl<'de> Visitor<'de> for RecordNodeVisitor {
    type Value = RecordNode<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<RecordNode<'de>, E> {
        Ok(RecordNode::Scalar(CellKind::Text, Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<RecordNode<'de>, E> {
        Ok(RecordNode::Scalar(
            CellKind::Text,
            Cow::Owned(text.to_owned()),
        ))
    }

    /// As hexadecimal digits.
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<RecordNode<'de>, E> {
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(RecordNode::Scalar(
            CellKind::MaxMind(MaxMindType::Bytes),
            Cow::Owned(digits),
        ))
    }

    scalars! {
        visit_u16(u16): CellKind::MaxMind(MaxMindType::Uint16);
        visit_u32(u32): CellKind::MaxMind(MaxMindType::Uint32);
        visit_i32(i32): CellKind::MaxMind(MaxMindType::Int32);
        visit_u64(u64): CellKind::MaxMind(MaxMindType::Uint64);
        visit_u128(u128): CellKind::MaxMind(MaxMindType::Uint128);
        visit_i64(i64): CellKind::Integer;
        visit_f32(f32): CellKind::MaxMind(MaxMindType::Float);
        visit_f64(f64): CellKind::Float;
        visit_bool(bool): CellKind::Boolean;
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RecordNode<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry::<RecordKey<'de>, RecordNode<'de>>()? {
            members.push((member.0.0, member.1));
        }
        Ok(RecordNode::Map(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RecordNode<'de>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(RecordNode::Array(elements))
    }
}

/// The key of a member.
struct RecordKey<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for RecordKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match RecordNode::deserialize(deserializer)? {
            RecordNode::Scalar(_, key) => Ok(Self(key)),
            RecordNode::Null | RecordNode::Map(_) | RecordNode::Array(_) => {
                Err(serde::de::Error::custom("a key that is no text"))
            }
        }
    }
}
