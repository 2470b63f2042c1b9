//! How the Fib of a map keeps up with its Rib.
//!
//! Each change patches the Fib in place. Many changes at once are another matter: a patch
//! takes some hundred nanoseconds and a compilation some tens of nanoseconds a route, so
//! once the changes are a good part of the routes it is less work to let go of the Fib and
//! to compile at the end. Nobody knows how many changes are to come, so patches are made
//! until they have cost a compilation (ski rental); at worst twice the best is paid.
//!
//! Without a Fib the Rib answers, right and slower. So whatever interrupts a change of
//! many, a panic of the user's code or refused memory, leaves a map that is right, and the
//! Fib comes back with the changes that follow.

use super::defer::{ASK, Deferring};
use super::pairs::Pair;
use super::storage::{Storage, Stores};
use super::value_mut::Renumber;
use super::{Inserted, Pairs, PrefixMap};
use crate::address::Address;
use crate::fib::lookup::lookup;
use crate::next_hop::NextHop;
use crate::patch::ROUTES_A_PATCH;
use crate::prefix::Prefix;

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// The number of the pair that answers for `address`, 0 for none; or [`ASK`].
    #[inline]
    pub(super) fn answer(&self, address: A) -> u32 {
        self.fib
            .as_ref()
            .map_or(ASK, |fib| lookup(fib.view(), address))
    }

    /// The pair that answers for `address`, where the Fib's answer is that.
    #[inline(always)]
    pub(super) fn answered(&self, answer: u32, address: A) -> Option<&Pair<V>> {
        match self.pairs.get(answer) {
            None => self.unpaired(answer, address),
            pair => pair,
        }
    }

    /// Where no pair has the number that the Fib answers. Not a part of the lookups' loops, which
    /// lose half of their speed to the Rib's code in them.
    #[cold]
    #[inline(never)]
    fn unpaired(&self, answer: u32, address: A) -> Option<&Pair<V>> {
        (answer == ASK).then(|| self.pairs.get(self.ask(address)))?
    }

    /// The Rib's answer.
    pub(super) fn ask(&self, address: A) -> u32 {
        self.rib.lookup(address).map_or(0, NextHop::get)
    }

    /// To be called before the route of `prefix` changes.
    #[inline]
    pub(super) fn prepare(&mut self, prefix: Prefix<A>) {
        if let Some(fib) = &mut self.fib
            && fib.prepare(&self.rib, prefix).is_err()
        {
            self.let_go();
        }
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed.
    pub(super) fn follow(&mut self, prefix: Prefix<A>, old: Option<NextHop>, new: Option<NextHop>) {
        if old == new {
            return;
        }
        match &mut self.fib {
            Some(fib) => {
                if fib.follow(&self.rib, prefix, old, new).is_err() {
                    self.let_go();
                }
            }
            None => {
                self.behind += 1;
                if self.behind * ROUTES_A_PATCH >= self.rib.len() {
                    self.compile();
                }
            }
        }
        if self.rib.is_empty() {
            self.fib = None;
        }
    }

    /// Lets the Rib answer.
    fn let_go(&mut self) {
        self.fib = None;
        self.behind = 0;
    }

    /// Compiles the Fib; where that fails the Rib goes on answering.
    fn compile(&mut self) {
        self.let_go();
        if !self.rib.is_empty() {
            self.fib = Deferring::compile(&self.rib, &self.options).ok();
        }
    }
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// The prefix of these bits whose route has pair `number`.
    fn prefix_of(&self, bits: u128, number: NextHop) -> Option<Prefix<A>> {
        let pair = self.pairs.get(number.get())?;
        Some(Prefix::clamped(A::truncate(bits), pair.len()))
    }

    /// Numbers the pairs of a map that lost most of them again, from 1 on.
    pub(super) fn tidy(&mut self) {
        if self.rib.is_empty() {
            self.pairs = Pairs::new();
        }
        if self.pairs.is_sparse()
            && let Some(numbers) = self.pairs.renumber()
        {
            self.rib.renumber(|number| numbers[number as usize]);
            self.compile();
        }
    }
}

/// Many changes of a map. When this is dropped the Fib answers again.
pub(super) struct Bulk<'a, A: Address, V, S: Stores<V>> {
    pub(super) map: &'a mut PrefixMap<A, V, S>,
    /// Patches that cost less than a compilation.
    patches: usize,
}

impl<'a, A: Address, V, S: Stores<V>> Bulk<'a, A, V, S> {
    pub(super) fn new(map: &'a mut PrefixMap<A, V, S>) -> Self {
        let patches = map.len() / ROUTES_A_PATCH;
        Self { map, patches }
    }

    pub(super) fn insert(&mut self, prefix: Prefix<A>, value: V) -> Option<V> {
        match self.map.insert_route(prefix, value) {
            Ok(Inserted::InPlace(value)) => Some(value),
            Ok(Inserted::Route { old, new }) => {
                self.follow(prefix, old, Some(new));
                old.map(|old| S::remove(&mut self.map.pairs, old))
            }
            Err(error) => error.abort(),
        }
    }

    pub(super) fn remove(&mut self, prefix: Prefix<A>) -> Option<V> {
        self.map.prepare(prefix);
        let number = self.map.rib.remove(prefix)?;
        self.follow(prefix, Some(number), None);
        Some(S::remove(&mut self.map.pairs, number))
    }

    fn follow(&mut self, prefix: Prefix<A>, old: Option<NextHop>, new: Option<NextHop>) {
        match self.patches.checked_sub(1) {
            Some(left) if self.map.fib.is_some() => {
                self.patches = left;
                self.map.follow(prefix, old, new);
            }
            _ => self.map.let_go(),
        }
    }
}

impl<A: Address, V, S: Stores<V>> Drop for Bulk<'_, A, V, S> {
    fn drop(&mut self) {
        self.map.tidy();
        let PrefixMap { fib, rib, .. } = &mut *self.map;
        if fib.as_mut().is_none_or(|fib| fib.settle(rib).is_err()) {
            self.map.compile();
            self.map.pairs.shrink();
        }
    }
}

impl<A: Address, V, S: Stores<V>> Renumber<V, S> for Bulk<'_, A, V, S> {
    fn pairs(&self) -> &Pairs<V, S> {
        &self.map.pairs
    }

    fn pairs_mut(&mut self) -> &mut Pairs<V, S> {
        &mut self.map.pairs
    }

    fn set(&mut self, bits: u128, number: NextHop, value: V) {
        if let Some(prefix) = self.map.prefix_of(bits, number) {
            self.insert(prefix, value);
        }
    }
}

impl<A: Address, V, S: Stores<V>> Renumber<V, S> for PrefixMap<A, V, S> {
    fn pairs(&self) -> &Pairs<V, S> {
        &self.pairs
    }

    fn pairs_mut(&mut self) -> &mut Pairs<V, S> {
        &mut self.pairs
    }

    fn set(&mut self, bits: u128, number: NextHop, value: V) {
        if let Some(prefix) = self.prefix_of(bits, number) {
            self.insert(prefix, value);
        }
    }
}
