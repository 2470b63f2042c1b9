//! Flat tables: compilation into a root whose entries all lead to flat blocks, or, for long keys, into a root and pages with flat blocks
//! below.
//!
//! Poptrie's direct pointing and route aggregation taken further: redundancy is removed between
//! blocks as well as inside them. A block of 64 entries is looked for among those that are there,
//! by a hash and a few probes; if there is none, it is added. Of the 262,144 blocks below 18
//! bits of an IPv4 table of 2026, some 48,000 are different.
//!
//! A table is flat where that pays, else it has blocks with `runs` throughout: see [`suits`] and [`FlatKind`].
//! The largest and fastest is one flat block over 24 bits: the blocks below 18 bits, one after the other.

use allocator_api2::vec::Vec;

use super::Options;
use super::compile::{self, Compiled, form};
use super::index::Index;
use super::layout::{CHILD, FLAT, HALF, MAX_DIRECT_BITS, MAX_WORDS, NODE, flat_len};
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::memory::{self, Allocator, OutOfMemory};
use crate::next_hop::Leaf;
use crate::rib::Rib;

/// Where the flat blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlatKind {
    /// Below the root, equal ones once.
    Shared,
    /// One, in place of a root: its entries are numbered by all direct bits.
    One,
}

impl FlatKind {
    /// The most bytes of shared blocks and what lies deeper, with which a table is flat. Many routes of single hosts, or very
    /// many different next hops, would make tens of MiB of shared blocks, which no cache near a core holds.
    pub(crate) const fn max_bytes(self) -> usize {
        match self {
            Self::Shared => 12 << 20,
            Self::One => 128 << 20,
        }
    }
}

/// Words of a cache line.
const LINE: usize = 64 / size_of::<u32>();

/// Whether a table is flat of this kind: with `direct_bits`, and those that were asked for. With fewer, as small tables
/// have, IPv4 routes would go on below the flat blocks.
pub(crate) fn suits<A: Address>(kind: FlatKind, direct_bits: u8, asked: Option<u8>) -> bool {
    // Shared blocks end there: at /24, where most IPv4 routes end.
    let end = MAX_DIRECT_BITS.min(A::WIDTH);
    let is_large = direct_bits + STRIDE == end;
    match kind {
        FlatKind::Shared if A::WIDTH > 32 => direct_bits == end,
        FlatKind::Shared => is_large,
        FlatKind::One => A::WIDTH <= 32 && asked.map_or(is_large, |asked| asked == end),
    }
}

/// Compiles `rib` flat, with room for next hops up to `highest`; `None` if shared blocks and what lies deeper take more than `max_bytes`.
///
/// A key of up to 32 bits has at least [`STRIDE`] bits below those of the root, which has some. One block is made of those that lie
/// below a root with [`STRIDE`] bits less than there can be direct bits.
pub(crate) fn flat<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    kind: FlatKind,
    highest: u32,
    max_bytes: usize,
    alloc: Al,
) -> Result<Option<Compiled<Al>>, CompileError> {
    let mut form = form::<A, L>(rib, options, highest)?;
    if kind == FlatKind::One {
        form.0 = A::WIDTH.min(MAX_DIRECT_BITS) - STRIDE;
    }
    let max_words = (max_bytes / size_of::<u32>()).saturating_sub(1 << form.0);
    let max_words = max_words.min(MAX_WORDS);
    let compiled = if A::WIDTH > 32 {
        long::<A, L, Al>(rib, options, form, max_words, alloc)
    } else {
        short::<A, L, Al>(rib, options, form, kind, max_words, alloc)
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
    kind: FlatKind,
    max_words: usize,
    alloc: Al,
) -> Result<Compiled<Al>, CompileError> {
    debug_assert!(form.0 > 0 && form.0 + STRIDE <= A::WIDTH && form.1 == 0);
    let mut flat = FlatBlocks::new_in(form.0, max_words, alloc.clone())?;
    let compiled = compile::table::<A, L, Al>(
        rib,
        options,
        form,
        max_words,
        None,
        alloc.clone(),
        |fold, leaf, below| {
            let Some(vertex) = below else {
                return flat.uniform(leaf);
            };
            let mut entries = [0; 64];
            compile::fill_page(fold, vertex, leaf, &mut entries)?;
            flat.add(&entries, fold.store.arena.words().len())
        },
    )?;
    match kind {
        FlatKind::Shared => flat.append_to(compiled),
        FlatKind::One => flat.append_one_to(compiled, alloc),
    }
}

/// As [`flat`], for keys of more than 32 bits: all blocks are flat, with entries of 32 bits, and equal ones are stored once. The root
/// and the pages are those of other tables, as they are nearly empty.
fn long<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form: (u8, u8, u8),
    max_words: usize,
    alloc: Al,
) -> Result<Compiled<Al>, CompileError> {
    let blocks = (max_words / flat_len(STRIDE, 32)).max(1);
    // Twice as many places as there may be blocks, but for tests without a limit.
    let index = Index::new_in((blocks.ilog2() as u8 + 2).min(20), alloc.clone())?;
    let compiled = compile::of_form::<A, L, Al>(rib, options, form, max_words, Some(index), alloc)?;
    Ok(Compiled {
        is_flat: true,
        ..compiled
    })
}

/// The 64 entries of a block with entries of 32 bits, pointers, as halves, if all are next hops below [`CHILD`].
pub(crate) fn halves(entries: &[u32; 64]) -> Option<[u32; 32]> {
    if entries.iter().fold(0, |all, entry| all | entry) >= CHILD {
        return None;
    }
    Some(core::array::from_fn(|at| {
        entries[2 * at] | entries[2 * at + 1] << 16
    }))
}

/// Flat blocks, each of them once: with entries of 16 bits where these hold it, else of 32.
struct FlatBlocks<Al: Allocator> {
    /// The blocks, one after the other.
    words: Vec<u32, Al>,
    index: Index<Al>,
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
            index: Index::new_in(root_bits + 1, alloc)?,
            max_words,
            last: None,
            nodes: 0,
            leaves: 0,
        })
    }

    /// The place of the block whose entries are all `leaf`, as [`Self::add`] has it.
    fn uniform(&mut self, leaf: u32) -> Result<u32, CompileError> {
        match self.last {
            Some((last, place)) if last == leaf => Ok(place),
            _ => {
                let place = self.add(&[leaf; 64], 0)?;
                self.last = Some((leaf, place));
                Ok(place)
            }
        }
    }

    /// The place of the block with these entries, pointers, among the words, with the bit [`HALF`] if its entries have 16 bits. There
    /// are `deeper` words of blocks below.
    fn add(&mut self, entries: &[u32; 64], deeper: usize) -> Result<u32, CompileError> {
        let halves = halves(entries);
        let (block, mark) = match &halves {
            Some(halves) => (&halves[..], HALF),
            None => (&entries[..], 0),
        };
        let is_at = |place: usize| self.words[place..][..block.len()] == *block;
        let at = match self.index.find(block, is_at) {
            Ok(place) => return Ok(place | mark),
            Err(at) => at,
        };
        let place = self.words.len();
        if deeper.next_multiple_of(LINE) + place + block.len() > self.max_words {
            return Err(CompileError::Words {
                max: self.max_words as u64,
            });
        }
        memory::grow(&mut self.words, block.len())?;
        self.words.extend_from_slice(block);
        self.index.note(at, block, place as u32);
        let (nodes, leaves) = counted(entries);
        self.nodes += nodes;
        self.leaves += leaves;
        Ok(place as u32 | mark)
    }

    /// Appends the blocks to the arena of deeper ones; the root leads to them.
    fn append_to(self, mut compiled: Compiled<Al>) -> Result<Compiled<Al>, CompileError> {
        let arena = &mut compiled.arena;
        let first = arena.len().next_multiple_of(LINE);
        memory::grow(arena, first + self.words.len() - arena.len())?;
        arena.resize(first, 0);
        arena.extend_from_slice(&self.words);
        for entry in &mut compiled.root {
            *entry += NODE | FLAT | first as u32;
        }
        Ok(self.with_counts(compiled))
    }

    /// Appends one block, that of the root's one after the other, to the arena of deeper ones: with halves if they hold it, and then
    /// with the list of children before it and its place after it.
    fn append_one_to(
        self,
        mut compiled: Compiled<Al>,
        alloc: Al,
    ) -> Result<Compiled<Al>, CompileError> {
        let (arena, root) = (&mut compiled.arena, &mut compiled.root);
        let block = |place: u32| {
            let (place, is_half) = ((place & !HALF) as usize, place & HALF != 0);
            let words = &self.words[place..];
            core::array::from_fn::<u32, 64, _>(|slot| match is_half {
                true => words[slot / 2] >> (slot % 2 * 16) & 0xffff,
                false => words[slot],
            })
        };
        let mut count = 0;
        let mut fits = true;
        for place in root.iter().filter(|place| *place & HALF == 0) {
            let entries = block(*place);
            count += children(&entries);
            fits &= entries
                .iter()
                .all(|entry| entry & NODE != 0 || *entry < CHILD);
        }
        let bits = if fits && count <= CHILD as usize {
            16
        } else {
            32
        };
        let mut list = Vec::new_in(alloc);
        memory::reserve(&mut list, count)?;
        let first = (arena.len() + 1 + count).next_multiple_of(LINE);
        let end = first + root.len() * flat_len(STRIDE, bits);
        memory::grow(arena, end + 1 - arena.len())?;
        let before = arena.len() + 1;
        arena.resize(first, 0);
        for place in &*root {
            let mut entries = block(*place);
            if bits == 32 {
                arena.extend_from_slice(&entries);
                continue;
            }
            for entry in entries.iter_mut().filter(|entry| **entry & NODE != 0) {
                list.push(*entry);
                *entry = CHILD | (list.len() - 1) as u32;
            }
            let (pairs, _) = entries.as_chunks::<2>();
            arena.extend(pairs.iter().map(|[low, high]| low | high << 16));
        }
        arena[before - 1] = list.len() as u32;
        arena[before..][..list.len()].copy_from_slice(&list);
        arena.push(before as u32);
        root.truncate(1);
        root[0] = NODE | FLAT | first as u32 | if bits == 16 { HALF } else { 0 };
        compiled.root_bits = 0;
        Ok(self.with_counts(compiled))
    }

    /// The table, which also counts the flat blocks.
    fn with_counts(self, compiled: Compiled<Al>) -> Compiled<Al> {
        Compiled {
            is_flat: true,
            nodes: compiled.nodes + self.nodes,
            leaves: compiled.leaves + self.leaves,
            ..compiled
        }
    }
}

/// What a block with these entries counts as: nodes and leaves. One of equal entries is a leaf of the root.
pub(crate) fn counted(entries: &[u32; 64]) -> (usize, usize) {
    match (1..64).filter(|at| entries[*at] != entries[at - 1]).count() {
        0 => (0, 0),
        starts => (1, 1 + starts - children(entries)),
    }
}

/// How many entries lead to blocks.
fn children(entries: &[u32; 64]) -> usize {
    entries.iter().filter(|entry| *entry & NODE != 0).count()
}
