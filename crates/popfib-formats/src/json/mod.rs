//! JSON formats: what the objects in them mean, and what they share.
//!
//! A whole document may be larger than memory: [`Items`](crate::items::Items) cuts
//! it, and each item goes to serde_json for itself.

pub(crate) mod frr;
pub(crate) mod ip_route;
pub(crate) mod records;

use serde_json::Error;

/// What is wrong with an item, without the place inside of it: that counts from
/// the item's start and would be taken for one in the file.
pub(crate) fn reason(error: &Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    // A type of Rust says nothing to a user.
    match text[..end].strip_suffix("expected u64") {
        Some(start) => format!("{start}expected a number"),
        None => text[..end].to_owned(),
    }
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
