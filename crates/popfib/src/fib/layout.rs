//! What the words of a Fib's arrays mean: of its root table, and of the blocks in its arena.
//!
//! Poptrie's idea (paper, sections 3.1 to 3.4) with one kind of node. The first
//! bits of an address index the root table (the paper's direct pointing). Its
//! entries, and everything that leads further, are *pointers* of 32 bits: a next
//! hop, or the place of a block in the arena. A *block* resolves the next 6
//! bits, its 64 *slots*. It begins with a bit vector of 64 bits, `runs`, in which
//! bit *v* says that slot *v* begins a run of equal slots (the paper's
//! `leafvec`; bit 0 is always set); one value for each run follows. The value of
//! slot *v* is found by the population count of `runs` up to *v*. Where no slot
//! leads to a child, the values are next hops of as few bits as the highest
//! needs (a *narrow* block); else they are pointers (a *wide* one).
//!
//! So a lookup that ends below the root table touches one cache line of the
//! root and, mostly, one of the arena; the paper's three arrays make that
//! three lines. Neither `vector` nor the bases are needed, and a change of a
//! route is one new block and one pointer. docs/experiments/lookup.md has the figures.
//!
//! Keys of more than 32 bits split the direct bits beyond 16: the root table has
//! 2^16 entries, and the rest indexes a *page* of pointers in the arena. Pages
//! exist only where there are routes; a whole table over, say, the first 24
//! bits of IPv6 would be nearly empty.
//!
//! A table may be *flat* ([`FLAT`], made by `flat.rs`). There are two forms:
//!
//! - Each entry of the root leads to a *flat block*, whose 64 entries are stored one by one, in 16 bits if these hold
//!   them. Equal blocks are stored once. If the root itself would answer, it leads to a block of 64 equal entries, so
//!   that a lookup reads two words and tests only the second. This takes three times the memory. Deeper blocks have `runs`.
//! - Long keys keep root and pages, which are nearly empty. All blocks below are flat, and equal ones are stored
//!   once, whatever lies above them.
//!
//! The tables of a set have two forms more, as most of a small table is routes that are alone below some bit: a block of one route
//! ([`ROUTE`]), which ends the lookup, and sparse blocks of children with one next hop around them all ([`sparse_rank`]).

use crate::address::STRIDE;

/// Bit 31 of a pointer: it leads to a block (or page), else it is a next hop.
pub(crate) const NODE: u32 = 1 << 31;

/// Bit 30 of a pointer to a block: the block's values are pointers.
pub(crate) const WIDE: u32 = 1 << 30;

/// The other bits: the place in the arena, in words of 32 bits.
pub(crate) const PLACE: u32 = WIDE - 1;

/// The bit of a pointer that says that it leads to a flat block: no arena is so long that a place has it. Of keys of up to 32
/// bits only the root has such pointers.
///
/// The entries of the block are pointers, or, if the pointer has the bit [`HALF`], halves of words: next hops below
/// [`HALF_END`].
pub(crate) const FLAT: u32 = 1 << 29;

/// The bit of such a pointer that says that entries have 16 bits. Flat blocks begin at cache lines, so no place has it.
pub(crate) const HALF: u32 = 1;

/// The place that a pointer to a flat block contains.
pub(crate) const FLAT_PLACE: u32 = FLAT - 1 - HALF;

/// Entries of 16 bits are below this.
pub(crate) const HALF_END: u32 = 1 << 15;

/// The bits of a pointer to a block of one route, beside the place. Sets of tables have such.
pub(crate) const ROUTE: u32 = NODE | WIDE | FLAT;

/// The bits of the route below its block, with a one after them, and its next hop with the one around it in the upper half.
pub(crate) type RouteBlock = [u32; 2];

pub(crate) const fn is_route(pointer: u32) -> bool {
    pointer & ROUTE == ROUTE
}

/// The next hop of a key of which these bits are left.
#[inline(always)]
pub(crate) const fn route_value([route, next_hops]: RouteBlock, left: u32) -> u32 {
    let end = route & route.wrapping_neg();
    let is_other = (route ^ left) & (end << 1).wrapping_neg() != 0;
    next_hops >> (is_other as u32 * 16) & 0xffff
}

/// Which value is that of `slot` in a wide block of a set, where the first bit of `runs` may be missing: then its bits are those of
/// slots with a value of their own, and the others have the first one.
#[inline(always)]
pub(crate) const fn sparse_rank(runs: u64, slot: u32) -> u32 {
    let up_to = runs << (63 - slot);
    let is_first = runs & 1 == 0 && up_to >> 63 == 0;
    (up_to.count_ones() - (runs & 1) as u32) * !is_first as u32
}

/// The place of the block that `pointer` leads to.
pub(crate) const fn place(pointer: u32) -> usize {
    match pointer & (FLAT | WIDE) {
        FLAT => (pointer & FLAT_PLACE) as usize,
        _ => (pointer & (FLAT - 1)) as usize,
    }
}

/// The length in words of a flat block whose entries have so many bits.
pub(crate) const fn flat_len(bits: u8) -> usize {
    (bits as usize / 16) << (STRIDE - 1)
}
