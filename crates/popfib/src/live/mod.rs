//! A Fib whose routes change while others look up (paper, section 3.5).
//!
//! One writer, any number of readers. The writer keeps the Rib, builds what a changed
//! route needs beside what is in use (`patch.rs`) in places that nobody looks at
//! (`space.rs`), and then switches single words of 32 bits: root entries, entries
//! of pages, values of wide blocks. So a reader finds each address's answer of before
//! or of after, never a mixture. What was replaced is used again when no reader can see
//! it (`epochs.rs`).
//!
//! When the arena is full, the table moves to another (`compact.rs`); when next
//! hops or routes outgrow the form that it was compiled to, it is compiled anew.
//! Either happens beside the old table and is published by one pointer
//! (`shared.rs`). An arena is given an eighth to spare, so that this costs a
//! change little on average, and a table that lost three quarters of its blocks
//! gives memory back.
//!
//! Rejected: two copies of the table that take turns (left-right). A second copy
//! costs the cache that the structure is about.

#[cfg(test)]
mod tests;

mod compact;
mod epochs;
mod patch;
mod reader;
mod shared;
mod space;

use allocator_api2::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::sync::atomic::Ordering;

use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::compile::{self, compile};
use crate::fib::layout::{Arrays, MAX_WORDS, View, as_words};
use crate::fib::{CheckError, Options, check, lookup};
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::{Leaf, NextHop};
use crate::prefix::Prefix;
use crate::rib::Rib;
use patch::{Log, Patch, grow};
use shared::Handle;
use space::Space;

pub use patch::Replaced;
pub use reader::{Guard, Reader};

/// Blocks to collect before the readers are asked whether they can be used again: asking
/// interrupts the other cores.
const COLLECT: usize = 128;

/// Words that an arena has to spare beside an eighth: as much as a small table changes in a while.
const SPARE: usize = 256;

/// A table of one family whose routes change while other threads look up.
///
/// This is the one writer, which the type sees to: changes take `&mut self`. It holds the
/// [`Rib`] with every route and the Poptrie that [readers](LiveFib::reader) look up in.
///
/// [`announce`](LiveFib::announce) and [`withdraw`](LiveFib::withdraw) rebuild what the changed
/// route's answers need and take effect at once. They touch O(key width / 6) nodes for a route
/// without others below, else also the nodes below that inherit from it: for a default route all of the table.
/// Now and then, amortised over many changes, the whole table is compiled anew.
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
pub struct LiveFib<A: Address, L: Leaf = u16, Al: Allocator + Clone = Global> {
    rib: Rib<A, Al>,
    options: Options,
    shared: Handle<Al>,
    space: Space,
    log: Log<Al>,
    /// Blocks that were replaced in this epoch, and those of an epoch that has ended.
    replaced: Vec<(u32, u32), Al>,
    waiting: Vec<(u32, u32), Al>,
    waiting_since: usize,
    changes: Changes,
    types: PhantomData<fn(A) -> L>,
}

/// What a [`LiveFib`] has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Routes announced and withdrawn that changed an answer, and so the Fib.
    pub patches: u64,
    /// What these replaced, those aside that compiled the table anew.
    pub replaced: Replaced,
    /// How often the table was moved to a new arena because the old one was full.
    pub moves: u64,
    /// How often it was compiled anew for another form.
    pub compiles: u64,
}

/// Bytes of a [`LiveFib`]'s Fib.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBytes {
    /// The arrays that lookups use: the root table and the arena, used or not.
    pub arrays: usize,
    /// The part of these that is free.
    pub free: usize,
    /// The part of these that waits until no reader can see it.
    pub waiting: usize,
}

impl<A: Address, L: Leaf> LiveFib<A, L> {
    /// A table without routes.
    ///
    /// # Errors
    /// [`CompileError`], if the options ask for too many direct bits.
    pub fn new(options: Options) -> Result<Self, CompileError> {
        Self::from_rib(Rib::new(), options)
    }
}

impl<A: Address, L: Leaf, Al: Allocator + Clone> LiveFib<A, L, Al> {
    /// A table of the routes of `rib`, with all its memory from the Rib's allocator.
    ///
    /// # Errors
    /// As [`Fib::compile`](crate::Fib::compile).
    pub fn from_rib(rib: Rib<A, Al>, options: Options) -> Result<Self, CompileError> {
        let alloc = rib.allocator().clone();
        let (arrays, space) = arrays::<A, L, Al>(&rib, &options)?;
        Ok(Self {
            rib,
            options,
            shared: Handle::new(arrays, alloc.clone())?,
            space,
            log: Log::new_in(&alloc),
            replaced: Vec::new_in(alloc.clone()),
            waiting: Vec::new_in(alloc),
            waiting_since: 0,
            changes: Changes::default(),
            types: PhantomData,
        })
    }

    /// One more reader. Ends the program if memory is exhausted; [`LiveFib::try_reader`] does not.
    pub fn reader(&self) -> Reader<A, L, Al> {
        match self.try_reader() {
            Ok(reader) => reader,
            Err(error) => error.abort(),
        }
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_reader(&self) -> Result<Reader<A, L, Al>, OutOfMemory> {
        Reader::new(self.shared.clone())
    }

    /// The routes.
    pub fn rib(&self) -> &Rib<A, Al> {
        &self.rib
    }

    /// The routes, without the Fib. Readers go on with the last state.
    pub fn into_rib(self) -> Rib<A, Al> {
        self.rib
    }

    /// Sets the route of `prefix`; returns the next hop that it replaces. From now on lookups see it.
    ///
    /// # Errors
    /// [`CompileError::NextHop`], if the next hop does not fit into an `L`;
    /// [`CompileError::Words`], if the table grows beyond what can be numbered;
    /// [`CompileError::OutOfMemory`]. Nothing has changed then.
    pub fn announce(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, CompileError> {
        if next_hop.get() > L::MAX {
            return Err(CompileError::NextHop {
                next_hop: next_hop.get(),
                max: L::MAX,
            });
        }
        let old = self.rib.try_insert(prefix, next_hop)?;
        if old == Some(next_hop) {
            return Ok(old);
        }
        if let Err(error) = self.follow(prefix, old, Some(next_hop)) {
            match old {
                Some(old) => self.rib.insert(prefix, old),
                None => self.rib.remove(prefix),
            };
            return Err(error);
        }
        Ok(old)
    }

    /// Removes the route of exactly `prefix` and returns its next hop; `None`
    /// if there is none. From now on lookups see it.
    ///
    /// # Errors
    /// [`CompileError::Words`], if the table grows beyond what can be numbered, as it
    /// may if the route held others together; [`CompileError::OutOfMemory`]. Nothing
    /// has changed then.
    pub fn withdraw(&mut self, prefix: Prefix<A>) -> Result<Option<NextHop>, CompileError> {
        // So that the route can come back if the Fib can't follow.
        self.rib.reserve_removal()?;
        let Some(old) = self.rib.remove_and_stay(prefix) else {
            return Ok(None);
        };
        if let Err(error) = self.follow(prefix, Some(old), None) {
            self.rib.insert(prefix, old);
            return Err(error);
        }
        self.rib.compact_if_sparse();
        Ok(Some(old))
    }

    /// The next hop of the longest prefix that holds `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> L {
        lookup::lookup(self.view(), address)
    }

    /// Looks up each of `addresses` into the same place of `next_hops`; 0 where
    /// there is none. As [`Fib::lookup_batch`](crate::Fib::lookup_batch).
    ///
    /// # Panics
    /// If the slices differ in length, and where [`Kernel::best`] panics.
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [L]) {
        self.lookup_batch_with(Kernel::best(), addresses, next_hops);
    }

    /// As [`LiveFib::lookup_batch`], by the given kernel.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn lookup_batch_with(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [L]) {
        kernel.lookup_batch(self.view(), addresses, next_hops);
    }

    /// The longest prefix that holds `address`, and its next hop; from the Rib.
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        self.rib.longest_match(address)
    }

    /// Frees what no reader can see any more, instead of a while later.
    pub fn reclaim(&mut self) {
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.collect();
        }
        self.shared.free_older();
    }

    /// The number of leading bits that tables resolve (the paper's s).
    pub fn direct_bits(&self) -> u8 {
        let view = self.view();
        view.root_bits + view.page_bits
    }

    /// The Fib's memory. O(blocks that wait for readers).
    pub fn bytes(&self) -> LiveBytes {
        let view = self.view();
        let lengths =
            |blocks: &[(u32, u32)]| blocks.iter().map(|(_, len)| *len as usize).sum::<usize>();
        LiveBytes {
            arrays: size_of_val(view.root) + size_of_val(view.arena),
            free: self.space.free_words() * size_of::<u32>(),
            waiting: (lengths(&self.replaced) + lengths(&self.waiting)) * size_of::<u32>(),
        }
    }

    /// What has been done so far.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// Verifies every invariant of the layout that lookups rely on.
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was announced and withdrawn.
    pub fn check(&self) -> Result<(), CheckError> {
        check::check::<A, L>(self.view())
    }

    #[inline(always)]
    fn view(&self) -> View<'_> {
        // SAFETY: this is the writer; its arrays stay until it publishes others, with `&mut self`.
        unsafe { self.shared.view() }
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed
    /// from next hop `old` to `new`.
    fn follow(
        &mut self,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        if !self.is_suited() {
            return self.recompile();
        }
        let full = self.patch(prefix, old, new);
        if full.is_ok() {
            return full;
        }
        // What waits for readers may be enough.
        let free = self.space.free_words();
        self.collect();
        self.collect();
        if self.space.free_words() > free && self.patch(prefix, old, new).is_ok() {
            return Ok(());
        }
        if let Err(CompileError::Words { .. }) = full {
            self.compact()?;
            if self.patch(prefix, old, new).is_ok() {
                return Ok(());
            }
        }
        self.recompile()
    }

    /// Patches the Fib; an error, and nothing changed, if it has no room for that.
    fn patch(
        &mut self,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        let (above, vertex) = self.rib.surroundings(prefix);
        let old = old.map_or(above, u32::from);
        let new = new.map_or(above, u32::from);
        let aggregation = self.options.is_aggregating();
        if old == new && aggregation {
            return Ok(());
        }
        // SAFETY: as in `view`; here the writer's other parts are borrowed as well.
        let view = unsafe { self.shared.view() };
        if u64::from(new) >> view.value_bits != 0 {
            return Err(CompileError::NextHop {
                next_hop: new,
                max: u32::MAX >> (32 - view.value_bits),
            });
        }
        let log = &mut self.log;
        let mut patch = Patch::new(
            &self.rib,
            view,
            aggregation,
            L::MAX,
            &mut self.space,
            log,
            new,
        );
        let result = patch.change(prefix, vertex);
        // Gives the log back.
        drop(patch);
        let result = result.and_then(|()| {
            // Before anything is switched: nothing may fail behind that.
            Ok(grow(&mut self.replaced, log.retired.len())?)
        });
        match result {
            Ok(()) => {
                for (at, pointer) in &log.root {
                    // Release: pairs with the loads of the lookups, which find the new blocks written.
                    view.root[*at as usize].store(*pointer, Ordering::Release);
                }
                for (at, pointer) in &log.arena {
                    view.arena[*at as usize].store(*pointer, Ordering::Release);
                }
                self.replaced.append(&mut log.retired);
                self.changes.patches += 1;
                self.changes.replaced.direct_entries += log.replaced.direct_entries;
                self.changes.replaced.nodes += log.replaced.nodes;
                self.changes.replaced.leaves += log.replaced.leaves;
            }
            Err(_) => {
                for (place, len) in &log.built {
                    self.space.free(view.arena, *place, *len);
                }
            }
        }
        log.clear();
        if self.replaced.len() >= COLLECT {
            self.collect();
        }
        result
    }

    /// Takes back the blocks that no reader can see any more.
    fn collect(&mut self) {
        if !self.waiting.is_empty() {
            if !self.shared.epochs.all_passed(self.waiting_since) {
                return;
            }
            // SAFETY: as in `patch`.
            let view = unsafe { self.shared.view() };
            for (place, len) in self.waiting.drain(..) {
                self.space.free(view.arena, place, len);
            }
        }
        if !self.replaced.is_empty() {
            mem::swap(&mut self.replaced, &mut self.waiting);
            self.waiting_since = self.shared.epochs.end_epoch();
        }
        if self.shared.has_older() {
            self.shared.free_older();
        }
    }

    /// Whether the arrays suit the number of routes.
    fn is_suited(&self) -> bool {
        let asked = self.options.asked_direct_bits();
        let direct_bits = self.direct_bits();
        let suited = |routes| compile::direct_bits::<A>(asked, routes) == Ok(direct_bits);
        let routes = self.rib.len();
        // Fewer direct bits only when there are far fewer routes, lest the
        // table be compiled again and again at the border.
        if !(suited(routes) || suited(routes * 2)) {
            return false;
        }
        let arena = self.view().arena.len();
        let used = arena - self.space.free_words();
        arena <= 4 * (used + SPARE) && (routes > 0 || arena <= 2 * SPARE)
    }

    /// Moves the table to a new arena with words to spare.
    #[cold]
    fn compact(&mut self) -> Result<(), CompileError> {
        let view = self.view();
        let mut compact = compact::compact(view, self.rib.allocator())?;
        let view = View {
            root: as_words(&mut compact.root),
            arena: as_words(&mut compact.arena),
            ..view
        };
        let (arrays, space) = spacious(view, self.rib.allocator().clone())?;
        self.publish(arrays, space)?;
        self.changes.moves += 1;
        Ok(())
    }

    /// Compiles the table anew.
    #[cold]
    fn recompile(&mut self) -> Result<(), CompileError> {
        let (arrays, space) = arrays::<A, L, Al>(&self.rib, &self.options)?;
        self.publish(arrays, space)?;
        self.changes.compiles += 1;
        Ok(())
    }

    fn publish(&mut self, arrays: Arrays<Al>, space: Space) -> Result<(), OutOfMemory> {
        self.shared.publish(arrays)?;
        self.space = space;
        // These lie in the arrays of before, which go as a whole.
        self.replaced.clear();
        self.waiting.clear();
        self.shared.free_older();
        Ok(())
    }
}

/// The compiled arrays of `rib` with words to spare, and which these are.
fn arrays<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, Al>,
    options: &Options,
) -> Result<(Arrays<Al>, Space), CompileError> {
    let alloc = rib.allocator().clone();
    let mut compiled = compile::<A, L, _>(rib, options, MAX_WORDS, alloc.clone())?;
    spacious(compiled.view(), alloc)
}

/// A copy of the arrays with words to spare, and which these are.
fn spacious<Al: Allocator>(view: View<'_>, alloc: Al) -> Result<(Arrays<Al>, Space), CompileError> {
    let used = view.arena.len();
    let len = (used + used / 8 + SPARE).min(MAX_WORDS - 1);
    let arrays = Arrays::with_arena(view, len, alloc)?;
    Ok((arrays, Space::new(len, used)))
}

impl<A: Address, L: Leaf, Al: Allocator + Clone> fmt::Debug for LiveFib<A, L, Al> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveFib")
            .field("routes", &self.rib.len())
            .field("bytes", &self.bytes())
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}
