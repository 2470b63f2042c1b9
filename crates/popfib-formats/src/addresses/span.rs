//! Prefixes and ranges in a line of text: what [`find_address`] finds, together with a length or an end that stands after it.
//!
//! ```text
//! deny 10.0.0.0/8 and 192.0.2.1-192.0.2.9      a prefix, a range
//! http://192.0.2.1/24/                         an address: what follows is a path
//! ```

use std::fmt::Display;
use std::net::IpAddr;
use std::ops::Range;

use popfib::IpPrefix;

use super::find::{FoundAddress, find_address};

/// An address, a prefix or a range, and the bytes of the line that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSpan {
    /// Where it stands.
    pub range: Range<usize>,
    /// Its first address.
    pub first: IpAddr,
    /// Its last, of the same family; the same for an address by itself.
    pub last: IpAddr,
}

/// The first address of `line` that begins at `from` or later, as [`find_address`] finds it, with its length if it is a prefix
/// (`10.0.0.0/8`; host bits are cleared) and the last address if it is a range (`10.0.0.1-10.0.0.9`).
///
/// What is no length of its family, or is followed by `/` or a word, is none (`http://192.0.2.1/24/`); nor is an address before
/// the first the end of a range. Takes time by the length of the line.
pub fn find_span(line: &[u8], from: usize) -> Option<FoundSpan> {
    let found = find_address(line, from)?;
    let prefix = prefix_of(line, &found).map(|(prefix, end)| (prefix.first(), prefix.last(), end));
    let span = prefix.or_else(|| range(line, &found));
    let (first, last, end) = span.unwrap_or((found.address, found.address, found.range.end));
    let range = found.range.start..end;
    Some(FoundSpan { range, first, last })
}

/// The prefix that an address of `line` begins, and where it ends.
pub(super) fn prefix_of(line: &[u8], found: &FoundAddress) -> Option<(IpPrefix, usize)> {
    let rest = after_slash(&line[found.range.end..])?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/');
    let is_number = rest.get(digits) == Some(&b'.') && rest.get(digits + 1).is_some_and(is_word);
    let is_path = after_slash(&rest[digits..]).is_some();
    if is_number || is_path || rest.get(digits).is_some_and(is_word) {
        return None;
    }
    let length = std::str::from_utf8(&rest[..digits]).ok()?;
    let prefix = masked(found.address, length)?;
    Some((prefix, line.len() - rest.len() + digits))
}

/// What comes after the slash that `text` begins with, which JSON and URLs may write with an escape.
pub(crate) fn after_slash(text: &[u8]) -> Option<&[u8]> {
    let slashes: [&[u8]; 4] = [b"/", b"\\/", b"%2F", b"%2f"];
    slashes.iter().find_map(|slash| text.strip_prefix(*slash))
}

/// The prefix of an address and a length, whose host bits are cleared.
pub(super) fn masked(address: IpAddr, length: impl Display) -> Option<IpPrefix> {
    IpPrefix::parse_masked(&format!("{address}/{length}")).ok()
}

/// The ends of a range, and where it ends, of an address that a dash and another one follow, without blanks: those stand between
/// columns, too.
fn range(line: &[u8], found: &FoundAddress) -> Option<(IpAddr, IpAddr, usize)> {
    let rest = line[found.range.end..].strip_prefix(b"-")?;
    let last = find_address(rest, 0).filter(|last| last.range.start == 0)?;
    let is_range =
        last.address.is_ipv4() == found.address.is_ipv4() && found.address <= last.address;
    let end = found.range.end + 1 + last.range.end;
    is_range.then_some((found.address, last.address, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_ranges_are_found_with_what_belongs_to_them() {
        let spans = |line: &str| {
            let mut at = 0;
            let spans = std::iter::from_fn(|| {
                let span = find_span(line.as_bytes(), at)?;
                at = span.range.end;
                Some(format!(
                    "{}={}-{}",
                    &line[span.range], span.first, span.last
                ))
            });
            spans.collect::<Vec<_>>().join(" ")
        };
        for (line, wanted) in [
            ("a 10.0.0.0/8,b", "10.0.0.0/8=10.0.0.0-10.255.255.255"),
            ("10.1.2.3/24", "10.1.2.3/24=10.1.2.0-10.1.2.255"),
            ("10.1.2.3/24.", "10.1.2.3/24=10.1.2.0-10.1.2.255"),
            ("10.1.2.3/32 x", "10.1.2.3/32=10.1.2.3-10.1.2.3"),
            ("0.0.0.0/0", "0.0.0.0/0=0.0.0.0-255.255.255.255"),
            ("\"10.1.0.0\\/16\"", "10.1.0.0\\/16=10.1.0.0-10.1.255.255"),
            ("=10.1.0.0%2F16&", "10.1.0.0%2F16=10.1.0.0-10.1.255.255"),
            ("http:\\/\\/10.1.2.3\\/24\\/x", "10.1.2.3=10.1.2.3-10.1.2.3"),
            ("10.1.2.3/33", "10.1.2.3=10.1.2.3-10.1.2.3"),
            ("10.1.2.3/", "10.1.2.3=10.1.2.3-10.1.2.3"),
            ("http://10.1.2.3/24/x", "10.1.2.3=10.1.2.3-10.1.2.3"),
            ("10.1.2.3/24h", "10.1.2.3=10.1.2.3-10.1.2.3"),
            ("10.1.2.3/8.5", "10.1.2.3=10.1.2.3-10.1.2.3"),
            (
                "x:10.0.0.1-10.0.0.9 10.0.0.7",
                "10.0.0.1-10.0.0.9=10.0.0.1-10.0.0.9 10.0.0.7=10.0.0.7-10.0.0.7",
            ),
            (
                "10.0.0.9-10.0.0.1",
                "10.0.0.9=10.0.0.9-10.0.0.9 10.0.0.1=10.0.0.1-10.0.0.1",
            ),
            ("10.0.0.1 - - [x]", "10.0.0.1=10.0.0.1-10.0.0.1"),
            ("10.0.0.1-::2", "10.0.0.1=10.0.0.1-10.0.0.1 ::2=::2-::2"),
            (
                "[2001:db8::/32]",
                "2001:db8::/32=2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            ),
            (
                "2001:db8::1-2001:db8::9",
                "2001:db8::1-2001:db8::9=2001:db8::1-2001:db8::9",
            ),
            ("nothing", ""),
        ] {
            assert_eq!(spans(line), wanted, "{line}");
        }
    }
}
