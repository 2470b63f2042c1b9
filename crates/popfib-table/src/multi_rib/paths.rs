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

use std::cmp::Ordering;
use std::fmt;

use popfib::{Address, NextHop, Prefix, Rib};

use super::link::{FEW, NextBest, Path, PathLink, PathSlab, order};
use super::many::ManyPaths;
use super::slab::Slab;

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
/// use std::cmp::Ordering;
///
/// use popfib::{NextHop, Prefix};
/// use popfib_table::multi_rib::{BestChange, MultiRib, Path};
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
pub struct MultiRib<A, P> {
    /// For each prefix the number of its best path.
    pub(super) first: Rib<A>,
    pub(super) paths: PathSlab<P>,
    pub(super) many: ManyPaths,
}

impl<A: Address, P: Path> MultiRib<A, P> {
    /// Without routes; allocates nothing.
    pub fn new() -> Self {
        Self {
            first: Rib::new(),
            paths: Slab::new(),
            many: ManyPaths::new(),
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
        self.first.bytes() + self.paths.bytes() + self.many.bytes()
    }

    /// Where there is room for no path, makes room for an eighth more if there is memory, where [`announce`](MultiRib::announce) would
    /// make it for as many as there are: for those who count bytes before they are taken.
    pub fn lengthen(&mut self) {
        self.paths.lengthen();
    }

    /// Adds a path to `prefix`, and replaces the one with the same key if there is one. O(key width / 6 + log paths
    /// of the prefix).
    ///
    /// Aborts the program if memory is exhausted.
    ///
    /// # Panics
    /// From 2^31 paths on.
    pub fn announce(&mut self, prefix: Prefix<A>, path: P) -> BestChange {
        let Some(first) = self.first.get(prefix) else {
            let next_hop = path.next_hop();
            let number = self.paths.add(PathLink::last(path));
            self.first.insert(prefix, number);
            return BestChange::Announce(next_hop);
        };
        let before = self.path(first).next_hop();
        let paths = &mut self.paths;
        let new_first = match paths.get(first).rest.as_many() {
            Some(lists) => self.many.announce(paths, first, lists, path),
            None => self.announce_few(first, path),
        };
        self.set_first(prefix, first, Some(new_first));
        self.change(before, Some(new_first))
    }

    fn announce_few(&mut self, first: NextHop, path: P) -> NextHop {
        let (after, number) = match self.unlink(first, &path.key()) {
            Ok((after, number)) => {
                self.paths.get_mut(number).path = path;
                (after, number)
            }
            Err(FEW..) => {
                let lists = self.many.make(&mut self.paths, first);
                return self.many.announce(&mut self.paths, first, lists, path);
            }
            Err(_) => (Some(first), self.paths.add(PathLink::last(path))),
        };
        self.link_in(after, number)
    }

    /// Removes the path with `key` from `prefix`; `None` if there is none. O(key width / 6 + log paths of the prefix).
    pub fn withdraw(&mut self, prefix: Prefix<A>, key: &P::Key) -> Option<(P, BestChange)> {
        let first = self.first.get(prefix)?;
        let before = self.path(first).next_hop();
        let paths = &mut self.paths;
        let (new_first, number) = match paths.get(first).rest.as_many() {
            Some(lists) => self.many.withdraw(paths, first, lists, key)?,
            None => self.unlink(first, key).ok()?,
        };
        self.set_first(prefix, first, new_first);
        let change = self.change(before, new_first);
        Some((self.paths.take(number).path, change))
    }

    /// The best path of exactly `prefix`.
    pub fn best(&self, prefix: Prefix<A>) -> Option<&P> {
        Some(self.path(self.first.get(prefix)?))
    }

    /// The path of exactly `prefix` with `key`. O(key width / 6 + log paths of the prefix).
    pub fn get(&self, prefix: Prefix<A>, key: &P::Key) -> Option<&P> {
        let first = self.first.get(prefix)?;
        match self.paths.get(first).rest.as_many() {
            None => self.chain(first).find(|path| path.key() == *key),
            Some(lists) => {
                let number = self.many.get(lists).number(&self.paths, key)?;
                Some(self.path(number))
            }
        }
    }

    pub(super) fn path(&self, number: NextHop) -> &P {
        &self.paths.get(number).path
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
            let PathLink { path, rest } = self.paths.get(number);
            let rest = *rest;
            if path.key() != *key {
                (previous, at) = (at, rest.as_next());
                count += 1;
                continue;
            }
            return match previous {
                None => Ok((rest.as_next(), number)),
                Some(previous) => {
                    self.paths.get_mut(previous).rest = rest;
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
            let PathLink { path: held, rest } = self.paths.get(other);
            if order(path, held) == Ordering::Less {
                break;
            }
            (previous, at) = (at, rest.as_next());
        }
        self.paths.get_mut(number).rest = NextBest::next(at);
        match previous {
            None => number,
            Some(previous) => {
                self.paths.get_mut(previous).rest = NextBest::next(Some(number));
                first.unwrap_or(number)
            }
        }
    }

    /// Notes the new first path of a prefix, which had one.
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

impl<A: Address, P: Path + fmt::Debug> fmt::Debug for MultiRib<A, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
