//! Paths as they lie in memory: each with its number, and what leads to the next best of its prefix.

use std::cmp::Ordering;

use popfib::NextHop;

use super::slab::Slab;

/// One of several routes for a prefix.
pub trait Path {
    /// What distinguishes the paths of one prefix: a peer, a protocol, or both.
    type Key: Ord;

    /// The key; it must not change while a `MultiRib` holds the path.
    fn key(&self) -> Self::Key;

    /// Where the path leads.
    fn next_hop(&self) -> NextHop;

    /// `Greater` if this path is better than `other`, a path to the same prefix.
    ///
    /// Must order any paths consistently, as [`Ord::cmp`] does. Of two equally
    /// good ones the one with the lower key is taken, whichever came first.
    fn preference(&self, other: &Self) -> Ordering;
}

/// A prefix with more paths than these has lists of them, until it has half as many.
pub(super) const FEW: usize = 64;

/// Every path has a number.
pub(super) type PathSlab<P> = Slab<PathLink<P>>;

/// A path, and what leads to the others of the same prefix.
pub(super) struct PathLink<P> {
    pub(super) path: P,
    pub(super) rest: NextBest,
}

impl<P> PathLink<P> {
    /// A path that leads to no other.
    pub(super) fn last(path: P) -> Self {
        let rest = NextBest::NONE;
        Self { path, rest }
    }
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
