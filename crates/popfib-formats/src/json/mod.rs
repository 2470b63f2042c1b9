//! JSON: documents read item by item, and what the items say.
//!
//! A whole document may be larger than memory, so [`Items`] cuts it into the
//! elements of its outermost array, or the members of its objects, without
//! parsing them; each then goes to serde_json, and a [`Grammar`] makes routes of
//! them. [`open`] makes a [`RouteSource`] of all that.

pub(crate) mod frr;
pub(crate) mod ip_route;
mod items;
pub(crate) mod records;

use serde_json::Error;

use crate::rows::{Pieces, RowSource, Rows};
use crate::{Input, LoadOptions, ReadError, RouteSource};
use items::Items;

/// What the items of one format mean.
pub(crate) trait Grammar: Send {
    /// Whether the members of the member `key` are the items, rather than its
    /// value as a whole; `key` is empty for an outermost object.
    fn descends(&mut self, key: &str, rows: &mut Rows) -> bool;

    /// Reads an item; hands at most one route to `rows`. `key` is that of a
    /// member, empty for an element.
    ///
    /// An error concerns this item alone.
    fn item(&mut self, key: &str, json: &[u8], rows: &mut Rows) -> Result<(), String>;

    /// As [`Pieces::end`].
    fn end(&mut self, _: &mut Rows) {}

    /// As [`RouteSource::notes`].
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Opens a document in this grammar.
pub(crate) fn open<G: Grammar + Default + 'static>(
    input: Input,
    options: &LoadOptions,
) -> Result<Box<dyn RouteSource>, ReadError> {
    Ok(document(G::default(), input, options.mask))
}

/// The document that `grammar` makes of `input`.
pub(crate) fn document(
    grammar: impl Grammar + 'static,
    input: Input,
    mask: bool,
) -> Box<dyn RouteSource> {
    let document = Document {
        items: Items::new(input),
        grammar,
        is_damaged: false,
    };
    Box::new(RowSource::new(document, mask))
}

struct Document<G> {
    items: Items,
    grammar: G,
    /// Behind an error of the document nothing is known to be an item.
    is_damaged: bool,
}

impl<G: Grammar> Pieces for Document<G> {
    fn advance(&mut self, rows: &mut Rows) -> Result<bool, ReadError> {
        if self.is_damaged {
            return Ok(false);
        }
        let advanced = self.items.advance(|key| self.grammar.descends(key, rows));
        self.is_damaged = advanced.is_err();
        if !advanced? {
            return Ok(false);
        }
        rows.at_line(self.items.line());
        let (key, json) = (self.items.key(), self.items.json());
        if let Err(reason) = self.grammar.item(key, json, rows) {
            rows.complain(rows.line(), reason);
        }
        Ok(true)
    }

    fn end(&mut self, rows: &mut Rows) {
        self.grammar.end(rows);
    }

    fn invalid(&self, line: u64, reason: String) -> ReadError {
        self.items.invalid(line, reason)
    }

    fn notes(&self) -> Vec<String> {
        self.grammar.notes()
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
