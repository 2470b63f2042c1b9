//! Changes that take long, made part by part beside all others, so that none of them stalls.
//!
//! Two kinds do. A route that many others lie below changes what these inherit: it *waits*, and each step makes the
//! change for some more entries of the root table. And a table that is full, or that its routes have outgrown, is made
//! again: the *next* table is filled from the Rib part by part, follows the changes of what is filled, and takes the
//! place of the table in use when it is whole. Meanwhile changes that the table in use has no room for are made
//! in the Rib and in the next table alone, and lookups see them with that.
//!
//! Every part is made from the Rib as it is then, so parts may be made in any order, twice, or in vain: no change has
//! to be kept, and what comes meanwhile is not lost. A step ends at a number of routes that the caller chooses, but
//! makes one entry of the root table at least.
//!
//! Rejected: one mechanism for both, a new table for each change of a short prefix. It takes the cache of a
//! second table each time, and where such changes come faster than a table is made none would ever be whole.

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;

use super::spacious::{is_too_large, may_be_flat};
use super::{FollowingFib, Home, PatchTarget, SPARE, SharedBlocks, Space, UnsharedArrays};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::compile;
use crate::fib::layout::{EmptyArrays, FibArrays, IDLE_BLOCK, MAX_WORDS};
use crate::memory::{self, Allocator};
use crate::next_hop::{Leaf, NextHop};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Memory that is cleared in the time that a route of a part takes, about.
const BYTES_A_ROUTE: usize = 1 << 10;

/// Entries of the root table in a part, at most.
const MAX_ENTRIES: u32 = 1 << 12;

/// Of a part: all of a change, as no table has so many routes.
const AT_ONCE: usize = usize::MAX;

/// What is still to be done.
#[derive(Debug)]
pub(super) struct Steps<A: Address, Al: Allocator + Clone> {
    /// Routes of a part, or [`AT_ONCE`].
    routes: usize,
    waiting: Vec<WaitingRoute<A>, Al>,
    /// Memory for the next table, while it is cleared. Not inline, as the next: most tables never have either.
    coming: Option<Box<EmptyArrays<Al>, Al>>,
    next: Option<Box<NextTable<A, Al>, Al>>,
    /// Whether the table in use lacks changes that its next will have.
    is_behind: bool,
}

/// A changed route that entries of the root table do not follow yet.
#[derive(Clone, Copy, Debug)]
struct WaitingRoute<A: Address> {
    prefix: Prefix<A>,
    /// The first of these entries.
    from: u32,
}

/// The table that will be in use.
#[derive(Debug)]
struct NextTable<A: Address, Al: Allocator + Clone> {
    home: UnsharedArrays<Al>,
    space: Space<Al>,
    /// The flat blocks, if the table has such.
    shared: Option<Box<SharedBlocks<Al>, Al>>,
    /// The first entry of the root table that is not filled.
    from: u32,
    /// Changed routes that filled entries do not follow yet.
    waiting: Vec<WaitingRoute<A>, Al>,
}

impl<A: Address, Al: Allocator + Clone> Steps<A, Al> {
    pub(super) fn new_in(alloc: &Al) -> Self {
        Self {
            routes: AT_ONCE,
            waiting: Vec::new_in(alloc.clone()),
            coming: None,
            next: None,
            is_behind: false,
        }
    }

    /// Whether changes are made in steps, or some wait for steps.
    pub(super) fn are_taken(&self) -> bool {
        self.routes != AT_ONCE || self.is_left()
    }

    fn is_left(&self) -> bool {
        self.is_behind || self.is_begun() || !self.waiting.is_empty()
    }

    /// Whether another table is being made.
    fn is_begun(&self) -> bool {
        self.coming.is_some() || self.next.is_some()
    }

    /// Whether the table in use may lack a change of a route that covers `prefix`.
    pub(super) fn is_waiting_at(&self, prefix: Prefix<A>) -> bool {
        self.is_behind || is_waiting_at(&self.waiting, prefix)
    }
}

fn is_waiting_at<A: Address>(waiting: &[WaitingRoute<A>], prefix: Prefix<A>) -> bool {
    waiting.iter().any(|route| route.prefix.covers(&prefix))
}

/// Notes that the route of `prefix` has changed, from its first entry on; reserved.
fn wait<A: Address, Al: Allocator>(waiting: &mut Vec<WaitingRoute<A>, Al>, route: WaitingRoute<A>) {
    match waiting.iter_mut().find(|old| old.prefix == route.prefix) {
        Some(old) => old.from = route.from,
        None => waiting.push(route),
    }
}

/// The longest part from entry `from` on, before entry `end`, with at most `routes` routes below; one entry at least.
fn part<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
    root_bits: u8,
    from: u32,
    end: u32,
    routes: usize,
) -> Prefix<A> {
    let here = Prefix::clamped(A::from_leading(from, root_bits), root_bits);
    let after = rib.range(here..).nth(routes);
    let after = after.map_or(u32::MAX, |(prefix, _)| prefix.address().leading(root_bits));
    let most = (end.min(after).max(from + 1) - from).min(MAX_ENTRIES);
    let aligned = from.trailing_zeros().min(most.ilog2()) as u8;
    Prefix::clamped(here.address(), root_bits - aligned)
}

/// The number of entries of the root table below `prefix`, which is not longer than these are.
fn entries<A: Address>(root_bits: u8, prefix: Prefix<A>) -> u32 {
    1 << (root_bits - prefix.len())
}

/// The longest route that covers `prefix`, or is its own: length and next hop, 0 and 0 without one.
fn longest<A: Address>(rib: &Rib<A, impl Allocator + Clone>, prefix: Prefix<A>) -> (u8, u32) {
    let longest = rib.supernets(prefix).last();
    longest.map_or((0, 0), |(route, next_hop)| (route.len(), next_hop.get()))
}

impl<A: Address, L: Leaf, H: Home> FollowingFib<A, L, H> {
    /// From now on changes are made in parts of about so many routes; `None`: at once.
    pub(crate) fn set_step(&mut self, routes: Option<usize>) {
        self.steps.routes = routes.unwrap_or(AT_ONCE);
    }

    /// Whether lookups see every change that the Rib has.
    pub(crate) fn is_settled(&self) -> bool {
        let Steps { waiting, next, .. } = &self.steps;
        // Also what only the next table lacks, or numbers that it answers would be given out again.
        let is_next_settled = next.as_ref().is_none_or(|next| next.waiting.is_empty());
        !self.is_stale && !self.steps.is_behind && waiting.is_empty() && is_next_settled
    }

    /// Heap bytes of what only the writer knows of flat blocks.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.bytes())
    }

    /// Bytes of the next table.
    pub(crate) fn next_bytes(&self) -> usize {
        let Steps { coming, next, .. } = &self.steps;
        let coming = coming.as_ref().map_or(0, |coming| coming.bytes());
        next.as_ref().map_or(coming, |next| {
            let view = next.home.view();
            size_of_val(view.root) + size_of_val(view.arena) + next.space.bytes()
        })
    }

    /// [`follow`](Self::follow), of which the part that takes long is left to [`step`](Self::step).
    pub(super) fn follow_in_steps(
        &mut self,
        rib: &Rib<A, H::Al>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        if self.is_stale || !self.steps.is_begun() && !self.is_suited(rib.len()) {
            self.begin(rib)?;
        }
        memory::grow(&mut self.steps.waiting, 1)?;
        if let Some(next) = &mut self.steps.next {
            memory::grow(&mut next.waiting, 1)?;
        }
        let root_bits = self.home.view().root_bits;
        if self.is_large(rib, prefix, root_bits) {
            let from = prefix.address().leading(root_bits);
            wait(&mut self.steps.waiting, WaitingRoute { prefix, from });
        } else if self.patch_or_collect(rib, prefix, old, new).is_err() {
            if !self.steps.is_begun() {
                self.begin(rib)?;
            }
            self.steps.is_behind = true;
        }
        self.follow_next(rib, prefix);
        // Whoever never calls `step` pays for it here. What fails now is tried again by the next step.
        let _ = self.step(rib);
        Ok(())
    }

    /// Whether the change of this route is made in parts.
    fn is_large(&self, rib: &Rib<A, H::Al>, prefix: Prefix<A>, root_bits: u8) -> bool {
        let routes = self.steps.routes;
        routes != AT_ONCE
            && prefix.len() < root_bits
            && (entries(root_bits, prefix) > MAX_ENTRIES
                || rib.subnets(prefix).nth(routes).is_some())
    }

    /// Makes what is filled of the next table follow the Rib, in which the route of `prefix` has changed;
    /// room to wait is reserved. A table that cannot is given up: steps begin another.
    fn follow_next(&mut self, rib: &Rib<A, H::Al>, prefix: Prefix<A>) {
        let Some(next) = &self.steps.next else {
            return;
        };
        let root_bits = next.home.view().root_bits;
        let from = prefix.address().leading(root_bits);
        if from >= next.from {
            return;
        }
        let is_large = self.is_large(rib, prefix, root_bits);
        let Some(next) = &mut self.steps.next else {
            return;
        };
        if is_large {
            wait(&mut next.waiting, WaitingRoute { prefix, from });
            return;
        }
        let (_, vertex) = rib.surroundings(prefix);
        let (_, next_hop) = longest(rib, prefix);
        let changed = self.make_next(rib, next_hop, |patch| patch.change(prefix, vertex));
        if changed.is_err() {
            self.give_up();
        }
    }

    /// Begins the next table, in place of one that was begun before.
    ///
    /// # Errors
    /// [`CompileError`]; there is none then.
    pub(crate) fn begin(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        self.give_up();
        let alloc = rib.allocator();
        let highest = self.expected_next_hop(rib);
        let form = compile::form::<A, L>(rib, &self.options, highest)?;
        let used = self.home.view().arena.len() - self.space.free_words();
        // More to spare than elsewhere: each new table takes a step of the changes that come meanwhile.
        let spare = (used / 4 + (used / 2).min(SPARE)).max(self.home.spare());
        let mut len = (used + spare).min(MAX_WORDS - 1);
        if self.shared.is_some() && is_too_large(len) {
            self.is_too_large = true;
            // Some third of it is what blocks with runs take.
            len /= 3;
        }
        let is_flat = !self.is_too_large && may_be_flat::<A>(rib, &self.options)?;
        let coming = EmptyArrays::new(form, is_flat, len.max(IDLE_BLOCK.len()), alloc.clone())?;
        self.steps.coming = Some(memory::boxed(coming, alloc.clone())?);
        if self.is_stale {
            self.is_stale = false;
            self.steps.is_behind = true;
        }
        Ok(())
    }

    /// Clears some of the memory for the next table, which is there once all of it is clear.
    fn clear_coming(&mut self, alloc: &H::Al) -> Result<(), CompileError> {
        let bytes = self.steps.routes.saturating_mul(BYTES_A_ROUTE);
        let is_clear = |coming: &mut Box<EmptyArrays<_>, _>| coming.clear(bytes);
        let Some(coming) = self.steps.coming.take_if(is_clear) else {
            return Ok(());
        };
        let arrays = Box::into_inner(coming).into_arrays();
        let space = Space::new(arrays.view().arena.len(), IDLE_BLOCK.len());
        let shared = SharedBlocks::of(arrays.view(), alloc.clone())?;
        let next = NextTable {
            space,
            shared,
            home: UnsharedArrays::new(arrays, alloc.clone()),
            from: 0,
            waiting: Vec::new_in(alloc.clone()),
        };
        self.steps.next = Some(memory::boxed(next, alloc.clone())?);
        Ok(())
    }

    /// Gives the next table up.
    fn give_up(&mut self) {
        self.steps.coming = None;
        self.steps.next = None;
    }

    /// Does a part of what is left; whether there is more.
    ///
    /// # Errors
    /// [`CompileError`]: it is tried again by the next step.
    pub(crate) fn step(&mut self, rib: &Rib<A, H::Al>) -> Result<bool, CompileError> {
        if self.steps.coming.is_some() {
            self.clear_coming(rib.allocator())?;
        } else if self.steps.next.is_some() {
            self.fill_next(rib)?;
        } else if self.is_stale || self.steps.is_behind {
            self.begin(rib)?;
        } else if !self.steps.waiting.is_empty() {
            self.spread_next(rib)?;
        }
        Ok(self.is_stale || self.steps.is_left())
    }

    /// Fills some entries of the next table, and puts it in use if they were the last.
    fn fill_next(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        let routes = self.steps.routes;
        let Some(next) = &mut self.steps.next else {
            return Ok(());
        };
        let root_bits = next.home.view().root_bits;
        let part = part(rib, root_bits, next.from, 1 << root_bits, routes);
        let (_, next_hop) = longest(rib, part);
        match self.make_next(rib, next_hop, |patch| patch.fill(part)) {
            Ok(()) => {}
            Err(CompileError::Words { .. }) => return self.lengthen_next(rib),
            // Where the values need more bits by now, say.
            Err(_) => return self.begin(rib),
        }
        let Some(mut next) = self.steps.next.take() else {
            return Ok(());
        };
        next.from += entries(root_bits, part);
        if next.from >> root_bits == 0 {
            self.steps.next = Some(next);
            return Ok(());
        }
        let next = Box::into_inner(next);
        self.home.publish(next.home.into_arrays())?;
        self.space = next.space;
        self.shared = next.shared;
        self.steps.waiting = next.waiting;
        self.steps.is_behind = false;
        self.changes.compiles += 1;
        Ok(())
    }

    /// Gives the next table a longer arena. It is copied, as nobody looks at it.
    fn lengthen_next(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        let Some(next) = &mut self.steps.next else {
            return Ok(());
        };
        let view = next.home.view();
        let len = view.arena.len();
        let longer = (len + len / 2 + SPARE).min(MAX_WORDS - 1);
        if longer <= len {
            return Err(CompileError::Words { max: len as u64 });
        }
        if next.shared.is_some() && is_too_large(longer) {
            self.is_too_large = true;
            return self.begin(rib);
        }
        let alloc = rib.allocator().clone();
        let arrays = FibArrays::with_arena(view, longer, alloc.clone())?;
        if let Some(shared) = &mut next.shared {
            shared.lengthen(longer)?;
        }
        next.home = UnsharedArrays::new(arrays, alloc);
        next.space.lengthen(longer);
        Ok(())
    }

    /// Makes the change of a route that waits for some entries more.
    fn spread_next(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        let root_bits = self.home.view().root_bits;
        let Some(&WaitingRoute { prefix, from }) = self.steps.waiting.last() else {
            return Ok(());
        };
        let end = prefix.address().leading(root_bits) + entries(root_bits, prefix);
        let part = part(rib, root_bits, from, end, self.steps.routes);
        let (len, next_hop) = longest(rib, part);
        // Where a longer route is between, nothing inherits from this one.
        if len <= prefix.len() {
            let (_, vertex) = rib.surroundings(part);
            match self.make(rib, next_hop, |patch| patch.change(part, vertex)) {
                Ok(()) => {}
                Err(CompileError::OutOfMemory(error)) => return Err(error.into()),
                Err(_) if self.collect_all() => return Ok(()),
                Err(_) => return self.begin(rib),
            }
        }
        let from = from + entries(root_bits, part);
        if from < end {
            if let Some(waiting) = self.steps.waiting.last_mut() {
                waiting.from = from;
            }
        } else {
            self.steps.waiting.pop();
        }
        Ok(())
    }

    /// [`make`](Self::make), of the next table.
    fn make_next<'r>(
        &mut self,
        rib: &'r Rib<A, H::Al>,
        next_hop: u32,
        change: impl FnOnce(&mut super::Patch<'_, 'r, A, H::Al>) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let Some(next) = self.steps.next.as_deref_mut() else {
            return Ok(());
        };
        let target = PatchTarget {
            home: &mut next.home,
            space: &mut next.space,
            shared: next.shared.as_deref_mut(),
            log: &mut self.log,
            // Nobody has seen what these replace.
            changes: &mut super::Changes::default(),
        };
        target.make::<A, L>(rib, self.options.is_aggregating(), next_hop, change)
    }
}
