//! The paths of a prefix that has many: two sorted lists of their numbers.

use core::cmp::Ordering;

use crate::address::Address;
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;

use super::paths::{FEW, MultiRib, NextBest, Path, PathLink, PathSlab, link, link_mut, order};
use super::sorted::{SortedNumbers, SortedPlace};

/// The numbers of the paths of a prefix.
pub(super) struct PathLists<Al: Allocator = Global> {
    pub(super) by_key: SortedNumbers<Al>,
    /// The best first.
    pub(super) by_order: SortedNumbers<Al>,
}

impl<Al: Allocator + Clone> PathLists<Al> {
    fn bytes(&self) -> usize {
        self.by_key.bytes() + self.by_order.bytes()
    }

    pub(super) fn place<P: Path>(&self, paths: &PathSlab<P, Al>, path: &P) -> SortedPlace {
        let find = |number| order(&link(paths, number).path, path);
        self.by_order.find(find)
    }

    pub(super) fn key_place<P: Path>(&self, paths: &PathSlab<P, Al>, key: &P::Key) -> SortedPlace {
        let find = |number| link(paths, number).path.key().cmp(key);
        self.by_key.find(find)
    }

    /// The place by key after all keys up to this one.
    pub(super) fn after_key<P: Path>(&self, paths: &PathSlab<P, Al>, key: &P::Key) -> SortedPlace {
        let find = |number| match link(paths, number).path.key() <= *key {
            true => Ordering::Less,
            false => Ordering::Greater,
        };
        self.by_key.find(find)
    }

    /// The number of the path with `key`.
    pub(super) fn number<P: Path>(&self, paths: &PathSlab<P, Al>, key: &P::Key) -> Option<NextHop> {
        let number = self.by_key.get(self.key_place(paths, key))?;
        (link(paths, number).path.key() == *key).then_some(number)
    }

    fn announce<P: Path>(
        &mut self,
        paths: &mut PathSlab<P, Al>,
        path: P,
    ) -> Result<(), OutOfMemory> {
        let key = path.key();
        if let Some(number) = self.number(paths, &key) {
            let to = self.place(paths, &path);
            let to = self.by_order.reserve(to)?;
            let from = self.place(paths, &link(paths, number).path);
            self.by_order.shift(from, to);
            link_mut(paths, number).path = path;
            return Ok(());
        }
        let at = self.place(paths, &path);
        let at = self.by_order.reserve(at)?;
        let at_key = self.key_place(paths, &key);
        let at_key = self.by_key.reserve(at_key)?;
        let rest = NextBest::NONE;
        let number = paths.try_add(PathLink { path, rest })?;
        self.by_order.insert(at, number);
        self.by_key.insert(at_key, number);
        Ok(())
    }

    /// Removes the number of a path, which is still there; returns the place by key of the one after it.
    fn remove<P: Path>(&mut self, paths: &PathSlab<P, Al>, at_key: SortedPlace) -> SortedPlace {
        if let Some(number) = self.by_key.get(at_key) {
            let at = self.place(paths, &link(paths, number).path);
            self.by_order.remove(at);
        }
        self.by_key.remove(at_key)
    }
}

impl<A: Address, P: Path, Al: Allocator + Clone> MultiRib<A, P, Al> {
    pub(super) fn lists(&self, lists: NextHop) -> &PathLists<Al> {
        self.many.get(lists).expect("numbers lead to lists")
    }

    /// Changes the lists, and counts their memory.
    fn with_lists<T>(
        &mut self,
        lists: NextHop,
        change: impl FnOnce(&mut PathLists<Al>, &mut PathSlab<P, Al>) -> T,
    ) -> T {
        let many = self.many.get_mut(lists).expect("numbers lead to lists");
        let before = many.bytes();
        let result = change(many, &mut self.paths);
        self.many_bytes = self.many_bytes + many.bytes() - before;
        result
    }

    /// Makes lists of a chain.
    pub(super) fn make_lists(&mut self, first: NextHop) -> Result<NextHop, OutOfMemory> {
        let alloc = self.first.allocator();
        let mut many = PathLists {
            by_key: SortedNumbers::new_in(alloc.clone()),
            by_order: SortedNumbers::new_in(alloc.clone()),
        };
        let mut next = Some(first);
        while let Some(number) = next {
            let PathLink { path, rest } = link(&self.paths, number);
            many.by_order.push(number)?;
            let at = many.key_place(&self.paths, &path.key());
            let at = many.by_key.reserve(at)?;
            many.by_key.insert(at, number);
            next = rest.as_next();
        }
        let bytes = many.bytes();
        let lists = self.many.try_add(many)?;
        self.many_bytes += bytes;
        next = Some(first);
        while let Some(number) = next {
            let rest = &mut link_mut(&mut self.paths, number).rest;
            next = rest.as_next();
            *rest = NextBest::NONE;
        }
        link_mut(&mut self.paths, first).rest = NextBest::many(lists);
        Ok(lists)
    }

    /// Returns the number of the best path then.
    pub(super) fn announce_many(
        &mut self,
        first: NextHop,
        lists: NextHop,
        path: P,
    ) -> Result<NextHop, OutOfMemory> {
        self.with_lists(lists, |many, paths| many.announce(paths, path))?;
        Ok(self.settle(Some(first), lists).unwrap_or(first))
    }

    /// Returns the numbers of the best path then and of the removed one, which the caller takes.
    pub(super) fn withdraw_many(
        &mut self,
        first: NextHop,
        lists: NextHop,
        key: &P::Key,
    ) -> Option<(Option<NextHop>, NextHop)> {
        let number = self.with_lists(lists, |many, paths| {
            let number = many.number(paths, key)?;
            let at = many.key_place(paths, key);
            many.remove(paths, at);
            Some(number)
        })?;
        Some((self.settle(Some(first), lists), number))
    }

    /// Keeps of the paths after the one with key `after` the next `count` at most, if `keep` says so. Returns the best then, how
    /// many it visited, and the key of the last of these if there are more.
    pub(super) fn retain_many(
        &mut self,
        first: NextHop,
        lists: NextHop,
        after: Option<P::Key>,
        count: usize,
        mut keep: impl FnMut(&P) -> bool,
    ) -> (Option<NextHop>, usize, Option<P::Key>) {
        let mut seen = 0;
        let mut old = Some(first);
        let last = self.with_lists(lists, |many, paths| {
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
                let path = &link(paths, number).path;
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
        (self.settle(old, lists), seen, last)
    }

    /// Notes in the best path where the lists are, and no longer in `old`; makes a chain of what has become few. Returns the best.
    /// Needs no memory.
    fn settle(&mut self, old: Option<NextHop>, lists: NextHop) -> Option<NextHop> {
        let by_order = &self.lists(lists).by_order;
        let first = by_order.get(SortedPlace::default());
        let is_few = by_order.len() <= FEW / 2;
        if !is_few && old == first {
            return first;
        }
        if let Some(old) = old {
            link_mut(&mut self.paths, old).rest = NextBest::NONE;
        }
        if !is_few {
            let first = first?;
            link_mut(&mut self.paths, first).rest = NextBest::many(lists);
            return Some(first);
        }
        let many = self.many.take(lists)?;
        self.many_bytes -= many.bytes();
        let mut at = SortedPlace::default();
        while let Some(number) = many.by_order.get(at) {
            at = many.by_order.next(at);
            link_mut(&mut self.paths, number).rest = NextBest::next(many.by_order.get(at));
        }
        first
    }
}
