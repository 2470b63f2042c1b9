//! Routes of a map, and the Fib that follows them.

use super::lazy::LazyFib;
use crate::address::Address;
use crate::batch::Kernel;
use crate::fib::Options;
use crate::fib::lookup::lookup;
use crate::next_hop::NextHop;
use crate::patch::Home;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Routes, and the Fib that follows them.
#[derive(Debug)]
pub(super) struct FollowedRib<A: Address> {
    pub(super) rib: Rib<A>,
    pub(super) fib: LazyFib<A>,
    pub(super) options: Options,
}

impl<A: Address> Clone for FollowedRib<A> {
    fn clone(&self) -> Self {
        Self {
            rib: self.rib.clone(),
            fib: self.fib.clone_fib(),
            options: self.options.clone(),
        }
    }
}

impl<A: Address> FollowedRib<A> {
    pub(super) fn new(options: Options) -> Self {
        Self {
            rib: Rib::new(),
            fib: LazyFib::new(),
            options,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.rib.bytes() + self.fib.peek().map_or(0, |fib| fib.bytes())
    }

    /// The number that answers for `address`, 0 for none.
    #[inline]
    pub(super) fn answer(&self, address: A) -> u32 {
        match self.fib.get(&self.rib, &self.options) {
            Some(fib) => lookup(fib.home.view(), address),
            None => self.ask(address),
        }
    }

    /// The number that answers for each of `addresses`, 0 for none.
    #[inline]
    pub(super) fn answer_batch(&self, addresses: &[A], numbers: &mut [u32]) {
        match self.fib.get(&self.rib, &self.options) {
            Some(fib) => Kernel::best().lookup_batch(fib.home.view(), addresses, numbers),
            None => {
                for (number, address) in numbers.iter_mut().zip(addresses) {
                    *number = self.ask(*address);
                }
            }
        }
    }

    /// The Rib's answer. Not a part of the lookups' loops, which lose half of their speed to its code in them.
    #[cold]
    #[inline(never)]
    fn ask(&self, address: A) -> u32 {
        self.rib.lookup(address).map_or(0, NextHop::get)
    }

    /// Has what a change of the route of `prefix` begins with fetched into the cache.
    #[inline(always)]
    pub(super) fn fetch(&self, prefix: Prefix<A>) {
        if let Some(fib) = self.fib.peek() {
            fib.fetch(prefix);
        }
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed.
    #[inline]
    pub(super) fn follow(&mut self, prefix: Prefix<A>, old: Option<NextHop>, new: Option<NextHop>) {
        if old != new {
            self.fib.follow(&self.rib, prefix, old, new);
        }
    }

    /// Compiles the Fib now, and not when somebody looks up.
    pub(super) fn compile(&self) {
        self.fib.get(&self.rib, &self.options);
    }
}
