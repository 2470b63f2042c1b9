//! Compilation of a Rib into a Fib.
//!
//! `fold.rs` knows which nodes there are; this file gives them the form of
//! blocks (`layout.rs`), children first, and fills the root table and pages.

use alloc::vec::Vec;

use super::Options;
use super::arena::Arena;
use super::layout::{MAX_DIRECT_BITS, NODE, View, WIDE, Word, root_bits, words};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fold::{Fold, Slot, Store};
use crate::next_hop::Leaf;
use crate::rib::Rib;

/// The arrays of a new Fib, and what they hold.
#[derive(Debug)]
pub(super) struct Compiled {
    root: Vec<Word>,
    arena: Vec<Word>,
    root_bits: u8,
    page_bits: u8,
    value_bits: u8,
    pub(super) nodes: usize,
    pub(super) leaves: usize,
}

impl Compiled {
    pub(super) fn view(&self) -> View<'_> {
        View {
            root: &self.root,
            arena: &self.arena,
            root_bits: self.root_bits,
            page_bits: self.page_bits,
            value_bits: self.value_bits,
        }
    }
}

pub(super) fn compile<A: Address, L: Leaf>(
    rib: &Rib<A>,
    options: &Options,
    max_words: usize,
) -> Result<Compiled, CompileError> {
    let direct_bits = direct_bits::<A>(options.direct_bits, rib.len())?;
    let root_bits = root_bits::<A>(direct_bits);
    let page_bits = direct_bits - root_bits;
    check_next_hops::<A, L>(rib)?;
    let bound = rib.next_hop_bound().min(L::MAX);
    let store = Blocks {
        arena: Arena::new(max_words),
        value_bits: (u32::BITS - bound.leading_zeros()).max(1) as u8,
        nodes: 0,
        leaves: 0,
    };
    let (value_bits, vertex_and_default) = (store.value_bits, rib.root_vertex());
    let (vertex, default) = vertex_and_default;
    let mut fold = Fold::new(rib, options.aggregation, L::MAX, store);
    let mut root = Vec::with_capacity(1 << root_bits);
    fold.table(
        vertex,
        default,
        root_bits,
        &mut root,
        &mut |fold, leaf, below| {
            let Some(vertex) = below else { return Ok(leaf) };
            if page_bits == 0 {
                return Ok(pointer(fold.node(vertex, leaf)?));
            }
            let mut page = Vec::with_capacity(1 << page_bits);
            fold.table(
                vertex,
                leaf,
                page_bits,
                &mut page,
                &mut |fold, leaf, below| match below {
                    None => Ok(leaf),
                    Some(vertex) => Ok(pointer(fold.node(vertex, leaf)?)),
                },
            )?;
            if options.aggregation
                && page[0] & NODE == 0
                && page.iter().all(|entry| *entry == page[0])
            {
                return Ok(page[0]);
            }
            let place = fold.store.arena.alloc(page.len())?;
            fold.store.arena.words()[place..][..page.len()].copy_from_slice(&page);
            Ok(NODE | place as u32)
        },
    )?;
    let Blocks {
        arena,
        nodes,
        leaves,
        ..
    } = fold.store;
    Ok(Compiled {
        root: words(root),
        arena: arena.finish(),
        root_bits,
        page_bits,
        value_bits,
        nodes,
        leaves,
    })
}

/// The direct bits that were asked for, or those that suit the number of routes.
fn direct_bits<A: Address>(asked: Option<u8>, routes: usize) -> Result<u8, CompileError> {
    let max = MAX_DIRECT_BITS.min(A::WIDTH);
    let Some(direct_bits) = asked else {
        // A root table costs at most 16 bytes a route. For keys up to 32 bits
        // multiples of six only: they put /24, where most IPv4 routes end, at the
        // end of a block (paper, section 4.3). Longer keys have pages behind
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
fn check_next_hops<A: Address, L: Leaf>(rib: &Rib<A>) -> Result<(), CompileError> {
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
fn pointer(slot: Slot<u32>) -> u32 {
    match slot {
        Slot::Leaf(next_hop) => next_hop,
        Slot::Node(pointer) => pointer,
    }
}

/// Nodes in the form of blocks.
struct Blocks {
    arena: Arena,
    value_bits: u8,
    nodes: usize,
    leaves: usize,
}

impl Store for Blocks {
    /// A pointer.
    type Node = u32;

    fn store(&mut self, slots: &[Slot<u32>; 64]) -> Result<u32, CompileError> {
        let mut runs = 0u64;
        let mut values = [0; 64];
        let (mut count, mut children) = (0, 0);
        for (slot, content) in slots.iter().enumerate() {
            let value = pointer(*content);
            // Children differ from each other, so each is a run of its own.
            if count == 0 || values[count - 1] != value {
                runs |= 1 << slot;
                values[count] = value;
                count += 1;
                children += usize::from(value & NODE != 0);
            }
        }
        let values = &values[..count];
        self.nodes += 1;
        self.leaves += count - children;
        let is_wide = children > 0;
        let bits = if is_wide {
            32
        } else {
            u32::from(self.value_bits)
        };
        let len = 2 + (count * bits as usize).div_ceil(32);
        let place = self.arena.alloc(len)?;
        let block = &mut self.arena.words()[place..][..len];
        block[0] = runs as u32;
        block[1] = (runs >> 32) as u32;
        pack(values, bits, &mut block[2..]);
        Ok(NODE | if is_wide { WIDE } else { 0 } | place as u32)
    }
}

/// Writes each of `values` in `bits` bits, the first in the lowest bits of the first word.
fn pack(values: &[u32], bits: u32, words: &mut [u32]) {
    let mut at = 0;
    for value in values {
        let (word, shift) = ((at / 32) as usize, at % 32);
        let shifted = u64::from(*value) << shift;
        words[word] |= shifted as u32;
        if shift + bits > 32 {
            words[word + 1] |= (shifted >> 32) as u32;
        }
        at += bits;
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
        let words = compile::<u16, u16>(&rib, &options, MAX_WORDS)
            .expect("fits")
            .arena
            .len();
        assert!(compile::<u16, u16>(&rib, &options, words).is_ok());
        let max = words as u64 - 1;
        assert_eq!(
            compile::<u16, u16>(&rib, &options, words - 1).err(),
            Some(CompileError::Words { max })
        );
    }

    #[test]
    fn packed_values_do_not_touch_each_other() {
        for bits in 1..=32 {
            let mask = u32::MAX >> (32 - bits);
            let values: Vec<u32> = (1..65u32)
                .map(|n| n.wrapping_mul(0x9e37_79b9) & mask)
                .collect();
            let mut words = [0; 64];
            pack(&values, bits, &mut words);
            for (n, value) in values.iter().enumerate() {
                let at = n * bits as usize;
                let high = words.get(at / 32 + 1).copied().unwrap_or(0);
                let both = u64::from(high) << 32 | u64::from(words[at / 32]);
                assert_eq!(
                    (both >> (at % 32)) as u32 & mask,
                    *value,
                    "{bits} bits, value {n}"
                );
            }
        }
    }
}
