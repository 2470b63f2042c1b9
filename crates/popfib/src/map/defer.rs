//! The Fib of a map, and the one entry of its table whose changes wait.
//!
//! Routes that are inserted one by one mostly come in order, from a file or another map. The
//! changes below one entry of the root table (or of a page) then follow each other, and to
//! build once what lies below the entry is less work than to patch it for each of them. So if
//! changes come in order, the entry that they are below is *marked*: it answers [`ASK`], which no pair
//! has for a number, and lookups that meet it ask the Rib. The first change elsewhere settles it. Other
//! lookups pay nothing for that: a number is compared with [`ASK`] only if it has no pair.
//!
//! Nobody knows whether a change is the last, and a lookup changes nothing, so a mark may stay. Therefore there is
//! one marked entry at most, with at most one of [`SHARE`] routes (if all below it had one answer, those count as
//! one), and none before [`IN_ORDER`] changes came in order.
//!
//! Rejected: marks on as many entries as random changes meet, settled in bulk. Each has a change or two, so nothing is saved until most of the
//! table is marked, and a map that is only looked up from then on would stay slow.

use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::Options;
use crate::fib::arrays::FibView;
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::patch::{FollowingFib, Home, ROUTES_A_PATCH, UnsharedArrays};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// The answer of a marked entry: the Rib knows. No pair has this number.
pub(super) const ASK: u32 = MAX_NEXT_HOP;

/// Changes in order after which more of them are expected.
const IN_ORDER: u32 = 8;

/// Of so many routes at most one lies below a marked entry.
const SHARE: usize = 32;

/// A Fib that follows its Rib, but for the entry that is marked.
#[derive(Debug)]
pub(super) struct DeferringFib<A: Address> {
    fib: FollowingFib<A, UnsharedArrays>,
    /// Where changes come from, in order or not.
    order: ChangeOrder<A>,
    marked: Option<MarkedEntry<A>>,
}

#[derive(Clone, Copy, Debug)]
struct ChangeOrder<A> {
    /// The first address below the entry of the last change.
    last: A,
    /// Changes that were not before the one before them, up to the last.
    in_order: u32,
    /// Changes below the last one's entry, one after the other.
    here: usize,
}

#[derive(Clone, Copy, Debug)]
struct MarkedEntry<A: Address> {
    entry: Prefix<A>,
    /// Changes until more than its share of the routes may be below it.
    left: usize,
}

impl<A: Address> DeferringFib<A> {
    /// # Errors
    /// As [`FollowingFib::compile`].
    pub(super) fn compile(rib: &Rib<A>, options: &Options) -> Result<Self, CompileError> {
        Ok(Self {
            fib: FollowingFib::compile(rib, options)?,
            order: ChangeOrder {
                last: A::MIN,
                in_order: 0,
                here: 0,
            },
            marked: None,
        })
    }

    /// # Errors
    /// As [`FollowingFib::try_clone`].
    pub(super) fn try_clone(&self) -> Result<Self, CompileError> {
        let fib = self.fib.try_clone()?;
        Ok(Self { fib, ..*self })
    }

    #[inline(always)]
    pub(super) fn view(&self) -> FibView<'_> {
        self.fib.home.view()
    }

    pub(super) fn bytes(&self) -> usize {
        self.fib.bytes()
    }

    #[inline(always)]
    pub(super) fn fetch(&self, prefix: Prefix<A>) {
        self.fib.fetch(prefix);
    }

    /// Whether lookups of `address` may ask the Rib.
    pub(super) fn is_marked(&self, address: A) -> bool {
        let marked = self.marked.as_ref();
        marked.is_some_and(|marked| marked.entry.contains(address))
    }

    /// The route of `prefix` is about to change, in the Rib first: changes that wait elsewhere
    /// are settled. Not afterwards, when the Rib would no longer be what the Fib has to follow.
    ///
    /// # Errors
    /// [`CompileError`]: the Fib no longer follows.
    #[inline]
    pub(super) fn prepare(&mut self, rib: &Rib<A>, prefix: Prefix<A>) -> Result<(), CompileError> {
        match &self.marked {
            Some(marked) if marked.left == 0 || !marked.entry.covers(&prefix) => self.settle(rib),
            _ => Ok(()),
        }
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed, now or later.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), which was called before.
    pub(super) fn follow(
        &mut self,
        rib: &Rib<A>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        let entry = Prefix::clamped(prefix.address(), self.fib.direct_bits());
        self.order.count(entry.address());
        if let Some(marked) = &mut self.marked {
            debug_assert!(marked.entry.covers(&prefix), "prepared");
            marked.left -= 1;
            return Ok(());
        }
        if prefix.len() >= entry.len() && self.mark(rib, entry)? {
            return Ok(());
        }
        self.fib.follow(rib, prefix, old, new)
    }

    /// Makes the Fib follow where changes wait.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub(super) fn settle(&mut self, rib: &Rib<A>) -> Result<(), CompileError> {
        let Some(MarkedEntry { entry, .. }) = self.marked.take() else {
            return Ok(());
        };
        // As if its own route had changed and all below inherited from that: what there is
        // now, a leaf, is built from the Rib.
        self.fib
            .follow(rib, entry, NextHop::new(ASK), rib.get(entry))
    }

    /// Marks the entry if its changes have cost, or will, as much as building what is below it.
    /// Whether it did.
    fn mark(&mut self, rib: &Rib<A>, entry: Prefix<A>) -> Result<bool, CompileError> {
        // At powers of two only, as its routes are counted for that.
        let ChangeOrder { in_order, here, .. } = self.order;
        if in_order < IN_ORDER || !here.is_power_of_two() {
            return Ok(false);
        }
        let share = rib.len() / SHARE;
        let routes = if self.fib.has_nodes(entry) {
            let most = share.min(here.saturating_mul(ROUTES_A_PATCH));
            let routes = rib.subnets(entry).take(most + 1).count();
            if routes > most {
                return Ok(false);
            }
            routes
        } else {
            // One answer before the change: a patch would build all below it as well. Counting
            // would take longer than all else where the change is the first route there.
            1
        };
        let Some(left) = share.checked_sub(routes) else {
            return Ok(false);
        };
        if !self.fib.cut(rib, entry, ASK)? {
            return Ok(false);
        }
        self.marked = Some(MarkedEntry { entry, left });
        Ok(true)
    }
}

impl<A: Address> ChangeOrder<A> {
    /// Counts a change below the entry whose first address this is.
    fn count(&mut self, here: A) {
        self.in_order = if here < self.last {
            0
        } else {
            self.in_order.saturating_add(1)
        };
        self.here = if here == self.last { self.here + 1 } else { 1 };
        self.last = here;
    }
}

#[cfg(test)]
mod tests;
