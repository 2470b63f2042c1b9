//! The AVX-512 kernels: groups of 32 or 64 addresses at a time, 16 in a vector.
//!
//! The vectors of a group advance together, stage by stage: the first bits
//! index the root table, then all step down from block to block. A stage issues
//! its gathers for all before anything waits for one, and the next group's
//! reads of the root table come before the steps of this one, so that the
//! latencies of many lookups overlap. Lanes that are done read the idle block,
//! which is in the nearest cache; when few are left, these go on one by one.
//!
//! Rejected: packing the lanes that go on into fewer vectors. It saves gathers
//! where many end at the root table, but the packed vectors are read right
//! after overlapping stores and wait for them, and all else loses a third.
//! Rejected: fetching the entries of the root table ahead, address by address;
//! the instructions cost more than the waiting.
//!
//! One code for every key: it knows of a key its first 64 bits. Longer keys go
//! on one by one after those, where routes are rare.
//!
//! Two kernels: with the instruction VPOPCNTDQ, and, for CPUs without it, by
//! table look-ups of 4 bits each.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_madd_epi16, _mm512_maskz_and_epi32,
    _mm512_maskz_mov_epi32, _mm512_or_si512, _mm512_setzero_si512, _mm512_slli_epi32,
    _mm512_sllv_epi32, _mm512_srai_epi32, _mm512_srlv_epi32, _mm512_sub_epi32,
};

pub(super) mod flat;
mod lanes;
pub(super) mod tables;

use super::{BYTE_READ_BITS, KernelKind};
use crate::address::{Address, STRIDE};
use crate::cpu::prefetch;
use crate::fib::arrays::FibView;
use crate::fib::layout::{FLAT, FLAT_PLACE, PLACE};
use crate::fib::lookup::{descend_blocks, descend_flat, lookup_each};
use lanes::{
    CountOnes, KeyLanes, LANES, Nibbles, Vpopcntdq, all, count_runs, gather_bytes, gather_pairs,
    gather_words, is_wide, load, negative_bits, on, select, short, store,
};

/// How many addresses ahead the addresses themselves are fetched. The CPU does
/// that by itself up to the end of a page of 4 KiB, which addresses of 128 bits
/// reach every 256. What is ahead may lie beyond the slice: the next burst
/// where a caller cuts up a column, and else the same few lines each time.
const AHEAD: usize = 256;

/// A slice, or what is left of it, up to this length is looked up one by one.
const SHORT: usize = 8;

/// Looks up each of `addresses` with VPOPCNTDQ; `next_hops` is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    super::ran(KernelKind::Avx512);
    lookup_in_groups(view, addresses, next_hops, Vpopcntdq::new());
}

/// Looks up each of `addresses` without VPOPCNTDQ; `next_hops` is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch_bw<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    super::ran(KernelKind::Avx512Bw);
    lookup_in_groups(view, addresses, next_hops, Nibbles::new());
}

/// Looks up each of `addresses`, of more than 32 bits, in a flat table; `next_hops` is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch_flat<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    // There is nothing to count.
    lookup_all::<A, Nibbles, 4, true>(view, addresses, next_hops, Nibbles::new());
}

/// Groups of four vectors, and of two where short keys, which end after one block mostly, are too few for two groups of four.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
#[inline]
fn lookup_in_groups<A: Address, P: CountOnes>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    ones: P,
) {
    if A::WIDTH <= 32 && addresses.len() < 8 * LANES {
        lookup_all::<A, P, 2, false>(view, addresses, next_hops, ones);
    } else {
        lookup_all::<A, P, 4, false>(view, addresses, next_hops, ones);
    }
}

/// The slice group by group. `FLAT`: all blocks are flat.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
#[inline]
fn lookup_all<A: Address, P: CountOnes, const VECTORS: usize, const FLAT: bool>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    ones: P,
) {
    let whole = addresses.len() / (LANES * VECTORS) * (LANES * VECTORS);
    let (addresses, rest) = addresses.split_at(whole);
    let (next_hops, to_rest) = next_hops.split_at_mut(whole);
    let mut padded = [[A::MIN; LANES]; VECTORS];
    let mut answers = [[0; LANES]; VECTORS];
    let is_long = rest.len() > SHORT;
    if is_long {
        padded.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
    } else {
        lookup_each(view, rest, to_rest);
    }
    // What is called from one place only is inlined, whatever its length. Not inlined, `finish` and `step`
    // cost IPv6 5 to 8 %; so the rest takes the way of the groups.
    let mut slices = (addresses, &mut *next_hops);
    for is_rest in [false, true] {
        if is_rest {
            if !is_long {
                break;
            }
            slices = (padded.as_flattened(), answers.as_flattened_mut());
        }
        let groups = slices.0.as_chunks::<LANES>().0.as_chunks::<VECTORS>().0;
        let to_groups = slices.1.as_chunks_mut::<LANES>().0;
        let to_groups = to_groups.as_chunks_mut::<VECTORS>().0;
        let Some(first) = groups.first() else {
            continue;
        };
        let mut next = LaneGroup::<VECTORS>::start(view, first);
        for (n, (addresses, next_hops)) in groups.iter().zip(to_groups).enumerate() {
            let group = next;
            if let Some(addresses) = groups.get(n + 1) {
                next = LaneGroup::start(view, addresses);
            }
            group.finish::<A, P, FLAT>(view, addresses, next_hops, ones);
        }
    }
    if is_long {
        to_rest.copy_from_slice(&answers.as_flattened()[..rest.len()]);
    }
}

/// Lookups under way: in one table, or each in one of a set. Both have code of their own, as it is inlined only where nobody else
/// calls it.
#[derive(Clone, Copy)]
struct LaneGroup<const VECTORS: usize, const OF_SET: bool = false> {
    /// The keys without the bits above the pointers' blocks.
    rest: [KeyLanes; VECTORS],
    /// The next hop, or the pointer to follow, of each lane.
    pointers: [__m512i; VECTORS],
}

impl<const VECTORS: usize, const OF_SET: bool> LaneGroup<VECTORS, OF_SET> {
    /// The lookups of `addresses` as far as the root table.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    fn start<A: Address>(view: FibView<'_>, addresses: &[[A; LANES]; VECTORS]) -> Self {
        let ahead = addresses.as_flattened().as_ptr();
        let ahead = ahead.wrapping_add(AHEAD).cast::<i8>();
        for line in 0..size_of_val(addresses).div_ceil(64) {
            prefetch(ahead.wrapping_add(64 * line));
        }
        let zero = _mm512_setzero_si512();
        let mut rest = [short(zero); VECTORS];
        for (rest, addresses) in rest.iter_mut().zip(addresses) {
            *rest = load(addresses);
        }
        let mut pointers = [zero; VECTORS];
        for (pointer, rest) in pointers.iter_mut().zip(&mut rest) {
            let index = rest.take::<A>(view.root_bits);
            // SAFETY: invariant 1: the root has as many entries as `root_bits` number.
            *pointer = unsafe { gather_words(view.root.as_ptr(), index, !0, zero) };
        }
        Self { rest, pointers }
    }

    /// The lookups to their end. `addresses` are those of the start.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    fn finish<A: Address, P: CountOnes, const FLAT: bool>(
        mut self,
        view: FibView<'_>,
        addresses: &[[A; LANES]; VECTORS],
        next_hops: &mut [[u32; LANES]; VECTORS],
        ones: P,
    ) {
        // As many lanes or fewer take less time one by one than a step of all.
        let few = VECTORS as u32;
        let mut on = self.lanes_on();
        if A::WIDTH > 32 && view.page_bits != 0 && on != 0 {
            // SAFETY: there are pages, and the pointers are the root's.
            unsafe { self.read_pages::<A>(view) };
            on = self.lanes_on();
        }
        let mut depth = view.root_bits + view.page_bits;
        while on.count_ones() > few && (A::WIDTH <= 64 || depth <= 64 - STRIDE) {
            // SAFETY: invariants 2 to 4, and 7 for flat tables: pointers below root and pages lead to whole blocks.
            unsafe {
                if FLAT {
                    self.step_flat::<A>(view);
                } else {
                    self.step::<A, P>(view, ones, depth);
                }
            }
            depth += STRIDE;
            on = self.lanes_on();
        }
        for (pointer, next_hops) in self.pointers.iter().zip(next_hops.iter_mut()) {
            store(*pointer, next_hops);
        }
        if on != 0 {
            // SAFETY: as for the steps, to `depth`.
            unsafe {
                self.finish_one_by_one::<A, FLAT>(view, addresses, next_hops, on, depth);
            }
        }
    }

    /// The lanes whose pointers are no next hops, the first in bit 0.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    fn lanes_on(&self) -> u64 {
        const { assert!(LANES * VECTORS <= 64) };
        let mut lanes = 0;
        for (v, pointer) in self.pointers.iter().enumerate() {
            lanes |= u64::from(on(*pointer)) << (LANES * v);
        }
        lanes
    }

    /// From the root's pointers to what the pages hold.
    ///
    /// # Safety
    /// The pointers are the root's, and there are pages.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn read_pages<A: Address>(&mut self, view: FibView<'_>) {
        for (pointer, rest) in self.pointers.iter_mut().zip(&mut self.rest) {
            let index = rest.take::<A>(view.page_bits);
            let place = _mm512_and_si512(*pointer, all(PLACE));
            let index = _mm512_add_epi32(place, index);
            // SAFETY: invariant 2: a page of `2^page_bits` words lies inside the arena. Other
            // lanes don't read.
            *pointer = unsafe { gather_words(view.arena.as_ptr(), index, on(*pointer), *pointer) };
        }
    }

    /// All lanes one block down, which they have come to after `depth` bits. Returns those of a set that have ended without their answer.
    ///
    /// # Safety
    /// Pointers that are not next hops lead to whole blocks.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn step<A: Address, P: CountOnes>(
        &mut self,
        view: FibView<'_>,
        ones: P,
        depth: u8,
    ) -> u64 {
        let zero = _mm512_setzero_si512();
        let mut places = [zero; VECTORS];
        let mut runs = [(zero, zero); VECTORS];
        for ((pointer, place), runs) in self.pointers.iter().zip(&mut places).zip(&mut runs) {
            // Flat blocks are not among them.
            *place = _mm512_maskz_and_epi32(on(*pointer), *pointer, all(FLAT - 1));
            // SAFETY: invariant 3: a block has two words of `runs`, or is one route; invariant 5: so has the idle
            // block at word 0, which the lanes that are done read.
            *runs = unsafe { gather_pairs(view.arena.as_ptr(), *place) };
        }
        let (mut ended, mut late) = ([0; VECTORS], 0);
        if OF_SET {
            ended = self.routes();
            if ended != [0; VECTORS] {
                late = self.end_at_routes::<A>(&runs, ended, depth);
            }
        }
        // Where the value's bits end, negative, which saves to subtract one: the
        // last of them is number `!end`.
        let mut ends = [zero; VECTORS];
        let lanes = self.pointers.iter().zip(&mut self.rest);
        for ((pointer, rest), (runs, end)) in lanes.zip(runs.into_iter().zip(&mut ends)) {
            let counts = count_runs::<P, OF_SET>(ones, runs, rest.take_slot::<A>());
            let bits = negative_bits(view, is_wide(*pointer));
            // Both are below 2^15: a multiplication of 16 bits is enough, and quicker.
            *end = _mm512_madd_epi16(counts, bits);
        }
        if ended != [0; VECTORS] {
            // Those that have ended are idle.
            for ((place, end), ended) in places.iter_mut().zip(&mut ends).zip(ended) {
                *place = _mm512_maskz_mov_epi32(!ended, *place);
                *end = _mm512_maskz_mov_epi32(!ended, *end);
            }
            if self.lanes_on() == 0 {
                return late;
            }
        }
        let arena = view.arena.as_ptr();
        let lanes = self.pointers.iter_mut().zip(places.into_iter().zip(ends));
        if view.value_bits <= BYTE_READ_BITS {
            for (pointer, (place, end)) in lanes {
                let byte = _mm512_slli_epi32::<2>(place);
                let byte = _mm512_sub_epi32(byte, _mm512_srai_epi32::<3>(end));
                // SAFETY: invariants 4 and 5: a value for each run. These are the four bytes that
                // the value's last bit ends: the first of them lies in the second word of
                // `runs` at worst.
                let bits = unsafe { gather_bytes(arena.byte_add(4), byte) };
                let bits = _mm512_sllv_epi32(bits, _mm512_and_si512(end, all(7)));
                *pointer = select(view, *pointer, bits);
            }
        } else {
            for (pointer, (place, end)) in lanes {
                let index = _mm512_sub_epi32(place, _mm512_srai_epi32::<5>(end));
                // SAFETY: as above; at worst the second word of `runs`.
                let (low, high) = unsafe {
                    (
                        gather_words(arena, index, !0, zero),
                        gather_words(arena.add(1), index, !0, zero),
                    )
                };
                let up = _mm512_and_si512(end, all(31));
                let bits = _mm512_or_si512(
                    _mm512_sllv_epi32(high, up),
                    // A shift by 32 leaves zero.
                    _mm512_srlv_epi32(low, _mm512_sub_epi32(all(32), up)),
                );
                *pointer = select(view, *pointer, bits);
            }
        }
        late
    }

    /// All lanes one flat block down.
    ///
    /// # Safety
    /// Pointers that are not next hops lead to whole flat blocks.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn step_flat<A: Address>(&mut self, view: FibView<'_>) {
        for (pointer, rest) in self.pointers.iter_mut().zip(&mut self.rest) {
            let place = _mm512_and_si512(*pointer, all(FLAT_PLACE));
            let index = _mm512_add_epi32(place, rest.take::<A>(STRIDE));
            // SAFETY: as this function's: 64 entries. Other lanes don't read.
            *pointer = unsafe { gather_words(view.arena.as_ptr(), index, on(*pointer), *pointer) };
        }
    }

    /// The lanes of `on` one by one, from `depth` to their next hops.
    ///
    /// # Safety
    /// The pointers of `on` lead to whole blocks at `depth`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn finish_one_by_one<A: Address, const FLAT: bool>(
        &self,
        view: FibView<'_>,
        addresses: &[[A; LANES]; VECTORS],
        next_hops: &mut [[u32; LANES]; VECTORS],
        mut on: u64,
        depth: u8,
    ) {
        let mut words = LineAligned([[0u32; LANES]; VECTORS]);
        for (pointer, words) in self.pointers.iter().zip(&mut words.0) {
            store(*pointer, words);
        }
        while on != 0 {
            let lane = on.trailing_zeros() as usize;
            on &= on - 1;
            let rest = addresses.as_flattened()[lane].skip_bits(depth);
            let word = words.0.as_flattened()[lane];
            // SAFETY: as this function's.
            let next_hop = unsafe {
                if FLAT {
                    descend_flat(view.arena, word, rest)
                } else {
                    descend_blocks(view.arena, view.value_bits, word, rest)
                }
            };
            next_hops.as_flattened_mut()[lane] = next_hop;
        }
    }
}

/// At the begin of a cache line. One of these on the stack also makes the
/// compiler align the stack, without which all that it keeps there of vectors
/// would lie across two lines.
#[repr(align(64))]
struct LineAligned<T>(T);
