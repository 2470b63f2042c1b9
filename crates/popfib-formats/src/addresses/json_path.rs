//! The values at a path of a JSON object, and where they stand in its text: a line and `src.ip` in, ranges of bytes out.
//!
//! serde_json reads the object and skips what the path does not lead to; what it leads to is kept as
//! a slice of the line, so that its place is known and nothing is copied, as a tree of the object would.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr2};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::items::pass_over_scalars;

/// What a line was that values were looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathOutcome {
    /// A value, or several, was there.
    Found,
    /// JSON without one.
    Absent,
    /// No object or array, or cut off before a value came.
    NotJson,
}

/// Calls `each` with where every value stands that `path` leads to in the object `line`: keys with a dot after each but the
/// last, and of an array each element, or the one of a number in the path. A key may have dots of its own.
pub(super) fn values(line: &[u8], path: &str, each: &mut dyn FnMut(Range<usize>)) -> PathOutcome {
    if let Some(range) = outermost(line, path) {
        each(range);
        return PathOutcome::Found;
    }
    let json = unmarked(line);
    let Ok(text) = std::str::from_utf8(json) else {
        return PathOutcome::NotJson;
    };
    let before = line.len() - json.len();
    let mut is_found = false;
    let mut found = |raw: &RawValue| {
        is_found = true;
        // serde_json lends slices of the text itself, so their addresses say where they stand.
        let start = before + raw.get().as_ptr() as usize - text.as_ptr() as usize;
        each(start..start + raw.get().len());
    };
    let at = PathVisitor {
        path: Some(path),
        each: &mut found,
        is_in_list: false,
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let is_read = at.deserialize(&mut json).is_ok();
    match text.trim_ascii_start().as_bytes() {
        // What came before an error was found all the same.
        _ if is_found => PathOutcome::Found,
        [b'{' | b'[', ..] if is_read => PathOutcome::Absent,
        _ => PathOutcome::NotJson,
    }
}

/// Where the string stands that is the outermost member called `key`, if nothing before it in `line` is nested: as in most lines, whose
/// values need not all be read then.
fn outermost(line: &[u8], key: &str) -> Option<Range<usize>> {
    let mut rest = line.strip_prefix(b"{")?;
    loop {
        let quote = memchr(b'"', rest)?;
        let start = line.len() - rest.len() + quote + 1;
        let name = line[start..].strip_prefix(key.as_bytes());
        let value = name.and_then(|name| name.strip_prefix(b"\""));
        let value = value.and_then(|value| value.trim_ascii_start().strip_prefix(b":"));
        if let Some(value) = value {
            let before = &line[1..start - 1];
            let is_key = matches!(before.trim_ascii_end().last(), None | Some(b','));
            let is_nested = memchr2(b'{', b'[', before).is_some();
            let value = value.trim_ascii_start();
            let from = line.len() - value.len();
            let end = memchr2(b'"', b'\\', value.strip_prefix(b"\"")?)?;
            let is_plain = value[end + 1] == b'"';
            return (is_key && !is_nested && is_plain).then_some(from..from + end + 2);
        }
        rest = &rest[quote + 1..];
    }
}

/// `line` without the byte order mark that may be before the first one.
pub(super) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// The text of a value as it is meant: of a string without its quotes and escapes.
pub(super) fn meant(value: &[u8]) -> Cow<'_, [u8]> {
    match value {
        [b'"', text @ .., b'"'] if memchr(b'\\', text).is_none() => text.into(),
        [b'"', ..] => match serde_json::from_slice::<String>(value) {
            Ok(text) => text.into_bytes().into(),
            Err(_) => value.into(),
        },
        _ => value.into(),
    }
}

/// The first paths, `enough` of them, that lead to something in the object `line`.
pub(super) fn paths(line: &[u8], enough: usize) -> Vec<String> {
    let mut paths = Vec::new();
    let mut open = vec![(String::new(), serde_json::from_slice(unmarked(line)))];
    while let Some((path, value)) = open.pop() {
        match value {
            Ok(Value::Object(members)) => {
                let dot = if path.is_empty() { "" } else { "." };
                let inside = members.into_iter();
                let mut inside: Vec<_> = inside
                    .map(|(key, value)| (format!("{path}{dot}{key}"), Ok(value)))
                    .collect();
                inside.reverse();
                open.append(&mut inside);
            }
            Ok(Value::Array(mut elements)) if elements.first().is_some_and(Value::is_object) => {
                open.push((path, Ok(elements.swap_remove(0))));
            }
            _ if path.is_empty() => {}
            _ if paths.len() == enough => {
                paths.push("...".to_owned());
                break;
            }
            _ => paths.push(path),
        }
    }
    paths
}

/// A place on the way down; it has what is left of the path, `None` at its end.
struct PathVisitor<'p, 'f> {
    path: Option<&'p str>,
    each: &'f mut dyn FnMut(&RawValue),
    /// In a list, whose other elements are to be read, too.
    is_in_list: bool,
}

/// One more than how much of `path` is `key`, if that is all of it or a dot comes next; else 0.
#[inline]
fn taken(path: &str, key: &str) -> usize {
    // Most keys have another length.
    let is_next = match path.as_bytes().get(key.len()) {
        None => path == key,
        Some(b'.') => path.starts_with(key),
        Some(_) => false,
    };
    if is_next { key.len() + 1 } else { 0 }
}

impl<'de> DeserializeSeed<'de> for PathVisitor<'_, '_> {
    type Value = bool;

    /// Whether a value was found.
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        if self.path.is_none() {
            let value: &RawValue = serde::Deserialize::deserialize(json)?;
            (self.each)(value);
            return Ok(true);
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PathVisitor<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<bool, M::Error> {
        let path = self.path.unwrap_or_default();
        let mut is_found = false;
        while let Some(taken) = map.next_key_seed(PathKey(path))? {
            // Of a key that is there twice, the first that leads to something.
            if taken > 0 && !is_found {
                is_found = map.next_value_seed(PathVisitor {
                    path: path[taken - 1..].strip_prefix('.'),
                    each: &mut *self.each,
                    is_in_list: self.is_in_list,
                })?;
                if is_found && !self.is_in_list {
                    // The rest of the line is not read: that it is left over is an error, which ends the reading.
                    return Ok(true);
                }
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(is_found)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<bool, S::Error> {
        let path = self.path.unwrap_or_default();
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        // A number chooses one element; any other key is looked for in all of them.
        let number: Option<usize> = first.parse().ok();
        let mut is_found = false;
        for index in 0.. {
            let path = if number.is_some() { rest } else { Some(path) };
            let is_asked = number.is_none_or(|number| number == index);
            let next = if is_asked {
                list.next_element_seed(PathVisitor {
                    path,
                    each: &mut *self.each,
                    is_in_list: true,
                })?
            } else {
                list.next_element::<IgnoredAny>()?.map(|_| false)
            };
            match next {
                Some(is_there) => is_found |= is_there,
                None => break,
            }
        }
        Ok(is_found)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    pass_over_scalars! { false }
}

/// Compares a key with the path, without a copy of it: says how much of the path it is, as [`taken`] does.
struct PathKey<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for PathKey<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<usize, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for PathKey<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<usize, E> {
        Ok(taken(self.0, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        values(line.as_bytes(), path, &mut |range| {
            found.push(line[range].to_owned());
        });
        found
    }

    #[test]
    fn paths_lead_through_objects_and_arrays() {
        let line = r#" {"a": 1, "src": {"ip" : "1.2.3.4", "port": 80, "ip": "no"}, "list": [{"ip": "5.6.7.8"}, 3, {"ip": ["::1"]}]} "#;
        for (path, expected) in [
            ("a", &["1"][..]),
            ("src.ip", &[r#""1.2.3.4""#]),
            ("list.ip", &[r#""5.6.7.8""#, r#"["::1"]"#]),
            ("list.0.ip", &[r#""5.6.7.8""#]),
            ("list.2.ip.0", &[r#""::1""#]),
            ("list.7.ip", &[]),
            ("src.none", &[]),
            ("a.b", &[]),
            ("src", &[r#"{"ip" : "1.2.3.4", "port": 80, "ip": "no"}"#]),
        ] {
            assert_eq!(found(line, path), expected, "{path}");
        }
    }

    #[test]
    fn keys_may_have_dots() {
        let line = "\u{feff}{\"id\":{\"x\":1},\"id.orig_h\":\"1.2.3.4\",\"a.b\":{\"c.d\":[{\"e.f\":2}]},\"\":{\"\":3}}";
        for (path, expected) in [
            ("id.orig_h", &["\"1.2.3.4\""][..]),
            ("id.x", &["1"]),
            ("a.b.c.d.e.f", &["2"]),
            ("a.b.c.d.0.e.f", &["2"]),
            ("a.b.c", &[]),
            ("a", &[]),
            (".", &["3"]),
        ] {
            assert_eq!(found(line, path), expected, "{path}");
        }
        let there = ["id.x", "id.orig_h", "a.b.c.d.e.f"];
        let mut seen = paths(line.as_bytes(), 20);
        for path in &seen {
            assert_eq!(found(line, path).len(), 1, "{path}");
        }
        seen.sort();
        let mut there = there.map(str::to_owned);
        there.sort();
        assert_eq!(seen, there);
    }

    #[test]
    fn lines_that_cannot_be_read_are_told_apart() {
        for (line, expected) in [
            ("{\"ip\":1}", PathOutcome::Found),
            ("{\"ip\":1,\"cut", PathOutcome::Found),
            ("{\"x\":1}", PathOutcome::Absent),
            ("[3]", PathOutcome::Absent),
            ("{\"x\":1,\"cut", PathOutcome::NotJson),
            ("\"ip\"", PathOutcome::NotJson),
            ("ip=1", PathOutcome::NotJson),
            ("{start} 1", PathOutcome::NotJson),
        ] {
            assert_eq!(
                values(line.as_bytes(), "ip", &mut |_| {}),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn the_short_way_gives_what_the_long_one_does() {
        for line in [
            r#"{"ip":"1.2.3.4","x":1}"#,
            r#"{ "x" : 1 , "ip" : "1.2.3.4" }"#,
            r#"{"x":"ip","y":{"ip":"::2"},"ip":"::1"}"#,
            r#"{"x":",\"ip\":\"::2\"","ip":"::1"}"#,
            r#"{"x":"{,","ip":"::1"}"#,
            r#"{"x":["ip",{"ip":"::2"}],"ip":"::1"}"#,
            r#"{"ip":"\u0031.2.3.4"}"#,
            r#"{"ip":1,"ip":"::1"}"#,
            r#"{"ip":["::1"]}"#,
        ] {
            let mut long = Vec::new();
            // Blanks before it are not what the short way takes.
            values(format!(" {line}").as_bytes(), "ip", &mut |range| {
                long.push(line[range.start - 1..range.end - 1].to_owned());
            });
            assert_eq!(found(line, "ip"), long, "{line}");
        }
    }

    #[test]
    fn strings_are_taken_as_they_are_meant() {
        for (value, text) in [
            ("\"a\"", "a"),
            ("\"\\t\\u0031\\/\"", "\t1/"),
            ("\"\\q\"", "\"\\q\""),
            ("12", "12"),
            ("[\"a\"]", "[\"a\"]"),
        ] {
            assert_eq!(*meant(value.as_bytes()), *text.as_bytes(), "{value}");
        }
    }

    #[test]
    fn what_is_no_json_has_nothing_or_what_came_before() {
        for line in [
            "",
            "[",
            "nonsense",
            "{\"ip\"",
            "{\"ip\":",
            "{\"x\":1,}",
            "{\"ip\":\"1.2.3.4",
        ] {
            assert!(found(line, "ip").is_empty(), "{line}");
        }
        assert_eq!(found(r#"{"ip":"1.2.3.4","cut":"#, "ip"), [r#""1.2.3.4""#]);
        let deep = "[".repeat(100_000);
        assert!(found(&deep, "ip").is_empty());
        assert!(found(&format!("{{\"x\":{deep}"), "ip").is_empty());
    }
}
