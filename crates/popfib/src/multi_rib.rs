//! Several routes for one prefix, distinguished by a key, and the best of them.
//!
//! As in a router, each peer or protocol may have one *path* to a prefix.
//! All paths lie in one array; those of a prefix are chained, the best first,
//! and a Rib holds the number of the first. So a prefix costs one route of a
//! Rib, each path its own size and a link, and a Fib or a Rib that does not need
//! this pays nothing.
//!
//! Rejected: a `Vec` of paths for each prefix, an allocation for each of a
//! million prefixes that mostly have one path.

use core::cmp::Ordering;
use core::fmt;
use core::iter;

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
/// use popfib::{BestChange, MultiRib, NextHop, Path, Prefix};
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
    first: Rib<A, Al>,
    paths: Slab<Link<P>, Al>,
}

/// A path, and the next best of the same prefix.
struct Link<P> {
    path: P,
    next: Option<NextHop>,
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
            paths: Slab::new_in(alloc),
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
        self.first.bytes() + self.paths.bytes()
    }

    /// Adds a path to `prefix`, and replaces the one with the same key if there is one. O(key width / 6 + paths
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
    /// [`OutOfMemory`]; never if the prefix has a path with this key.
    pub fn try_announce(&mut self, prefix: Prefix<A>, path: P) -> Result<BestChange, OutOfMemory> {
        let Some(first) = self.first.get(prefix) else {
            let next_hop = path.next_hop();
            let number = self.paths.try_add(Link { path, next: None })?;
            if let Err(error) = self.first.try_insert(prefix, number) {
                self.paths.take(number);
                return Err(error);
            }
            return Ok(BestChange::Announce(next_hop));
        };
        let before = self.path(first).next_hop();
        let key = path.key();
        let (rest, number) = match self.unlink(first, &key) {
            (rest, Some(number)) => {
                self.link_mut(number).path = path;
                (rest, number)
            }
            (rest, None) => (rest, self.paths.try_add(Link { path, next: None })?),
        };
        let new_first = self.link_in(rest, number);
        self.set_first(prefix, first, Some(new_first));
        Ok(self.change(before, Some(new_first)))
    }

    /// Removes the path with `key` from `prefix`; `None` if there is none.
    /// Needs no memory. O(key width / 6 + paths of the prefix).
    pub fn withdraw(&mut self, prefix: Prefix<A>, key: &P::Key) -> Option<(P, BestChange)> {
        let first = self.first.get(prefix)?;
        let before = self.path(first).next_hop();
        let (new_first, number) = self.unlink(first, key);
        let number = number?;
        self.set_first(prefix, first, new_first);
        let change = self.change(before, new_first);
        let Link { path, .. } = self.paths.take(number)?;
        Some((path, change))
    }

    /// Removes the paths with `key` from all prefixes, for example of a lost peer; calls `changed` for each
    /// prefix whose next hop changes by it.
    ///
    /// Needs no memory. O(prefixes * key width / 6 + paths).
    pub fn withdraw_key(&mut self, key: &P::Key, changed: impl FnMut(Prefix<A>, BestChange)) {
        self.retain(|_, path| path.key() != *key, changed);
    }

    /// Keeps the paths for which `keep` returns true; calls `changed` for each
    /// prefix whose next hop changes by it.
    ///
    /// Needs no memory. O(prefixes * key width / 6 + paths).
    pub fn retain(
        &mut self,
        keep: impl FnMut(Prefix<A>, &P) -> bool,
        changed: impl FnMut(Prefix<A>, BestChange),
    ) {
        self.retain_some(None, usize::MAX, keep, changed);
    }

    /// A step of [`retain`](MultiRib::retain): at most `count` prefixes, those that follow `after`, or the
    /// first ones. Returns the last of them, which the next step follows; `None` at the end. Between two
    /// steps anything may change.
    ///
    /// Needs no memory. O(count * key width / 6 + their paths).
    pub fn retain_some(
        &mut self,
        after: Option<Prefix<A>>,
        count: usize,
        mut keep: impl FnMut(Prefix<A>, &P) -> bool,
        mut changed: impl FnMut(Prefix<A>, BestChange),
    ) -> Option<Prefix<A>> {
        let mut at = match after {
            None => self.first.first(),
            Some(after) => self.first.next(after),
        };
        let mut left = count;
        let mut last_seen = after;
        while let Some((prefix, first)) = at {
            if left == 0 {
                return last_seen;
            }
            left -= 1;
            last_seen = Some(prefix);
            let before = self.path(first).next_hop();
            let mut new_first = Some(first);
            // The last path that stays.
            let mut last = None;
            let mut next = Some(first);
            while let Some(number) = next {
                let link = self.link(number);
                next = link.next;
                if keep(prefix, &link.path) {
                    last = Some(number);
                    continue;
                }
                match last {
                    None => new_first = next,
                    Some(last) => self.link_mut(last).next = next,
                }
                self.paths.take(number);
            }
            self.set_first(prefix, first, new_first);
            match self.change(before, new_first) {
                BestChange::Unchanged => {}
                change => changed(prefix, change),
            }
            at = self.first.next(prefix);
        }
        None
    }

    /// The best path of exactly `prefix`.
    pub fn best(&self, prefix: Prefix<A>) -> Option<&P> {
        Some(self.path(self.first.get(prefix)?))
    }

    /// The path of exactly `prefix` with `key`.
    pub fn get(&self, prefix: Prefix<A>, key: &P::Key) -> Option<&P> {
        self.paths(prefix).find(|path| path.key() == *key)
    }

    /// The paths of exactly `prefix`, the best first.
    pub fn paths(&self, prefix: Prefix<A>) -> impl Iterator<Item = &P> {
        self.chain(self.first.get(prefix))
    }

    /// The longest prefix that contains `address`, and its best path.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, &P)> {
        let (prefix, first) = self.first.longest_match(address)?;
        Some((prefix, self.path(first)))
    }

    /// All paths in prefix order, those of a prefix the best first.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, &P)> {
        self.first.iter().flat_map(|(prefix, first)| {
            let paths = self.chain(Some(first));
            paths.map(move |path| (prefix, path))
        })
    }

    /// Every prefix with the next hop of its best path, in prefix order: what a
    /// [`Rib`] or a Fib is made from.
    pub fn best_routes(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
        let routes = self.first.iter();
        routes.map(|(prefix, first)| (prefix, self.path(first).next_hop()))
    }

    fn chain(&self, first: Option<NextHop>) -> impl Iterator<Item = &P> {
        let links = iter::successors(first.map(|first| self.link(first)), |link| {
            link.next.map(|next| self.link(next))
        });
        links.map(|link| &link.path)
    }

    fn link(&self, number: NextHop) -> &Link<P> {
        self.paths.get(number).expect("a chain leads to paths")
    }

    fn link_mut(&mut self, number: NextHop) -> &mut Link<P> {
        self.paths.get_mut(number).expect("a chain leads to paths")
    }

    fn path(&self, number: NextHop) -> &P {
        &self.link(number).path
    }

    /// Takes the path with `key` out of the chain; returns the chain's first
    /// then, and the number of the path if there is one.
    fn unlink(&mut self, first: NextHop, key: &P::Key) -> (Option<NextHop>, Option<NextHop>) {
        let mut previous = None;
        let mut at = Some(first);
        while let Some(number) = at {
            let link = self.link(number);
            let next = link.next;
            if link.path.key() != *key {
                (previous, at) = (at, next);
                continue;
            }
            return match previous {
                None => (next, at),
                Some(previous) => {
                    self.link_mut(previous).next = next;
                    (Some(first), at)
                }
            };
        }
        (Some(first), None)
    }

    /// Puts a path into a chain after all that are better; returns the chain's first then.
    fn link_in(&mut self, first: Option<NextHop>, number: NextHop) -> NextHop {
        let path = self.path(number);
        let mut previous = None;
        let mut at = first;
        while let Some(other) = at {
            let link = self.link(other);
            let order = path.preference(&link.path);
            if order.then_with(|| link.path.key().cmp(&path.key())) == Ordering::Greater {
                break;
            }
            (previous, at) = (at, link.next);
        }
        self.link_mut(number).next = at;
        match previous {
            None => number,
            Some(previous) => {
                self.link_mut(previous).next = Some(number);
                first.unwrap_or(number)
            }
        }
    }

    /// Notes the new first path of a prefix, which had one. Needs no memory.
    fn set_first(&mut self, prefix: Prefix<A>, before: NextHop, now: Option<NextHop>) {
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

    fn change(&self, before: NextHop, first: Option<NextHop>) -> BestChange {
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
