//! Compilation of a Rib into a Fib.
//!
//! `fold.rs` knows which nodes there are; this file gives them the form of
//! blocks (`layout.rs`), children first, and fills the root table and pages.

use allocator_api2::vec::Vec;

use super::Options;
use super::arena::Arena;
use super::encode::{BlockEncoding, OneValueBlock};
use super::flat_block::{FlatBlock, runs_and_leaves};
use super::index::FlatBlockIndex;
use super::layout::{FibView, MAX_DIRECT_BITS, NODE, as_words, root_bits};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fold::{self, Fold, Slot, Store};
use crate::memory::{self, Allocator, Global};
use crate::next_hop::Leaf;
use crate::prefix::Prefix;
use crate::rib::Rib;
use crate::rib::vertex::Vertex;

/// The arrays of a new Fib, and what they hold.
#[derive(Debug)]
pub(crate) struct CompiledArrays<Al: Allocator = Global> {
    pub(super) root: Vec<u32, Al>,
    pub(super) arena: Vec<u32, Al>,
    pub(super) root_bits: u8,
    pub(super) page_bits: u8,
    pub(super) value_bits: u8,
    pub(super) is_flat: bool,
    pub(crate) nodes: usize,
    pub(crate) leaves: usize,
}

impl<Al: Allocator> CompiledArrays<Al> {
    pub(crate) fn view(&mut self) -> FibView<'_> {
        FibView {
            root: as_words(&mut self.root),
            arena: as_words(&mut self.arena),
            root_bits: self.root_bits,
            page_bits: self.page_bits,
            value_bits: self.value_bits,
            is_flat: self.is_flat,
        }
    }
}

/// The longest page there is.
const MAX_PAGE: usize = 1 << 8;

/// Compiles `rib` into at most `max_words` words of blocks, with room for next hops up to `highest`
/// if its own are lower. All memory comes from `alloc`.
pub(crate) fn compile<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
    max_words: usize,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    let form = form::<A, L>(rib, options, highest)?;
    of_form::<A, L, Al>(rib, options, form, max_words, None, alloc)
}

/// [`compile`] in this form (as [`form()`] returns it); with an index all blocks are flat.
pub(super) fn of_form<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form @ (_, page_bits, _): (u8, u8, u8),
    max_words: usize,
    flat: Option<FlatBlockIndex<Al>>,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    table::<A, L, Al>(
        rib,
        options,
        form,
        max_words,
        flat,
        alloc,
        |fold, leaf, below| {
            let Some(vertex) = below else {
                return Ok(leaf);
            };
            if page_bits == 0 {
                return Ok(pointer(fold.node(vertex, leaf)?));
            }
            let mut entries = [0; MAX_PAGE];
            let page = &mut entries[..1 << page_bits];
            fill_page(fold, vertex, leaf, page)?;
            if options.is_aggregating()
                && page[0] & NODE == 0
                && page.iter().all(|entry| *entry == page[0])
            {
                return Ok(page[0]);
            }
            let place = fold.store.arena.alloc(page.len())?;
            fold.store.arena.words()[place..][..page.len()].copy_from_slice(page);
            Ok(NODE | place as u32)
        },
    )
}

/// Compiles `rib` in this form (as [`form()`] returns it). `entry` makes an entry of the root, as [`Fold::table`] has it, and
/// what is below it, in at most `max_words` words of blocks; with an index all blocks are flat.
pub(super) fn table<'r, A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &'r Rib<A, impl Allocator + Clone>,
    options: &Options,
    (root_bits, page_bits, value_bits): (u8, u8, u8),
    max_words: usize,
    flat: Option<FlatBlockIndex<Al>>,
    alloc: Al,
    mut entry: impl FnMut(
        &mut Fold<'r, A, FibBlockStore<Al>, Al>,
        u32,
        Option<Vertex<'r, A>>,
    ) -> Result<u32, CompileError>,
) -> Result<CompiledArrays<Al>, CompileError> {
    let mut root = Vec::new_in(alloc.clone());
    memory::reserve(&mut root, 1 << root_bits)?;
    root.resize(1 << root_bits, 0);
    let blocks = FibBlockStore {
        arena: Arena::new_in(max_words, alloc.clone())?,
        value_bits,
        nodes: 0,
        leaves: 0,
        flat,
    };
    let (vertex, default) = rib.root_vertex();
    // No nodes where there are no routes, at the root as elsewhere.
    let has_routes = rib.surroundings(Prefix::clamped(A::MIN, 0)).1.is_some();
    let mut fold = Fold::new_in(rib, options.is_aggregating(), L::MAX, blocks, alloc);
    fold.table(vertex, default, &mut root, &mut |fold, leaf, below| {
        entry(fold, leaf, below.filter(|_| has_routes))
    })?;
    let FibBlockStore {
        arena,
        nodes,
        leaves,
        ..
    } = fold.store;
    Ok(CompiledArrays {
        root,
        arena: arena.finish(),
        root_bits,
        page_bits,
        value_bits,
        is_flat: false,
        nodes,
        leaves,
    })
}

/// Bits of the root table, of pages and of narrow values that suit `rib`, with room for next hops up to `highest`.
///
/// # Errors
/// [`CompileError::DirectBits`], [`CompileError::NextHop`].
pub(crate) fn form<A: Address, L: Leaf>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
) -> Result<(u8, u8, u8), CompileError> {
    let direct_bits = direct_bits::<A>(options.asked_direct_bits(), rib.len())?;
    let root_bits = root_bits::<A>(direct_bits);
    check_next_hops::<A, L>(rib)?;
    let bound = rib.next_hop_bound().max(highest).min(L::MAX);
    let value_bits = (u32::BITS - bound.leading_zeros()).max(1) as u8;
    Ok((root_bits, direct_bits - root_bits, value_bits))
}

/// Fills in the entries of the page over the bits below `vertex`, whose own
/// longest match is `inherited`.
pub(crate) fn fill_page<'r, A: Address, S: Store<Node = u32>, Al: Allocator>(
    fold: &mut Fold<'r, A, S, Al>,
    vertex: Vertex<'r, A>,
    inherited: u32,
    page: &mut [u32],
) -> Result<(), CompileError> {
    fold.table(
        vertex,
        inherited,
        page,
        &mut |fold, leaf, below| match below {
            None => Ok(leaf),
            Some(vertex) => Ok(pointer(fold.node(vertex, leaf)?)),
        },
    )
}

/// The direct bits that were asked for, or those that suit the number of routes.
pub(crate) fn direct_bits<A: Address>(
    asked: Option<u8>,
    routes: usize,
) -> Result<u8, CompileError> {
    let max = MAX_DIRECT_BITS.min(A::WIDTH);
    let Some(direct_bits) = asked else {
        // A root table costs at most 16 bytes a route. For keys up to 32 bits
        // multiples of six only: they put /24, where most IPv4 routes end, at the
        // end of a block (paper, section 4.3). Longer keys have pages below
        // 16 bits, and 24 puts /36, /42 and /48 at the end of a block.
        let suited = match (routes, A::WIDTH > 32) {
            (0..16, _) => 0,
            (16..1024, _) => 6,
            (1024..16_384, _) | (16_384..65_536, false) => 12,
            (_, false) => 18,
            (_, true) => 24,
        };
        return Ok(suited.min(max));
    };
    if direct_bits > max {
        return Err(CompileError::DirectBits { direct_bits, max });
    }
    Ok(direct_bits)
}

/// An error if any route's next hop is too high for `L`, seen by an address or not.
fn check_next_hops<A: Address, L: Leaf>(
    rib: &Rib<A, impl Allocator + Clone>,
) -> Result<(), CompileError> {
    if rib.next_hop_bound() <= L::MAX {
        return Ok(());
    }
    // The bound may be that of a removed route.
    match rib.iter().find(|(_, next_hop)| next_hop.get() > L::MAX) {
        None => Ok(()),
        Some((_, next_hop)) => Err(CompileError::NextHop {
            next_hop: next_hop.get(),
            max: L::MAX,
        }),
    }
}

/// The pointer that leads where a slot does.
pub(crate) fn pointer(slot: Slot<u32>) -> u32 {
    match slot {
        Slot::Leaf(next_hop) => next_hop,
        Slot::Node(pointer) => pointer,
    }
}

/// Nodes in the form of blocks.
pub(super) struct FibBlockStore<Al: Allocator> {
    pub(super) arena: Arena<Al>,
    pub(super) value_bits: u8,
    pub(super) nodes: usize,
    pub(super) leaves: usize,
    /// The blocks that are there, if they are flat.
    flat: Option<FlatBlockIndex<Al>>,
}

impl<Al: Allocator + Clone> Store for FibBlockStore<Al> {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let slots = slots.map(pointer);
        if let Some(index) = &mut self.flat {
            let block = FlatBlock::whole(&slots);
            let words = self.arena.words();
            let at = match index.find(&block, |place| words[place..][..slots.len()] == slots) {
                Ok(pointer) => return Ok(pointer),
                Err(at) => at,
            };
            let place = self.arena.alloc(slots.len())?;
            self.arena.words()[place..][..slots.len()].copy_from_slice(&slots);
            let pointer = block.pointer(place as u32);
            index.note(at, pointer);
            self.nodes += 1;
            self.leaves += runs_and_leaves(&slots).1;
            return Ok(pointer);
        }
        let encoding = BlockEncoding::of(&slots, self.value_bits);
        self.nodes += 1;
        self.leaves += encoding.leaves();
        let place = self.arena.alloc(encoding.len())?;
        encoding.write(&mut self.arena.words()[place..]);
        Ok(encoding.pointer(place as u32))
    }

    fn store_one(
        &mut self,
        first: u8,
        count: u8,
        slot: Slot<u32>,
        around: u32,
    ) -> Result<u32, CompileError> {
        if self.flat.is_some() {
            return self.store(&fold::one(first, count, slot, around));
        }
        let block = OneValueBlock::new(self.value_bits, (first, count), pointer(slot), around);
        self.nodes += 1;
        self.leaves += block.leaves();
        let place = self.arena.alloc(block.words().len())?;
        self.arena.words()[place..][..block.words().len()].copy_from_slice(block.words());
        Ok(block.pointer(place as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::layout::MAX_WORDS;
    use crate::{NextHop, Prefix};

    #[test]
    fn a_table_beyond_the_layout_is_an_error() {
        let rib: Rib<u16> = (0..64u16)
            .map(|n| {
                let prefix = Prefix::new(n << 8, 10).expect("no host bits");
                (prefix, NextHop::MIN.saturating_add(n.into()))
            })
            .collect();
        let options = Options::default().direct_bits(Some(0));
        let words = compile::<u16, u16, _>(&rib, &options, 0, MAX_WORDS, Global)
            .expect("fits")
            .arena
            .len();
        assert!(compile::<u16, u16, _>(&rib, &options, 0, words, Global).is_ok());
        let max = words as u64 - 1;
        assert_eq!(
            compile::<u16, u16, _>(&rib, &options, 0, words - 1, Global).err(),
            Some(CompileError::Words { max })
        );
    }
}
