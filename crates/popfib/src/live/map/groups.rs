//! Next-hop groups: what many routes lead to by a number, changed for all of them at once.
//!
//! A route's value is the id of a group, and the group has members. So a member that fails is one
//! change, however many routes lead to its groups. Groups with equal members stay two groups: each is changed by its id.
//!
//! A flow finds its member by a table of *buckets*: the hash of the flow names the bucket and the bucket a
//! member, each member having as many as its weight asks for. When members change the buckets of those that stay
//! are kept as far as their share allows, so few flows move.
//!
//! Groups lie in a [`LiveMap`] whose keys are their ids, so readers see a group as a whole, before a change or
//! after it. Rejected: hash modulo the number of members, which moves nearly all flows when one leaves;
//! hashing flow and member together, which is as steady but costs a hash for each member.

use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use super::{LiveMap, MapGuard, MapReader};
use crate::compile_error::CompileError;
use crate::memory::OutOfMemory;
use crate::prefix::Prefix;

/// Buckets for each member, at least: shares are right to a sixteenth of a member.
const BUCKETS_A_MEMBER: usize = 16;

/// The most members of a group.
const MOST: usize = 1 << 12;

/// Members with weights, chosen by the hash of a flow.
///
/// ```
/// use popfib::live::Group;
///
/// let group = Group::new([("a", 1), ("b", 1), ("c", 2)])?;
/// let flow = 0x1234_5678;
/// let before = *group.select(flow);
/// // A member that was not the flow's leaves: the flow stays where it is.
/// let left: Vec<_> = ["a", "b", "c"].into_iter().filter(|m| *m == before || *m == "c").collect();
/// let group = group.with_members(left.into_iter().map(|member| (member, 1)))?;
/// assert_eq!(*group.select(flow), before);
/// # Ok::<(), popfib::live::GroupError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<M> {
    members: Vec<(M, u32)>,
    /// The index of each bucket's member. 2^k buckets.
    buckets: Vec<u16>,
}

/// Why there is no such group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// It has no member of a weight other than 0.
    Empty,
    /// It has more members than can be numbered.
    Members {
        /// The most possible.
        max: usize,
    },
    /// The live map refused it.
    Map(CompileError),
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a group needs a member with a weight above 0"),
            Self::Members { max } => write!(f, "a group has at most {max} members"),
            Self::Map(error) => error.fmt(f),
        }
    }
}

impl Error for GroupError {}

impl From<CompileError> for GroupError {
    fn from(error: CompileError) -> Self {
        Self::Map(error)
    }
}

impl<M> Group<M> {
    /// A group of these members and their weights. Shares are accurate to one part in sixteen times the number
    /// of members, so a weight far below the others may get no flows, like a weight of 0. O(members).
    ///
    /// # Errors
    /// [`GroupError`], if no member has a weight, or there are more than 4,096.
    pub fn new(members: impl IntoIterator<Item = (M, u32)>) -> Result<Self, GroupError> {
        Self::of(members.into_iter().collect(), |_| Vec::new())
    }

    /// The member that a flow with this hash goes to. The hash should be well mixed. O(1).
    #[inline]
    pub fn select(&self, hash: u64) -> &M {
        // The upper bits: as many buckets again split each in two.
        let bucket = (hash >> 1 >> (63 - self.buckets.len().trailing_zeros())) as usize;
        &self.members[usize::from(self.buckets[bucket])].0
    }

    /// The members and their weights, as they were given.
    pub fn members(&self) -> &[(M, u32)] {
        &self.members
    }

    /// `members`, with the buckets that `keep` finds for them: the number of those, and of each the index of
    /// its member or `NOBODY`.
    fn of(
        members: Vec<(M, u32)>,
        keep: impl FnOnce(&[(M, u32)]) -> Vec<u16>,
    ) -> Result<Self, GroupError> {
        let weights = members.iter().map(|(_, weight)| u64::from(*weight));
        let total: u64 = weights.clone().sum();
        if total == 0 {
            return Err(GroupError::Empty);
        }
        if members.len() > MOST {
            return Err(GroupError::Members { max: MOST });
        }
        let mut buckets = keep(&members);
        let least = (members.len() * BUCKETS_A_MEMBER).next_power_of_two();
        if buckets.is_empty() {
            buckets = alloc::vec![NOBODY; least];
        }
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
}

/// The member of a bucket that has none yet.
const NOBODY: u16 = u16::MAX;

impl<M: PartialEq> Group<M> {
    /// A group with other members; flows of the remaining members move only as far as the weights require.
    /// O(members^2 + buckets).
    ///
    /// # Errors
    /// As [`new`](Group::new).
    pub fn with_members(
        &self,
        members: impl IntoIterator<Item = (M, u32)>,
    ) -> Result<Self, GroupError> {
        Self::of(members.into_iter().collect(), |members| {
            let now = |(member, _): &(M, u32)| {
                let at = members.iter().position(|(other, _)| other == member);
                at.map_or(NOBODY, |at| at as u16)
            };
            let now: Vec<u16> = self.members.iter().map(now).collect();
            let buckets = self.buckets.iter();
            buckets.map(|bucket| now[usize::from(*bucket)]).collect()
        })
    }
}

/// Groups by id that change while other threads choose members; the routes of a
/// [`LiveIpMap`](crate::LiveIpMap) name them by their ids.
///
/// ```
/// use popfib::live::LiveGroups;
/// use popfib::{IpPrefix, LiveIpMap};
/// use std::net::IpAddr;
///
/// let mut routes = LiveIpMap::shared();
/// let mut groups = LiveGroups::new();
/// groups.set(7, [("192.0.2.1", 1), ("192.0.2.2", 1)])?;
/// routes.announce("10.0.0.0/8".parse::<IpPrefix>()?, 7)?;
///
/// let (mut routes, mut members) = (routes.reader(), groups.reader());
/// let (route, group) = (routes.pin(), members.pin());
/// let id = *route.lookup("10.1.2.3".parse::<IpAddr>()?).unwrap();
/// let flow = 0x9e37_79b9_7f4a_7c15;
/// assert!(group.select(id, flow).is_some());
/// // For all routes at once:
/// groups.set(7, [("192.0.2.2", 1)])?;
/// assert_eq!(group.select(id, flow), Some(&"192.0.2.2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LiveGroups<M> {
    groups: LiveMap<u32, Group<M>>,
}

impl<M> Default for LiveGroups<M> {
    fn default() -> Self {
        Self {
            groups: LiveMap::new(),
        }
    }
}

impl<M> LiveGroups<M> {
    /// No groups. Aborts the program if memory is exhausted.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more reader, for one thread.
    pub fn reader(&self) -> GroupReader<M> {
        GroupReader(self.groups.reader())
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_reader(&self) -> Result<GroupReader<M>, OutOfMemory> {
        Ok(GroupReader(self.groups.try_reader()?))
    }

    /// The group of that id.
    pub fn get(&self, id: u32) -> Option<&Group<M>> {
        self.groups.get(Prefix::host(id))
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Removes a group; returns whether there was one. Routes that use it have no member from then on.
    ///
    /// # Errors
    /// Those of [`LiveMap::withdraw`]. Nothing has changed then.
    pub fn remove(&mut self, id: u32) -> Result<bool, CompileError> {
        self.groups.withdraw(Prefix::host(id))
    }

    /// Frees what no reader can see any more, now instead of later.
    pub fn reclaim(&mut self) {
        self.groups.reclaim();
    }
}

impl<M: PartialEq> LiveGroups<M> {
    /// Sets the members and weights of a group, new or not; readers see the change as a whole. Flows of the
    /// remaining members move only as far as the weights require.
    ///
    /// # Errors
    /// [`GroupError`]. Nothing has changed then.
    pub fn set(
        &mut self,
        id: u32,
        members: impl IntoIterator<Item = (M, u32)>,
    ) -> Result<(), GroupError> {
        let group = match self.get(id) {
            Some(group) => group.with_members(members)?,
            None => Group::new(members)?,
        };
        self.groups.announce(Prefix::host(id), group)?;
        Ok(())
    }
}

impl<M> fmt::Debug for LiveGroups<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveGroups")
            .field("groups", &self.len())
            .finish()
    }
}

/// One reader of [`LiveGroups`]; see [`MapReader`].
pub struct GroupReader<M>(MapReader<u32, Group<M>>);

impl<M> Clone for GroupReader<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> fmt::Debug for GroupReader<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupReader").finish_non_exhaustive()
    }
}

impl<M> GroupReader<M> {
    /// One more reader of the same groups.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Enters a read-side section: what it finds stays until the guard is dropped or quiescent.
    #[inline]
    pub fn pin(&mut self) -> GroupGuard<'_, M> {
        GroupGuard(self.0.pin())
    }
}

/// A [`GroupReader`] in a read-side section; see [`MapGuard`].
pub struct GroupGuard<'r, M>(MapGuard<'r, u32, Group<M>>);

impl<M> fmt::Debug for GroupGuard<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupGuard").finish_non_exhaustive()
    }
}

impl<M> GroupGuard<'_, M> {
    /// The group of that id.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&Group<M>> {
        self.0.lookup(id)
    }

    /// The member of group `id` that a flow with this hash goes to; `None` if there is no such group.
    #[inline]
    pub fn select(&self, id: u32, hash: u64) -> Option<&M> {
        Some(self.get(id)?.select(hash))
    }

    /// As [`select`](Self::select), for the flows of a burst.
    ///
    /// # Panics
    /// If the slices have different lengths, or [`Kernel::best`](crate::Kernel::best) panics.
    pub fn select_batch<'g>(&'g self, ids: &[u32], hashes: &[u64], members: &mut [Option<&'g M>]) {
        assert_eq!(ids.len(), hashes.len(), "one hash for each flow");
        assert_eq!(ids.len(), members.len(), "one member for each flow");
        self.0.lookup_each(ids, |at, group| {
            members[at] = group.map(|group| group.select(hashes[at]));
        });
    }

    /// Reports a quiescent state: nothing that was found so far is still in use. The guard stays in its
    /// read-side section.
    #[inline]
    pub fn quiescent(&mut self) {
        self.0.quiescent();
    }
}
