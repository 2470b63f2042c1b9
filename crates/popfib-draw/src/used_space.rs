//! A RIB in, the blocks of the address space that its routes use out: nearly all of IPv6 is empty, so pictures of it leave the gaps out.

use popfib::intervals::Intervals;
use popfib::{Address, Rib};

use crate::shown_span::ShownSpan;

/// The blocks of one length that have routes, one after the other without gaps.
pub(crate) struct UsedSpace {
    /// How many bits a block leaves to its addresses.
    shift: u32,
    /// The numbers of the blocks, ascending.
    blocks: Vec<u128>,
}

impl UsedSpace {
    /// The blocks of the longest length, /64 at most, of which there are no more than `most`. `None` if no route is shown.
    ///
    /// O(routes * log width) time.
    pub(crate) fn new<A: Address>(rib: &Rib<A>, span: ShownSpan<A>, most: usize) -> Option<Self> {
        let (first, last) = (span.prefix.first(), span.prefix.last());
        let routed: Vec<(u128, u128)> = Intervals::new(rib)
            .filter(|interval| interval.next_hop.is_some())
            .filter(|interval| interval.last >= first && interval.first <= last)
            .map(|interval| (interval.first.max(first), interval.last.min(last)))
            .map(|(first, last)| (first.to_u128(), last.to_u128()))
            .collect();
        if routed.is_empty() {
            return None;
        }
        let number = |address: u128, shift: u32| address.checked_shr(shift).unwrap_or(0);
        // Those that begin in an interval and were not in the one before it.
        let blocks = |shift: u32| {
            let mut next = 0;
            routed.iter().filter_map(move |&(first, last)| {
                let (from, to) = (number(first, shift).max(next), number(last, shift));
                next = to + 1;
                (from <= to).then_some((from, to))
            })
        };
        let width = u32::from(A::WIDTH);
        let whole = width - u32::from(span.prefix.len());
        let is_few = |shift: &u32| {
            let mut count = 0u128;
            blocks(*shift).for_each(|(from, to)| count = count.saturating_add(to - from + 1));
            count <= most as u128
        };
        let shift = (width.saturating_sub(64).min(whole)..=whole).find(is_few)?;
        Some(Self {
            shift,
            blocks: blocks(shift).flat_map(|(from, to)| from..=to).collect(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The prefix length of the blocks.
    pub(crate) fn len<A: Address>(&self) -> u8 {
        A::WIDTH - self.shift as u8
    }

    /// The share of the space in use that is before `address`.
    pub(crate) fn before<A: Address>(&self, address: A) -> f64 {
        let address = address.to_u128();
        let block = address.checked_shr(self.shift).unwrap_or(0);
        let at = self.blocks.partition_point(|other| *other < block);
        let within = match self.blocks.get(at) {
            Some(other) if *other == block => {
                let rest = address ^ block.checked_shl(self.shift).unwrap_or(0);
                rest as f64 / 2f64.powi(self.shift as i32)
            }
            _ => 0.0,
        };
        (at as f64 + within) / self.blocks.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{NextHop, Prefix};

    fn used(routes: &[&str], within: Option<&str>, most: usize) -> Option<UsedSpace> {
        let routes = routes.iter().map(|text| text.parse().unwrap());
        let rib: Rib<u128> = routes.map(|prefix| (prefix, NextHop::MIN)).collect();
        UsedSpace::new(
            &rib,
            ShownSpan::of(within.map(|text| text.parse().unwrap())),
            most,
        )
    }

    #[test]
    fn blocks_are_as_short_as_there_is_room_for() {
        let routes = ["2001:db8::/32", "2400::/30", "2400::1/128", "2c0f:1:2::/48"];
        let lens = [1, 2, 3, 5, 6, 11].map(|most| {
            let used = used(&routes, None, most).unwrap();
            (used.count(), used.len::<u128>())
        });
        assert_eq!(lens, [(1, 4), (2, 5), (3, 30), (4, 31), (6, 32), (11, 33)]);
        let used_by = |routes: &[&str], within, most| used(routes, within, most);
        assert!(used_by(&[], None, 9).is_none());
        assert!(used_by(&routes, Some("3000::/4"), 9).is_none());
        assert_eq!(used_by(&["::/0"], None, 64).unwrap().len::<u128>(), 9);
        assert_eq!(
            used_by(&["2001::1/128"], None, 64).unwrap().len::<u128>(),
            64
        );
        let one = used_by(&["2001::1/128"], Some("2001::1/128"), 64).unwrap();
        assert_eq!((one.count(), one.len::<u128>()), (1, 128));
        assert_eq!(used(&["::/0"], Some("::/0"), 1).unwrap().len::<u128>(), 0);
    }

    #[test]
    fn gaps_take_no_room() {
        let used = used(&["2001:db8::/32", "2400::/31", "2c0f::/48"], None, 4).unwrap();
        assert_eq!((used.count(), used.len::<u128>()), (4, 32));
        let before = |text: &str| used.before(text.parse::<Prefix<u128>>().unwrap().first());
        for (address, share) in [
            ("2000::/3", 0.0),
            ("2001:db8::/32", 0.0),
            ("2001:db8:8000::/33", 0.125),
            ("2001:db9::/32", 0.25),
            ("2400::/32", 0.25),
            ("2400:1:4000::/34", 0.5625),
            ("2c0e::/16", 0.75),
            ("2c0f::/16", 0.75),
            ("3000::/4", 1.0),
        ] {
            assert_eq!(before(address), share, "{address}");
        }
    }
}
