//! What the keys of an outermost object are: the head of a document in, an [`OuterKeys`] out. In most documents they
//! are names of its parts; in others, which people write by hand, they are values or prefixes themselves:
//!
//! ```text
//! {"office":"10.0.0.0/8","lab":["10.1.0.0/16"]}
//! {"office":{"cidr":"10.0.0.0/8"},"lab":{"cidr":"10.1.0.0/16"}}
//! {"10.0.0.0/8":"office","10.1.0.0/16":{"name":"lab"}}
//! ```
//! No name says which it is, so all keys of the head have to agree: a document that has a version, or a time,
//! beside its prefixes is one of parts. One member alone does not tell either.

use popfib::IpPrefix;
use serde::de::IgnoredAny;

use super::first_byte;
use super::strings::{HeadString, StringRole, strings};
use crate::ranges::{is_prefix, is_range};

/// What the keys of an outermost object are, in a document with prefixes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OuterKeys {
    /// Names of its parts: `prefixes`, `values`, `web`.
    #[default]
    Names,
    /// The values of what is below: of two objects or more and nothing else, or of prefixes and lists of them.
    Values,
    /// Prefixes, each of which leads to its value.
    Prefixes,
}

impl OuterKeys {
    /// Those of the object that `head` begins with, as far as it goes. If another document follows, as with an object a
    /// line, they are names.
    pub(super) fn of(head: &[u8]) -> Self {
        if first_byte(head) != Some(b'{') || !is_alone(head) {
            return Self::Names;
        }
        // Of all keys: how many lead to an object, to a prefix or a list that begins with one, to a prefix as a
        // text, and how many are prefixes themselves.
        let (mut keys, mut objects, mut prefixes, mut texts, mut are_prefixes) = (0, 0, 0, 0, 0);
        let mut inside = strings(head).peekable();
        while let Some(found) = inside.next() {
            let Some((key, byte)) = member(&found).filter(|_| found.depth == 1) else {
                continue;
            };
            keys += 1;
            are_prefixes += usize::from(byte != b'[' && is_any_prefix(key));
            objects += usize::from(byte == b'{');
            let next = inside.peek().map(|next| (next.depth, &next.role));
            match (byte, next) {
                (b'"', Some((1, StringRole::Value(text)))) if is_prefix(text) => {
                    texts += 1;
                    prefixes += 1;
                }
                (b'[', Some((2, StringRole::Element(text)))) => {
                    prefixes += usize::from(is_any_prefix(text));
                }
                _ => {}
            }
        }
        if keys > 0 && are_prefixes == keys {
            return Self::Prefixes;
        }
        // Lists alone have their keys for values anyhow (`json-lists`).
        match keys > 1 && (objects == keys || prefixes == keys && texts > 0) {
            true => Self::Values,
            false => Self::Names,
        }
    }
}

/// The key that a string is, and the first byte of what it leads to.
fn member<'a>(found: &'a HeadString<'_>) -> Option<(&'a str, u8)> {
    let StringRole::Key(key) = &found.role else {
        return None;
    };
    let value = found.rest.trim_ascii_start().strip_prefix(b":")?;
    let byte = value.trim_ascii_start().first()?;
    Some((key, *byte))
}

/// Whether this is an address, a prefix or a range.
fn is_any_prefix(text: &str) -> bool {
    is_range(text) || IpPrefix::parse_masked(text).is_ok()
}

/// Whether nothing comes after the first value of `head`, if that ends there.
pub(super) fn is_alone(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut values = serde_json::Deserializer::from_slice(head).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => head[values.byte_offset()..].trim_ascii().is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_an_object() {
        use OuterKeys::{Names, Prefixes, Values};
        for (text, keys) in [
            (r#"{"a":"10.0.0.0/8","b":"10.1.0.0/16"}"#, Values),
            (
                r#"{"a":"10.0.0.0/8","b":["10.1.0.0/16","10.2.0.1"]}"#,
                Values,
            ),
            (
                "{\n\"a\" : { \"x\": 1 },\n\"b\":{\"a\":\"10.0.0.0/8\"",
                Values,
            ),
            (
                r#"{"10.0.0.0/8":"a","::1":{"name":"b"},"10.1.0.0-10.1.0.3":1}"#,
                Prefixes,
            ),
            (r#"{"10.0.0.0\/8":null}"#, Prefixes),
            // One member tells nothing, lists have their own keys, and others are parts.
            (r#"{"a":"10.0.0.0/8"}"#, Names),
            (r#"{"a":{"b":"10.0.0.0/8"}}"#, Names),
            (r#"{"a":["10.0.0.0/8"],"b":["10.1.0.0/16"]}"#, Names),
            (r#"{"a":"10.0.0.0/8","b":"10.1.0.0/16","n":2}"#, Names),
            (r#"{"a":"10.0.0.0/8","b":"10.1.0.1"}"#, Names),
            (r#"{"a":"10.0.0.0/8","b":["ssh"]}"#, Names),
            (r#"{"a":{},"b":{},"status":"ok"}"#, Names),
            (r#"{"10.0.0.0/8":[{"prefix":"10.0.0.0/8"}]}"#, Names),
            (r#"{"10.0.0.0/8":"a","version":"b"}"#, Names),
            // One a line.
            ("{\"a\":\"10.0.0.0/8\",\"b\":\"10.1.0.0/16\"}\n{}\n", Names),
            ("[{\"a\":{},\"b\":{}}]", Names),
            ("{}", Names),
            ("", Names),
        ] {
            assert_eq!(OuterKeys::of(text.as_bytes()), keys, "{text}");
        }
    }
}
