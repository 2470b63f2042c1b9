//! JSON: documents read item by item, and what the items say.
//!
//! A whole document may be larger than memory, so [`Items`] cuts it into the
//! elements of its outermost array, or the members of its objects, without
//! parsing them; each then goes to serde_json. A [`Grammar`] makes routes of
//! them and the [`Document`] around both is the [`RouteSource`].

pub(crate) mod frr;
pub(crate) mod ip_route;
mod items;
pub(crate) mod records;

use std::fmt;

use serde_json::Error;

use crate::rows::Rows;
use crate::{Input, ReadError, Route, RouteSource};
use items::Items;

/// What the items of one format mean.
pub(crate) trait Grammar: Default + Send {
    /// Whether the members of the member `key` are the items, rather than its
    /// value as a whole; `key` is empty for an outermost object.
    fn descends(&mut self, key: &str, rows: &mut Rows) -> bool;

    /// Reads an item; hands at most one route to `rows`. `key` is that of a
    /// member, empty for an element.
    ///
    /// An error concerns this item alone.
    fn item(&mut self, key: &str, json: &[u8], rows: &mut Rows) -> Result<(), String>;

    /// The document is over: hands out what was waiting for more items.
    fn end(&mut self, _: &mut Rows) {}
}

/// The [`RouteSource`] of a grammar.
pub(crate) struct Document<G> {
    items: Items,
    grammar: G,
    rows: Rows,
    at_end: bool,
}

impl<G: Grammar> Document<G> {
    /// Reads routes from `input`. With `mask`, host bits are cleared and no error.
    pub(crate) fn new(input: Input, mask: bool) -> Self {
        Self {
            items: Items::new(input),
            grammar: G::default(),
            rows: Rows::new(mask),
            at_end: false,
        }
    }
}

impl<G: Grammar> RouteSource for Document<G> {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        loop {
            if let Some((line, reason)) = self.rows.take_flaw() {
                return Err(self.items.invalid(line, reason));
            }
            if self.rows.has_found() {
                return Ok(self.rows.take_found());
            }
            if self.at_end {
                self.grammar.end(&mut self.rows);
                if self.rows.is_idle() {
                    return Ok(None);
                }
                continue;
            }
            let (grammar, rows) = (&mut self.grammar, &mut self.rows);
            let advanced = self.items.advance(|key| grammar.descends(key, rows));
            // Behind an error nothing is known to be an item: that is the end.
            self.at_end = !matches!(advanced, Ok(true));
            if !advanced? {
                continue;
            }
            rows.at_line(self.items.line());
            if let Err(reason) = grammar.item(self.items.key(), self.items.json(), rows) {
                rows.complain(rows.line(), reason);
            }
        }
    }
}

impl<G> fmt::Debug for Document<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").finish_non_exhaustive()
    }
}

/// What is wrong with an item, without the place inside of it: that counts from
/// the item's start and would be taken for one in the file.
fn reason(error: &Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    text[..end].to_owned()
}

/// The first byte of a document's head that is no blank.
fn first_byte(head: &[u8]) -> Option<u8> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.trim_ascii_start().first().copied()
}

/// The strings in a head that a colon follows: the keys of its objects.
fn keys(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = head;
    std::iter::from_fn(move || {
        loop {
            let start = memchr::memchr(b'"', rest)? + 1;
            let mut end = start;
            while *rest.get(end)? != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            let text = &rest[start..end];
            rest = &rest[end + 1..];
            if rest.trim_ascii_start().first() == Some(&b':') {
                return Some(text);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_head() {
        let all = |head: &str| -> Vec<String> {
            let text = |key| String::from_utf8_lossy(key).into_owned();
            keys(head.as_bytes()).map(text).collect()
        };
        assert_eq!(
            all(r#"[{"a":"b","c" : 1,"x\"y":["d"]},{"e":"#),
            ["a", "c", r#"x\"y"#, "e"]
        );
        assert_eq!(all(r#"{"a":"cut o"#), ["a"]);
        assert_eq!(all(r#"{"a":"cut\"#), ["a"]);
        assert!(all("").is_empty());
    }
}
