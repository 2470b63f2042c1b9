//! Scalar lookup: one address at a time (the paper's Algorithms 1 to 3 on this
//! layout).
//!
//! Generic over the key, so that no option is tested inside the loop. Indices
//! are not checked: the layout's invariants (`check.rs`) put each in range.
//!
//! A generic x86-64 build has no population count instruction, and counting
//! without it takes a dozen others. So what lies below the root table is
//! compiled a second time with `popcnt` and chosen at run time; the root table,
//! which answers most random addresses, stays inline in the caller.
//!
//! Pointers may be stored while they are read, so they are loaded atomically, and
//! with `Acquire`: the block that was written before its pointer is seen whole. What
//! else a block holds does not change while a pointer leads there, and is read
//! plainly, without a look at the words after it.

use core::sync::atomic::Ordering::Acquire;

use super::arrays::{FibView, FibWord};
use super::layout::{FLAT, FLAT_PLACE, HALF, NODE, PLACE, ROUTE, WIDE, route_value, sparse_rank};
use crate::address::{Address, STRIDE, leading_word};
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use crate::cpu::has_popcnt;

/// The next hop of `address`; 0 if there is none.
#[inline(always)]
pub(crate) fn lookup<A: Address>(view: FibView<'_>, address: A) -> u32 {
    let entry = root_entry(view, address);
    if entry & NODE == 0 {
        return entry;
    }
    let (mut entry, mut rest) = (entry, address.skip_bits(view.root_bits));
    // Of longer keys what is below the pages is tested. All are tested where the root has no answer only.
    if A::WIDTH <= 32 && entry & FLAT != 0 {
        (entry, rest) = flat_pointer(view, entry, address);
        if entry & NODE == 0 {
            return entry;
        }
    }
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for.
        let next_hop =
            unsafe { popcnt::descend(view.arena, view.page_bits, view.value_bits, entry, rest) };
        return next_hop;
    }
    descend(view.arena, view.page_bits, view.value_bits, entry, rest)
}

/// Looks up each of `addresses`; `next_hops` is as long.
pub(crate) fn lookup_each<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for.
        unsafe { popcnt::each(view, addresses, next_hops) };
        return;
    }
    each(view, addresses, next_hops);
}

#[inline(always)]
pub(crate) fn root_entry<A: Address>(view: FibView<'_>, address: A) -> u32 {
    let index = address.leading(view.root_bits) as usize;
    debug_assert!(index < view.root.len());
    // SAFETY: invariant 1: the root has as many entries as `root_bits` number.
    unsafe { view.root.get_unchecked(index).load(Acquire) }
}

/// The place in the arena of the block that the tables lead `address` to, if they do not hold its answer.
#[inline]
pub(crate) fn first_block<A: Address>(view: FibView<'_>, address: A) -> Option<usize> {
    let mut pointer = root_entry(view, address);
    if view.page_bits > 0 && pointer & NODE != 0 {
        let at = (pointer & PLACE) + address.extract(view.root_bits, view.page_bits);
        // SAFETY: invariant 2: a page lies inside the arena.
        pointer = unsafe { word(view.arena, at as usize) };
    }
    // A flat block may begin there, too.
    (pointer & NODE != 0).then_some((pointer & (FLAT - 1)) as usize)
}

/// The pointer that the flat block holds which the root's pointer leads to, and the address without the bits above it.
#[inline(always)]
fn flat_pointer<A: Address>(view: FibView<'_>, entry: u32, address: A) -> (u32, A) {
    let rest = address.skip_bits(view.root_bits);
    // SAFETY: invariant 6: a whole flat block begins there.
    let pointer = unsafe { flat_value(view.arena, entry, rest.leading(STRIDE)) };
    (pointer, rest.skip_bits(STRIDE))
}

/// From the root's pointer down to the next hop. `rest` is the address without
/// the root's bits, moved to the top: each step reads the first few.
///
/// Not the whole view: these travel in registers where this is a call.
#[inline(always)]
fn descend<A: Address>(
    arena: &[FibWord],
    page_bits: u8,
    value_bits: u8,
    mut pointer: u32,
    mut rest: A,
) -> u32 {
    // Keys up to 32 bits have no pages: no test for them.
    if A::WIDTH > 32 && page_bits != 0 {
        // SAFETY: invariant 2: a page lies inside the arena.
        pointer = unsafe {
            word(
                arena,
                ((pointer & PLACE) + rest.leading(page_bits)) as usize,
            )
        };
        rest = rest.skip_bits(page_bits);
    }
    // A next hop may have the bit of flat blocks.
    if A::WIDTH > 32 && pointer & (NODE | FLAT) == NODE | FLAT {
        // SAFETY: invariant 7: the pointer leads to a whole flat block.
        return unsafe { descend_flat(arena, pointer, rest) };
    }
    // SAFETY: invariants 2 to 4: the pointer leads to a whole block, if to any.
    unsafe { descend_blocks(arena, value_bits, pointer, rest) }
}

/// [`descend_blocks`] where all blocks are flat.
///
/// # Safety
/// The pointer is a next hop or leads to a whole flat block of `arena`, and so on below it, as invariant 7 has it.
#[inline(always)]
pub(crate) unsafe fn descend_flat<A: Address>(
    arena: &[FibWord],
    mut pointer: u32,
    mut rest: A,
) -> u32 {
    while pointer & NODE != 0 {
        let at = (pointer & FLAT_PLACE) + rest.leading(STRIDE);
        // SAFETY: as above: 64 entries.
        pointer = unsafe { word(arena, at as usize) };
        rest = rest.skip_bits(STRIDE);
    }
    pointer
}

/// From a pointer below all tables down to the next hop. `rest` is the address
/// without the bits above the pointer's block.
///
/// # Safety
/// The pointer is a next hop or leads to a whole block of `arena`, and so on
/// below it, as invariants 3 and 4 have it.
#[inline(always)]
pub(crate) unsafe fn descend_blocks<A: Address>(
    arena: &[FibWord],
    value_bits: u8,
    mut pointer: u32,
    mut rest: A,
) -> u32 {
    while pointer & NODE != 0 {
        // SAFETY: as above.
        pointer = unsafe { value_of(arena, value_bits, pointer, rest.extract(0, STRIDE)) };
        rest = rest.skip_bits(STRIDE);
    }
    pointer
}

/// The next hop of `address` in a table of a set, whose root has the pointers of its tables; 0 if there is none, or no such table.
#[inline]
pub(crate) fn lookup_in_table<A: Address>(view: FibView<'_>, table: u32, address: A) -> u32 {
    let Some(pointer) = view.root.get(table as usize) else {
        return 0;
    };
    let pointer = pointer.load(Acquire);
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for, and the invariants of a set hold.
        return unsafe { popcnt::descend_mixed(view.arena, view.value_bits, pointer, address) };
    }
    // SAFETY: the invariants of a set (`fib_set/check.rs`): each of its pointers leads to whole blocks.
    unsafe { descend_mixed(view.arena, view.value_bits, pointer, address) }
}

/// [`descend_blocks`] where each block may be flat, or one route.
///
/// # Safety
/// The pointer is a next hop or leads to a whole block of `arena`, of the kind that it says, and so on below it.
#[inline(always)]
pub(crate) unsafe fn descend_mixed<A: Address>(
    arena: &[FibWord],
    value_bits: u8,
    mut pointer: u32,
    mut rest: A,
) -> u32 {
    while pointer & NODE != 0 {
        let slot = rest.extract(0, STRIDE);
        // SAFETY: as above.
        pointer = unsafe {
            if pointer & (FLAT | WIDE) == WIDE {
                let place = (pointer & PLACE) as usize;
                let value = sparse_rank(two_words(arena, place), slot);
                word(arena, place + 2 + value as usize)
            } else if pointer & FLAT == 0 {
                value_of(arena, value_bits, pointer, slot)
            } else if pointer & WIDE == 0 {
                flat_value(arena, pointer, slot)
            } else {
                let words = two_words(arena, (pointer & !ROUTE) as usize);
                let words = [words as u32, (words >> 32) as u32];
                return route_value(words, leading_word(rest));
            }
        };
        rest = rest.skip_bits(STRIDE);
    }
    pointer
}

/// The pointer that `slot` of the flat block holds that `pointer` leads to.
///
/// # Safety
/// A flat block with that slot begins there, as invariant 6 has it.
#[inline(always)]
unsafe fn flat_value(arena: &[FibWord], pointer: u32, slot: u32) -> u32 {
    let (place, slot) = ((pointer & FLAT_PLACE) as usize, slot as usize);
    // SAFETY: as above.
    unsafe {
        if pointer & HALF == 0 {
            return word(arena, place + slot);
        }
        word(arena, place + slot / 2) >> (slot % 2 * 16) & 0xffff
    }
}

/// What `slot` of the block that `pointer` leads to holds.
///
/// # Safety
/// The pointer leads to a whole block of `arena`, as invariants 3 and 4 have it.
#[inline(always)]
pub(crate) unsafe fn value_of(arena: &[FibWord], value_bits: u8, pointer: u32, slot: u32) -> u32 {
    let place = (pointer & PLACE) as usize;
    // SAFETY: a block has two words of `runs`, and a value for each run.
    unsafe {
        let runs = two_words(arena, place);
        // Runs up to and with the slot's own; bit 0 is set, so at least one.
        let count = (runs << (63 - slot)).count_ones();
        if pointer & WIDE != 0 {
            return word(arena, place + 1 + count as usize);
        }
        // The last of the value's bits. The word that it lies in and the one before,
        // which is a word of `runs` at worst, hold the whole value.
        let last = count * u32::from(value_bits) - 1;
        let both = two_words(arena, place + 1 + (last / 32) as usize);
        ((both << (!last % 32)) >> (64 - value_bits)) as u32
    }
}

/// # Safety
/// `index` is inside the arena.
#[inline(always)]
pub(crate) unsafe fn word(arena: &[FibWord], index: usize) -> u32 {
    debug_assert!(index < arena.len());
    // SAFETY: as above.
    unsafe { arena.get_unchecked(index).load(Acquire) }
}

/// Two words as one number, the first in its lower half.
///
/// # Safety
/// `index` and the next are inside the arena, in a block that a pointer has led to,
/// and are no pointers: nobody stores there.
#[inline(always)]
pub(crate) unsafe fn two_words(arena: &[FibWord], index: usize) -> u64 {
    debug_assert!(index + 1 < arena.len());
    // SAFETY: as above.
    let [low, high] = unsafe { arena.as_ptr().add(index).cast::<[u32; 2]>().read() };
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn each<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    let is_flat = A::WIDTH <= 32 && view.is_flat;
    for (address, next_hop) in addresses.iter().zip(next_hops) {
        let entry = root_entry(view, *address);
        *next_hop = if is_flat {
            let (pointer, rest) = flat_pointer(view, entry, *address);
            // SAFETY: invariants 3, 4 and 6: the pointer leads to a whole block, if to any.
            unsafe { descend_blocks(view.arena, view.value_bits, pointer, rest) }
        } else if entry & NODE == 0 {
            entry
        } else {
            let rest = address.skip_bits(view.root_bits);
            descend(view.arena, view.page_bits, view.value_bits, entry, rest)
        };
    }
}

/// The same code compiled for CPUs with `popcnt`, and with the shifts of BMI2.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod popcnt {
    use super::{Address, FibView, FibWord};

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn descend<A: Address>(
        arena: &[FibWord],
        page_bits: u8,
        value_bits: u8,
        pointer: u32,
        rest: A,
    ) -> u32 {
        super::descend(arena, page_bits, value_bits, pointer, rest)
    }

    /// # Safety
    /// As that of the same function outside.
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) unsafe fn descend_mixed<A: Address>(
        arena: &[FibWord],
        value_bits: u8,
        pointer: u32,
        rest: A,
    ) -> u32 {
        // SAFETY: as this function's.
        unsafe { super::descend_mixed(arena, value_bits, pointer, rest) }
    }

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn each<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
        super::each(view, addresses, next_hops);
    }
}
