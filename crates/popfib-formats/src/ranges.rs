//! Ranges of addresses as prefixes.

use std::fmt;
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib::algebra::{self, RangePrefixes as Of};

/// The fewest prefixes that cover the addresses from `first` to `last`, and no
/// other, in ascending order.
///
/// At most two for each bit of the address. Constant time for each.
#[derive(Clone, Debug)]
pub(crate) enum RangePrefixes {
    V4(Of<u32>),
    V6(Of<u128>),
}

/// Two addresses that are not the ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeError {
    /// One is IPv4, the other IPv6.
    Families,
    /// The first is greater than the last.
    Order,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Families => "the ends of the range are of two families",
            Self::Order => "the first address of the range is after the last",
        })
    }
}

impl std::error::Error for RangeError {}

impl RangePrefixes {
    /// The prefixes of a range; both ends belong to it.
    ///
    /// # Errors
    /// If the ends are of two families, or in the wrong order.
    pub(crate) fn new(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
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

impl Iterator for RangePrefixes {
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
        let prefixes = RangePrefixes::new(first, last).unwrap();
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
    fn no_ranges() {
        let new = |first: &str, last: &str| {
            RangePrefixes::new(first.parse().unwrap(), last.parse().unwrap()).map(|_| ())
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
            let range = RangePrefixes::new(Ipv4Addr::from(first).into(), Ipv4Addr::from(last).into());
            let prefixes: Vec<_> = range.unwrap().collect();
            check(first.into(), last.into(), &prefixes, 32);
        }

        #[test]
        fn ipv6_ranges_are_covered_exactly(a: u128, b: u128, shift in 0u32..128) {
            let (a, b) = (a >> shift << shift, b | ((1 << shift) - 1));
            let (first, last) = (a.min(b), a.max(b));
            let range = RangePrefixes::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into());
            let prefixes: Vec<_> = range.unwrap().collect();
            check(first, last, &prefixes, 128);
        }

        #[test]
        fn every_prefix_is_one_prefix(bits: u128, len in 0u8..=128) {
            let prefix = Prefix::new_masked(bits, len).unwrap();
            let (first, last) = ends(IpPrefix::V6(prefix));
            let range = RangePrefixes::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into());
            prop_assert_eq!(range.unwrap().collect::<Vec<_>>(), [IpPrefix::V6(prefix)]);
        }
    }
}
