//! The strings in the head of a JSON document: the first bytes of a file in, its strings out, each with
//! its role (key, value or element) and the number of open brackets around it.
//!
//! ```text
//! {"prefixes":[{"ip_prefix":"3.5.      (cut off here)
//! ```
//! gives the key `prefixes` at depth 1 and the key `ip_prefix` at depth 3. This is how formats are
//! recognised. A JSON parser would not do: a head is nearly always cut off in the middle of a value, which
//! is an error to it. So brackets and quotes are counted, and nothing else is checked.

use std::borrow::Cow;

/// A string of a head.
pub(super) struct HeadString<'a> {
    /// How many brackets are open around it.
    pub(super) depth: usize,
    /// What it is, and its text.
    pub(super) role: StringRole<'a>,
    /// Whether it is inside of a list, at any depth.
    pub(super) is_in_list: bool,
    /// What follows it.
    pub(super) rest: &'a [u8],
}

/// What a string is, with its text, as a parser would read it: FRR and PHP write `10.0.0.0\/8`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StringRole<'a> {
    /// The key of a member.
    Key(Cow<'a, str>),
    /// An element of a list.
    Element(Cow<'a, str>),
    /// The value of a member.
    Value(Cow<'a, str>),
}

/// The strings of `head`, up to where it is cut off.
pub(super) fn strings(head: &[u8]) -> impl Iterator<Item = HeadString<'_>> {
    let mut rest = head;
    let mut depth = 0usize;
    // A bit for each open bracket, the innermost lowest: whether it is a list's. Deeper than 64, the outer
    // ones are forgotten, which changes nothing that a format is recognised by.
    let mut lists = 0u64;
    std::iter::from_fn(move || {
        loop {
            let at = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'[' | b'{' | b']' | b'}'))?;
            let byte = rest[at];
            rest = &rest[at + 1..];
            match byte {
                b'"' => break,
                b'[' | b'{' => {
                    depth += 1;
                    lists = lists << 1 | u64::from(byte == b'[');
                }
                _ => {
                    depth = depth.saturating_sub(1);
                    lists >>= 1;
                }
            }
        }
        let mut end = 0;
        while *rest.get(end)? != b'"' {
            end += if rest[end] == b'\\' { 2 } else { 1 };
        }
        let text = unescaped(&rest[..end]);
        rest = &rest[end + 1..];
        let role = if rest.trim_ascii_start().first() == Some(&b':') {
            StringRole::Key(text)
        } else if lists & 1 == 1 {
            StringRole::Element(text)
        } else {
            StringRole::Value(text)
        };
        Some(HeadString {
            depth,
            role,
            is_in_list: lists != 0,
            rest,
        })
    })
}

/// The text between two quotes.
fn unescaped(text: &[u8]) -> Cow<'_, str> {
    let read = || serde_json::from_slice(&[b"\"", text, b"\""].concat()).ok();
    let has_escapes = text.contains(&b'\\');
    let unescaped = has_escapes.then(read).flatten().map(Cow::Owned);
    unescaped.unwrap_or_else(|| String::from_utf8_lossy(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_a_head() {
        let all = |head: &str| -> Vec<String> {
            let show = |found: HeadString<'_>| match found.role {
                StringRole::Key(key) => {
                    format!("{} {key}:", found.depth)
                }
                StringRole::Element(text) => {
                    format!("{} {text}", found.depth)
                }
                StringRole::Value(_) => format!("{} =", found.depth),
            };
            strings(head.as_bytes()).map(show).collect()
        };
        assert_eq!(
            all(r#"[{"a":"b","c" : 1,"x\"\/y":["d",{}, "f"]},{"e":"#),
            ["2 a:", "2 =", "2 c:", r#"2 x"/y:"#, "3 d", "3 f", "2 e:"]
        );
        assert_eq!(all(r#"{"a":"cut o"#), ["1 a:"]);
        assert_eq!(all(r#"{"a":"cut\"#), ["1 a:"]);
        assert_eq!(all("]]}\"a\""), ["0 ="]);
        assert!(all("").is_empty());
    }
}
