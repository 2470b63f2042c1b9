//! The words of listings: what a word of a router's output is (an address, an age, a date), for the grammars of all routers.

use std::net::{IpAddr, Ipv4Addr};

use crate::error::{not, quote};
use crate::ranges::{AddressSpan, Notation, is_prefix};

/// Whether a text begins with one of these words.
macro_rules! begins {
    ($text:expr, $($start:literal)+) => {{
        let text: &str = $text;
        false $(|| text.starts_with($start))+
    }};
}
pub(crate) use begins;

/// Whether `word` is an address, possibly with a zone (`fe80::1%eth0`).
pub(crate) fn is_address(word: &str) -> bool {
    let address = word.split('%').next().unwrap_or_default();
    address.parse::<IpAddr>().is_ok()
}

/// The next hop that `word` is, without a VRF (`192.0.2.1%default`) or the name of its host (`192.0.2.1(leaf01)`) after it: an
/// address or a name, but not what is left of an address.
pub(crate) fn next_hop(word: &str) -> Result<&str, String> {
    let named = word.split_once('(').map(|(address, _)| address);
    let word = named.filter(|address| is_address(address)).unwrap_or(word);
    let (address, zone) = word.split_once('%').unwrap_or((word, ""));
    if looks_like_prefix(address) && !is_address(address) {
        return Err(not(word, "an address"));
    }
    let is_link_local = address
        .get(..2)
        .is_some_and(|s| s.eq_ignore_ascii_case("fe"));
    Ok(if zone.is_empty() || is_link_local {
        word
    } else {
        address
    })
}

/// Whether a line is one that routers print above any listing: the load, the time, a warning.
pub(crate) fn is_preamble(text: &str) -> bool {
    is_date(text) || begins!(text, "Load for " "Time source is " "No time source" "WARNING" "%")
}

/// Whether `word` is the address that stands for none.
pub(crate) fn is_unspecified(word: &str) -> bool {
    word.parse::<IpAddr>().is_ok_and(|a| a.is_unspecified())
}

/// Whether `word` can only be meant as an address or a prefix, right or wrong, so that a wrong one is an error and not
/// passed over: `10.0.0.0/33`.
pub(crate) fn looks_like_prefix(word: &str) -> bool {
    let legal = |b: u8| b.is_ascii_hexdigit() || matches!(b, b'.' | b':' | b'/');
    let has = |sign| word.bytes().any(|b| b == sign);
    let begins_with_digit = word.bytes().next().is_some_and(|b| b.is_ascii_digit());
    word.bytes().all(legal) && (has(b':') || begins_with_digit && has(b'.'))
}

/// The same for one with a length.
pub(crate) fn is_long_prefix(word: &str) -> bool {
    word.bytes().any(|b| b == b'/') && looks_like_prefix(word)
}

/// Whether `word` is one of `words`, which have a blank between them.
pub(crate) fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The name of the table of a VRF in an address family; only the families of other routes than unicast count.
pub(crate) fn table_of(family: &str, vrf: &str) -> String {
    match family.trim() {
        "" | "IPv4 Unicast" | "IPv6 Unicast" | "VPNv4 Unicast" | "VPNv6 Unicast" => vrf.to_owned(),
        family => format!("{family} {vrf}").trim_end().to_owned(),
    }
}

/// The AS path that `text` begins with, and what follows it: the code of the origin or the age.
pub(crate) fn split_as_path(text: &str) -> (&str, &str) {
    let is_path = |c: char| c.is_ascii_digit() || ".,{}()[]".contains(c);
    let mut at = 0;
    while let Some((start, word)) = word_at(text, at) {
        if !word.chars().all(is_path) {
            return (text[..start].trim(), &text[start..]);
        }
        at = start + word.len();
    }
    (text.trim(), "")
}

/// Whether `text` may be an element of a list, right or wrong: what follows a prefix is then no clear value.
pub(crate) fn may_be_element(text: &str) -> bool {
    let is_wrong =
        || looks_like_prefix(text) && (text.contains('/') || text.matches('.').count() == 3);
    AddressSpan::parse(text, Notation::default()).is_ok() || is_wrong()
}

/// Nothing says that the second word of `text`, a prefix and what follows it, may be one more prefix: after blanks, an address is
/// the next hop of all but hosts without a length.
pub(crate) fn one_element(text: &str, second: usize) -> Result<(), String> {
    let (before, word) = text.split_at(second);
    let is_clear = before.contains('/') && !before.contains(',') && !is_prefix(word);
    match is_clear || !may_be_element(word) {
        true => Ok(()),
        false => Err(two_elements(text)),
    }
}

/// The error of two words in a row, the second of which [may be an element](may_be_element).
pub(crate) fn two_elements(text: &str) -> String {
    format!(
        "two prefixes, or a prefix and its value? `format` any takes all, `format` text or csv the first: {}",
        quote(text)
    )
}

/// Whether `word` is an age: `00:05:45`, `2w0d`, `1d05h38m`, `0.000000`, `never`.
pub(crate) fn is_time(word: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if word == "never" || word.split(':').all(digits) || word.split('.').all(digits) {
        return true;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() == rest.len() {
            return false;
        }
        rest = match after.strip_prefix(['y', 'w', 'd', 'h', 'm', 's']) {
            Some(rest) => rest,
            None => return false,
        };
    }
    true
}

/// The length of a prefix written without one: that of the address's class.
pub(crate) fn classful_len(address: Ipv4Addr) -> u8 {
    match address.octets()[0] {
        _ if address.is_unspecified() => 0,
        0..128 => 8,
        128..192 => 16,
        192..224 => 24,
        _ => 32,
    }
}

/// The prefix `text` with the length of its class if it has none.
pub(crate) fn with_classful_len(text: &str) -> String {
    match text.parse() {
        Ok(address) => format!("{text}/{}", classful_len(address)),
        Err(_) => text.to_owned(),
    }
}

/// Whether a line is the date that IOS XR puts before its answers: `Wed Nov 25 12:00:00.000 UTC`.
pub(crate) fn is_date(line: &str) -> bool {
    begins!(line, "Mon " "Tue " "Wed " "Thu " "Fri " "Sat " "Sun ")
}

/// The error of a line that is nothing known.
pub(crate) fn not_a_route(line: &str) -> String {
    not(line.trim(), "a route")
}

/// The word of `line` at or after byte `from`, and where it begins.
pub(crate) fn word_at(line: &str, from: usize) -> Option<(usize, &str)> {
    let rest = line.get(from..)?;
    let start = from + (rest.len() - rest.trim_start().len());
    let word = line[start..].split_ascii_whitespace().next()?;
    Some((start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_no_interfaces() {
        for time in [
            "00:05:45", "2w0d", "1d05h38m", "03w2d20h", "0.000000", "never", "7y3w", "5",
        ] {
            assert!(is_time(time), "{time}");
        }
        for other in ["", "eth0", "Null0", "d", "1d2", "Vlan5", "3x", "wan"] {
            assert!(other.is_empty() || !is_time(other), "{other}");
        }
    }

    #[test]
    fn classes() {
        for (text, prefix) in [
            ("0.0.0.0", "0.0.0.0/0"),
            ("10.0.0.0", "10.0.0.0/8"),
            ("127.0.0.0", "127.0.0.0/8"),
            ("128.1.0.0", "128.1.0.0/16"),
            ("191.255.0.0", "191.255.0.0/16"),
            ("192.168.1.0", "192.168.1.0/24"),
            ("224.0.0.5", "224.0.0.5/32"),
            ("10.0.0.0/9", "10.0.0.0/9"),
            ("::", "::"),
        ] {
            assert_eq!(with_classful_len(text), prefix);
        }
    }
}
