//! The columns of records of any shape: a tree of maps and lists in, the text of a [record](crate::record) out. A column is every
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

use popfib_table::MaxMindType;
use serde::Deserializer;
use serde::de::{Deserialize, MapAccess, SeqAccess, Visitor};

use crate::record::{CellKind, RecordText};
use crate::table_format::ColumnSelection;

/// How many elements of a list of maps become columns where all are read.
const MAX_ELEMENTS: usize = 16;

/// Makes of each record the text of its columns.
#[derive(Debug)]
pub(crate) struct RecordLeaves {
    pub(crate) text: RecordText,
    /// The first list that was too long, and how many records have such.
    cut: Option<(String, u64)>,
}

impl RecordLeaves {
    /// For these columns, of which `rank` says how much they tell; `None` if one value is read.
    pub(crate) fn of(columns: &ColumnSelection, rank: fn(&str) -> Option<usize>) -> Option<Self> {
        (*columns != ColumnSelection::Value).then(|| Self {
            text: RecordText::new(columns).ranked(rank),
            cut: None,
        })
    }

    /// The column that was asked for, if it is one.
    pub(crate) fn only(&self) -> Option<&str> {
        self.text.only()
    }

    /// What was left out of lists, for the user.
    pub(crate) fn note(&self) -> Option<String> {
        let (list, count) = self.cut.as_ref()?;
        let records = if *count == 1 { "record" } else { "records" };
        Some(format!(
            "{count} {records} with more than {MAX_ELEMENTS} elements in {list}, of which the others are left out"
        ))
    }

    /// The text of a record; `None` if it has none of the columns.
    pub(crate) fn record(&mut self, node: &RecordNode<'_>) -> Option<&str> {
        let mut is_cut = None;
        put(node, &mut String::new(), &mut self.text, &mut is_cut);
        if let Some(list) = is_cut {
            self.cut.get_or_insert((list, 0)).1 += 1;
        }
        let text = self.text.finish();
        (!text.trim().is_empty()).then_some(text)
    }
}

/// Puts the scalars and lists of `node`, which `path` leads to, into `text`.
fn put(
    node: &RecordNode<'_>,
    path: &mut String,
    text: &mut RecordText,
    is_cut: &mut Option<String>,
) {
    match node {
        RecordNode::Null => {
            let named = text.named(path);
            named.into_iter().for_each(|column| text.is_there(column));
        }
        RecordNode::Scalar(kind, value) => {
            // A record that is one scalar.
            let name = if path.is_empty() { "value" } else { path };
            if let Some(column) = text.column(name) {
                text.put(column, *kind, value);
            }
        }
        RecordNode::Map(members) => {
            // MaxMind's names of a place, by language.
            let is_names = path.ends_with("names") && text.wants_all();
            let is_english = is_names && members.iter().any(|(key, _)| key == "en");
            let wanted = |key: &str| !is_english || key == "en";
            for (key, member) in members.iter().filter(|(key, _)| wanted(key)) {
                let len = path.len();
                if len > 0 {
                    path.push('.');
                }
                path.push_str(key);
                put(member, path, text, is_cut);
                path.truncate(len);
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
            if is_list && let Some(column) = text.column(path) {
                text.put_list(column, scalars.into_iter());
            }
            if !is_list && text.wants_all() && elements.len() > MAX_ELEMENTS {
                is_cut.get_or_insert_with(|| path.clone());
            }
            let most = match text.wants_all() {
                true if is_list => 0,
                true => MAX_ELEMENTS,
                false => elements.len(),
            };
            for (index, element) in elements.iter().take(most).enumerate() {
                let len = path.len();
                path.push_str(&format!("[{index}]"));
                // One scalar of a list is a column only if it is asked for by its name.
                if !is_list || text.named(path).is_some() {
                    put(element, path, text, is_cut);
                }
                path.truncate(len);
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

/// A scalar of a type that MaxMind databases have, which a column keeps so that it can be written as it was.
fn maxmind<'a>(of: MaxMindType, value: impl ToString) -> RecordNode<'a> {
    RecordNode::Scalar(CellKind::MaxMind(of), value.to_string().into())
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

    fn visit_u16<E>(self, number: u16) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Uint16, number))
    }

    fn visit_u32<E>(self, number: u32) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Uint32, number))
    }

    fn visit_i32<E>(self, number: i32) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Int32, number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Uint64, number))
    }

    fn visit_u128<E>(self, number: u128) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Uint128, number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<RecordNode<'de>, E> {
        Ok(RecordNode::Scalar(
            CellKind::Integer,
            number.to_string().into(),
        ))
    }

    /// Of the fewest digits that say which it is among those of 32 bits.
    fn visit_f32<E>(self, number: f32) -> Result<RecordNode<'de>, E> {
        Ok(maxmind(MaxMindType::Float, number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<RecordNode<'de>, E> {
        Ok(RecordNode::Scalar(
            CellKind::Float,
            number.to_string().into(),
        ))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<RecordNode<'de>, E> {
        Ok(RecordNode::Scalar(
            CellKind::Boolean,
            truth.to_string().into(),
        ))
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
