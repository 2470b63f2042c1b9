//! Next-hop groups: members and their weights in, the member of a flow out.
//!
//! A flow finds its member by a table of *buckets*: the hash of the flow names the bucket and the bucket a
//! member, each member having as many as its weight asks for. When members change the buckets of those that stay
//! are kept as far as their share allows, so few flows move.
//!
//! Rejected: hash modulo the number of members, which moves nearly all flows when one leaves;
//! hashing flow and member together, which is as steady but costs a hash for each member.

use crate::error::{Errno, Result};

/// Buckets for each member, at least: shares are right to a sixteenth of a member.
const BUCKETS_A_MEMBER: usize = 16;

/// The most members of a group.
const MOST: usize = 1 << 12;

/// The member of a bucket that has none yet.
const NOBODY: u16 = u16::MAX;

/// Members with weights, chosen by the hash of a flow.
#[derive(Debug, PartialEq)]
pub(crate) struct Group {
    members: Vec<u32>,
    /// The index of each bucket's member. 2^k buckets.
    buckets: Vec<u16>,
}

impl Group {
    /// A group of these members and their weights, in place of `before`: flows of the remaining members move only as far as the weights
    /// require. O(members^2 + buckets).
    ///
    /// # Errors
    /// `EINVAL` if no member has a weight, or there are more than 4,096.
    pub(crate) fn new(
        members: impl ExactSizeIterator<Item = (u32, u32)>,
        before: Option<&Self>,
    ) -> Result<Self> {
        if members.len() > MOST {
            let line = format_args!("{} members: they are at most {MOST}", members.len());
            return Err(Errno::INVALID.saying(line));
        }
        let (members, weights): (Vec<u32>, Vec<u32>) = members.unzip();
        let weights = weights.into_iter().map(u64::from);
        let total: u64 = weights.clone().sum();
        if total == 0 {
            return Err(Errno::INVALID.saying("no member has a weight above 0"));
        }
        let least = (members.len() * BUCKETS_A_MEMBER).next_power_of_two();
        let mut buckets = match before {
            Some(before) => before.buckets_of(&members),
            None => vec![NOBODY; least],
        };
        while buckets.len() < least {
            buckets = buckets.iter().flat_map(|bucket| [*bucket; 2]).collect();
        }
        // Each one's share, rounded so that they are all the buckets there are: each takes what is
        // between its weight and the weights before it.
        let count = buckets.len() as u64;
        let mut before = 0;
        let mut wanted: Vec<u64> = weights
            .map(|weight| {
                let from = before * count / total;
                before += weight;
                before * count / total - from
            })
            .collect();
        for bucket in &mut buckets {
            match wanted.get_mut(usize::from(*bucket)) {
                Some(wanted) if *wanted > 0 => *wanted -= 1,
                _ => *bucket = NOBODY,
            }
        }
        let mut takers = (0u16..)
            .zip(wanted)
            .flat_map(|(member, wanted)| (0..wanted).map(move |_| member));
        for bucket in &mut buckets {
            if *bucket == NOBODY {
                *bucket = takers.next().expect("shares add up to the buckets");
            }
        }
        Ok(Self { members, buckets })
    }

    /// The buckets, each with the index that its member has among `members`, or `NOBODY`.
    fn buckets_of(&self, members: &[u32]) -> Vec<u16> {
        let now = |member: &u32| {
            let at = members.iter().position(|other| other == member);
            at.map_or(NOBODY, |at| at as u16)
        };
        let now: Vec<u16> = self.members.iter().map(now).collect();
        let buckets = self.buckets.iter();
        buckets.map(|bucket| now[usize::from(*bucket)]).collect()
    }

    /// The member that a flow with this hash goes to. The hash should be well mixed. O(1).
    #[inline]
    pub(crate) fn select(&self, hash: u64) -> u32 {
        // The upper bits: as many buckets again split each in two.
        let bucket = (hash >> 1 >> (63 - self.buckets.len().trailing_zeros())) as usize;
        self.members[usize::from(self.buckets[bucket])]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::random::Random;

    const FLOWS: usize = 20_000;

    fn group(members: &[(u32, u32)]) -> Result<Group> {
        Group::new(members.iter().copied(), None)
    }

    fn flows() -> Vec<u64> {
        let mut random = Random(0x1234_5678_9abc_def1);
        (0..FLOWS).map(|_| random.next()).collect()
    }

    /// Flows of each member.
    fn shares(group: &Group) -> BTreeMap<u32, usize> {
        let mut shares = BTreeMap::new();
        for flow in flows() {
            *shares.entry(group.select(flow)).or_default() += 1;
        }
        shares
    }

    #[test]
    fn flows_follow_the_weights() {
        let mut random = Random(7);
        for _ in 0..50 {
            let members: Vec<_> = (0..1 + random.below(40) as u32)
                .map(|member| (member, random.below(5) as u32))
                .collect();
            let total: u32 = members.iter().map(|(_, weight)| weight).sum();
            let Ok(group) = group(&members) else {
                assert_eq!(total, 0);
                continue;
            };
            let shares = shares(&group);
            for (member, weight) in &members {
                let share = shares.get(member).copied().unwrap_or(0) as f64 / FLOWS as f64;
                let wanted = f64::from(*weight) / f64::from(total);
                // One bucket, and what chance adds.
                let most = 1.0 / (16.0 * members.len() as f64) + 0.02;
                assert!((share - wanted).abs() <= most, "{share} of {wanted}");
                assert!(*weight > 0 || share == 0.0);
            }
        }
    }

    /// When members come and go, flows of the others stay, but for what shares ask for.
    #[test]
    fn few_flows_move() {
        let mut random = Random(9);
        let equal = |members: &[u32]| members.iter().map(|m| (*m, 1)).collect::<Vec<_>>();
        let mut members: Vec<u32> = (0..8).collect();
        let mut old = group(&equal(&members)).unwrap();
        for next in 8..200 {
            let was = members.clone();
            if members.len() > 2 && random.below(2) == 0 {
                members.remove(random.below(members.len()));
            } else {
                members.insert(random.below(members.len() + 1), next);
            }
            let changed = Group::new(equal(&members).into_iter(), Some(&old)).unwrap();
            let stays = |member: &u32| was.contains(member) && members.contains(member);
            let moved = flows()
                .into_iter()
                .filter(|flow| {
                    let (before, after) = (old.select(*flow), changed.select(*flow));
                    stays(&before) && before != after
                })
                .count();
            // What a new member takes, and what rounding moves.
            let new = members.iter().filter(|member| !was.contains(member));
            let share = (new.count() * FLOWS) as f64 / members.len() as f64;
            let most = share * 1.1 + FLOWS as f64 / 16.0;
            assert!(
                moved as f64 <= most,
                "{moved} flows of {FLOWS} moved, at most {most}"
            );
            old = changed;
        }
    }

    #[test]
    fn refusals() {
        assert_eq!(group(&[]), Err(Errno::INVALID));
        assert_eq!(group(&[(1, 0)]), Err(Errno::INVALID));
        let all: Vec<_> = (0..MOST as u32 + 1)
            .map(|member| (member, u32::MAX))
            .collect();
        assert_eq!(group(&all), Err(Errno::INVALID));
        assert!(group(&all[1..]).is_ok());
    }
}
