//! How the Fib of a map keeps up with its Rib.
//!
//! Each change patches the Fib in place. Many changes at once are another matter: a patch
//! takes some hundred nanoseconds, a compilation some tens of nanoseconds a route. So if
//! the changes are a good part of the routes, it is less work to drop the Fib and
//! compile at the end. Nobody knows how many changes are to come, so patches are made
//! until they have cost a compilation (ski rental); at worst twice the best is paid.
//!
//! Without a Fib the Rib answers, right and slower. So whatever interrupts a change of
//! many, a panic of the user's code or refused memory, leaves a map that is right, and the
//! Fib comes back with the changes that follow.

use super::defer::{ASK, DeferringFib};
use crate::address::Address;
use crate::batch::Kernel;
use crate::fib::Options;
use crate::fib::lookup::lookup;
use crate::next_hop::NextHop;
use crate::patch::ROUTES_A_PATCH;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Routes, and the Fib that follows them.
#[derive(Debug)]
pub(super) struct FollowedRib<A: Address> {
    pub(super) rib: Rib<A>,
    /// `None` where there are no routes, while many change, and where memory was refused: then
    /// the Rib answers.
    pub(super) fib: Option<DeferringFib<A>>,
    pub(super) options: Options,
    /// Changes that went without the Fib.
    behind: usize,
}

impl<A: Address> Clone for FollowedRib<A> {
    fn clone(&self) -> Self {
        Self {
            rib: self.rib.clone(),
            // Refused memory leaves the Rib to answer.
            fib: self
                .fib
                .as_ref()
                .and_then(|fib| DeferringFib::try_clone(fib).ok()),
            options: self.options.clone(),
            behind: self.behind,
        }
    }
}

impl<A: Address> FollowedRib<A> {
    pub(super) fn new(options: Options) -> Self {
        Self {
            rib: Rib::new(),
            fib: None,
            options,
            behind: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.rib.bytes() + self.fib.as_ref().map_or(0, DeferringFib::bytes)
    }

    /// The number that answers for `address`, 0 for none; or [`ASK`].
    #[inline]
    pub(super) fn answer(&self, address: A) -> u32 {
        self.fib
            .as_ref()
            .map_or(ASK, |fib| lookup(fib.view(), address))
    }

    /// The number that answers for each of `addresses`, 0 for none.
    #[inline]
    pub(super) fn answer_batch(&self, addresses: &[A], numbers: &mut [u32]) {
        match &self.fib {
            Some(fib) => Kernel::best().lookup_batch(fib.view(), addresses, numbers),
            None => numbers.fill(ASK),
        }
        // One test for all, by vectors, and not one for each.
        if numbers
            .iter()
            .fold(0, |highest, number| highest.max(*number))
            == ASK
        {
            self.ask_batch(addresses, numbers);
        }
    }

    #[cold]
    #[inline(never)]
    fn ask_batch(&self, addresses: &[A], numbers: &mut [u32]) {
        for (number, address) in numbers.iter_mut().zip(addresses) {
            if *number == ASK {
                *number = self.ask(*address);
            }
        }
    }

    /// The Rib's answer.
    pub(super) fn ask(&self, address: A) -> u32 {
        self.rib.lookup(address).map_or(0, NextHop::get)
    }

    /// Has what a change of the route of `prefix` begins with fetched into the cache.
    #[inline(always)]
    pub(super) fn fetch(&self, prefix: Prefix<A>) {
        if let Some(fib) = &self.fib {
            fib.fetch(prefix);
        }
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

    /// How many changes of many are less work as patches than to compile at the end.
    pub(super) fn patches(&self) -> usize {
        self.rib.len() / ROUTES_A_PATCH
    }

    /// As [`Self::follow`] for one of many changes, of which so many more are to be patches.
    pub(super) fn follow_one_of_many(
        &mut self,
        patches: &mut usize,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) {
        match patches.checked_sub(1) {
            Some(left) if self.fib.is_some() => {
                *patches = left;
                self.follow(prefix, old, new);
            }
            _ => self.let_go(),
        }
    }

    /// After many changes, makes the Fib answer again. Whether it was compiled.
    pub(super) fn settle(&mut self) -> bool {
        let Self { fib, rib, .. } = self;
        let is_gone = fib.as_mut().is_none_or(|fib| fib.settle(rib).is_err());
        if is_gone {
            self.compile();
        }
        is_gone
    }

    /// Lets the Rib answer.
    fn let_go(&mut self) {
        self.fib = None;
        self.behind = 0;
    }

    /// Compiles the Fib; where that fails the Rib goes on answering.
    pub(super) fn compile(&mut self) {
        self.let_go();
        if !self.rib.is_empty() {
            self.fib = DeferringFib::compile(&self.rib, &self.options).ok();
        }
    }
}
