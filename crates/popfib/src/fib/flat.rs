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
    pub(super) const fn max_bytes(self) -> usize {
        match self {
            Self::Shared => 12 << 20,
            Self::One => 128 << 20,
        }
    }
}

/// Words of a cache line.
const LINE: usize = 64 / size_of::<u32>();

/// The direct bits above shared blocks that end at /24, where most IPv4 routes end.
const DIRECT_BITS: u8 = MAX_DIRECT_BITS - STRIDE;

/// Whether a table is flat of this kind: with `direct_bits`, and those that were asked for. With fewer, as small tables
/// have, IPv4 routes would go on below the flat blocks.
pub(super) fn suits<A: Address>(kind: FlatKind, direct_bits: u8, asked: Option<u8>) -> bool {
    let is_large = direct_bits == DIRECT_BITS;
    match kind {
        FlatKind::Shared if A::WIDTH > 32 => direct_bits == MAX_DIRECT_BITS,
        FlatKind::Shared => A::WIDTH == 32 && is_large,
        FlatKind::One => A::WIDTH == 32 && asked.map_or(is_large, |asked| asked == MAX_DIRECT_BITS),
    }
}

/// Compiles `rib` flat; `None` if shared blocks and what lies deeper take more than `max_bytes`.
///
/// A key of up to 32 bits has at least [`STRIDE`] bits below those of the root. One block is made of those that lie below a
/// root with [`STRIDE`] bits less.
pub(super) fn flat<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    kind: FlatKind,
    max_bytes: usize,
    alloc: Al,
) -> Result<Option<Compiled<Al>>, CompileError> {
    let mut form = form::<A, L>(rib, options, 0)?;
    if A::WIDTH > 32 {
        return long::<A, L, Al>(rib, options, form, max_bytes, alloc);
    }
    if kind == FlatKind::One {
        form.0 = A::WIDTH.min(MAX_DIRECT_BITS) - STRIDE;
    }
    debug_assert!(form.0 + STRIDE <= A::WIDTH && form.1 == 0);
    debug_assert!(kind == FlatKind::One || form.0 > 0);
    // Half words, unless there are too many next hops or children for them.
    let fits = u32::from(form.2) <= CHILD.ilog2();
    for bits in if fits { &[16, 32][..] } else { &[32] } {
        match table::<A, L, Al>(rib, options, form, *bits, kind, max_bytes, alloc.clone())? {
            Ok(compiled) => return Ok(Some(compiled)),
            Err(Full::Memory) => return Ok(None),
            Err(Full::Children) => {}
        }
    }
    Ok(None)
}

/// As [`flat`], for keys of more than 32 bits: all blocks are flat, with entries of 32 bits, and equal ones are stored once. The root
/// and the pages are those of other tables, as they are nearly empty.
fn long<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form: (u8, u8, u8),
    max_bytes: usize,
    alloc: Al,
) -> Result<Option<Compiled<Al>>, CompileError> {
    let max_words = (max_bytes / size_of::<u32>()).saturating_sub(1 << form.0);
    let max_words = max_words.min(MAX_WORDS);
    let blocks = (max_words / flat_len(STRIDE, 32)).max(1);
    // Twice as many places as there may be blocks, but for tests without a limit.
    let index = Index::new_in((blocks.ilog2() as u8 + 2).min(20), alloc.clone())?;
    match compile::of_form::<A, L, Al>(rib, options, form, max_words, Some(index), alloc) {
        Ok(compiled) => Ok(Some(Compiled {
            flat_bits: 32,
            ..compiled
        })),
        Err(CompileError::Words { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a table can't be flat.
#[derive(Clone, Copy)]
enum Full {
    /// It takes too much memory.
    Memory,
    /// There are more children than an entry of 16 bits can number.
    Children,
}

/// As [`flat`], with entries of so many bits.
fn table<A: Address, L: Leaf, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    form: (u8, u8, u8),
    bits: u8,
    kind: FlatKind,
    max_bytes: usize,
    alloc: Al,
) -> Result<Result<Compiled<Al>, Full>, CompileError> {
    let max_words = (max_bytes / size_of::<u32>()).saturating_sub(1 << form.0);
    let mut flat = FlatBlocks::new_in(bits, form.0, max_words, alloc.clone())?;
    let compiled = compile::table::<A, L, Al>(
        rib,
        options,
        form,
        MAX_WORDS,
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
    );
    if let Some(full) = flat.full {
        return Ok(Err(full));
    }
    flat.append_to(compiled?, kind).map(Ok)
}

/// Flat blocks, each of them once.
struct FlatBlocks<Al: Allocator> {
    /// Bits of an entry.
    bits: u8,
    /// The blocks, one after the other.
    words: Vec<u32, Al>,
    children: Vec<u32, Al>,
    index: Index<Al>,
    max_words: usize,
    /// Why the compilation ended with an error, if for the blocks' sake.
    full: Option<Full>,
    /// The last next hop that filled a block alone, and the block.
    last: Option<(u32, u32)>,
    /// What `Fib::node_count` and `leaf_count` count.
    nodes: usize,
    leaves: usize,
}

impl<Al: Allocator + Clone> FlatBlocks<Al> {
    fn new_in(bits: u8, root_bits: u8, max_words: usize, alloc: Al) -> Result<Self, OutOfMemory> {
        Ok(Self {
            bits,
            words: Vec::new_in(alloc.clone()),
            children: Vec::new_in(alloc.clone()),
            index: Index::new_in(root_bits + 1, alloc)?,
            max_words,
            full: None,
            last: None,
            nodes: 0,
            leaves: 0,
        })
    }

    /// The number of the block whose entries are all `leaf`.
    fn uniform(&mut self, leaf: u32) -> Result<u32, CompileError> {
        match self.last {
            Some((last, number)) if last == leaf => Ok(number),
            _ => {
                let number = self.add(&[leaf; 64], 0)?;
                self.last = Some((leaf, number));
                Ok(number)
            }
        }
    }

    /// The number of the block with these entries, pointers. There are `deeper` words of blocks below.
    fn add(&mut self, entries: &[u32; 64], deeper: usize) -> Result<u32, CompileError> {
        let len = flat_len(STRIDE, self.bits);
        let has_children = entries.iter().fold(0, |all, entry| all | entry) & NODE != 0;
        let mut block = *entries;
        if self.bits == 16 {
            if has_children {
                for entry in &mut block {
                    *entry = self.half(*entry)?;
                }
            }
            for at in 0..len {
                block[at] = block[2 * at] | block[2 * at + 1] << 16;
            }
        }
        let block = &block[..len];
        // Children differ, so a block with children is like no other.
        if !has_children {
            match self.index.find(&self.words, block) {
                Ok(place) => return Ok(place / len as u32),
                Err(at) => self.index.note(at, self.words.len()),
            }
        }
        if self.words.len() + len + self.children.len() + deeper > self.max_words {
            return Err(self.is_full(Full::Memory));
        }
        let number = (self.words.len() / len) as u32;
        memory::grow(&mut self.words, len)?;
        self.words.extend_from_slice(block);
        let starts = (1..64).filter(|at| entries[*at] != entries[at - 1]).count();
        if starts > 0 {
            self.nodes += 1;
            self.leaves += 1 + starts - entries.iter().filter(|entry| *entry & NODE != 0).count();
        }
        Ok(number)
    }

    /// An entry of 16 bits.
    fn half(&mut self, entry: u32) -> Result<u32, CompileError> {
        if entry & NODE == 0 {
            return Ok(entry);
        }
        let number = self.children.len() as u32;
        if number == CHILD {
            return Err(self.is_full(Full::Children));
        }
        memory::grow(&mut self.children, 1)?;
        self.children.push(entry);
        Ok(CHILD | number)
    }

    /// The compilation ends; its caller knows why.
    fn is_full(&mut self, full: Full) -> CompileError {
        self.full = Some(full);
        CompileError::Words {
            max: self.max_words as u64,
        }
    }

    /// Appends the list of children, the blocks, and the place of the list to the arena of deeper blocks; the root leads to the blocks,
    /// or, if that is the kind, there is one block, of the root's one after the other.
    fn append_to(
        self,
        mut compiled: Compiled<Al>,
        kind: FlatKind,
    ) -> Result<Compiled<Al>, CompileError> {
        let (arena, root) = (&mut compiled.arena, &mut compiled.root);
        let list = arena.len() + 1;
        let first = (list + self.children.len()).next_multiple_of(LINE);
        let len = flat_len(STRIDE, self.bits);
        let words = match kind {
            FlatKind::Shared => self.words.len(),
            FlatKind::One => root.len() * len,
        };
        memory::grow(arena, first + words + 1 - arena.len())?;
        arena.push(self.children.len() as u32);
        arena.extend_from_slice(&self.children);
        arena.resize(first, 0);
        let mark = NODE | FLAT | if self.bits == 16 { HALF } else { 0 };
        match kind {
            FlatKind::Shared => {
                arena.extend_from_slice(&self.words);
                for entry in root {
                    *entry = mark | (first + *entry as usize * len) as u32;
                }
            }
            FlatKind::One => {
                for number in &*root {
                    arena.extend_from_slice(&self.words[*number as usize * len..][..len]);
                }
                root.truncate(1);
                root[0] = mark | first as u32;
                compiled.root_bits = 0;
            }
        }
        arena.push(list as u32);
        compiled.flat_bits = self.bits;
        compiled.nodes += self.nodes;
        compiled.leaves += self.leaves;
        Ok(compiled)
    }
}
