//! Many tables whose routes change while others look up: the writer's side.
//!
//! Readers look up in a [`FibSet`] whose words change: a table's pointer, or a pointer in a block that is its table's alone. All other blocks
//! stay as they are until nothing leads to them (`patch/counted.rs`) and no reader is left that may see them.

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use core::fmt;
use core::hint;
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

use super::limbo::Limbo;
use super::live_fib::{LiveBytes, announce, withdraw};
use super::set_reader::FibSetReader;
use super::shared::GenerationsHandle;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::cpu::prefetch;
use crate::fib::Options;
use crate::fib::arrays::{FibArrays, FibView, FibWord, IDLE_BLOCK, MAX_WORDS, as_words};
use crate::fib_set::FibSet;
use crate::memory::{self, Allocator, Global, OutOfMemory};
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::patch::counted::{CountedBlocks, MAX_RETIRED, Retired};
use crate::patch::{Patch, PatchLog, Space};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Blocks without a pointer to them that a change frees, at most, beside some for those that it has made.
const SWEEP: usize = 32;

/// Words that an arena grows by at least.
const SPARE: usize = 256;

/// The routes of a table, if there is one of that number.
type TableRib<A, Al> = Option<Box<Rib<A, Al>, Al>>;

/// Tables by number whose routes change, and which come and go, while other threads look up.
///
/// It is the only writer, which the type ensures: changes take `&mut self`. It has the [`Rib`] of each table, and a [`FibSet`]
/// in which [readers](LiveFibSet::reader) look up, and it itself: its methods are this type's, too. Each change takes effect
/// at once for all lookups that begin after it, and is one for them: a lookup finds the table as it was or as it is.
///
/// A change takes the time of the nodes that answer for its route, as in a [`LiveFib`](crate::LiveFib), and stores those again that
/// other tables have as well: O(key width / 6) for a route without others below it. What a table that was removed has for itself is
/// freed bit by bit with later changes. When the set outgrows its memory, all of it is copied once to larger memory.
///
/// ```
/// use popfib::{LiveFibSet, NextHop, Options, Rib};
///
/// let mut tables = LiveFibSet::<u32>::new(NextHop::new(1000).unwrap(), Options::default())?;
/// tables.announce(7, "10.0.0.0/8".parse()?, NextHop::new(1).unwrap())?;
/// let mut reader = tables.reader()?;
/// let looking = std::thread::spawn(move || {
///     let mut next_hops = [0; 2];
///     while next_hops != [1, 2] {
///         reader.pin().lookup_batch(&[7, 8], &[0x0a01_0203; 2], &mut next_hops);
///     }
/// });
/// let mut other = Rib::new();
/// other.insert("10.1.0.0/16".parse()?, NextHop::new(2).unwrap());
/// tables.insert(8, other)?;
/// looking.join().unwrap();
/// tables.remove(7)?;
/// assert_eq!(tables.lookup(7, 0x0a01_0203), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LiveFibSet<A: Address, Al: Allocator + Clone = Global> {
    shared: GenerationsHandle<FibSet<A, Al>, Al>,
    /// By the tables' numbers.
    ribs: Vec<TableRib<A, Al>, Al>,
    blocks: CountedBlocks<Al>,
    space: Space<Al>,
    /// What changes have replaced: this one, and those whose readers are waited for.
    retired: Vec<Retired, Al>,
    limbo: Limbo<Retired, Al>,
    options: Options,
    highest: u32,
    alloc: Al,
}

impl<A: Address> LiveFibSet<A> {
    /// No tables; theirs may have next hops up to `highest`. The lower it is the less memory they take.
    ///
    /// # Errors
    /// [`CompileError::NextHop`], if it is above 2^31 - 1; [`CompileError::OutOfMemory`].
    pub fn new(highest: NextHop, options: Options) -> Result<Self, CompileError> {
        Self::new_in(highest, options, Global)
    }
}

impl<A: Address, Al: Allocator + Clone> LiveFibSet<A, Al> {
    /// As [`new`](LiveFibSet::new), with all memory from `alloc`.
    ///
    /// # Errors
    /// As [`new`](LiveFibSet::new).
    pub fn new_in(highest: NextHop, options: Options, alloc: Al) -> Result<Self, CompileError> {
        let highest = highest.get();
        fits(highest, MAX_NEXT_HOP)?;
        let (mut root, mut arena) = ([0], IDLE_BLOCK);
        let view = FibView {
            root: as_words(&mut root),
            arena: as_words(&mut arena),
            root_bits: 0,
            page_bits: 0,
            value_bits: (u32::BITS - highest.leading_zeros()) as u8,
            is_flat: options.is_balanced(),
        };
        let words = IDLE_BLOCK.len() + SPARE;
        let arrays = FibArrays::with_arena(view, words, alloc.clone())?;
        Ok(Self {
            shared: GenerationsHandle::new(FibSet::of(arrays, 0), alloc.clone())?,
            ribs: Vec::new_in(alloc.clone()),
            blocks: CountedBlocks::new_in(alloc.clone())?,
            space: Space::new(words, IDLE_BLOCK.len()),
            retired: Vec::new_in(alloc.clone()),
            limbo: Limbo::new_in(alloc.clone()),
            options,
            highest,
            alloc,
        })
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn reader(&self) -> Result<FibSetReader<A, Al>, OutOfMemory> {
        FibSetReader::new(self.shared.clone())
    }

    /// The routes of a table; `None` if there is no such table.
    pub fn rib(&self, table: u32) -> Option<&Rib<A, Al>> {
        self.ribs.get(table as usize)?.as_deref()
    }

    /// Makes a table of these routes, or gives one these in place of its own, which are returned. O(routes * key width / 6).
    ///
    /// # Errors
    /// [`CompileError::NextHop`], if a next hop is too high; [`CompileError::Tables`], if the number is not below
    /// [`FibSet::MAX_TABLES`]; [`CompileError::Words`], if all tables together grow beyond what can be numbered;
    /// [`CompileError::OutOfMemory`]. Nothing has changed then.
    pub fn insert(
        &mut self,
        table: u32,
        rib: Rib<A, Al>,
    ) -> Result<Option<Rib<A, Al>>, CompileError> {
        let bound = rib.next_hop_bound();
        if bound > self.highest {
            // It may be that of a route that is gone.
            let highest = rib.iter().map(|(_, next_hop)| next_hop.get()).max();
            fits(highest.unwrap_or(0), self.highest)?;
        }
        self.make_entry(table)?;
        let rib = memory::boxed(rib, self.alloc.clone())?;
        self.make(table, &rib, 0, |patch, _| patch.new_table())?;
        let old = self.ribs[table as usize].replace(rib);
        Ok(old.map(|old| Box::into_inner(old)))
    }

    /// Removes a table and returns its routes; `None` if there is none.
    ///
    /// # Errors
    /// [`OutOfMemory`]; nothing has changed then.
    pub fn remove(&mut self, table: u32) -> Result<Option<Rib<A, Al>>, OutOfMemory> {
        if self.rib(table).is_none() {
            return Ok(None);
        }
        reserve(&mut self.retired, &mut self.limbo, MAX_RETIRED)?;
        // SAFETY: this is the writer; the arrays stay until it publishes others.
        let view = unsafe { self.shared.current() }.view();
        let entry = &view.root[table as usize];
        self.blocks.commit(view, entry, 0, &mut self.retired);
        self.blocks.sweep(view, &mut self.space, SWEEP);
        self.retire();
        let rib = self.ribs[table as usize].take();
        Ok(rib.map(|rib| Box::into_inner(rib)))
    }

    /// Sets the route of `prefix` in a table, which is made if there is none; returns the next hop that it replaces.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn announce(
        &mut self,
        table: u32,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, CompileError> {
        fits(next_hop.get(), self.highest)?;
        self.make_entry(table)?;
        self.fetch(table, prefix);
        let known = self.ribs[table as usize].take();
        let is_new = known.is_none();
        let mut rib = match known {
            Some(rib) => rib,
            None => memory::boxed(Rib::new_in(self.alloc.clone()), self.alloc.clone())?,
        };
        let result = announce(&mut rib, prefix, next_hop, |rib, old, new| {
            self.follow(table, rib, prefix, old, new)
        });
        if result.is_ok() || !is_new {
            self.ribs[table as usize] = Some(rib);
        }
        result
    }

    /// Removes the route of exactly `prefix` in a table and returns its next hop; `None` if there is none.
    ///
    /// # Errors
    /// [`CompileError::Words`], [`CompileError::OutOfMemory`]. Nothing has changed then.
    pub fn withdraw(
        &mut self,
        table: u32,
        prefix: Prefix<A>,
    ) -> Result<Option<NextHop>, CompileError> {
        self.fetch(table, prefix);
        let Some(mut rib) = self.ribs.get_mut(table as usize).and_then(Option::take) else {
            return Ok(None);
        };
        let result = withdraw(&mut rib, prefix, |rib, old, new| {
            self.follow(table, rib, prefix, old, new)
        });
        self.ribs[table as usize] = Some(rib);
        result
    }

    /// Frees what nothing leads to and no reader can see any more, now instead of later.
    pub fn reclaim(&mut self) {
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.collect();
        }
        // SAFETY: as in `remove`.
        let view = unsafe { self.shared.current() }.view();
        self.blocks.sweep(view, &mut self.space, usize::MAX);
        self.shared.free_older();
    }

    /// What the arrays of all tables take, and what only the writer has beside them and the tables' Ribs.
    pub fn bytes(&self) -> LiveBytes {
        let words = |words: usize| words * size_of::<FibWord>();
        let retired = self
            .limbo
            .iter()
            .map(|(_, len)| *len as usize)
            .sum::<usize>();
        LiveBytes {
            arrays: FibSet::bytes(self),
            free: words(self.space.free_words()),
            waiting: words(retired + self.blocks.dead_words()),
            older: self.shared.older_bytes(FibSet::bytes),
            writer: self.blocks.bytes() + self.space.bytes(),
        }
    }

    /// Has the blocks on the way to the route of `prefix` fetched into the cache while the Rib, which is as far away, changes.
    fn fetch(&self, table: u32, prefix: Prefix<A>) {
        if let Some(rib) = self.rib(table) {
            prefetch(rib);
        }
        hint::black_box(self.lookup(table, prefix.address()));
    }

    /// Lets the Fib of a table follow its Rib, in which the route of `prefix` has changed.
    fn follow(
        &mut self,
        table: u32,
        rib: &Rib<A, Al>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        let (above, vertex) = rib.surroundings(prefix);
        let old = old.map_or(above, u32::from);
        let new = new.map_or(above, u32::from);
        if old == new && self.options.is_aggregating() {
            return Ok(());
        }
        self.make(table, rib, new, |patch, pointer| {
            patch.change_table(pointer, prefix, vertex)
        })
    }

    /// Makes the pointer of a table what `change` makes of it.
    ///
    /// # Errors
    /// [`CompileError`]; all tables are then as they were.
    fn make<'r>(
        &mut self,
        table: u32,
        rib: &'r Rib<A, Al>,
        next_hop: u32,
        change: impl Fn(&mut Patch<'_, 'r, A, Al>, u32) -> Result<u32, CompileError>,
    ) -> Result<(), CompileError> {
        self.space.reserve(&self.alloc)?;
        loop {
            // SAFETY: as in `remove`.
            let view = unsafe { self.shared.current() }.view();
            let entry = &view.root[table as usize];
            let Self {
                blocks,
                space,
                retired,
                limbo,
                ..
            } = self;
            blocks.asked = 0;
            reserve(retired, limbo, MAX_RETIRED)?;
            let mut log = PatchLog::new_in(&self.alloc);
            let aggregation = self.options.is_aggregating();
            let mut patch = Patch::new(rib, view, aggregation, space, &mut log, next_hop);
            patch.tables = Some(blocks);
            let result = change(&mut patch, entry.load(Relaxed));
            drop(patch);
            if let Ok(new) = result {
                // SAFETY: as in `remove`.
                unsafe { self.shared.current() }.lengthen(table as usize + 1);
                blocks.commit(view, entry, new, retired);
            }
            blocks.end(view, space);
            blocks.sweep(view, space, SWEEP + blocks.asked / 8);
            self.retire();
            match result {
                Err(CompileError::Words { .. }) => self.make_room()?,
                result => return result.map(drop),
            }
        }
    }

    /// Makes sure that a table of this number can be made.
    fn make_entry(&mut self, table: u32) -> Result<(), CompileError> {
        let (len, max) = (table as usize + 1, FibSet::<A>::MAX_TABLES);
        if len > max {
            return Err(CompileError::Tables { max: max as u32 });
        }
        if let Some(more) = len.checked_sub(self.ribs.len()) {
            memory::grow(&mut self.ribs, more)?;
            self.ribs.resize_with(len, || None);
        }
        // SAFETY: as in `remove`.
        let view = unsafe { self.shared.current() }.view();
        if len > view.root.len() {
            self.move_to(len.next_power_of_two().ilog2() as u8, view.arena.len())?;
        }
        Ok(())
    }

    /// Makes room for what the last change asked for: frees what readers have left, or moves all to a longer arena.
    #[cold]
    fn make_room(&mut self) -> Result<(), CompileError> {
        let free = self.space.free_words();
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.collect();
        }
        if self.space.free_words() - free > 2 * self.blocks.asked {
            return Ok(());
        }
        // SAFETY: as in `remove`.
        let view = unsafe { self.shared.current() }.view();
        let len = view.arena.len();
        let longer = len + (len / 8).max(2 * self.blocks.asked).max(SPARE);
        let longer = longer.min(MAX_WORDS - 1);
        if longer == len {
            return Err(CompileError::Words { max: len as u64 });
        }
        Ok(self.move_to(view.root_bits, longer)?)
    }

    /// Moves all to larger arrays.
    fn move_to(&mut self, root_bits: u8, arena_len: usize) -> Result<(), OutOfMemory> {
        // SAFETY: as in `remove`.
        let set = unsafe { self.shared.current() };
        let arrays = FibArrays::grown(set.view(), root_bits, arena_len, self.alloc.clone())?;
        self.shared.publish(FibSet::of(arrays, set.len()))?;
        // SAFETY: as in `remove`.
        let view = unsafe { self.shared.current() }.view();
        // Readers that can see what waits have the arrays of before.
        for retired in self.limbo.iter() {
            self.blocks.reclaim(view, &mut self.space, *retired);
        }
        self.limbo.clear();
        self.space.lengthen(arena_len);
        self.shared.free_older();
        Ok(())
    }

    /// Lets what was retired wait for the readers.
    fn retire(&mut self) {
        if self.limbo.append(&mut self.retired) {
            self.collect();
        }
    }

    /// Frees what no reader can see any more.
    fn collect(&mut self) {
        let Self {
            shared,
            limbo,
            space,
            blocks,
            ..
        } = self;
        // SAFETY: as in `remove`; what waits is borrowed as well.
        let view = unsafe { shared.current() }.view();
        limbo.collect(&shared.epochs, |retired| {
            blocks.reclaim(view, space, retired);
        });
        if shared.has_older() {
            shared.free_older();
        }
    }
}

/// Makes room for `more` to retire, and for that to wait for readers.
fn reserve<Al: Allocator + Clone>(
    retired: &mut Vec<Retired, Al>,
    limbo: &mut Limbo<Retired, Al>,
    more: usize,
) -> Result<(), OutOfMemory> {
    memory::grow(retired, more)?;
    limbo.reserve(retired.len() + more)
}

/// An error if a next hop is too high.
fn fits(next_hop: u32, max: u32) -> Result<(), CompileError> {
    match next_hop > max {
        true => Err(CompileError::NextHop { next_hop, max }),
        false => Ok(()),
    }
}

impl<A: Address, Al: Allocator + Clone> Deref for LiveFibSet<A, Al> {
    type Target = FibSet<A, Al>;

    fn deref(&self) -> &FibSet<A, Al> {
        // SAFETY: this is the writer; the arrays stay until it publishes others, with `&mut self`.
        unsafe { self.shared.current() }
    }
}

impl<A: Address, Al: Allocator + Clone> fmt::Debug for LiveFibSet<A, Al> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveFibSet")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
