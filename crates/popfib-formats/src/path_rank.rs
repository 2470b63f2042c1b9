//! Which of several paths to one prefix is the best: a path in, its [`PathRank`] out.
//!
//! The rules are those of BGP (RFC 4271, section 9.1) that a collector can apply, in this order: a path with a next hop wins over one
//! without, then the highest local preference (100 if there is none), the shortest AS path, the lowest origin, the lowest neighbouring AS
//! and the lowest MED. MEDs of different neighbours are not comparable, but to compare them within one neighbour alone gives no order
//! of all paths (a beats b beats c beats a); so they come last, after the neighbour. If all that does not decide, the peer does: the
//! first of a table, the one that was seen first by a daemon.
//!
//! What a path lacks counts as absent. In a dump of many routers so do local preference, origin, neighbour and MED, which say how one
//! router chooses: of its paths only the next hop and the length count.

use crate::bgp_path::BgpPath;

/// Decides between two paths to one prefix: the lower wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathRank {
    /// From the highest bit on: whether it lacks a next hop, 32 bits of the local preference inverted, 16 of the length, 8 of the origin.
    first: u64,
    /// The neighbour and the MED.
    last: u64,
}

impl PathRank {
    const LACKS_NEXT_HOP: u64 = 1 << 63;
    const NO_PREFERENCE: u32 = 100;

    /// The rank of a path with all its attributes.
    pub fn of(path: &BgpPath) -> Self {
        let origin = match path.origin.as_str() {
            "IGP" => 0,
            "EGP" => 1,
            _ => 2,
        };
        let preference = path.local_preference.unwrap_or(Self::NO_PREFERENCE);
        let neighbour = u64::from(path.neighbour().unwrap_or_default());
        let med = u64::from(path.med.unwrap_or_default());
        Self {
            first: Self::first(path.next_hop.is_none(), preference, path.path_length()) | origin,
            last: neighbour << 32 | med,
        }
    }

    /// The rank of a path of a dump of many routers.
    #[inline]
    pub(crate) fn of_dump(lacks_next_hop: bool, path_length: u32) -> Self {
        Self {
            first: Self::first(lacks_next_hop, Self::NO_PREFERENCE, path_length),
            last: 0,
        }
    }

    #[inline]
    fn first(lacks_next_hop: bool, preference: u32, path_length: u32) -> u64 {
        let lacks_next_hop = if lacks_next_hop {
            Self::LACKS_NEXT_HOP
        } else {
            0
        };
        lacks_next_hop | u64::from(!preference) << 24 | u64::from(path_length.min(0xffff)) << 8
    }

    /// Compared word by word, it is what the rank says: for those who keep it where two words fit.
    pub fn words(self) -> [u64; 2] {
        [self.first, self.last]
    }

    #[inline]
    pub(crate) fn lacks_next_hop(self) -> bool {
        self.first & Self::LACKS_NEXT_HOP != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths from the best to the worst, each of which is worse in one more thing.
    #[test]
    fn each_rule_comes_before_the_next() {
        let mut path = BgpPath {
            next_hop: Some([192, 0, 2, 1].into()),
            local_preference: Some(u32::MAX),
            as_path: "1".to_owned(),
            origin: "IGP".to_owned(),
            ..BgpPath::default()
        };
        let changes: [fn(&mut BgpPath); 8] = [
            |path| path.med = Some(u32::MAX),
            |path| (path.as_path, path.med) = ("2".to_owned(), None),
            |path| (path.origin, path.as_path) = ("EGP".to_owned(), "1".to_owned()),
            |path| path.origin = "INCOMPLETE".to_owned(),
            |path| (path.origin, path.as_path) = ("IGP".to_owned(), "1 1".to_owned()),
            |path| (path.local_preference, path.as_path) = (None, "1".to_owned()),
            |path| path.local_preference = Some(99),
            |path| (path.next_hop, path.local_preference) = (None, Some(u32::MAX)),
        ];
        let mut last = PathRank::of(&path);
        for (number, change) in changes.iter().enumerate() {
            change(&mut path);
            let rank = PathRank::of(&path);
            assert!(last < rank, "{number}");
            assert_eq!(rank.lacks_next_hop(), number == 7);
            last = rank;
        }
        let of_dump = [
            (false, 0),
            (false, 1),
            (false, 0xffff),
            (true, 0),
            (true, 9),
        ];
        let of_dump = of_dump.map(|(lacks, length)| PathRank::of_dump(lacks, length));
        assert!(of_dump.is_sorted_by(|a, b| a < b));
    }
}
