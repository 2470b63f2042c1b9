//! Addresses with a table of a set each: 64 at a time, the blocks of any of the tables in any lane.
//!
//! All are at the same depth, so they step down together, as in one table. A level may have flat blocks for some lanes and others for
//! the rest: those of each kind step while the others are idle. Lanes that come to a block of one route end there.

use core::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_cmplt_epu32_mask,
    _mm512_loadu_si512, _mm512_mask_mov_epi32, _mm512_maskz_mov_epi32, _mm512_or_si512,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_srlv_epi32, _mm512_sub_epi32,
    _mm512_test_epi32_mask, _mm512_xor_si512,
};

use super::flat::read;
use super::lanes::{LANES, Vpopcntdq, all, gather_words, halves, load, on, short, store};
use super::{LaneGroup, SHORT};
use crate::address::{Address, STRIDE};
use crate::fib::arrays::FibView;
use crate::fib::layout::{FLAT, NODE, ROUTE};
use crate::fib::lookup::{descend_mixed, lookup_in_table};

/// Vectors that are under way together.
const VECTORS: usize = 4;

/// Looks up each of `addresses` in the table of the same place; all slices are as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2")]
pub(in crate::batch) fn lookup_batch<A: Address>(
    view: FibView<'_>,
    tables: &[u32],
    addresses: &[A],
    next_hops: &mut [u32],
) {
    const GROUP: usize = LANES * VECTORS;
    let slices = tables.chunks(GROUP).zip(addresses.chunks(GROUP));
    for ((tables, addresses), next_hops) in slices.zip(next_hops.chunks_mut(GROUP)) {
        if let (Some(tables), Some(addresses)) = (as_group(tables), as_group(addresses)) {
            group(view, tables, addresses, next_hops);
        } else if addresses.len() <= SHORT {
            for ((table, address), next_hop) in tables.iter().zip(addresses).zip(next_hops) {
                *next_hop = lookup_in_table(view, *table, *address);
            }
        } else {
            let mut padded = ([[0; LANES]; VECTORS], [[A::MIN; LANES]; VECTORS]);
            padded.0.as_flattened_mut()[..tables.len()].copy_from_slice(tables);
            padded.1.as_flattened_mut()[..tables.len()].copy_from_slice(addresses);
            group(view, &padded.0, &padded.1, next_hops);
        }
    }
}

/// The slice as a group, if it is long enough.
fn as_group<T>(slice: &[T]) -> Option<&[[T; LANES]; VECTORS]> {
    slice
        .as_chunks::<LANES>()
        .0
        .as_chunks::<VECTORS>()
        .0
        .first()
}

/// The lookups of a group. `next_hops` may be shorter.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2")]
#[inline]
fn group<A: Address>(
    view: FibView<'_>,
    tables: &[[u32; LANES]; VECTORS],
    addresses: &[[A; LANES]; VECTORS],
    next_hops: &mut [u32],
) {
    let zero = _mm512_setzero_si512();
    let mut lanes = LaneGroup::<VECTORS, true> {
        rest: [short(zero); VECTORS],
        pointers: [zero; VECTORS],
    };
    for at in 0..VECTORS {
        lanes.rest[at] = load(&addresses[at]);
        // SAFETY: 16 numbers. Those of tables that there are have a pointer; others don't read.
        lanes.pointers[at] = unsafe {
            let numbers = _mm512_loadu_si512(tables[at].as_ptr().cast());
            let known = _mm512_cmplt_epu32_mask(numbers, all(view.root.len() as u32));
            gather_words(view.root.as_ptr(), numbers, known, zero)
        };
    }
    let (mut depth, mut late) = (0, 0);
    let mut going = lanes.lanes_on();
    while going.count_ones() > VECTORS as u32 && (A::WIDTH <= 64 || depth <= 64 - STRIDE) {
        // SAFETY: the pointers lead to whole blocks.
        late |= unsafe { lanes.step_mixed::<A>(view, depth) };
        depth += STRIDE;
        going = lanes.lanes_on();
    }
    let mut answers = [[0; LANES]; VECTORS];
    for (pointer, answers) in lanes.pointers.iter().zip(&mut answers) {
        store(*pointer, answers);
    }
    let answers = answers.as_flattened_mut();
    while going != 0 {
        let lane = going.trailing_zeros() as usize;
        going &= going - 1;
        let rest = addresses.as_flattened()[lane].skip_bits(depth);
        // SAFETY: the pointer leads to a whole block.
        answers[lane] = unsafe { descend_mixed(view.arena, view.value_bits, answers[lane], rest) };
    }
    while late != 0 {
        let lane = late.trailing_zeros() as usize;
        late &= late - 1;
        let (table, address) = (tables.as_flattened()[lane], addresses.as_flattened()[lane]);
        answers[lane] = lookup_in_table(view, table, address);
    }
    next_hops.copy_from_slice(&answers[..next_hops.len()]);
}

impl<const VECTORS: usize, const OF_SET: bool> LaneGroup<VECTORS, OF_SET> {
    /// The lanes that have come to a block of one route.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    pub(super) fn routes(&self) -> [u16; VECTORS] {
        let kind = all(ROUTE);
        let mut routes = [0; VECTORS];
        for (pointer, routes) in self.pointers.iter().zip(&mut routes) {
            *routes = _mm512_cmpeq_epi32_mask(_mm512_and_si512(*pointer, kind), kind);
        }
        routes
    }

    /// The lanes `ended`, which have come to blocks of one route, have their answers. Returns those whose key, of which 64 bits are known,
    /// is too short for that at `depth`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    pub(super) fn end_at_routes<A: Address>(
        &mut self,
        blocks: &[(__m512i, __m512i); VECTORS],
        ended: [u16; VECTORS],
        depth: u8,
    ) -> u64 {
        let (zero, mut late) = (_mm512_setzero_si512(), 0);
        for at in 0..VECTORS {
            let (pointer, rest) = (&mut self.pointers[at], self.rest[at].leading());
            let (route, next_hops) = halves(blocks[at]);
            // As `route_value`.
            let end = _mm512_and_si512(route, _mm512_sub_epi32(zero, route));
            let mask = _mm512_sub_epi32(zero, _mm512_slli_epi32::<1>(end));
            let other = _mm512_test_epi32_mask(_mm512_xor_si512(route, rest), mask);
            let down = _mm512_maskz_mov_epi32(other, all(16));
            let values = _mm512_and_si512(_mm512_srlv_epi32(next_hops, down), all(0xffff));
            *pointer = _mm512_mask_mov_epi32(*pointer, ended[at], values);
            if A::WIDTH > 64 && depth > 33 {
                let unknown = all((1 << (depth - 33)) - 1);
                let lanes = _mm512_test_epi32_mask(route, unknown) & ended[at];
                late |= u64::from(lanes) << (LANES * at);
            }
        }
        late
    }
}

impl LaneGroup<VECTORS, true> {
    /// All lanes one block down, which may be flat or end them. Returns those that have ended without their answer.
    ///
    /// # Safety
    /// Pointers that are not next hops lead to whole blocks, flat ones if they say so.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt,bmi1,bmi2"
    )]
    #[inline]
    unsafe fn step_mixed<A: Address>(&mut self, view: FibView<'_>, depth: u8) -> u64 {
        // Lanes with a flat block apart; answers stay here.
        let (mut any_runs, mut any_flat) = (0, 0);
        let mut flat = *self;
        for (pointer, flat) in self.pointers.iter_mut().zip(&mut flat.pointers) {
            let kind = _mm512_and_si512(*pointer, all(ROUTE));
            let is_flat = _mm512_cmpeq_epi32_mask(kind, all(NODE | FLAT));
            any_runs |= on(*pointer) & !is_flat;
            any_flat |= is_flat;
            *flat = _mm512_maskz_mov_epi32(is_flat, *pointer);
            *pointer = _mm512_maskz_mov_epi32(!is_flat, *pointer);
        }
        // SAFETY: as this function's: lanes with blocks of the other kind are idle.
        let late = unsafe {
            if any_flat != 0 {
                flat.step_flat_or_half::<A>(view);
            }
            // Called in one place, so that it is inlined.
            if any_runs != 0 {
                self.step::<A, Vpopcntdq>(view, Vpopcntdq::new(), depth)
            } else {
                self.rest = flat.rest;
                0
            }
        };
        for (pointer, flat) in self.pointers.iter_mut().zip(flat.pointers) {
            *pointer = _mm512_or_si512(*pointer, flat);
        }
        late
    }

    /// All lanes one flat block down, whose entries may be halves of words.
    ///
    /// # Safety
    /// Pointers that are not next hops lead to whole flat blocks.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
    #[inline]
    unsafe fn step_flat_or_half<A: Address>(&mut self, view: FibView<'_>) {
        for (pointer, rest) in self.pointers.iter_mut().zip(&mut self.rest) {
            let slot = rest.take::<A>(STRIDE);
            let lanes = on(*pointer);
            // SAFETY: as this function's: 64 entries. Other lanes don't read.
            let entries = unsafe { read(view, *pointer, slot, lanes) };
            *pointer = _mm512_mask_mov_epi32(*pointer, lanes, entries);
        }
    }
}
