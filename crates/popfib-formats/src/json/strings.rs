//! The strings in the head of a JSON document, and what each is: enough to tell a format.

/// A string, without its quotes, and how many brackets are open around it.
pub(super) struct Found<'a> {
    pub(super) depth: usize,
    pub(super) text: Text<'a>,
    /// Whether it is inside of a list.
    pub(super) is_in_list: bool,
    /// What follows it.
    pub(super) rest: &'a [u8],
}

/// What a string is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text<'a> {
    /// The key of a member.
    Key(&'a [u8]),
    /// An element of a list.
    Element(&'a [u8]),
    /// The value of a member.
    Value(&'a [u8]),
}

/// The strings of `head`, escapes as they are, up to where it is cut off.
pub(super) fn strings(head: &[u8]) -> impl Iterator<Item = Found<'_>> {
    let mut rest = head;
    let mut depth = 0usize;
    // Whether the innermost bracket, of 64 at most, is a list's.
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
        let text = &rest[..end];
        rest = &rest[end + 1..];
        let text = if rest.trim_ascii_start().first() == Some(&b':') {
            Text::Key(text)
        } else if lists & 1 == 1 {
            Text::Element(text)
        } else {
            Text::Value(text)
        };
        Some(Found {
            depth,
            text,
            is_in_list: lists != 0,
            rest,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_a_head() {
        let all = |head: &str| -> Vec<String> {
            let show = |found: Found<'_>| match found.text {
                Text::Key(key) => format!("{} {}:", found.depth, String::from_utf8_lossy(key)),
                Text::Element(text) => format!("{} {}", found.depth, String::from_utf8_lossy(text)),
                Text::Value(_) => format!("{} =", found.depth),
            };
            strings(head.as_bytes()).map(show).collect()
        };
        assert_eq!(
            all(r#"[{"a":"b","c" : 1,"x\"y":["d",{}, "f"]},{"e":"#),
            ["2 a:", "2 =", "2 c:", r#"2 x\"y:"#, "3 d", "3 f", "2 e:"]
        );
        assert_eq!(all(r#"{"a":"cut o"#), ["1 a:"]);
        assert_eq!(all(r#"{"a":"cut\"#), ["1 a:"]);
        assert_eq!(all("]]}\"a\""), ["0 ="]);
        assert!(all("").is_empty());
    }
}
