//! One item of JSON in, the [`RecordNode`] out from which the columns of a record are made.
//!
//! Numbers stay as they are written: `serde_json::Value` would make an `f64` of them, and long ones lose digits.
//! Members keep their order. Depth has a limit, since reading, unlike the cutting of items, uses the stack.

use std::borrow::Cow;
use std::fmt;

use popfib_table::CellKind;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Error;
use serde_json::value::RawValue;

use super::reason;
use crate::error::quote;
use crate::leaves::RecordNode;
use crate::ranges::is_prefix;
use crate::words::may_be_element;

/// How deep objects and arrays may be nested: the limit of serde_json, which does not count here as each level is
/// a parse of its own.
const MAX_DEPTH: usize = 128;

/// How many members an error names.
const MAX_SHOWN: usize = 20;

/// What `json` holds.
///
/// Takes time in proportion to its length and its depth.
///
/// # Errors
/// What is no JSON, or nested too deeply.
pub(super) fn node(json: &str) -> Result<RecordNode<'_>, String> {
    nested(json, MAX_DEPTH).map_err(|e| reason(&e))
}

/// As [`node`], with `depth` levels left.
fn nested(json: &str, depth: usize) -> Result<RecordNode<'_>, Error> {
    let json = json.trim();
    let Some(below) = depth.checked_sub(1) else {
        return Err(Error::custom("nested too deeply"));
    };
    Ok(match json.as_bytes().first() {
        Some(b'"') => RecordNode::Scalar(
            CellKind::Text,
            serde_json::from_str::<JsonString<'_>>(json)?.0,
        ),
        Some(b'{') => {
            let OrderedMembers(members) = serde_json::from_str(json)?;
            let members = members.into_iter();
            let members =
                members.map(|(key, value)| Ok::<_, Error>((key, nested(value.get(), below)?)));
            RecordNode::Map(members.collect::<Result<_, _>>()?)
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            let elements = elements
                .into_iter()
                .map(|element| nested(element.get(), below));
            RecordNode::Array(elements.collect::<Result<_, _>>()?)
        }
        Some(b't' | b'f') => RecordNode::Scalar(CellKind::Boolean, Cow::Borrowed(json)),
        Some(b'n') | None => RecordNode::Null,
        Some(_) => RecordNode::Scalar(CellKind::Written, Cow::Borrowed(json)),
    })
}

/// The keys that lead to each prefix in objects, with dots between them (`net.cidr`); not those in lists, as these
/// are no place that one path names. In the order of the document.
/// The first [`MAX_SHOWN`] and one more.
pub(super) fn prefixes(node: &RecordNode<'_>) -> Vec<String> {
    fn find(node: &RecordNode<'_>, path: &mut String, found: &mut Vec<String>) {
        let RecordNode::Map(members) = node else {
            return;
        };
        for (key, member) in members {
            let is_prefix = match member {
                RecordNode::Scalar(CellKind::Text, text) => is_prefix(text),
                RecordNode::Map(_) => false,
                RecordNode::Null | RecordNode::Scalar(..) | RecordNode::Array(_) => continue,
            };
            let len = path.len();
            if len > 0 {
                path.push('.');
            }
            path.push_str(key);
            if is_prefix && found.len() <= MAX_SHOWN {
                found.push(path.clone());
            }
            find(member, path, found);
            path.truncate(len);
        }
    }
    let mut found = Vec::new();
    find(node, &mut String::new(), &mut found);
    found
}

/// The first member in whose lists there may be prefixes: beside one that no name tells, these may be meant.
pub(super) fn listed_prefixes<'a>(object: &'a RecordNode<'_>) -> Option<&'a str> {
    fn is_any(node: &RecordNode<'_>, in_list: bool) -> bool {
        match node {
            RecordNode::Scalar(CellKind::Text, text) => in_list && may_be_element(text),
            RecordNode::Map(members) => members.iter().any(|(_, member)| is_any(member, in_list)),
            RecordNode::Array(elements) => elements.iter().any(|element| is_any(element, true)),
            RecordNode::Null | RecordNode::Scalar(..) => false,
        }
    }
    let RecordNode::Map(members) = object else {
        return None;
    };
    let found = members.iter().find(|(_, member)| is_any(member, false));
    found.map(|(key, _)| &**key)
}

/// Leaves out of an object's members what the keys of `path` lead to. Keys may have dots themselves, so
/// every way to part the path is tried.
pub(super) fn remove(members: &mut Vec<(Cow<'_, str>, RecordNode<'_>)>, path: &str) {
    members.retain_mut(|(key, node)| {
        let Some(rest) = path.strip_prefix(&**key) else {
            return true;
        };
        if let (Some(rest), RecordNode::Map(below)) = (rest.strip_prefix('.'), node) {
            remove(below, rest);
        }
        !rest.is_empty()
    });
}

/// What a member that was looked for holds. Null is told from nothing: the value of this object is not known, while
/// with nothing there may be no values in the whole file.
#[derive(Default)]
pub(super) enum MemberValue {
    /// Nothing, or what is no value: an object or a list.
    #[default]
    Absent,
    Null,
    Text(String),
}

impl MemberValue {
    /// A string, or a number or truth value as it is written: to read a number
    /// would cost those of more than 64 bits their digits.
    pub(super) fn of(json: &str) -> Result<Self, Error> {
        Ok(match json.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(json)?),
            Some(b'n') => Self::Null,
            Some(b'{' | b'[') | None => Self::Absent,
            Some(_) => Self::Text(json.to_owned()),
        })
    }
}

/// The error of several prefixes where one was looked for.
pub(super) fn several<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let paths: Vec<_> = paths.take(MAX_SHOWN).map(quote).collect();
    format!(
        "prefixes in the members {}; `prefix_column` chooses one",
        paths.join(" and ")
    )
}

/// A string, without a copy if it has no escapes: `Cow` alone would be owned always.
#[derive(serde::Deserialize)]
struct JsonString<'a>(#[serde(borrow)] Cow<'a, str>);

/// The members of an object in their order; a map of the standard library would sort or shuffle them.
pub(super) struct OrderedMembers<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for OrderedMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedMembersVisitor;
        impl<'de> Visitor<'de> for OrderedMembersVisitor {
            type Value = OrderedMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<OrderedMembers<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<JsonString<'de>, &RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(OrderedMembers(members))
            }
        }
        deserializer.deserialize_map(OrderedMembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stack does not overflow.
    #[test]
    fn depth_has_a_limit() {
        let nested = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(node(&nested(100)).is_ok());
        for depth in [200, 1_000_000] {
            let json = nested(depth);
            let error = node(&json).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), "nested too deeply");
        }
    }

    #[test]
    fn prefixes_in_objects() {
        let of = |json| prefixes(&node(json).unwrap());
        let json = r#"{"a":"10.0.0.0/8","b":{"c.d":"10.0.0.0-10.0.0.9","e":["10.1.0.0/16"]},"f":"10.0.0.1","g":"x/8"}"#;
        assert_eq!(of(json), ["a", "b.c.d"]);
        let read = node(json).unwrap();
        for path in of(json) {
            assert!(
                matches!(read.at(&path), Some(RecordNode::Scalar(..))),
                "{path}"
            );
        }
        let RecordNode::Map(mut members) = read else {
            panic!("an object");
        };
        for path in ["a", "b.c.d", "b.x", "f.x"] {
            remove(&mut members, path);
        }
        let left = RecordNode::Map(members);
        let is_there = |path| left.at(path).is_some();
        assert_eq!(
            ["a", "b.c.d", "b.e", "f", "g"].map(is_there),
            [false, false, true, true, true]
        );
    }
}
