//! The portable kernel: staged lookups for any CPU.
//!
//! Addresses are taken in blocks. The first pass over a block reads the root
//! table and writes the next hops found there; whatever leads further goes to
//! a list of *lanes*. Then pass follows pass over that list, one level of the
//! arena each, and the list closes up in place as lookups end. No step has a
//! branch that depends on the data, so nothing is mispredicted and the CPU
//! overlaps the memory accesses of some ten lookups by itself.
//!
//! Where most addresses lead beyond the root, a list of nearly all of them is
//! wasted effort. So the first few addresses of a block are tried, and if few
//! of them end at the root, the first pass takes every address one level down;
//! those that did end read the idle block, and their result is not used.
//!
//! The time goes into instructions, not memory, and what kind a pointer is
//! (next hop, narrow or wide block) takes many of them, as masks and selects.
//! A table of four rows, read at the pointer's two highest bits, takes few.
//! Separate passes for loads and arithmetic were tried and are no faster; a bit
//! vector in place of the list, and indices of one byte in it, are slower.

mod load;

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use super::BYTE_READ_BITS;
use crate::address::{Address, STRIDE};
use crate::cpu::prefetch;
use crate::fib::arrays::{FibView, FibWord};
use crate::fib::layout::{NODE, PLACE};
use crate::fib::lookup::{two_words, word};
use load::{acquire, byte_read, pointer_at, root_entry};

/// Addresses of a block. Its lanes take 2 KiB of the innermost cache.
const BLOCK: usize = 256;

/// How many bytes ahead addresses are fetched.
const AHEAD: usize = 4096;

/// A cache line.
const LINE: usize = 64;

/// Addresses of a block that are tried to see how many end at the root.
const SAMPLE: usize = 16;

/// How values are read: of any width, from two words, each loaded for itself.
const WORDS: u8 = 0;

/// Of at most [`BYTE_READ_BITS`] bits, from the four bytes that they end in.
const BYTES: u8 = 1;

/// As [`BYTES`], for CPUs with BMI2: one instruction reads and shifts.
#[cfg(target_arch = "x86_64")]
const BYTES_BMI2: u8 = 2;

/// Looks up each of `addresses`; `next_hops` is as long.
pub(super) fn lookup_batch<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if crate::cpu::has_popcnt() {
        // SAFETY: the CPU has what the function was compiled for.
        unsafe { with_popcnt(view, addresses, next_hops) };
        return;
    }
    each_table::<A, BYTES>(view, addresses, next_hops);
}

/// The same code compiled for CPUs with `popcnt`, and with the shifts of BMI2.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
// Inside the AVX2 kernel, which calls it, it would be vectorised, to its harm.
#[inline(never)]
fn with_popcnt<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    each_table::<A, BYTES_BMI2>(view, addresses, next_hops);
}

/// The lookups of a block that have not ended. Not cleared, so that a short
/// slice is cheap; two arrays, since the first pass writes one of them only.
struct PortableLanes {
    pointers: [MaybeUninit<u32>; BLOCK],
    /// Of the addresses in the block.
    indices: [MaybeUninit<u32>; BLOCK],
}

impl PortableLanes {
    const fn new() -> Self {
        Self {
            pointers: [const { MaybeUninit::uninit() }; BLOCK],
            indices: [const { MaybeUninit::uninit() }; BLOCK],
        }
    }

    /// # Safety
    /// `lane` is below BLOCK.
    #[inline(always)]
    unsafe fn write(&mut self, lane: usize, index: usize) {
        // SAFETY: as above.
        unsafe { self.indices.get_unchecked_mut(lane).write(index as u32) };
    }

    /// # Safety
    /// `lane` is below BLOCK.
    #[inline(always)]
    unsafe fn write_both(&mut self, lane: usize, index: usize, pointer: u32) {
        // SAFETY: as above.
        unsafe {
            self.write(lane, index);
            self.pointers.get_unchecked_mut(lane).write(pointer);
        }
    }

    /// # Safety
    /// The lane's index has been written.
    #[inline(always)]
    unsafe fn index(&self, lane: usize) -> usize {
        // SAFETY: as above.
        (unsafe { self.indices.get_unchecked(lane).assume_init() }) as usize
    }

    /// # Safety
    /// The lane's pointer has been written.
    #[inline(always)]
    unsafe fn pointer(&self, lane: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.pointers.get_unchecked(lane).assume_init() }
    }
}

/// `READ`: how to read values, if they are short enough, [`BYTES`] or `BYTES_BMI2`.
#[inline(always)]
fn each_table<A: Address, const READ: u8>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    if view.value_bits <= BYTE_READ_BITS {
        each_block::<A, READ>(view, addresses, next_hops);
    } else {
        each_block::<A, WORDS>(view, addresses, next_hops);
    }
    acquire();
}

#[inline(always)]
fn each_block<A: Address, const READ: u8>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    assert_eq!(addresses.len(), next_hops.len());
    let kinds = PointerKinds::<READ>::new(view.value_bits);
    let mut lanes = PortableLanes::new();
    let blocks = addresses.chunks(BLOCK).zip(next_hops.chunks_mut(BLOCK));
    for (addresses, next_hops) in blocks {
        // SAFETY: both are as long, and at most BLOCK; the passes below the
        // first get the lanes that the one before has written.
        unsafe {
            let count = if mostly_beyond_root(view, addresses) {
                first_level_of_all(view, &kinds, addresses, next_hops, &mut lanes)
            } else {
                fetch_ahead(addresses);
                let count = root_of_all(view, addresses, next_hops, &mut lanes);
                first_level(view, &kinds, addresses, next_hops, &mut lanes, count)
            };
            if count > 0 {
                let depth = view.root_bits + view.page_bits + STRIDE;
                levels(view, &kinds, addresses, next_hops, &mut lanes, count, depth);
            }
        }
    }
}

/// Has addresses fetched that lie some blocks after these, or any other memory
/// that is there: where nearly all lookups end at the root, the CPU does not fetch
/// them early enough by itself. (Where they lead further it does, and this only
/// costs.)
#[inline(always)]
fn fetch_ahead<A: Address>(addresses: &[A]) {
    for at in (0..size_of_val(addresses)).step_by(LINE) {
        prefetch(addresses.as_ptr().wrapping_byte_add(AHEAD + at));
    }
}

/// Whether most of the first few addresses lead beyond the root.
///
/// Not inlined: as part of a kernel for AVX2 it would be vectorised, to its harm.
#[inline(never)]
pub(super) fn mostly_beyond_root<A: Address>(view: FibView<'_>, addresses: &[A]) -> bool {
    let sample = &addresses[..addresses.len().min(SAMPLE)];
    let beyond: u32 = sample.iter().map(|a| root_entry(view, *a) / NODE).sum();
    beyond as usize * 2 > sample.len()
}

/// Writes the next hops that the root has; lists the other addresses.
///
/// # Safety
/// `next_hops` is as long as `addresses`, at most BLOCK.
#[inline(always)]
unsafe fn root_of_all<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut PortableLanes,
) -> usize {
    let mut count = 0;
    for (index, (address, next_hop)) in addresses.iter().zip(next_hops).enumerate() {
        let entry = root_entry(view, *address);
        *next_hop = entry;
        // The index only: few go on, and their entries are at hand in the cache.
        // SAFETY: at most one lane an address.
        unsafe { lanes.write(count, index) };
        count += (entry / NODE) as usize;
    }
    count
}

/// Takes the addresses of the first `count` lanes to their first block and
/// through it; returns the number of lanes that go on.
///
/// # Safety
/// That many lanes have been written for these addresses; `next_hops` is as long.
#[inline(always)]
unsafe fn first_level<A: Address, const READ: u8>(
    view: FibView<'_>,
    kinds: &PointerKinds<READ>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut PortableLanes,
    count: usize,
) -> usize {
    let mut left = 0;
    for lane in 0..count {
        // SAFETY: as the caller says; `left` is never ahead of `lane`.
        unsafe {
            let index = lanes.index(lane);
            let address = *addresses.get_unchecked(index);
            let pointer = first_value(view, kinds, address);
            *next_hops.get_unchecked_mut(index) = pointer;
            lanes.write_both(left, index, pointer);
            left += (pointer / NODE) as usize;
        }
    }
    left
}

/// As [`root_of_all`] and [`first_level`], in one pass.
///
/// # Safety
/// `next_hops` is as long as `addresses`, at most BLOCK.
#[inline(always)]
unsafe fn first_level_of_all<A: Address, const READ: u8>(
    view: FibView<'_>,
    kinds: &PointerKinds<READ>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut PortableLanes,
) -> usize {
    let mut left = 0;
    for (index, (address, next_hop)) in addresses.iter().zip(next_hops).enumerate() {
        let pointer = first_value(view, kinds, *address);
        *next_hop = pointer;
        // SAFETY: at most one lane an address.
        unsafe { lanes.write_both(left, index, pointer) };
        left += (pointer / NODE) as usize;
    }
    left
}

/// Takes the first `count` lanes down to their next hops.
///
/// # Safety
/// That many lanes have been written for these addresses, and their pointers
/// lead to blocks at `depth`; `next_hops` is as long as `addresses`.
#[inline(always)]
unsafe fn levels<A: Address, const READ: u8>(
    view: FibView<'_>,
    kinds: &PointerKinds<READ>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut PortableLanes,
    mut count: usize,
    mut depth: u8,
) {
    while count > 0 {
        // SAFETY: as the caller says, here and for the lanes that are left.
        count = unsafe {
            // Nearly all levels lie in the first 64 bits, which are cheaper to shift.
            if depth <= 64 - STRIDE {
                let shift = 64 - STRIDE - depth;
                level(view, kinds, next_hops, lanes, count, |index| {
                    first_64_bits(*addresses.get_unchecked(index)) >> shift
                })
            } else {
                level(view, kinds, next_hops, lanes, count, |index| {
                    u64::from(addresses.get_unchecked(index).extract(depth, STRIDE))
                })
            }
        };
        depth += STRIDE;
    }
}

/// One pass: the first `count` lanes go through a block each; returns the
/// number that go on. `slot` is as in [`PointerKinds::value`], of an address' index.
///
/// # Safety
/// That many lanes have been written, and their pointers lead to blocks; their indices are
/// below the length of `next_hops`, and `slot` may be called with them.
#[inline(always)]
unsafe fn level<const READ: u8>(
    view: FibView<'_>,
    kinds: &PointerKinds<READ>,
    next_hops: &mut [u32],
    lanes: &mut PortableLanes,
    count: usize,
    slot: impl Fn(usize) -> u64,
) -> usize {
    let mut left = 0;
    for lane in 0..count {
        // SAFETY: as the caller says; `left` is never ahead of `lane`.
        unsafe {
            let index = lanes.index(lane);
            let pointer = kinds.value(view.arena, lanes.pointer(lane), slot(index));
            *next_hops.get_unchecked_mut(index) = pointer;
            lanes.write_both(left, index, pointer);
            left += (pointer / NODE) as usize;
        }
    }
    left
}

/// The next hop of `address`, or the pointer that its first block holds for it.
#[inline(always)]
fn first_value<A: Address, const READ: u8>(
    view: FibView<'_>,
    kinds: &PointerKinds<READ>,
    address: A,
) -> u32 {
    let mut pointer = root_entry(view, address);
    let depth = view.root_bits + view.page_bits;
    if A::WIDTH > 32 && view.page_bits != 0 {
        // What ends at the root reads the first word of the arena for nothing.
        let mask = (pointer as i32 >> 31) as u32;
        let index = address.skip_bits(view.root_bits).leading(view.page_bits);
        let place = ((pointer & PLACE) + index) & mask;
        // SAFETY: invariant 2: a page lies inside the arena.
        let entry = unsafe { pointer_at(view.arena, place as usize) };
        pointer = (entry & mask) | (pointer & !mask);
    }
    let slot = if A::WIDTH <= 32 {
        // Direct bits are at most 24: the slot lies in the first 32 bits.
        first_64_bits(address) >> 32 >> (32 - STRIDE - depth)
    } else {
        first_64_bits(address) >> (64 - STRIDE - depth)
    };
    // SAFETY: a pointer that leads to a whole block, or a next hop.
    let value = unsafe { kinds.value(view.arena, pointer, slot) };
    select_unpredictable(pointer & NODE != 0, value, pointer)
}

/// The first 64 bits of `address`, with zeros after a shorter one.
#[inline(always)]
fn first_64_bits<A: Address>(address: A) -> u64 {
    ((address.to_u128() << (128 - u32::from(A::WIDTH))) >> 64) as u64
}

/// What to do with a pointer, by its bits 31 and 30: twice next hop, narrow, wide.
struct PointerKinds<const READ: u8> {
    /// Bits that are the place of the block; none for a next hop: the idle block.
    place: [u32; 4],
    /// Bits of a value in the block.
    value_bits: [u64; 4],
    /// Where a value begins in what is read of it, if its last bit were the first of
    /// a byte or word.
    shift: [u64; 4],
    /// As many ones as a value has bits.
    mask: [u32; 4],
}

impl<const READ: u8> PointerKinds<READ> {
    #[inline(always)]
    fn new(value_bits: u8) -> Self {
        let value_bits = [32, 32, u64::from(value_bits), 32];
        // Bits up to the first of the last byte or word.
        let read: u64 = if READ == WORDS { 33 } else { 25 };
        Self {
            place: [0, 0, PLACE, PLACE],
            value_bits,
            // Less than 0 where only the last bit of a byte ends values.
            shift: value_bits.map(|bits| read.wrapping_sub(bits)),
            mask: value_bits.map(|bits| u32::MAX >> (32 - bits)),
        }
    }

    /// What a slot of the block that `pointer` leads to holds; 0 if it is a
    /// next hop. The slot is the low 6 bits of `slot`; those above may be any.
    ///
    /// # Safety
    /// The pointer leads to a whole block of `arena`, as invariants 3 and 4
    /// have it, or is a next hop.
    #[inline(always)]
    unsafe fn value(&self, arena: &[FibWord], pointer: u32, slot: u64) -> u32 {
        let kind = (pointer >> 30) as usize;
        let place = (pointer & self.place[kind]) as usize;
        // SAFETY: a block has two words of `runs` and a value for each run. The idle
        // block (invariant 5) is one too.
        unsafe {
            let runs = two_words(arena, place);
            // Runs up to and with the slot's own; bit 0 is set, so at least one.
            let count = u64::from((runs << (!slot & 63)).count_ones());
            // The last of the value's bits, counted from the first value's.
            let last = count * self.value_bits[kind] - 1;
            let value = if READ == WORDS {
                // As in the scalar lookup; but either word may be a pointer.
                let at = place + 1 + (last / 32) as usize;
                let both = u64::from(word(arena, at)) | u64::from(word(arena, at + 1)) << 32;
                (both >> (last % 32 + self.shift[kind])) as u32
            } else {
                let shift = (last % 8).wrapping_add(self.shift[kind]);
                byte_read::<READ>(arena, place, (last / 8) as usize, shift)
            };
            value & self.mask[kind]
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
