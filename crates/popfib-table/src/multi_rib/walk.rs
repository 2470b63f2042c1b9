//! Walks over the paths, at once or in steps between which anything may change.

use std::cmp::Ordering;
use std::iter;
use std::ops::Bound;

use popfib::{Address, NextHop, Prefix};

use super::link::{NextBest, Path, order};
use super::paths::{BestChange, MultiRib};
use super::sorted::SortedPlace;

/// The end of a step of [`MultiRib::retain_some`].
#[derive(Clone, Debug)]
pub struct Position<A: Address, K> {
    prefix: Prefix<A>,
    /// The last path visited, if the prefix has more.
    key: Option<K>,
}

impl<A: Address, P: Path> MultiRib<A, P> {
    /// Keeps the paths for which `keep` returns true, for example those of other peers than a lost one; calls
    /// `changed` for each prefix whose next hop changes by it.
    ///
    /// O(prefixes * key width / 6 + paths).
    pub fn retain(
        &mut self,
        keep: impl FnMut(Prefix<A>, &P) -> bool,
        changed: impl FnMut(Prefix<A>, BestChange),
    ) {
        self.retain_some(None, usize::MAX, keep, changed);
    }

    /// A step of [`retain`](MultiRib::retain): some `count` paths, those that follow `after`, or the
    /// first ones. Returns the position after them, which the next step follows; `None` at the end. Between two
    /// steps anything may change. `changed` is called for a prefix at the end of each step that changes its next hop.
    ///
    /// O(key width / 6 for each prefix that changes + count).
    pub fn retain_some(
        &mut self,
        after: Option<Position<A, P::Key>>,
        count: usize,
        mut keep: impl FnMut(Prefix<A>, &P) -> bool,
        mut changed: impl FnMut(Prefix<A>, BestChange),
    ) -> Option<Position<A, P::Key>> {
        let (mut at, mut last) = match after {
            None => (self.first.first(), None),
            Some(Position { prefix, key }) => match self.first.get(prefix) {
                Some(first) if key.is_some() => (Some((prefix, first)), key),
                _ => (self.first.next(prefix), None),
            },
        };
        let mut left = count.max(1);
        // How many paths of a chain stay, if the next one does not.
        let mut kept = None;
        while let Some((prefix, first)) = at {
            let before = self.path(first).next_hop();
            let keep_path = |path: &P| keep(prefix, path);
            let (new_first, seen, key) = match self.paths.get(first).rest.as_many() {
                Some(lists) => {
                    let (paths, last) = (&mut self.paths, last.take());
                    self.many.retain(paths, first, lists, last, left, keep_path)
                }
                None => self.retain_few(first, last.take(), kept.take(), keep_path),
            };
            self.set_first(prefix, first, new_first);
            match self.change(before, new_first) {
                BestChange::Unchanged => {}
                change => changed(prefix, change),
            }
            left = left.saturating_sub(seen);
            if left == 0 {
                return Some(Position { prefix, key });
            }
            at = None;
            // Prefixes that keep all paths take no search for each.
            let behind = (Bound::Excluded(prefix), Bound::Unbounded);
            for (prefix, first) in self.first.range(behind) {
                let is_lost = |path: &P| {
                    left = left.saturating_sub(1);
                    !keep(prefix, path)
                };
                let is_many = self.paths.get(first).rest.as_many().is_some();
                kept = match is_many {
                    true => None,
                    false => self.chain(first).position(is_lost),
                };
                if is_many || kept.is_some() {
                    at = Some((prefix, first));
                    break;
                }
                if left == 0 {
                    return Some(Position { prefix, key: None });
                }
            }
        }
        None
    }

    /// Keeps of a chain the paths with keys up to `after`, and those for which `keep` returns true; it has been called for some that
    /// are `kept`, and for a lost one. Returns the chain's first then, and the number of paths that there were.
    fn retain_few(
        &mut self,
        first: NextHop,
        after: Option<P::Key>,
        kept: Option<usize>,
        mut keep: impl FnMut(&P) -> bool,
    ) -> (Option<NextHop>, usize, Option<P::Key>) {
        let mut new_first = Some(first);
        let mut seen = 0;
        // The last path that stays.
        let mut last = None;
        let mut next = Some(first);
        while let Some(number) = next {
            let known = kept.filter(|kept| seen <= *kept);
            let known = known.map(|kept| seen < kept);
            seen += 1;
            let held = self.paths.get(number);
            next = held.rest.as_next();
            let is_seen = after
                .as_ref()
                .is_some_and(|after| held.path.key() <= *after);
            if known.unwrap_or_else(|| is_seen || keep(&held.path)) {
                last = Some(number);
                continue;
            }
            match last {
                None => new_first = next,
                Some(last) => self.paths.get_mut(last).rest = NextBest::next(next),
            }
            self.paths.take(number);
        }
        (new_first, seen, None)
    }

    /// The paths of exactly `prefix`, the best first.
    pub fn paths(&self, prefix: Prefix<A>) -> impl Iterator<Item = &P> {
        let first = self.first.get(prefix);
        first.into_iter().flat_map(|first| self.chain(first))
    }

    /// The paths of exactly `prefix` that come after `last`, which may be gone, in that order.
    pub fn paths_after<'r>(
        &'r self,
        prefix: Prefix<A>,
        last: &'r P,
    ) -> impl Iterator<Item = &'r P> {
        let first = self.first.get(prefix);
        let many = first.and_then(|first| self.paths.get(first).rest.as_many());
        let at = many.map(|lists| self.many.get(lists).place(&self.paths, last));
        let paths = first.into_iter();
        let paths = paths.flat_map(move |first| self.from(first, at.unwrap_or_default()));
        paths.skip_while(|path| order(last, *path) != Ordering::Less)
    }

    /// The number of paths of exactly `prefix` with keys from `low` to `high`. O(key width / 6 + paths of the prefix / 500).
    pub fn count_keys(&self, prefix: Prefix<A>, low: &P::Key, high: &P::Key) -> usize {
        let Some(first) = self.first.get(prefix) else {
            return 0;
        };
        match self.paths.get(first).rest.as_many() {
            None => {
                let is_one = |path: &&P| (low..=high).contains(&&path.key());
                self.chain(first).filter(is_one).count()
            }
            Some(lists) => {
                let lists = self.many.get(lists);
                let low = lists.key_place(&self.paths, low);
                let high = lists.after_key(&self.paths, high);
                lists.by_key.count(low, high)
            }
        }
    }

    /// All paths in prefix order, those of a prefix the best first.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, &P)> {
        self.first.iter().flat_map(|(prefix, first)| {
            let paths = self.chain(first);
            paths.map(move |path| (prefix, path))
        })
    }

    pub(super) fn chain(&self, first: NextHop) -> impl Iterator<Item = &P> {
        self.from(first, SortedPlace::default())
    }

    /// The paths of the prefix whose best is `first`; from that place on if they are many.
    fn from(&self, first: NextHop, mut at: SortedPlace) -> impl Iterator<Item = &P> {
        let lists = self.paths.get(first).rest.as_many();
        let lists = lists.map(|lists| &self.many.get(lists).by_order);
        let mut next = match lists {
            None => Some(first),
            Some(lists) => lists.get(at),
        };
        iter::from_fn(move || {
            let link = self.paths.get(next?);
            next = match lists {
                None => link.rest.as_next(),
                Some(lists) => {
                    at = lists.next(at);
                    lists.get(at)
                }
            };
            Some(&link.path)
        })
    }
}
