//! Addresses whose length, as a number or a mask, stands apart from them: in a column or a member of its own,
//! or as a second word. Two texts or addresses in, one prefix as text out.
//!
//! `10.0.0.0` beside `255.0.0.0` is the network 10.0.0.0/8. Whoever takes the second for a value makes a route
//! to one host of it, and a wrong answer for all others. So where nothing says which of the two it is, there is an error.

use std::net::{IpAddr, Ipv4Addr};

use popfib::IpPrefix;

use crate::error::{not, quote};
use crate::names::{BARE_LENGTH, LENGTH, WILDCARD, rank, rank_of_end};

/// What says how many bits of an address count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Length {
    /// A number of bits, or a mask of them.
    Plain,
    /// The mask of the bits that do not count, as access lists have it.
    Wildcard,
}

impl Length {
    /// What a column or member called `name` holds of a length, and how good a name that is; 0 is the best.
    pub(crate) fn named(name: &str) -> Option<(usize, Self)> {
        // A mask, a length, a wildcard: most members of JSON are none of them, and need no more of a look.
        if !name
            .trim_end()
            .ends_with(['k', 'K', 'h', 'H', 'n', 'N', 'd', 'D'])
        {
            return None;
        }
        let exact = |names, kind, worse| Some((worse + rank(name, names)?, kind));
        let end = |names, kind, worse| Some((worse + rank_of_end(name, names)?, kind));
        let count = LENGTH.len() + WILDCARD.len();
        exact(LENGTH, Self::Plain, 0)
            .or_else(|| exact(WILDCARD, Self::Wildcard, LENGTH.len()))
            // The maximum length is another one: that of routes that a VRP allows.
            .or_else(
                || match rank_of_end(name, &["maxprefixlength", "maxprefixlen"]) {
                    Some(_) => None,
                    None => end(LENGTH, Self::Plain, count),
                },
            )
            .or_else(|| end(WILDCARD, Self::Wildcard, count + LENGTH.len()))
            .or_else(|| exact(BARE_LENGTH, Self::Plain, 2 * count))
    }

    /// Whether a name so good says what it is beside any address.
    pub(crate) fn is_clear(rank: usize) -> bool {
        rank < 2 * (LENGTH.len() + WILDCARD.len())
    }

    /// `address` and its `length` as one text; `address` alone if that has a length itself.
    pub(crate) fn join(self, address: &str, length: &str) -> Result<String, String> {
        let length = length.trim().trim_start_matches('/');
        if address.contains('/') {
            return Ok(address.to_owned());
        }
        if length.is_empty() {
            return Err(format!("no mask or length for {}", quote(address)));
        }
        if self == Self::Plain {
            return Ok(format!("{address}/{length}"));
        }
        match length.parse::<Ipv4Addr>() {
            Ok(wildcard) => Ok(format!(
                "{address}/{}",
                Ipv4Addr::from_bits(!wildcard.to_bits())
            )),
            Err(_) => Err(not(length, "a wildcard mask")),
        }
    }
}

/// An address as a number, and how many bits it has.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (address.to_bits().into(), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

/// How many ones a network mask begins with; `None` if other bits follow the zeros after them, or there are none.
fn ones((mask, width): (u128, u32)) -> Option<u32> {
    let ones = (mask << (128 - width)).leading_ones();
    (ones > 0 && mask.count_ones() == ones).then_some(ones)
}

/// Whether `second` is the network mask of `first`, shorter than that of one host.
pub(crate) fn is_mask(first: IpAddr, second: IpAddr) -> bool {
    let ((address, width), (mask, of)) = (bits(first), bits(second));
    width == of && ones((mask, of)).is_some_and(|ones| ones < width) && address & !mask == 0
}

/// Whether `address` is not that of a host but a network mask, a wildcard mask, or the number of an OSPF area: `255.255.255.0`,
/// `0.0.0.255`. Of 0.0.0.0/8 only 0.0.0.0 is used as an address.
pub(crate) fn is_no_host(address: IpAddr) -> bool {
    begins_as_mask(address) && ones(bits(address)).is_some() || is_low(address)
}

/// Whether `address` is one of 0.0.0.0/8, but not 0.0.0.0.
fn is_low(address: IpAddr) -> bool {
    matches!(bits(address), (1..0x100_0000, 32))
}

/// The prefix that two addresses are, one after the other, as one text, right or wrong: the second is a network mask, or a
/// wildcard mask. `None` if it may be anything else.
pub(crate) fn pair(first: IpAddr, second: IpAddr) -> Option<String> {
    let ((address, width), (mask, _)) = (bits(first), bits(second));
    match address > 0 && mask == 0 {
        // The wildcard mask of one host.
        true => (width == 32 && second.is_ipv4()).then(|| first.to_string()),
        false => after_slash(first, second),
    }
}

/// The same of two addresses with a slash between them: `10.0.0.0/255.0.0.0`.
pub(crate) fn after_slash(first: IpAddr, second: IpAddr) -> Option<String> {
    let ((address, width), (mask, of)) = (bits(first), bits(second));
    if width != of {
        return None;
    }
    if is_mask(first, second) || begins_as_mask(second) || mask == 0 {
        return Some(format!("{first}/{second}"));
    }
    let is_wildcard = mask & (mask + 1) == 0 && address & mask == 0;
    let is_wildcard = width == 32 && (is_wildcard || is_low(second));
    let joined =
        is_wildcard.then(|| Length::Wildcard.join(&first.to_string(), &second.to_string()));
    joined?.ok()
}

/// Why `first`, which has no length, is no host whose value is `second`; `None` if it may be.
///
/// What ends in as many zeros as a length says, and in a byte of them at least, is hardly a host.
/// A next hop is the address of a host, which no mask is. A range and a host with a neighbour as its next hop
/// look alike: what begins and ends as ranges do, or differs at its end alone, may be either, and is refused.
#[cold]
pub(crate) fn second_word(first: IpAddr, second: &str) -> Option<String> {
    let (low, width) = bits(first);
    if let Ok(len) = second.parse::<u32>() {
        let is_length = len <= width - width / 4 && low.trailing_zeros() >= width - len;
        return is_length.then(|| {
            format!(
                "{}: a network and its length, or a host and its value? A host has its length ({first}/{width}), \
                 a network a slash before it",
                quote(format!("{first} {len}"))
            )
        });
    }
    let second = second.parse().ok()?;
    let (high, of) = bits(second);
    if width != of {
        return None;
    }
    let both = quote(format!("{first} {second}"));
    if begins_as_mask(second) || ones((high, of)).is_some() || low == 0 && high == 0 {
        let prefix = format!("{first}/{second}");
        return Some(match prefix.parse::<IpPrefix>() {
            Err(e) if low | high != 0 => format!("{}: {e}", quote(prefix)),
            _ => format!("a network mask belongs after a slash: {}", quote(prefix)),
        });
    }
    let are_low = |bits: u128| bits & bits.wrapping_add(1) == 0;
    if width == 32 && high > 0 && (high < 1 << 24 || are_low(high)) {
        return Some(format!(
            "{both}: a wildcard mask is no next hop; a prefix has its length after a slash"
        ));
    }
    // The last byte, and as much of IPv6 as its last group has.
    let end = if width == 32 { 0xff } else { 0xffff };
    let (differ, is_range) = (low ^ high, low < high);
    let is_prefix = are_low(differ) && low & differ == 0;
    let is_whole = low & end == 0 && high & end == end;
    if is_range && (is_prefix || is_whole || differ <= end) {
        return Some(format!(
            "{both}: a range, or a host and its next hop? A host has its length ({first}/{width}), a range \
             a dash between its ends"
        ));
    }
    None
}

/// Whether `address` begins as masks do and those of hosts do not; its ones may have gaps.
fn begins_as_mask(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[0] == 255,
        IpAddr::V6(address) => address.segments()[0] == 0xffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_next_hop_of_a_host() {
        let why = |first: &str, second: &str| second_word(first.parse().unwrap(), second);
        for (first, second) in [
            ("10.0.0.1", "192.0.2.1"),
            ("192.0.2.1", "10.0.0.1"),
            ("10.0.0.2", "10.0.0.1"),
            ("10.0.0.1", "10.0.1.254"),
            ("10.0.0.1", "0.0.0.0"),
            ("10.0.0.1", "2001:db8::1"),
            ("10.0.0.1", "127.0.0.1"),
            ("2001:db8::1", "2001:db8:0:1::2"),
            ("2001:db8::1", "fe80::1"),
            ("10.1.2.0", "22"),
            ("10.1.2.4", "30"),
            ("10.1.2.0", "64500"),
            ("10.1.2.0", "eth0"),
            ("2001:db8::1", "64"),
        ] {
            assert_eq!(why(first, second), None, "{first} {second}");
        }
        for (first, second, reason) in [
            ("10.0.0.0", "255.0.0.0", "a network mask belongs"),
            ("0.0.0.0", "0.0.0.0", "a network mask belongs"),
            ("::", "::", "a network mask belongs"),
            ("128.0.0.0", "128.0.0.0", "a network mask belongs"),
            ("10.0.0.1", "254.0.0.0", "\"10.0.0.1/254.0.0.0\": host bits"),
            (
                "10.0.0.0",
                "255.0.255.0",
                "\"10.0.0.0/255.0.255.0\": the ones",
            ),
            ("2001:db8::", "ffff:ffff::", "a network mask belongs"),
            (
                "10.0.0.0",
                "0.0.0.255",
                "\"10.0.0.0 0.0.0.255\": a wildcard",
            ),
            (
                "10.0.0.0",
                "0.0.255.0",
                "\"10.0.0.0 0.0.255.0\": a wildcard",
            ),
            (
                "0.0.0.0",
                "127.255.255.255",
                "\"0.0.0.0 127.255.255.255\": a wildcard",
            ),
            ("10.0.0.0", "10.0.0.255", "\"10.0.0.0 10.0.0.255\": a range"),
            ("10.0.0.0", "10.0.2.255", "\"10.0.0.0 10.0.2.255\": a range"),
            (
                "10.1.2.0",
                "24",
                "\"10.1.2.0 24\": a network and its length",
            ),
            (
                "2001:db8::",
                "32",
                "\"2001:db8:: 32\": a network and its length",
            ),
            ("0.0.0.0", "0", "\"0.0.0.0 0\": a network and its length"),
            ("10.0.0.4", "10.0.0.7", "\"10.0.0.4 10.0.0.7\": a range"),
            ("10.0.0.1", "10.0.0.254", "\"10.0.0.1 10.0.0.254\": a range"),
            (
                "2001:db8::",
                "2001:db8:0:ffff:ffff:ffff:ffff:ffff",
                "\"2001:db8:: ",
            ),
            (
                "2001:db8::1",
                "2001:db8::9",
                "\"2001:db8::1 2001:db8::9\": a range",
            ),
        ] {
            let why = why(first, second).unwrap_or_default();
            assert!(why.starts_with(reason), "{first} {second}: {why}");
        }
    }

    #[test]
    fn lengths_that_stand_apart() {
        for (name, kind) in [
            ("netmask", Some(Length::Plain)),
            ("Prefix-Len", Some(Length::Plain)),
            ("wildcard", Some(Length::Wildcard)),
            ("length", Some(Length::Plain)),
            ("ip_prefix_length", Some(Length::Plain)),
            ("IPv4 Netmask", Some(Length::Plain)),
            ("acl wildcard", Some(Length::Wildcard)),
            ("max_prefix_length", None),
            ("max_length", None),
            ("prefix", None),
        ] {
            assert_eq!(Length::named(name).map(|(_, kind)| kind), kind, "{name}");
        }
        let plain = |address, length| Length::Plain.join(address, length);
        assert_eq!(
            plain("10.0.0.0", "255.0.0.0").unwrap(),
            "10.0.0.0/255.0.0.0"
        );
        assert_eq!(plain("10.0.0.0", " /8").unwrap(), "10.0.0.0/8");
        assert_eq!(plain("10.0.0.0/8", "255.255.0.0").unwrap(), "10.0.0.0/8");
        assert!(plain("10.0.0.0", "").is_err());
        let wildcard = |length| Length::Wildcard.join("10.0.0.0", length);
        assert_eq!(wildcard("0.255.255.255").unwrap(), "10.0.0.0/255.0.0.0");
        assert!(wildcard("8").is_err());
        let is =
            |first: &str, second: &str| is_mask(first.parse().unwrap(), second.parse().unwrap());
        assert!(is("10.0.0.0", "255.0.0.0") && is("2001:db8::", "ffff:ffff::"));
        for (first, second) in [
            ("10.0.0.0", "10.255.255.255"),
            ("224.0.0.0", "255.255.255.255"),
            ("0.0.0.0", "0.0.0.0"),
            ("10.0.0.1", "255.0.0.0"),
            ("10.0.0.0", "ffff::"),
        ] {
            assert!(!is(first, second), "{first} {second}");
        }
    }
}
