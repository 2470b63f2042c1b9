//! Several routes for one prefix, distinguished by a key, and the best of them.
//!
//! As in a router, each peer or protocol may have one *path* to a prefix.
//! All paths lie in one array, and a Rib holds the number of the best of each prefix. A few paths of a prefix are
//! chained, the best first. Many are in two sorted lists of numbers, by key and by order, so that a change
//! takes a few steps however many there are. So a prefix costs one route of a
//! Rib, and each path its own size and a link. A Fib or a Rib that does not need several paths pays nothing.
//!
//! Rejected: a `Vec` of paths for each prefix, an allocation for each of a
//! million prefixes that mostly have one path.

use core::cmp::Ordering;
use core::fmt;

use super::many::PathLists;
use crate::address::Address;
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::slab::Slab;

/// One of several routes for a prefix.
pub trait Path {
    /// What distinguishes the paths of one prefix: a peer, a protocol, or both.
    type Key: Ord;

    /// The key; it must not change while a [`MultiRib`] holds the path.
    fn key(&self) -> Self::Key;

    /// Where the path leads.
    fn next_hop(&self) -> NextHop;

    /// `Greater` if this path is better than `other`, a path to the same prefix.
    ///
    /// Must order any paths consistently, as [`Ord::cmp`] does. Of two equally
    /// good ones the one with the lower key is taken, whichever came first.
    fn preference(&self, other: &Self) -> Ordering;
}

/// The effect of a change on the next hop of a prefix's best path: what to apply to a Rib, a Fib or a live
/// table that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum BestChange {
    /// Nothing; the best path may be another, but leads to the same next hop.
    Unchanged,
    /// The prefix has this next hop now; before it had another or none.
    Announce(NextHop),
    /// The last path is gone.
    Withdraw,
}

/// The routes of one family, any number for one prefix, of which one is best.
///
/// ```
/// use core::cmp::Ordering;
/// use popfib::multi_rib::{BestChange, Path};
/// use popfib::{MultiRib, NextHop, Prefix};
///
/// struct FromPeer {
///     peer: u32,
///     local_preference: u32,
/// }
///
/// impl Path for FromPeer {
///     type Key = u32;
///     fn key(&self) -> u32 {
///         self.peer
///     }
///     fn next_hop(&self) -> NextHop {
///         NextHop::new(self.peer).unwrap()
///     }
///     fn preference(&self, other: &Self) -> Ordering {
///         self.local_preference.cmp(&other.local_preference)
///     }
/// }
///
/// let mut rib = MultiRib::new();
/// let prefix: Prefix<u32> = "10.0.0.0/8".parse()?;
/// let next_hop = |n| NextHop::new(n).unwrap();
/// let change = rib.announce(prefix, FromPeer { peer: 7, local_preference: 100 });
/// assert_eq!(change, BestChange::Announce(next_hop(7)));
/// let change = rib.announce(prefix, FromPeer { peer: 8, local_preference: 50 });
/// assert_eq!(change, BestChange::Unchanged);
/// let (_, change) = rib.withdraw(prefix, &7).unwrap();
/// assert_eq!(change, BestChange::Announce(next_hop(8)));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub struct MultiRib<A, P, Al: Allocator = Global> {
    /// For each prefix the number of its best path.
    pub(super) first: Rib<A, Al>,
    pub(super) paths: PathSlab<P, Al>,
    pub(super) many: Slab<PathLists<Al>, Al>,
    /// Heap bytes of all of `many`, without their places.
    pub(super) many_bytes: usize,
}

/// A prefix with more paths than these has lists of them, until it has half as many.
pub(super) const FEW: usize = 64;

/// Every path has a number.
pub(super) type PathSlab<P, Al> = Slab<PathLink<P>, Al>;

/// A path, and what leads to the others of the same prefix.
pub(super) struct PathLink<P> {
    pub(super) path: P,
    pub(super) rest: NextBest,
}

/// The next best of a few paths; in the best of many paths, where their lists are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct NextBest(u32);

impl NextBest {
    pub(super) const NONE: Self = Self(0);
    const IS_MANY: u32 = 1 << 31;

    pub(super) fn next(next: Option<NextHop>) -> Self {
        Self(next.map_or(0, NextHop::get))
    }

    pub(super) fn many(lists: NextHop) -> Self {
        Self(lists.get() | Self::IS_MANY)
    }

    pub(super) fn as_next(self) -> Option<NextHop> {
        NextHop::new(self.0).filter(|next| next.get() & Self::IS_MANY == 0)
    }

    pub(super) fn as_many(self) -> Option<NextHop> {
        let is_many = self.0 & Self::IS_MANY != 0;
        NextHop::new(self.0 & !Self::IS_MANY).filter(|_| is_many)
    }
}

/// `Less` if `a` comes before `b`: it is better, or as good and has the lower key.
pub(super) fn order<P: Path>(a: &P, b: &P) -> Ordering {
    b.preference(a).then_with(|| a.key().cmp(&b.key()))
}

pub(super) fn link<P, Al: Allocator + Clone>(
    paths: &PathSlab<P, Al>,
    number: NextHop,
) -> &PathLink<P> {
    paths.get(number).expect("numbers lead to paths")
}

pub(super) fn link_mut<P, Al: Allocator + Clone>(
    paths: &mut PathSlab<P, Al>,
    number: NextHop,
) -> &mut PathLink<P> {
    paths.get_mut(number).expect("numbers lead to paths")
}

impl<A: Address, P: Path> MultiRib<A, P> {
    /// Without routes; allocates nothing.
    pub fn new() -> Self {
        Self::new_in(Global)
    }
}

impl<A: Address, P: Path, Al: Allocator + Clone> MultiRib<A, P, Al> {
    /// Without routes; memory will come from `alloc`. Allocates nothing.
    pub fn new_in(alloc: Al) -> Self {
        Self {
            first: Rib::new_in(alloc.clone()),
            paths: Slab::new_in(alloc.clone()),
            many: Slab::new_in(alloc),
            many_bytes: 0,
        }
    }

    /// The number of prefixes.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// The number of paths to all prefixes.
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is no path.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Heap bytes in use, spare capacity included, without what the paths themselves own.
    pub fn bytes(&self) -> usize {
        self.first.bytes() + self.paths.bytes() + self.many.bytes() + self.many_bytes
    }

    /// Where there is room for no path, makes room for an eighth more, where [`announce`](MultiRib::announce) would make it for as many as
    /// there are: for those who count bytes before they are taken.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_lengthen(&mut self) -> Result<(), OutOfMemory> {
        self.paths.lengthen()
    }

    /// Adds a path to `prefix`, and replaces the one with the same key if there is one. O(key width / 6 + log paths
    /// of the prefix).
    ///
    /// Aborts the program if memory is exhausted.
    pub fn announce(&mut self, prefix: Prefix<A>, path: P) -> BestChange {
        match self.try_announce(prefix, path) {
            Ok(change) => change,
            Err(error) => error.abort(),
        }
    }

    /// As [`announce`](MultiRib::announce); if memory is exhausted, nothing changes and `path` is dropped.
    ///
    /// # Errors
    /// [`OutOfMemory`]; never if the prefix has a path with this key and few others.
    pub fn try_announce(&mut self, prefix: Prefix<A>, path: P) -> Result<BestChange, OutOfMemory> {
        let Some(first) = self.first.get(prefix) else {
            let next_hop = path.next_hop();
            let rest = NextBest::NONE;
            let number = self.paths.try_add(PathLink { path, rest })?;
            if let Err(error) = self.first.try_insert(prefix, number) {
                self.paths.take(number);
                return Err(error);
            }
            return Ok(BestChange::Announce(next_hop));
        };
        let before = self.path(first).next_hop();
        let new_first = match link(&self.paths, first).rest.as_many() {
            Some(lists) => self.announce_many(first, lists, path)?,
            None => self.announce_few(first, path)?,
        };
        self.set_first(prefix, first, Some(new_first));
        Ok(self.change(before, Some(new_first)))
    }

    fn announce_few(&mut self, first: NextHop, path: P) -> Result<NextHop, OutOfMemory> {
        let (after, number) = match self.unlink(first, &path.key()) {
            Ok((after, number)) => {
                link_mut(&mut self.paths, number).path = path;
                (after, number)
            }
            Err(FEW..) => {
                let lists = self.make_lists(first)?;
                return self.announce_many(first, lists, path);
            }
            Err(_) => {
                let rest = NextBest::NONE;
                (Some(first), self.paths.try_add(PathLink { path, rest })?)
            }
        };
        Ok(self.link_in(after, number))
    }

    /// Removes the path with `key` from `prefix`; `None` if there is none.
    /// Needs no memory. O(key width / 6 + log paths of the prefix).
    pub fn withdraw(&mut self, prefix: Prefix<A>, key: &P::Key) -> Option<(P, BestChange)> {
        let first = self.first.get(prefix)?;
        let before = self.path(first).next_hop();
        let (new_first, number) = match link(&self.paths, first).rest.as_many() {
            Some(lists) => self.withdraw_many(first, lists, key)?,
            None => self.unlink(first, key).ok()?,
        };
        self.set_first(prefix, first, new_first);
        let change = self.change(before, new_first);
        let PathLink { path, .. } = self.paths.take(number)?;
        Some((path, change))
    }

    /// The best path of exactly `prefix`.
    pub fn best(&self, prefix: Prefix<A>) -> Option<&P> {
        Some(self.path(self.first.get(prefix)?))
    }

    /// The path of exactly `prefix` with `key`. O(key width / 6 + log paths of the prefix).
    pub fn get(&self, prefix: Prefix<A>, key: &P::Key) -> Option<&P> {
        let first = self.first.get(prefix)?;
        match link(&self.paths, first).rest.as_many() {
            None => self.chain(first).find(|path| path.key() == *key),
            Some(lists) => {
                let lists = self.lists(lists);
                let number = lists.number(&self.paths, key)?;
                Some(self.path(number))
            }
        }
    }

    /// The longest prefix that contains `address`, and its best path.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, &P)> {
        let (prefix, first) = self.first.longest_match(address)?;
        Some((prefix, self.path(first)))
    }

    /// Every prefix with the next hop of its best path, in prefix order: what a
    /// [`Rib`] or a Fib is made from.
    pub fn best_routes(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
        let routes = self.first.iter();
        routes.map(|(prefix, first)| (prefix, self.path(first).next_hop()))
    }

    pub(super) fn path(&self, number: NextHop) -> &P {
        &link(&self.paths, number).path
    }

    /// Takes the path with `key` out of the chain; returns the chain's first
    /// then, and the number of the path. If there is none, the error is the number of paths.
    fn unlink(
        &mut self,
        first: NextHop,
        key: &P::Key,
    ) -> Result<(Option<NextHop>, NextHop), usize> {
        let mut previous = None;
        let mut at = Some(first);
        let mut count = 0;
        while let Some(number) = at {
            let PathLink { path, rest } = link(&self.paths, number);
            let rest = *rest;
            if path.key() != *key {
                (previous, at) = (at, rest.as_next());
                count += 1;
                continue;
            }
            return match previous {
                None => Ok((rest.as_next(), number)),
                Some(previous) => {
                    link_mut(&mut self.paths, previous).rest = rest;
                    Ok((Some(first), number))
                }
            };
        }
        Err(count)
    }

    /// Puts a path into a chain after all that are better; returns the chain's first then.
    fn link_in(&mut self, first: Option<NextHop>, number: NextHop) -> NextHop {
        let path = self.path(number);
        let mut previous = None;
        let mut at = first;
        while let Some(other) = at {
            let PathLink { path: held, rest } = link(&self.paths, other);
            if order(path, held) == Ordering::Less {
                break;
            }
            (previous, at) = (at, rest.as_next());
        }
        link_mut(&mut self.paths, number).rest = NextBest::next(at);
        match previous {
            None => number,
            Some(previous) => {
                link_mut(&mut self.paths, previous).rest = NextBest::next(Some(number));
                first.unwrap_or(number)
            }
        }
    }

    /// Notes the new first path of a prefix, which had one. Needs no memory.
    pub(super) fn set_first(&mut self, prefix: Prefix<A>, before: NextHop, now: Option<NextHop>) {
        match now {
            None => {
                self.first.remove(prefix);
            }
            Some(now) if now != before => {
                self.first.insert(prefix, now);
            }
            Some(_) => {}
        }
    }

    pub(super) fn change(&self, before: NextHop, first: Option<NextHop>) -> BestChange {
        match first.map(|first| self.path(first).next_hop()) {
            None => BestChange::Withdraw,
            Some(now) if now == before => BestChange::Unchanged,
            Some(now) => BestChange::Announce(now),
        }
    }
}

impl<A: Address, P: Path> Default for MultiRib<A, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Address, P: Path + fmt::Debug, Al: Allocator + Clone> fmt::Debug for MultiRib<A, P, Al> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
