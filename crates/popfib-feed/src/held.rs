//! The paths of a table: those of one family, and each stream's share of them.

use std::cmp::Ordering;

use popfib::{Address, BestChange, IpPrefix, MultiRib, NextHop, Path, Position, Prefix};

use crate::freshness::Freshness;
use crate::target::Target;
use crate::view::View;

/// One path of one stream.
pub(crate) struct Held {
    pub(crate) target: Target,
    pub(crate) source: u16,
    pub(crate) generation: u16,
    pub(crate) id: u32,
}

impl Path for Held {
    type Key = (u16, u32);

    fn key(&self) -> (u16, u32) {
        (self.source, self.id)
    }

    fn next_hop(&self) -> NextHop {
        self.target.number()
    }

    fn preference(&self, other: &Self) -> Ordering {
        self.target.preference(&other.target)
    }
}

/// The state of a stream in one family.
pub(crate) struct Side<A: Address> {
    pub(crate) freshness: Freshness,
    pub(crate) paths: usize,
    /// How many of its paths are of an older generation.
    pub(crate) older: usize,
    /// What the sweep has reached.
    after: After<A>,
}

/// A position among the paths.
pub(crate) type After<A> = Option<Position<A, (u16, u32)>>;

impl<A: Address> Default for Side<A> {
    fn default() -> Self {
        Self {
            freshness: Freshness::default(),
            paths: 0,
            older: 0,
            after: None,
        }
    }
}

impl<A: Address> Side<A> {
    /// All paths are of an older generation now.
    pub(crate) fn age(&mut self) {
        self.older = self.paths;
        self.after = None;
    }
}

/// One family of a table: every path, and the best ones in the view.
pub(crate) struct Half<A> {
    pub(crate) paths: MultiRib<A, Held>,
}

impl<A: Address> Default for Half<A> {
    fn default() -> Self {
        Self {
            paths: MultiRib::new(),
        }
    }
}

/// The effect of a change of a path.
#[derive(Default)]
pub(crate) struct Done {
    /// The path existed with an older generation.
    pub(crate) was_older: bool,
}

impl<A: Address> Half<A>
where
    IpPrefix: From<Prefix<A>>,
{
    pub(crate) fn announce(
        &mut self,
        prefix: Prefix<A>,
        held: Held,
        side: &mut Side<A>,
        view: &mut View,
    ) -> Done {
        let key = held.key();
        let is_older = |path: &Held| path.generation != held.generation;
        let was_older = side.older > 0 && self.paths.get(prefix, &key).is_some_and(is_older);
        side.older -= usize::from(was_older);
        let before = self.paths.path_count();
        let target = held.target.clone();
        let change = self.paths.announce(prefix, held);
        side.paths += self.paths.path_count() - before;
        match change {
            // The path that was just announced need not be looked up.
            BestChange::Announce(next_hop) if next_hop == target.number() => {
                view.announce(prefix.into(), target);
            }
            change => self.publish(prefix, change, view),
        }
        Done { was_older }
    }

    /// `None` if there is no such path.
    pub(crate) fn withdraw(
        &mut self,
        prefix: Prefix<A>,
        key: (u16, u32),
        side: &mut Side<A>,
        view: &mut View,
    ) -> Option<Done> {
        let (path, change) = self.paths.withdraw(prefix, &key)?;
        let was_older = path.generation != side.freshness.generation();
        side.paths -= 1;
        side.older -= usize::from(was_older);
        self.publish(prefix, change, view);
        Some(Done { was_older })
    }

    /// Removes paths of older generations of `source` among the next `count` prefixes; returns how many.
    pub(crate) fn sweep(
        &mut self,
        source: u16,
        side: &mut Side<A>,
        count: usize,
        view: &mut View,
    ) -> usize {
        let generation = side.freshness.generation();
        let mut removed = 0;
        let mut changes = Vec::new();
        if side.older > 0 {
            let keep = |_, path: &Held| {
                let keeps = path.source != source || path.generation == generation;
                removed += usize::from(!keeps);
                keeps
            };
            let changed = |prefix, change| changes.push((prefix, change));
            let after = side.after.take();
            side.after = self.paths.retain_some(after, count, keep, changed);
        }
        for (prefix, change) in changes {
            self.publish(prefix, change, view);
        }
        side.older -= removed;
        side.paths -= removed;
        if side.older == 0 || side.after.is_none() {
            // A path that the sweep has not found does not exist.
            debug_assert_eq!(side.older, 0, "the sweep has visited every path");
            side.after = None;
            side.freshness.swept();
        }
        removed
    }

    fn publish(&self, prefix: Prefix<A>, change: BestChange, view: &mut View) {
        match change {
            BestChange::Unchanged => {}
            BestChange::Withdraw => view.withdraw(prefix.into()),
            BestChange::Announce(_) => {
                let best = self.paths.best(prefix).expect("it has just been announced");
                view.announce(prefix.into(), best.target.clone());
            }
        }
    }
}
