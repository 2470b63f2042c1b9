//! The paths of the prefixes that have many: of each, two sorted lists of their numbers.

use std::cmp::Ordering;

use popfib::NextHop;

use super::link::{FEW, NextBest, Path, PathLink, PathSlab, order};
use super::slab::Slab;
use super::sorted::{SortedNumbers, SortedPlace};

/// The numbers of the paths of a prefix.
#[derive(Default)]
pub(super) struct PathLists {
    pub(super) by_key: SortedNumbers,
    /// The best first.
    pub(super) by_order: SortedNumbers,
}

impl PathLists {
    fn bytes(&self) -> usize {
        self.by_key.bytes() + self.by_order.bytes()
    }

    pub(super) fn place<P: Path>(&self, paths: &PathSlab<P>, path: &P) -> SortedPlace {
        let find = |number| order(&paths.get(number).path, path);
        self.by_order.find(find)
    }

    pub(super) fn key_place<P: Path>(&self, paths: &PathSlab<P>, key: &P::Key) -> SortedPlace {
        let find = |number| paths.get(number).path.key().cmp(key);
        self.by_key.find(find)
    }

    /// The place by key after all keys up to this one.
    pub(super) fn after_key<P: Path>(&self, paths: &PathSlab<P>, key: &P::Key) -> SortedPlace {
        let find = |number| match paths.get(number).path.key() <= *key {
            true => Ordering::Less,
            false => Ordering::Greater,
        };
        self.by_key.find(find)
    }

    /// The number of the path with `key`.
    pub(super) fn number<P: Path>(&self, paths: &PathSlab<P>, key: &P::Key) -> Option<NextHop> {
        let number = self.by_key.get(self.key_place(paths, key))?;
        (paths.get(number).path.key() == *key).then_some(number)
    }

    fn announce<P: Path>(&mut self, paths: &mut PathSlab<P>, path: P) {
        let key = path.key();
        let number = match self.number(paths, &key) {
            Some(number) => {
                let from = self.place(paths, &paths.get(number).path);
                self.by_order.remove(from);
                paths.get_mut(number).path = path;
                number
            }
            None => {
                let at_key = self.key_place(paths, &key);
                let number = paths.add(PathLink::last(path));
                self.by_key.insert(at_key, number);
                number
            }
        };
        let at = self.place(paths, &paths.get(number).path);
        self.by_order.insert(at, number);
    }

    /// Removes the number of a path, which is still there; returns the place by key of the one after it.
    fn remove<P: Path>(&mut self, paths: &PathSlab<P>, at_key: SortedPlace) -> SortedPlace {
        if let Some(number) = self.by_key.get(at_key) {
            let at = self.place(paths, &paths.get(number).path);
            self.by_order.remove(at);
        }
        self.by_key.remove(at_key)
    }
}

/// The lists of all prefixes that have some.
pub(super) struct ManyPaths {
    lists: Slab<PathLists>,
    /// Heap bytes of all of them, without their places.
    bytes: usize,
}

impl ManyPaths {
    pub(super) const fn new() -> Self {
        Self {
            lists: Slab::new(),
            bytes: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.lists.bytes() + self.bytes
    }

    pub(super) fn get(&self, lists: NextHop) -> &PathLists {
        self.lists.get(lists)
    }

    /// Changes the lists, and counts their memory.
    fn change<T>(&mut self, lists: NextHop, change: impl FnOnce(&mut PathLists) -> T) -> T {
        let many = self.lists.get_mut(lists);
        let before = many.bytes();
        let result = change(many);
        self.bytes = self.bytes + many.bytes() - before;
        result
    }

    /// Makes lists of a chain.
    pub(super) fn make<P: Path>(&mut self, paths: &mut PathSlab<P>, first: NextHop) -> NextHop {
        let mut many = PathLists::default();
        let mut next = Some(first);
        while let Some(number) = next {
            let PathLink { path, rest } = paths.get(number);
            next = rest.as_next();
            many.by_order.push(number);
            let at = many.key_place(paths, &path.key());
            many.by_key.insert(at, number);
            paths.get_mut(number).rest = NextBest::NONE;
        }
        self.bytes += many.bytes();
        let lists = self.lists.add(many);
        paths.get_mut(first).rest = NextBest::many(lists);
        lists
    }

    /// Returns the number of the best path then.
    pub(super) fn announce<P: Path>(
        &mut self,
        paths: &mut PathSlab<P>,
        first: NextHop,
        lists: NextHop,
        path: P,
    ) -> NextHop {
        self.change(lists, |many| many.announce(paths, path));
        self.settle(paths, Some(first), lists).unwrap_or(first)
    }

    /// Returns the numbers of the best path then and of the removed one, which the caller takes.
    pub(super) fn withdraw<P: Path>(
        &mut self,
        paths: &mut PathSlab<P>,
        first: NextHop,
        lists: NextHop,
        key: &P::Key,
    ) -> Option<(Option<NextHop>, NextHop)> {
        let number = self.change(lists, |many| {
            let number = many.number(paths, key)?;
            let at = many.key_place(paths, key);
            many.remove(paths, at);
            Some(number)
        })?;
        Some((self.settle(paths, Some(first), lists), number))
    }

    /// Keeps of the paths after the one with key `after` the next `count` at most, if `keep` says so. Returns the best then, how
    /// many it visited, and the key of the last of these if there are more.
    pub(super) fn retain<P: Path>(
        &mut self,
        paths: &mut PathSlab<P>,
        first: NextHop,
        lists: NextHop,
        after: Option<P::Key>,
        count: usize,
        mut keep: impl FnMut(&P) -> bool,
    ) -> (Option<NextHop>, usize, Option<P::Key>) {
        let mut seen = 0;
        let mut old = Some(first);
        let last = self.change(lists, |many| {
            let mut at = match &after {
                None => SortedPlace::default(),
                Some(after) => many.after_key(paths, after),
            };
            let mut last = after;
            while let Some(number) = many.by_key.get(at) {
                if seen == count {
                    return last;
                }
                seen += 1;
                let path = &paths.get(number).path;
                last = Some(path.key());
                if keep(path) {
                    at = many.by_key.next(at);
                    continue;
                }
                at = many.remove(paths, at);
                paths.take(number);
                old = old.filter(|first| *first != number);
            }
            None
        });
        (self.settle(paths, old, lists), seen, last)
    }

    /// Notes in the best path where the lists are, and no longer in `old`; makes a chain of what has become few. Returns the best.
    fn settle<P: Path>(
        &mut self,
        paths: &mut PathSlab<P>,
        old: Option<NextHop>,
        lists: NextHop,
    ) -> Option<NextHop> {
        let by_order = &self.get(lists).by_order;
        let first = by_order.get(SortedPlace::default());
        let is_few = by_order.len() <= FEW / 2;
        if !is_few && old == first {
            return first;
        }
        if let Some(old) = old {
            paths.get_mut(old).rest = NextBest::NONE;
        }
        if !is_few {
            let first = first?;
            paths.get_mut(first).rest = NextBest::many(lists);
            return Some(first);
        }
        let many = self.lists.take(lists);
        self.bytes -= many.bytes();
        let mut at = SortedPlace::default();
        while let Some(number) = many.by_order.get(at) {
            at = many.by_order.next(at);
            paths.get_mut(number).rest = NextBest::next(many.by_order.get(at));
        }
        first
    }
}
