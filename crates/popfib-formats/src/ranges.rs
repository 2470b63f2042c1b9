//! What stands for addresses where no plain prefix does: ranges, and short forms of IPv4. A text in, the fewest prefixes out.
//!
//! ```text
//! 10.0.0.0-10.0.1.255    10.0.0.1-20    8.8.8.*    10.1/16
//! ```
//! A range is both its ends and what lies between; its prefixes are the fewest that cover it. Of short forms those are read
//! that can mean one thing: the last byte of a range, bytes that may be anything at the end, and bytes of zero left out that
//! lie beyond the length. `10.1` alone is 10.0.0.1 to some programs and 10.1.0.0/16 to others, so it is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use popfib::algebra::{self, RangePrefixes as Of};
use popfib::{IpPrefix, Prefix, PrefixError};
use thiserror::Error;

use crate::error::quote;
use crate::ipv4;

/// What a text stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressSpan {
    Prefix(IpPrefix),
    /// The first and the last address, in this order.
    Range(IpAddr, IpAddr),
}

impl From<IpPrefix> for AddressSpan {
    #[inline(always)]
    fn from(prefix: IpPrefix) -> Self {
        Self::Prefix(prefix)
    }
}

impl fmt::Display for AddressSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(prefix) => prefix.fmt(f),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

/// Why a text stands for no addresses.
#[derive(Debug)]
pub(crate) struct NoSpan {
    /// In words, after the text.
    pub(crate) reason: String,
    pub(crate) source: PrefixError,
}

impl fmt::Display for NoSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Why `text` is no prefix, and what helps.
pub(crate) fn no_prefix(text: &[u8], error: PrefixError) -> String {
    let help = match error {
        PrefixError::HostBits => "; `mask` clears them",
        _ => "",
    };
    format!("{}: {error}{help}", quote(text))
}

/// The plain prefix that `text` is, its host bits cleared or refused.
#[inline]
pub(crate) fn prefix(text: &str, mask: bool) -> Result<IpPrefix, PrefixError> {
    // Most are IPv4 and right, and the shortcut reads them several times as fast.
    if let Some((bits, len, read)) = ipv4::prefix(text.as_bytes())
        && read == text.len()
        && let Ok(prefix) = Prefix::new(bits, len)
    {
        return Ok(IpPrefix::V4(prefix));
    }
    match mask {
        true => IpPrefix::parse_masked(text),
        false => text.parse(),
    }
}

/// Whether `text` is a range with both its ends.
pub(crate) fn is_range(text: &str) -> bool {
    let is_address = |end: &str| end.trim().parse::<IpAddr>().is_ok();
    text.split_once('-')
        .is_some_and(|(first, last)| is_address(first) && is_address(last))
}

/// How addresses are written, beside what is always read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notation {
    /// Host bits are cleared, not refused.
    pub(crate) mask: bool,
    /// Bytes of IPv4 may have leading zeros, and are decimal.
    pub(crate) leading_zeros: bool,
}

/// Whether `text` is a prefix with its length or a range, which an address beside them would not tell.
pub(crate) fn is_prefix(text: &str) -> bool {
    is_range(text) || text.contains('/') && IpPrefix::parse_masked(text).is_ok()
}

impl AddressSpan {
    /// The prefix, range or short form that `text` is.
    #[inline]
    pub(crate) fn parse(text: &str, notation: Notation) -> Result<Self, NoSpan> {
        match prefix(text, notation.mask) {
            Ok(prefix) => Ok(Self::Prefix(prefix)),
            Err(error) => Self::other(text, notation, error),
        }
    }

    /// What is no plain prefix, for which there was this error. Cold: a list of a million prefixes comes here for none.
    #[cold]
    fn other(text: &str, notation: Notation, source: PrefixError) -> Result<Self, NoSpan> {
        let no = |reason: String| NoSpan {
            reason: format!("{}: {reason}", quote(text)),
            source,
        };
        let plain = |source: PrefixError| NoSpan {
            reason: no_prefix(text.as_bytes(), source),
            source,
        };
        if let Some(decimal) = without_leading_zeros(text) {
            if !notation.leading_zeros {
                let reason = "leading zeros, which some programs take for octal; `leading_zeros` reads decimal numbers";
                return Err(no(reason.to_owned()));
            }
            return Self::parse(&decimal, notation).map_err(|e| plain(e.source));
        }
        if let Some(full) = short(text) {
            let prefix = prefix(&full, notation.mask);
            return prefix.map(Self::Prefix).map_err(plain);
        }
        let Some((first, last)) = text.split_once('-') else {
            return Err(plain(source));
        };
        let (first, last) = (first.trim(), last.trim());
        let first: IpAddr = match first.parse() {
            Ok(first) => first,
            Err(_) if is_with_maximum(first, last) => {
                let reason = "a prefix and a maximum length, as VRPs have it, which `popfib rov --vrps` reads";
                return Err(no(reason.to_owned()));
            }
            Err(_) => return Err(plain(source)),
        };
        let last = match (first, last.parse()) {
            (_, Ok(last)) => last,
            (IpAddr::V4(first), Err(_)) => match byte(last) {
                Some(last) => {
                    let [a, b, c, _] = first.octets();
                    IpAddr::from([a, b, c, last])
                }
                None => return Err(no("not a range of addresses".to_owned())),
            },
            (IpAddr::V6(_), Err(_)) => return Err(no("not a range of addresses".to_owned())),
        };
        match IpRangePrefixes::new(first, last) {
            Ok(_) => Ok(Self::Range(first, last)),
            Err(e) => Err(no(e.to_string())),
        }
    }

    /// Its first and its last address.
    pub(crate) fn ends(self) -> (IpAddr, IpAddr) {
        match self {
            Self::Prefix(prefix) => (prefix.first(), prefix.last()),
            Self::Range(first, last) => (first, last),
        }
    }
}

/// The number of one byte, of digits alone.
fn byte(text: &str) -> Option<u8> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_plain = text == "0" || !text.starts_with('0');
    if is_number && is_plain {
        text.parse().ok()
    } else {
        None
    }
}

/// The prefix that a short form of IPv4 stands for, as it is written in full.
fn short(text: &str) -> Option<String> {
    let (bytes, len) = match text.split_once('/') {
        Some((bytes, len)) => (bytes, Some(byte(len)?)),
        None => (text, None),
    };
    let is_star = |part: &&str| *part == "*";
    let parts: Vec<&str> = bytes.split('.').collect();
    let stars = parts.iter().rev().take_while(|part| is_star(part)).count();
    let numbers = parts[..parts.len() - stars].iter().map(|part| byte(part));
    let mut octets: Vec<u8> = numbers.collect::<Option<_>>()?;
    let count = octets.len();
    let len = match len {
        None if (1..4).contains(&count) && (1..=4 - count).contains(&stars) => 8 * count as u8,
        Some(len) if (1..4).contains(&count) && stars == 0 && usize::from(len) <= 8 * count => len,
        _ => return None,
    };
    octets.resize(4, 0);
    let [a, b, c, d] = octets[..] else {
        return None;
    };
    Some(format!("{}/{len}", Ipv4Addr::new(a, b, c, d)))
}

/// `text` without the leading zeros of the bytes of its dotted IPv4 addresses; `None` if it has none there.
fn without_leading_zeros(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut is_any = false;
    let is_byte =
        |byte: &str| (1..=3).contains(&byte.len()) && byte.bytes().all(|b| b.is_ascii_digit());
    for part in text.split_inclusive(['/', '-']) {
        let (address, sign) = match part.strip_suffix(['/', '-']) {
            Some(address) => (address, &part[address.len()..]),
            None => (part, ""),
        };
        let bytes: Vec<_> = address.trim().split('.').collect();
        if bytes.len() == 4 && bytes.iter().copied().all(is_byte) {
            let bytes = bytes.iter().map(|byte| match byte.trim_start_matches('0') {
                "" => "0",
                byte => byte,
            });
            let bytes = bytes.collect::<Vec<_>>().join(".");
            is_any |= bytes != address.trim();
            plain.push_str(&bytes);
        } else {
            plain.push_str(address);
        }
        plain.push_str(sign);
    }
    is_any.then_some(plain)
}

/// Whether `10.0.0.0/8-24` was cut at its dash.
fn is_with_maximum(prefix: &str, max: &str) -> bool {
    prefix.contains('/') && prefix.parse::<IpPrefix>().is_ok() && byte(max).is_some()
}

/// The fewest prefixes that cover the addresses from `first` to `last`, and no
/// other, in ascending order.
///
/// At most two for each bit of the address. Constant time for each.
#[derive(Clone, Debug)]
pub enum IpRangePrefixes {
    /// Those of IPv4.
    V4(Of<u32>),
    /// Those of IPv6.
    V6(Of<u128>),
}

/// Two addresses that are not the ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RangeError {
    /// One is IPv4, the other IPv6.
    #[error("the ends of the range are of two families")]
    Families,
    /// The first is greater than the last.
    #[error("the first address of the range is after the last")]
    Order,
}

impl IpRangePrefixes {
    /// The prefixes of a range; both ends belong to it.
    ///
    /// # Errors
    /// If the ends are of two families, or in the wrong order.
    pub fn new(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
        let is_ordered = first <= last;
        let found = match (first, last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                Self::V4(algebra::range(first.into(), last.into()))
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                Self::V6(algebra::range(first.into(), last.into()))
            }
            _ => return Err(RangeError::Families),
        };
        if is_ordered {
            Ok(found)
        } else {
            Err(RangeError::Order)
        }
    }
}

impl Iterator for IpRangePrefixes {
    type Item = IpPrefix;

    #[inline]
    fn next(&mut self) -> Option<IpPrefix> {
        match self {
            Self::V4(prefixes) => prefixes.next().map(IpPrefix::V4),
            Self::V6(prefixes) => prefixes.next().map(IpPrefix::V6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Prefix;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn prefixes(first: &str, last: &str) -> Vec<String> {
        let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
        let prefixes = IpRangePrefixes::new(first, last).unwrap();
        prefixes.map(|p| p.to_string()).collect()
    }

    #[test]
    fn ranges_as_prefixes() {
        assert_eq!(prefixes("1.0.0.0", "1.0.0.255"), ["1.0.0.0/24"]);
        assert_eq!(prefixes("0.0.0.0", "255.255.255.255"), ["0.0.0.0/0"]);
        assert_eq!(prefixes("1.2.3.4", "1.2.3.4"), ["1.2.3.4/32"]);
        assert_eq!(
            prefixes("255.255.255.255", "255.255.255.255"),
            ["255.255.255.255/32"]
        );
        assert_eq!(
            prefixes("10.0.0.1", "10.0.0.6"),
            ["10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"]
        );
        assert_eq!(
            prefixes("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ["::/0"]
        );
        assert_eq!(
            prefixes("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe").len(),
            254
        );
        assert_eq!(prefixes("0.0.0.1", "255.255.255.254").len(), 62);
        assert_eq!(
            prefixes("2001:db8::", "2001:db8:2:ffff:ffff:ffff:ffff:ffff"),
            ["2001:db8::/47", "2001:db8:2::/48"]
        );
    }

    #[test]
    fn spans_in_other_words() {
        let spans = |text: &str| {
            let zeros = Notation {
                leading_zeros: true,
                ..Notation::default()
            };
            Ok::<Vec<_>, String>(
                match AddressSpan::parse(text, zeros).map_err(|e| e.to_string())? {
                    AddressSpan::Prefix(prefix) => vec![prefix.to_string()],
                    AddressSpan::Range(first, last) => {
                        prefixes(&first.to_string(), &last.to_string())
                    }
                },
            )
        };
        for (text, wanted) in [
            ("10.0.0.0/8", &["10.0.0.0/8"][..]),
            ("10.0.0.0-10.0.1.255", &["10.0.0.0/23"]),
            ("10.0.0.0 - 10.0.1.255", &["10.0.0.0/23"]),
            ("2001:db8::-2001:db8::ffff", &["2001:db8::/112"]),
            ("10.0.0.4-7", &["10.0.0.4/30"]),
            ("10.0.0.7-7", &["10.0.0.7/32"]),
            ("8.8.8.*", &["8.8.8.0/24"]),
            ("8.8.*.*", &["8.8.0.0/16"]),
            ("8.8.*", &["8.8.0.0/16"]),
            ("8.*", &["8.0.0.0/8"]),
            ("10.1/16", &["10.1.0.0/16"]),
            ("10.1/12", &["10.1/12"]),
            ("10/8", &["10.0.0.0/8"]),
            ("192.168.64/18", &["192.168.64.0/18"]),
            ("010.001.000.000/16", &["10.1.0.0/16"]),
            ("001.009.096.104 - 001.009.096.111", &["1.9.96.104/29"]),
        ] {
            match spans(text) {
                Ok(spans) => assert_eq!(spans, wanted, "{text}"),
                Err(e) => assert!(text == "10.1/12" && e.contains("host bits"), "{e}"),
            }
        }
        for (text, reason) in [
            (
                "10.0.0.9-8",
                "the first address of the range is after the last",
            ),
            ("10.0.0.9-256", "not a range of addresses"),
            ("10.0.0.9-1.8", "not a range of addresses"),
            ("10.0.0.9-+10", "not a range of addresses"),
            ("::1-2", "not a range of addresses"),
            ("10.0.0.1-::2", "the ends of the range are of two families"),
            ("10.1/24", "not an address"),
            ("10.1", "not an address"),
            ("10.1.", "not an address"),
            ("10.*.0.1", "not an address"),
            ("10.*.*.*.*", "not an address"),
            ("*", "not an address"),
            ("*.*.*.*", "not an address"),
            ("10.*/8", "not an address"),
            ("+10/8", "not an address"),
            ("10.0-1.0.0", "not an address"),
            ("49.10.0.0/19-24", "a prefix and a maximum length"),
            ("10.0.0.1/8", "host bits"),
            ("", "not an address"),
        ] {
            let e = spans(text).expect_err(text);
            assert!(e.contains(reason), "{text}: {e}");
        }
        let mask = Notation {
            mask: true,
            ..Notation::default()
        };
        let span = |text| AddressSpan::parse(text, mask).map_err(|e| e.to_string());
        assert_eq!(
            span("10.1/12"),
            Ok(AddressSpan::Prefix("10.0.0.0/12".parse().unwrap()))
        );
        let zeros = span("097.110.168.122").unwrap_err();
        assert!(zeros.contains("`leading_zeros`"), "{zeros}");
    }

    #[test]
    fn no_ranges() {
        let new = |first: &str, last: &str| {
            IpRangePrefixes::new(first.parse().unwrap(), last.parse().unwrap()).map(|_| ())
        };
        assert_eq!(new("1.0.0.1", "1.0.0.0"), Err(RangeError::Order));
        assert_eq!(new("::2", "::1"), Err(RangeError::Order));
        assert_eq!(new("1.0.0.0", "::ffff:1.0.0.1"), Err(RangeError::Families));
        assert_eq!(new("::", "1.0.0.0"), Err(RangeError::Families));
    }

    /// First and last address of a prefix, as numbers.
    fn ends(prefix: IpPrefix) -> (u128, u128) {
        match prefix {
            IpPrefix::V4(p) => (p.first().into(), p.last().into()),
            IpPrefix::V6(p) => (p.first(), p.last()),
        }
    }

    /// Covers exactly, in order, with as few as possible: no two neighbours
    /// could be one, which for disjoint prefixes in order is the same.
    fn check(first: u128, last: u128, prefixes: &[IpPrefix], width: u32) {
        let mut next = Some(first);
        for &prefix in prefixes {
            let (start, end) = ends(prefix);
            assert_eq!(Some(start), next);
            next = end.checked_add(1);
        }
        assert_eq!(ends(*prefixes.last().unwrap()).1, last);
        for pair in prefixes.windows(2) {
            let ((a, b), (c, d)) = (ends(pair[0]), ends(pair[1]));
            let same = b - a == d - c;
            let bit = (b - a).wrapping_add(1);
            assert!(!same || a & bit != 0 || bit == 0, "{pair:?} could be one");
        }
        assert!(prefixes.len() <= 2 * width as usize - 2 || width < 2);
    }

    proptest! {
        #[test]
        fn ipv4_ranges_are_covered_exactly(a: u32, b: u32, shift in 0u32..32) {
            let (a, b) = (a >> shift << shift, b | ((1 << shift) - 1));
            let (first, last) = (a.min(b), a.max(b));
            let range = IpRangePrefixes::new(Ipv4Addr::from(first).into(), Ipv4Addr::from(last).into());
            let prefixes: Vec<_> = range.unwrap().collect();
            check(first.into(), last.into(), &prefixes, 32);
        }

        #[test]
        fn ipv6_ranges_are_covered_exactly(a: u128, b: u128, shift in 0u32..128) {
            let (a, b) = (a >> shift << shift, b | ((1 << shift) - 1));
            let (first, last) = (a.min(b), a.max(b));
            let range = IpRangePrefixes::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into());
            let prefixes: Vec<_> = range.unwrap().collect();
            check(first, last, &prefixes, 128);
        }

        #[test]
        fn every_prefix_is_one_prefix(bits: u128, len in 0u8..=128) {
            let prefix = Prefix::new_masked(bits, len).unwrap();
            let (first, last) = ends(IpPrefix::V6(prefix));
            let range = IpRangePrefixes::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into());
            prop_assert_eq!(range.unwrap().collect::<Vec<_>>(), [IpPrefix::V6(prefix)]);
        }
    }
}
