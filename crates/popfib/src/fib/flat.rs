//! Flat tables. A Rib is compiled into a root whose entries all lead to flat blocks, or, for long keys, into a root
//! and pages with flat blocks below.
//!
//! Poptrie's direct pointing and route aggregation taken further: redundancy is removed between
//! blocks as well as inside them. A block of 64 entries is looked for among those that are there,
//! by a hash and a few probes; if there is none, it is added. Of the 262,144 blocks below 18
//! bits of an IPv4 table of 2026, some 48,000 are different.
//!
//! A table is flat where that pays, else it has blocks with `runs` throughout: see [`is_asked`] and [`MAX_BYTES`].

use allocator_api2::vec::Vec;

use super::Options;
use super::compile::{self, CompiledArrays, form};
use super::flat_block::{FlatBlock, runs_and_leaves};
use super::index::FlatBlockIndex;
use super::layout::{LINE, MAX_DIRECT_BITS, MAX_WORDS, flat_len};
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::memory::{self, Allocator, OutOfMemory};
use crate::next_hop::Leaf;
use crate::rib::Rib;

/// The most bytes of flat blocks and what lies deeper, with which a table is flat. Many routes of single hosts, or very many
/// different next hops, would make tens of MiB, which no cache near a core holds.
pub(crate) const MAX_BYTES: usize = 12 << 20;

/// Whether a table of `rib` is to be flat, unless it is too large. With fewer direct bits, as small tables have, IPv4 routes
/// would go on below the flat blocks, which end at /24, where most do.
pub(crate) fn is_asked<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
) -> Result<bool, CompileError> {
    let direct_bits = compile::direct_bits::<A>(options.asked_direct_bits(), rib.len())?;
    let end = MAX_DIRECT_BITS.min(A::WIDTH);
    let suits = if A::WIDTH > 32 {
        direct_bits == end
    } else {
        direct_bits + STRIDE == end
    };
    Ok(suits && options.is_balanced())
}

/// Compiles `rib` flat, with room for next hops up to `highest`; `None` if blocks and what lies deeper take more than `max_bytes`.
///
/// A key of up to 32 bits has at least [`STRIDE`] bits below those of the root, which has some.
pub(crate) fn flat<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    highest: u32,
    max_bytes: usize,
    alloc: Al,
) -> Result<Option<CompiledArrays<Al>>, CompileError> {
    let form = form::<A, L>(rib, options, highest)?;
    let max_words = (max_bytes / size_of::<u32>()).saturating_sub(1 << form.0);
    let max_words = max_words.min(MAX_WORDS);
    let compiled = if A::WIDTH > 32 {
        long::<A, L, Al>(rib, options, form, max_words, alloc)
    } else {
        short::<A, L, Al>(rib, options, form, max_words, alloc)
    };
    match compiled {
        Ok(compiled) => Ok(Some(compiled)),
        Err(CompileError::Words { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// As [`flat`], for keys of up to 32 bits: in at most `max_words` words.
fn short<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form: (u8, u8, u8),
    max_words: usize,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    debug_assert!(form.0 > 0 && form.0 + STRIDE <= A::WIDTH && form.1 == 0);
    let mut flat = FlatBlocks::new_in(form.0, max_words, alloc.clone())?;
    let compiled = compile::table::<A, L, Al>(
        rib,
        options,
        form,
        max_words,
        None,
        alloc,
        |fold, leaf, below| {
            let Some(vertex) = below else {
                return flat.uniform(leaf);
            };
            let mut entries = [0; 64];
            compile::fill_page(fold, vertex, leaf, &mut entries)?;
            flat.add(&entries, fold.store.arena.words().len())
        },
    )?;
    flat.append_to(compiled)
}

/// As [`flat`], for keys of more than 32 bits: all blocks are flat, with entries of 32 bits, and equal ones are stored once. The root
/// and the pages are those of other tables, as they are nearly empty.
fn long<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form: (u8, u8, u8),
    max_words: usize,
    alloc: Al,
) -> Result<CompiledArrays<Al>, CompileError> {
    let blocks = (max_words / flat_len(32)).max(1);
    // Twice as many places as there may be blocks, but for tests without a limit.
    let index = FlatBlockIndex::new_in((blocks.ilog2() as u8 + 2).min(20), alloc.clone())?;
    let compiled = compile::of_form::<A, L, Al>(rib, options, form, max_words, Some(index), alloc)?;
    Ok(CompiledArrays {
        is_flat: true,
        ..compiled
    })
}

/// Flat blocks, each of them once.
struct FlatBlocks<Al: Allocator> {
    /// The blocks, one after the other. Pointers have their places among these words.
    words: Vec<u32, Al>,
    index: FlatBlockIndex<Al>,
    max_words: usize,
    /// The last next hop that filled a block alone, and the block.
    last: Option<(u32, u32)>,
    /// What `Fib::node_count` and `leaf_count` count.
    nodes: usize,
    leaves: usize,
}

impl<Al: Allocator + Clone> FlatBlocks<Al> {
    fn new_in(root_bits: u8, max_words: usize, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            words: Vec::new_in(alloc.clone()),
            index: FlatBlockIndex::new_in(root_bits + 1, alloc)?,
            max_words,
            last: None,
            nodes: 0,
            leaves: 0,
        })
    }

    /// The pointer to the block whose entries are all `leaf`.
    fn uniform(&mut self, leaf: u32) -> Result<u32, CompileError> {
        match self.last {
            Some((last, pointer)) if last == leaf => Ok(pointer),
            _ => {
                let pointer = self.add(&[leaf; 64], 0)?;
                self.last = Some((leaf, pointer));
                Ok(pointer)
            }
        }
    }

    /// The pointer to the block with these entries. There are `deeper` words of blocks below.
    fn add(&mut self, entries: &[u32; 64], deeper: usize) -> Result<u32, CompileError> {
        let block = FlatBlock::of(entries);
        let words = block.words();
        let is_at = |place: usize| self.words[place..][..words.len()] == *words;
        let at = match self.index.find(&block, is_at) {
            Ok(pointer) => return Ok(pointer),
            Err(at) => at,
        };
        let place = self.words.len();
        if deeper.next_multiple_of(LINE) + place + words.len() > self.max_words {
            return Err(CompileError::Words {
                max: self.max_words as u64,
            });
        }
        memory::grow(&mut self.words, words.len())?;
        self.words.extend_from_slice(words);
        let pointer = block.pointer(place as u32);
        self.index.note(at, pointer);
        // A block of equal entries is a leaf of the root.
        let (runs, leaves) = runs_and_leaves(entries);
        if runs > 1 {
            self.nodes += 1;
            self.leaves += leaves;
        }
        Ok(pointer)
    }

    /// Appends the blocks to the arena of deeper ones; the root leads to them.
    fn append_to(
        self,
        mut compiled: CompiledArrays<Al>,
    ) -> Result<CompiledArrays<Al>, CompileError> {
        let arena = &mut compiled.arena;
        let first = arena.len().next_multiple_of(LINE);
        memory::grow(arena, first + self.words.len() - arena.len())?;
        arena.resize(first, 0);
        arena.extend_from_slice(&self.words);
        for pointer in &mut compiled.root {
            *pointer += first as u32;
        }
        Ok(CompiledArrays {
            is_flat: true,
            nodes: compiled.nodes + self.nodes,
            leaves: compiled.leaves + self.leaves,
            ..compiled
        })
    }
}
