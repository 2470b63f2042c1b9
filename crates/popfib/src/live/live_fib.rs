//! A Fib whose routes change while others look up (paper, section 3.5): the writer's side.
//!
//! There is one writer, and any number of readers. The writer keeps the Rib and patches the Fib
//! (`patch/`): what a changed route needs is built where nobody looks, then single words
//! are switched. So a reader finds each address's previous or current answer, never a
//! mixture. What was replaced is used again when no reader can see it (`home.rs`,
//! `epochs.rs`).
//!
//! A table that moves to another arena, or is compiled again, is made beside the old one
//! and published by one pointer (`shared.rs`).
//!
//! Rejected: two copies of the table that take turns (left-right). A second copy
//! costs the cache that the structure is about.

use alloc::vec::Vec;
use core::fmt;

use super::home::LiveArrays;
use super::mirror::Mirror;
use super::{Epochs, Reader};
use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::arrays::{FibArrays, FibView};
use crate::fib::{CheckError, Options, check, lookup};
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::patch::{FollowingFib, Home, ROUTES_A_PATCH};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// A table of one family whose routes change while other threads look up.
///
/// It is the only writer, which the type ensures: changes take `&mut self`. It contains the [`Rib`] with every
/// route, and the Poptrie in which [readers](LiveFib::reader) look up.
///
/// [`announce`](LiveFib::announce) and [`withdraw`](LiveFib::withdraw) rebuild the nodes that answer for the
/// changed route and take effect immediately. They touch O(key width / 6) nodes for a route
/// without others below, else also the nodes below that inherit from it: for a default route all of the table.
/// Now and then, amortised over many changes, the whole table is compiled again.
///
/// ```
/// use popfib::{LiveFib, NextHop, Options};
///
/// let mut table: LiveFib<u32> = LiveFib::new(Options::default())?;
/// let mut reader = table.reader();
/// std::thread::scope(|scope| {
///     scope.spawn(move || while reader.lookup(0x0a01_0203) != 2 {});
///     table.announce("10.0.0.0/8".parse().unwrap(), NextHop::new(1).unwrap())?;
///     table.announce("10.1.0.0/16".parse().unwrap(), NextHop::new(2).unwrap())
/// })?;
/// assert_eq!(table.lookup(0x0a02_0203), 1);
/// table.withdraw("10.0.0.0/8".parse()?);
/// assert_eq!(table.lookup(0x0a02_0203), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LiveFib<A: Address, Al: Allocator + Clone = Global> {
    pub(super) rib: Rib<A, Al>,
    pub(super) fib: FollowingFib<A, LiveArrays<Al>>,
}

/// Changes that are made one by one, however few routes there are.
const FEW: usize = 8;

/// Sets the route of `prefix`, if the Fib can `follow` from one next hop to the other; returns the one that it replaces.
pub(super) fn announce<A: Address, Al: Allocator + Clone>(
    rib: &mut Rib<A, Al>,
    prefix: Prefix<A>,
    next_hop: NextHop,
    follow: impl FnOnce(&Rib<A, Al>, Option<NextHop>, Option<NextHop>) -> Result<(), CompileError>,
) -> Result<Option<NextHop>, CompileError> {
    let old = rib.try_insert(prefix, next_hop)?;
    if old == Some(next_hop) {
        return Ok(old);
    }
    if let Err(error) = follow(rib, old, Some(next_hop)) {
        match old {
            Some(old) => rib.insert(prefix, old),
            None => rib.remove(prefix),
        };
        return Err(error);
    }
    Ok(old)
}

/// Removes the route of `prefix`, if the Fib can `follow`; returns its next hop.
pub(super) fn withdraw<A: Address, Al: Allocator + Clone>(
    rib: &mut Rib<A, Al>,
    prefix: Prefix<A>,
    follow: impl FnOnce(&Rib<A, Al>, Option<NextHop>, Option<NextHop>) -> Result<(), CompileError>,
) -> Result<Option<NextHop>, CompileError> {
    // So that the route can come back if the Fib can't follow.
    rib.reserve_removal()?;
    let Some(old) = rib.remove_and_stay(prefix) else {
        return Ok(None);
    };
    if let Err(error) = follow(rib, Some(old), None) {
        rib.insert(prefix, old);
        return Err(error);
    }
    rib.compact_if_sparse();
    Ok(Some(old))
}

/// Changes in prefix order, and of several for one prefix the last alone.
pub(crate) fn last_of_each<P: Copy + Ord, T>(
    mut changes: Vec<(P, T)>,
) -> impl Iterator<Item = (P, T)> {
    // Stable: the last of a prefix stays the last.
    changes.sort_by_key(|(prefix, _)| *prefix);
    let mut changes = changes.into_iter().peekable();
    core::iter::from_fn(move || {
        loop {
            let change = changes.next()?;
            if changes.peek().is_none_or(|(next, _)| *next != change.0) {
                return Some(change);
            }
        }
    })
}

/// Bytes of a [`LiveFib`]'s Fib.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBytes {
    /// The arrays that lookups use: the root table and the arena, used or not.
    pub arrays: usize,
    /// The part of these that is free.
    pub free: usize,
    /// The part of these that waits until no reader, nor one of a mirror, can see it any more.
    pub waiting: usize,
    /// Previous arrays that wait as a whole, in addition to these.
    pub older: usize,
    /// What only the writer has, in addition to these: which flat blocks there are, and what a mirror lacks.
    pub writer: usize,
}

impl<A: Address> LiveFib<A> {
    /// A table without routes.
    ///
    /// # Errors
    /// [`CompileError`], if the options ask for too many direct bits.
    pub fn new(options: Options) -> Result<Self, CompileError> {
        Self::from_rib(Rib::new(), options)
    }
}

impl<A: Address, Al: Allocator + Clone> LiveFib<A, Al> {
    /// A table of the routes of `rib`, with all its memory from the Rib's allocator.
    ///
    /// # Errors
    /// As [`Fib::compile`](crate::Fib::compile).
    pub fn from_rib(rib: Rib<A, Al>, options: Options) -> Result<Self, CompileError> {
        let alloc = rib.allocator().clone();
        let fib =
            FollowingFib::compile_in(&rib, &options, |arrays| LiveArrays::new(arrays, alloc))?;
        Ok(Self { rib, fib })
    }

    /// One more reader. Aborts the program if memory is exhausted; [`LiveFib::try_reader`] does not.
    pub fn reader(&self) -> Reader<A, Al> {
        match self.try_reader() {
            Ok(reader) => reader,
            Err(error) => error.abort(),
        }
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_reader(&self) -> Result<Reader<A, Al>, OutOfMemory> {
        Reader::new(self.fib.home.shared.clone())
    }

    /// The routes.
    pub fn rib(&self) -> &Rib<A, Al> {
        &self.rib
    }

    /// Sets the route of `prefix`; returns the next hop that it replaces. Lookups that begin after it returns
    /// see the change.
    ///
    /// # Errors
    /// [`CompileError::NextHop`], if the next hop is above 2^31 - 1;
    /// [`CompileError::Words`], if the table grows beyond what can be numbered;
    /// [`CompileError::OutOfMemory`]. Nothing has changed then.
    pub fn announce(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, CompileError> {
        if next_hop.get() > MAX_NEXT_HOP {
            return Err(CompileError::NextHop {
                next_hop: next_hop.get(),
                max: MAX_NEXT_HOP,
            });
        }
        self.fib.fetch(prefix);
        announce(&mut self.rib, prefix, next_hop, |rib, old, new| {
            self.fib.follow(rib, prefix, old, new)
        })
    }

    /// Removes the route of exactly `prefix` and returns its next hop; `None`
    /// if there is none. Lookups that begin after it returns see the change.
    ///
    /// # Errors
    /// [`CompileError::Words`], if the table grows beyond what can be numbered, as it
    /// may if the route held others together; [`CompileError::OutOfMemory`]. Nothing
    /// has changed then.
    pub fn withdraw(&mut self, prefix: Prefix<A>) -> Result<Option<NextHop>, CompileError> {
        self.fib.fetch(prefix);
        withdraw(&mut self.rib, prefix, |rib, old, new| {
            self.fib.follow(rib, prefix, old, new)
        })
    }

    /// Makes several changes as one batch: a next hop to set, or `None` to remove the route. If several are for
    /// the same prefix, the last one counts: a route that is removed and set again is never missing meanwhile.
    ///
    /// For each prefix, readers see the state before or after the batch. If the changes are a large part of the
    /// routes, a new table is compiled beside the one in use, once. O(n log n), or O(n) where
    /// they come in prefix order; needs the global allocator for a list of them.
    ///
    /// ```
    /// use popfib::{LiveFib, NextHop, Options, Prefix};
    ///
    /// let mut table: LiveFib<u32> = LiveFib::new(Options::default())?;
    /// let prefix: Prefix<u32> = "10.0.0.0/8".parse()?;
    /// table.apply([(prefix, None), (prefix, NextHop::new(2))])?;
    /// assert_eq!(table.lookup(0x0a01_0203), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CompileError::NextHop`], if a next hop is above 2^31 - 1; nothing has changed then. Those of
    /// [`announce`](Self::announce); some of the changes may have been made then, each of them completely;
    /// those that could not be published become visible with the next successful change.
    pub fn apply(
        &mut self,
        changes: impl IntoIterator<Item = (Prefix<A>, Option<NextHop>)>,
    ) -> Result<(), CompileError> {
        let changes: Vec<_> = changes.into_iter().collect();
        let highest = changes.iter().filter_map(|(_, next_hop)| *next_hop).max();
        if let Some(highest) = highest
            && highest.get() > MAX_NEXT_HOP
        {
            return Err(CompileError::NextHop {
                next_hop: highest.get(),
                max: MAX_NEXT_HOP,
            });
        }
        let is_bulk = self.is_bulk(changes.len());
        let mut result = Ok(None);
        for (prefix, next_hop) in last_of_each(changes) {
            result = match next_hop {
                _ if is_bulk => self.change_unseen(prefix, next_hop).map_err(Into::into),
                Some(next_hop) => self.announce(prefix, next_hop),
                None => self.withdraw(prefix),
            };
            if result.is_err() {
                break;
            }
        }
        self.publish()?;
        result.map(drop)
    }

    /// Whether so many changes are better made beside the table in use.
    pub(crate) fn is_bulk(&self, changes: usize) -> bool {
        changes > FEW + self.rib.len() / ROUTES_A_PATCH
    }

    /// Sets or removes the route of `prefix`, of many; returns the next hop that it replaces.
    /// Lookups see it after [`publish`](Self::publish), which is called whatever happened here.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the route is then as it was.
    pub(crate) fn change_unseen(
        &mut self,
        prefix: Prefix<A>,
        next_hop: Option<NextHop>,
    ) -> Result<Option<NextHop>, OutOfMemory> {
        self.fib.is_stale = true;
        match next_hop {
            Some(next_hop) => self.rib.try_insert(prefix, next_hop),
            None => Ok(self.rib.remove(prefix)),
        }
    }

    /// Whether lookups lack changes of the routes, which are not published yet.
    pub(super) fn is_stale(&self) -> bool {
        self.fib.is_stale
    }

    /// Lets lookups see all changes.
    ///
    /// # Errors
    /// Those of [`announce`](Self::announce); lookups see what they saw before, until the next
    /// change or `publish` succeeds.
    pub(crate) fn publish(&mut self) -> Result<(), CompileError> {
        self.fib.catch_up(&self.rib)
    }

    /// Brings a copy of the table that other programs read up to date with the changes so far: it gets the words that these
    /// have stored, in their order. A table has one mirror; the first call makes it, from whole arrays, and so do later ones
    /// when the table has moved to others.
    ///
    /// Call it after each change or batch of changes: O(words that they stored), and a [grace period](Mirror::wait) now and then,
    /// one for as many changes as the free memory of the table allows. Until then what they replaced is not used
    /// again; if there is much of it, the table moves to other arrays.
    ///
    /// # Errors
    /// Those of the mirror, which then has the state of an earlier call, or this one's if it could not wait. The next call
    /// tries it again.
    pub fn mirror<M: Mirror>(&mut self, mirror: &mut M) -> Result<(), M::Error> {
        if self.fib.home.begin_mirror(self.rib.allocator()) {
            // Or a small table would wait for readers after each change, until it grows.
            self.fib.make_spare(&self.rib);
        }
        self.fib.home.mirror(&mut self.fib.space, mirror)
    }

    /// Ends the [mirror](Self::mirror), which keeps the state that it has. The next call of that makes another one.
    pub fn end_mirror(&mut self) {
        self.fib.home.end_mirror(&mut self.fib.space);
    }

    /// The clock of the readers.
    pub(crate) fn epochs(&self) -> &Epochs<Al> {
        &self.fib.home.shared.epochs
    }

    /// The next hop of the longest prefix that contains `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> u32 {
        lookup::lookup(self.view(), address)
    }

    /// Looks up each of `addresses` and writes its next hop to the same place of `next_hops`; 0 if there is
    /// none. As [`Fib::lookup_batch`](crate::Fib::lookup_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.lookup_batch_with(Kernel::best(), addresses, next_hops);
    }

    /// As [`LiveFib::lookup_batch`], by the given kernel.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn lookup_batch_with(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        kernel.lookup_batch(self.view(), addresses, next_hops);
    }

    /// The longest prefix that contains `address`, and its next hop; from the Rib.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        self.rib.longest_match(address)
    }

    /// Frees what no reader can see any more, now instead of later.
    pub fn reclaim(&mut self) {
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.fib.home.collect(&mut self.fib.space);
        }
        self.fib.home.shared.free_older();
    }

    /// The number of leading bits that tables resolve (the paper's s).
    pub fn direct_bits(&self) -> u8 {
        self.fib.direct_bits()
    }

    /// The Fib's memory. O(blocks and arrays that wait for readers).
    pub fn bytes(&self) -> LiveBytes {
        LiveBytes {
            arrays: self.view().bytes(),
            free: self.fib.space.free_words() * size_of::<u32>(),
            waiting: self.fib.home.waiting_words() * size_of::<u32>(),
            older: self.fib.home.shared.older_bytes(FibArrays::bytes),
            writer: self.fib.shared_bytes() + self.fib.home.journal_bytes(),
        }
    }

    /// Heap bytes, without those of the Rib. O(arrays that wait for readers).
    pub(crate) fn heap_bytes(&self) -> usize {
        let older = self.fib.home.shared.older_bytes(FibArrays::bytes);
        self.view().bytes() + older + self.fib.shared_bytes() + self.fib.home.journal_bytes()
    }

    /// Verifies every invariant of the layout that lookups rely on.
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was announced and withdrawn.
    pub fn check(&self) -> Result<(), CheckError> {
        check::check::<A>(self.view())
    }

    #[inline(always)]
    pub(super) fn view(&self) -> FibView<'_> {
        self.fib.home.view()
    }
}

impl<A: Address, Al: Allocator + Clone> fmt::Debug for LiveFib<A, Al> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveFib")
            .field("routes", &self.rib.len())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
