//! Compilation of a Rib into a Fib.
//!
//! `fold.rs` knows which nodes there are; this file gives them the form of
//! blocks (`layout.rs`), children first, and fills the root table and pages.

use allocator_api2::vec::Vec;

use super::Options;
use super::arena::Arena;
use super::arrays::{FibView, MAX_DIRECT_BITS, as_words, root_bits};
use super::encode::{BlockEncoding, OneValueBlock};
use super::flat_block::{FlatBlock, runs_and_leaves};
use super::index::{BlockHash, BlockIndex};
use super::layout::NODE;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fold::{self, Fold, Slot, Store};
use crate::memory::{self, Allocator, Global};
use crate::next_hop::MAX_NEXT_HOP;
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
pub(crate) fn compile<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
    max_words: usize,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    let form = form::<A>(rib, options, highest)?;
    of_form::<A, Al>(rib, options, form, max_words, None, alloc)
}

/// [`compile`] in this form (as [`form()`] returns it). With an index the table is flat: the entries of the root lead to flat blocks,
/// or, of long keys, all blocks are flat.
pub(super) fn of_form<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    (root_bits, page_bits, value_bits): (u8, u8, u8),
    max_words: usize,
    flat: Option<BlockIndex<Al>>,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    let mut root = Vec::new_in(alloc.clone());
    memory::reserve(&mut root, 1 << root_bits)?;
    root.resize(1 << root_bits, 0);
    let is_flat = flat.is_some();
    let blocks = FibBlockStore {
        arena: Arena::new_in(max_words, alloc.clone())?,
        value_bits,
        nodes: 0,
        leaves: 0,
        flat,
        is_all_flat: is_flat && A::WIDTH > 32,
    };
    let (vertex, default) = rib.root_vertex();
    // No nodes where there are no routes, at the root as elsewhere.
    let has_routes = rib.surroundings(Prefix::clamped(A::MIN, 0)).1.is_some();
    // The last next hop that filled a flat block alone, and the block: most answers of the root follow the same one.
    let mut last = None;
    let mut fold = Fold::new_in(rib, options.is_aggregating(), MAX_NEXT_HOP, blocks, alloc);
    fold.table(vertex, default, &mut root, &mut |fold, leaf, below| {
        let below = below.filter(|_| has_routes);
        if is_flat && A::WIDTH <= 32 {
            if let (None, Some((same, pointer))) = (below, last)
                && same == leaf
            {
                return Ok(pointer);
            }
            let mut entries = [leaf; 64];
            if let Some(vertex) = below {
                fill_page(fold, vertex, leaf, &mut entries)?;
            }
            let pointer = fold.store.store_flat(&FlatBlock::of(&entries), &entries)?;
            if below.is_none() {
                last = Some((leaf, pointer));
            }
            return Ok(pointer);
        }
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
        Ok(NODE | fold.store.place(page)?)
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
        is_flat,
        nodes,
        leaves,
    })
}

/// Bits of the root table, of pages and of narrow values that suit `rib`, with room for next hops up to `highest`.
///
/// # Errors
/// [`CompileError::DirectBits`], [`CompileError::NextHop`].
pub(crate) fn form<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
) -> Result<(u8, u8, u8), CompileError> {
    let direct_bits = direct_bits::<A>(options, rib.len())?;
    let root_bits = root_bits::<A>(direct_bits);
    check_next_hops::<A>(rib)?;
    let bound = rib.next_hop_bound().max(highest).min(MAX_NEXT_HOP);
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

/// The direct bits that were asked for, or those that suit the number of routes and the size.
pub(crate) fn direct_bits<A: Address>(
    options: &Options,
    routes: usize,
) -> Result<u8, CompileError> {
    let max = MAX_DIRECT_BITS.min(A::WIDTH);
    let Some(direct_bits) = options.asked_direct_bits() else {
        // A root table costs at most 64 bytes a route while it is small enough for the fastest cache,
        // then 16; where more memory may be taken, 1 KiB. For keys up to 32 bits multiples of six
        // only: they put /24, where most IPv4 routes end, at the end of a block (paper, section 4.3).
        // Longer keys have pages below 16 bits, and 24 puts /36, /42 and /48 at the end of a block.
        let suited = match (routes, options.is_balanced()) {
            (0..16, _) => 0,
            (16..256, _) => 6,
            (256..1000, _) | (1000..16_384, false) => 12,
            _ if A::WIDTH > 32 => 24,
            (16_384..65_536, false) => 12,
            _ => 18,
        };
        return Ok(suited.min(max));
    };
    if direct_bits > max {
        return Err(CompileError::DirectBits { direct_bits, max });
    }
    Ok(direct_bits)
}

/// An error if any route's next hop is too high, seen by an address or not.
pub(crate) fn check_next_hops<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
) -> Result<(), CompileError> {
    if rib.next_hop_bound() <= MAX_NEXT_HOP {
        return Ok(());
    }
    // The bound may be that of a removed route.
    match rib
        .iter()
        .find(|(_, next_hop)| next_hop.get() > MAX_NEXT_HOP)
    {
        None => Ok(()),
        Some((_, next_hop)) => Err(CompileError::NextHop {
            next_hop: next_hop.get(),
            max: MAX_NEXT_HOP,
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
struct FibBlockStore<Al: Allocator> {
    arena: Arena<Al>,
    value_bits: u8,
    nodes: usize,
    leaves: usize,
    /// The flat blocks that are there, if the table is flat.
    flat: Option<BlockIndex<Al>>,
    /// Whether there are no others.
    is_all_flat: bool,
}

impl<Al: Allocator + Clone> FibBlockStore<Al> {
    /// The place of these words, from now on.
    fn place(&mut self, words: &[u32]) -> Result<u32, CompileError> {
        let place = self.arena.alloc(words.len())?;
        self.arena.words()[place..][..words.len()].copy_from_slice(words);
        Ok(place as u32)
    }

    /// The pointer to the flat block of these entries: to one that is there, or a new one.
    fn store_flat(&mut self, block: &FlatBlock, entries: &[u32; 64]) -> Result<u32, CompileError> {
        let words = block.words();
        let hash = BlockHash::of(words.iter().copied());
        let mut room = None;
        if let Some(index) = &self.flat {
            match index.find_in(hash, self.arena.words(), words, block.pointer(0)) {
                Ok(pointer) => return Ok(pointer),
                Err(at) => room = at,
            }
        }
        let pointer = block.pointer(self.place(words)?);
        if let Some(index) = &mut self.flat {
            index.note(room, hash, pointer);
        }
        // A block of equal entries is a leaf of the root.
        let (runs, leaves) = runs_and_leaves(entries);
        if runs > 1 {
            self.nodes += 1;
            self.leaves += leaves;
        }
        Ok(pointer)
    }
}

impl<Al: Allocator + Clone> Store for FibBlockStore<Al> {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let slots = slots.map(pointer);
        if self.is_all_flat {
            return self.store_flat(&FlatBlock::whole(&slots), &slots);
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
        if self.is_all_flat {
            return self.store(&fold::one(first, count, slot, around));
        }
        let block = OneValueBlock::new(self.value_bits, (first, count), pointer(slot), around);
        self.nodes += 1;
        self.leaves += block.leaves();
        Ok(block.pointer(self.place(block.words())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::arrays::MAX_WORDS;
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
        let words = compile::<u16, _>(&rib, &options, 0, MAX_WORDS, Global)
            .expect("fits")
            .arena
            .len();
        assert!(compile::<u16, _>(&rib, &options, 0, words, Global).is_ok());
        let max = words as u64 - 1;
        assert_eq!(
            compile::<u16, _>(&rib, &options, 0, words - 1, Global).err(),
            Some(CompileError::Words { max })
        );
    }
}
