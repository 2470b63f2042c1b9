//! A Fib that follows its Rib, one changed route at a time (paper, section 3.5).
//!
//! What a changed route needs is built beside what is in use (`change.rs`), in places
//! that nothing leads to (`space.rs`). Then single words of 32 bits are switched: root
//! entries, entries of pages, values of wide blocks.
//!
//! When the arena is full, the table moves to another, as it is or without what is free (`compact.rs`). When next
//! hops or routes outgrow the form that it was compiled to, it is compiled again. A new arena has an eighth to
//! spare, and one that growth has filled is lengthened by the [`Home::GROWTH`]th part, so that this costs a change
//! little on average. A table that lost three quarters of its blocks gives memory back.
//!
//! Where the arrays lie, and when a replaced block can be used again, is the [`Home`]'s
//! business. It is used again at once if `&mut` says that nobody looks ([`UnsharedArrays`], for maps), or
//! when the last reader has gone (`live/home.rs`).

mod change;
mod compact;
pub(crate) mod counted;
mod shared;
mod space;
mod spacious;

use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

use crate::address::Address;
use crate::compile_error::CompileError;
use crate::cpu::prefetch;
use crate::fib::arrays::{FibArrays, FibView, MAX_WORDS, as_words};
use crate::fib::compile;
use crate::fib::lookup::first_block;
use crate::fib::{Options, Size};
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;
pub(crate) use change::{Patch, PatchLog};
use shared::SharedBlocks;
use spacious::{compile_spacious, is_too_large, least_spare, spacious};

#[cfg(all(test, loom))]
pub(crate) use space::FreeLink;
pub(crate) use space::Space;

/// Words that an arena which is full grows by at least: as much as a small table changes in a while. No more than half of what
/// it has, as thousands of tiny tables would pay for it.
const SPARE: usize = 256;

/// Routes that are compiled in the time of one patch.
pub(crate) const ROUTES_A_PATCH: usize = 16;

/// A block or page of an arena: its place and its length in words.
pub(crate) type BlockPlace = (u32, u32);

/// The index of a word that leads to other blocks after a change, and what it becomes.
pub(crate) type SwitchedWord = (u32, u32);

/// Where the arrays of a Fib lie while its routes change.
pub(crate) trait Home {
    /// Where their memory is from.
    type Al: Allocator + Clone;

    /// The part of a full arena that it grows by.
    const GROWTH: usize;

    /// Whether nobody looks at the arrays while they change.
    const IS_UNSHARED: bool;

    /// The current arrays.
    fn view(&self) -> FibView<'_>;

    /// Lets lookups use `arrays` from now on. What was retired before lies in older arrays and
    /// goes with them.
    ///
    /// # Errors
    /// [`OutOfMemory`]; the arrays are then unchanged.
    fn publish(&mut self, arrays: FibArrays<Self::Al>) -> Result<(), OutOfMemory>;

    /// Makes sure of the memory to retire `count` places.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    fn reserve(&mut self, count: usize) -> Result<(), OutOfMemory>;

    /// Takes over places that nothing leads to any more; reserved.
    fn retire(&mut self, space: &mut Space<Self::Al>, places: &mut Vec<BlockPlace, Self::Al>);

    /// Frees the places that nobody can look at any more.
    fn collect(&mut self, space: &mut Space<Self::Al>);

    /// Whether there are retired places that are not free yet.
    fn is_waiting(&self) -> bool;

    /// Hears what a change has stored: the places of new blocks and pages, and the words of the root and of the arena that
    /// were switched to lead there.
    #[inline(always)]
    fn stored(&mut self, _: &[BlockPlace], _: &[SwitchedWord], _: &[SwitchedWord]) {}

    /// Words that an arena has to spare at least.
    #[inline(always)]
    fn spare(&self) -> usize {
        0
    }
}

/// Arrays that nobody looks at while they change.
#[derive(Debug)]
pub(crate) struct UnsharedArrays<Al: Allocator = Global> {
    arrays: FibArrays<Al>,
    alloc: Al,
}

impl<Al: Allocator + Clone> Home for UnsharedArrays<Al> {
    type Al = Al;

    // Maps are filled in loops: an eighth would move one twice as often.
    const GROWTH: usize = 4;

    const IS_UNSHARED: bool = true;

    #[inline(always)]
    fn view(&self) -> FibView<'_> {
        self.arrays.view()
    }

    fn publish(&mut self, arrays: FibArrays<Al>) -> Result<(), OutOfMemory> {
        self.arrays = arrays;
        Ok(())
    }

    fn reserve(&mut self, _: usize) -> Result<(), OutOfMemory> {
        Ok(())
    }

    fn retire(&mut self, space: &mut Space<Al>, places: &mut Vec<BlockPlace, Al>) {
        for (place, len) in places.drain(..) {
            space.free(self.arrays.view().arena, place, len);
        }
    }

    fn collect(&mut self, _: &mut Space<Al>) {}

    fn is_waiting(&self) -> bool {
        false
    }
}

/// A Fib whose routes change; the Rib is handed in.
#[derive(Debug)]
pub(crate) struct FollowingFib<A: Address, H: Home> {
    pub(crate) home: H,
    pub(crate) options: Options,
    pub(crate) space: Space<H::Al>,
    /// The flat blocks, if the table has such.
    shared: Option<Box<SharedBlocks<H::Al>, H::Al>>,
    log: PatchLog<H::Al>,
    /// Whether the Rib has changes that were not followed.
    pub(crate) is_stale: bool,
    types: PhantomData<fn(A)>,
}

impl<A: Address, Al: Allocator + Clone> FollowingFib<A, UnsharedArrays<Al>> {
    /// The Fib of `rib`, with all its memory from the Rib's allocator.
    pub(crate) fn compile(rib: &Rib<A, Al>, options: &Options) -> Result<Self, CompileError> {
        let alloc = rib.allocator().clone();
        let options = options.clone().size(Size::Smallest);
        Self::compile_in(rib, &options, |arrays| Ok(UnsharedArrays { arrays, alloc }))
    }

    /// The same Fib in memory of its own.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub(crate) fn try_clone(&self) -> Result<Self, CompileError> {
        let alloc = self.home.alloc.clone();
        let view = self.home.view();
        let arrays = FibArrays::with_arena(view, view.arena.len(), alloc.clone())?;
        Ok(Self {
            log: PatchLog::new_in(&alloc),
            space: self.space.try_clone(&alloc)?,
            shared: None,
            home: UnsharedArrays { arrays, alloc },
            options: self.options.clone(),
            ..*self
        })
    }
}

impl<A: Address, H: Home> FollowingFib<A, H> {
    /// The Fib of `rib` in the home that `home` makes of its arrays.
    ///
    /// # Errors
    /// As [`Fib::compile`](crate::Fib::compile), and those of `home`.
    pub(crate) fn compile_in(
        rib: &Rib<A, H::Al>,
        options: &Options,
        home: impl FnOnce(FibArrays<H::Al>) -> Result<H, OutOfMemory>,
    ) -> Result<Self, CompileError> {
        let alloc = rib.allocator().clone();
        let table = compile_spacious::<A, H::Al>(rib, options, 0, 0)?;
        Ok(Self {
            log: PatchLog::new_in(&alloc),
            space: table.space,
            shared: table.shared,
            home: home(table.arrays)?,
            options: options.clone(),
            is_stale: false,
            types: PhantomData,
        })
    }

    /// Has the block fetched that a change of the route of `prefix` begins with, while the Rib changes: to wait for it takes as long as
    /// half of all else.
    #[inline]
    pub(crate) fn fetch(&self, prefix: Prefix<A>) {
        let view = self.home.view();
        if let Some(place) = first_block(view, prefix.address()) {
            prefetch(view.arena.as_ptr().wrapping_add(place));
        }
    }

    /// The number of leading bits that tables resolve (the paper's s).
    pub(crate) fn direct_bits(&self) -> u8 {
        let view = self.home.view();
        view.root_bits + view.page_bits
    }

    /// Heap bytes of the arrays and of what changes need.
    pub(crate) fn bytes(&self) -> usize {
        let view = self.home.view();
        let arrays = size_of_val(view.root) + size_of_val(view.arena);
        arrays + self.space.bytes() + self.log.bytes()
    }

    /// Heap bytes of what only the writer knows of flat blocks.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.bytes())
    }

    /// Makes the Fib follow the Rib, in which the route of `prefix` has changed
    /// from next hop `old` to `new`.
    ///
    /// # Errors
    /// [`CompileError`]; the Fib is then as it was.
    pub(crate) fn follow(
        &mut self,
        rib: &Rib<A, H::Al>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        if self.is_stale || !self.is_suited(rib.len()) {
            return self.recompile(rib);
        }
        let full = self.patch_or_collect(rib, prefix, old, new);
        if full.is_ok() {
            return full;
        }
        if let Err(CompileError::Words { .. }) = full
            && self.make_room(rib)?
            && self.patch(rib, prefix, old, new).is_ok()
        {
            return Ok(());
        }
        self.recompile(rib)
    }

    /// Patches the Fib, if need be with what readers have left; an error, and nothing changed, if it has no
    /// room for that.
    fn patch_or_collect(
        &mut self,
        rib: &Rib<A, H::Al>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        let full = self.patch(rib, prefix, old, new);
        if full.is_ok() {
            return full;
        }
        if self.collect_all() {
            return self.patch(rib, prefix, old, new);
        }
        full
    }

    /// Frees what no reader can see any more; whether there was any.
    fn collect_all(&mut self) -> bool {
        let free = self.space.free_words();
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.home.collect(&mut self.space);
        }
        self.space.free_words() > free
    }

    /// Patches the Fib; an error, and nothing changed, if it has no room for that.
    fn patch(
        &mut self,
        rib: &Rib<A, H::Al>,
        prefix: Prefix<A>,
        old: Option<NextHop>,
        new: Option<NextHop>,
    ) -> Result<(), CompileError> {
        if let (true, Some(new)) = (H::IS_UNSHARED, new) {
            // A map's: what covers the prefix has another length, and so another number.
            let vertex = rib.below(prefix);
            return self.make(rib, new.get(), |patch| patch.change(prefix, vertex));
        }
        let (above, vertex) = rib.surroundings(prefix);
        let old = old.map_or(above, u32::from);
        let new = new.map_or(above, u32::from);
        if old == new && self.options.is_aggregating() {
            return Ok(());
        }
        self.make(rib, new, |patch| patch.change(prefix, vertex))
    }

    /// Makes the change that `change` logs.
    ///
    /// # Errors
    /// Those of `change`, and [`OutOfMemory`]; the arrays are then as they were.
    fn make<'r>(
        &mut self,
        rib: &'r Rib<A, H::Al>,
        next_hop: u32,
        change: impl FnOnce(&mut Patch<'_, 'r, A, H::Al>) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let aggregation = self.options.is_aggregating();
        let Self {
            home,
            space,
            shared,
            log,
            ..
        } = self;
        space.reserve(rib.allocator())?;
        let view = home.view();
        let mut patch = Patch::new(rib, view, aggregation, space, log, next_hop);
        patch.shared = shared.as_deref_mut();
        patch.is_unshared = H::IS_UNSHARED;
        let result = change(&mut patch);
        // Gives the log back.
        drop(patch);
        let result = result.and_then(|()| {
            // Before anything is switched: nothing may fail after that.
            Ok(home.reserve(log.retired.len())?)
        });
        let view = home.view();
        match result {
            Ok(()) => {
                if let Some(shared) = shared {
                    shared.keep(view.arena);
                }
                for (at, pointer) in &log.root {
                    // Release: pairs with the loads of the lookups, which find the new blocks written.
                    view.root[*at as usize].store(*pointer, Ordering::Release);
                }
                for (at, pointer) in &log.arena {
                    view.arena[*at as usize].store(*pointer, Ordering::Release);
                }
                home.retire(space, &mut log.retired);
                home.stored(&log.built, &log.root, &log.arena);
            }
            Err(_) => {
                if let Some(shared) = shared {
                    shared.undo(view.arena, view.root, &log.root);
                }
                for (place, len) in &log.built {
                    space.free(view.arena, *place, *len);
                }
            }
        }
        log.clear();
        result
    }

    /// Whether the arrays suit the number of routes.
    fn is_suited(&self, routes: usize) -> bool {
        let direct_bits = self.direct_bits();
        let suited = |routes| compile::direct_bits::<A>(&self.options, routes) == Ok(direct_bits);
        // Fewer direct bits only when there are far fewer routes, lest the
        // table be compiled again and again at the border.
        if !(suited(routes) || suited(routes * 2)) {
            return false;
        }
        let view = self.home.view();
        let arena = view.arena.len();
        let used = arena - self.space.free_words();
        let spare = self.home.spare().max(least_spare(view.root.len(), routes));
        let spare = SPARE.max(2 * spare);
        arena <= 4 * (used + spare) && (routes > 0 || arena <= spare)
    }

    /// Moves the table to a larger arena: as it is, or moved together where much of it is free. Flat blocks are not moved together:
    /// whether there is room now.
    #[cold]
    fn make_room(&mut self, rib: &Rib<A, H::Al>) -> Result<bool, CompileError> {
        let alloc = rib.allocator();
        let view = self.home.view();
        let len = view.arena.len();
        let spare = (self.home.spare()).max(least_spare(view.root.len(), rib.len()));
        if self.space.free_words() < len / (2 * H::GROWTH) && !self.home.is_waiting() {
            // A table that grew will grow on. One whose blocks only change leaves holes of other
            // lengths than it needs: it is moved together, or it would grow without end.
            let more = (len / H::GROWTH).max((len / 2).min(SPARE)).max(spare);
            let longer = (len + more).min(MAX_WORDS - 1);
            if self.shared.is_some() && is_too_large(longer) {
                return Ok(false);
            }
            let arrays = FibArrays::with_arena(view, longer, alloc.clone())?;
            if let Some(shared) = &mut self.shared {
                shared.lengthen(longer)?;
            }
            self.home.publish(arrays)?;
            self.space.lengthen(longer);
        } else if self.shared.is_some() {
            return Ok(false);
        } else {
            let mut compact = compact::compact(view, alloc)?;
            let view = FibView {
                root: as_words(&mut compact.root),
                arena: as_words(&mut compact.arena),
                ..view
            };
            let (arrays, space) = spacious(view, spare, alloc.clone())?;
            self.home.publish(arrays)?;
            self.space = space;
        }
        Ok(true)
    }

    /// Makes the Fib follow all that changed while it was stale.
    ///
    /// # Errors
    /// [`CompileError`]; the Fib is then as it was.
    pub(crate) fn catch_up(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        if self.is_stale {
            self.recompile(rib)?;
        }
        Ok(())
    }

    /// Makes the table again if it has fewer words to spare than its home asks for. Without the memory it stays as it is.
    pub(crate) fn make_spare(&mut self, rib: &Rib<A, H::Al>) {
        if self.space.free_words() < self.home.spare() {
            let _ = self.recompile(rib);
        }
    }

    /// Compiles the table again.
    #[cold]
    fn recompile(&mut self, rib: &Rib<A, H::Al>) -> Result<(), CompileError> {
        let highest = self.expected_next_hop(rib);
        let spare = self.home.spare();
        let table = compile_spacious::<A, H::Al>(rib, &self.options, highest, spare)?;
        self.home.publish(table.arrays)?;
        self.space = table.space;
        self.shared = table.shared;
        self.is_stale = false;
        Ok(())
    }

    /// The next hop that a table made now should have bits for, beside those of the Rib.
    fn expected_next_hop(&self, rib: &Rib<A, H::Al>) -> u32 {
        let highest = rib.next_hop_bound();
        // Numbers that have outgrown their bits will grow on: two bits more, where one is needed.
        let is_wider = u64::from(highest) >> self.home.view().value_bits != 0;
        if is_wider {
            highest.saturating_mul(2)
        } else {
            0
        }
    }
}
