//! Flat tables: a read of the root and one of a block for each lookup, and a test that nearly always fails.
//!
//! Eight vectors advance together. Nothing depends on what was read but the addresses of the second reads, so the CPU overlaps
//! these groups by itself. The few lanes that lead deeper are looked up again one by one.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_movepi32_mask, _mm512_setzero_si512,
    _mm512_slli_epi32, _mm512_srlv_epi32,
};

use super::AHEAD;
use super::lanes::{LANES, all, gather_words, load, store};
use crate::address::{Address, STRIDE};
use crate::batch::flat::{deeper, in_groups};
use crate::cpu::prefetch;
use crate::fib::arrays::FibView;
use crate::fib::layout::{FLAT_PLACE, HALF, NODE};

/// Vectors that advance together. Four are a tenth slower.
const VECTORS: usize = 8;

/// Looks up each of `addresses` in a flat table; `next_hops` is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
pub(in crate::batch) fn lookup_batch<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    in_groups::<A, LANES, VECTORS>(
        view,
        addresses,
        next_hops,
        |addresses, next_hops| group::<A, VECTORS>(view, addresses, next_hops),
        |addresses, next_hops| group::<A, 1>(view, addresses, next_hops),
    );
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
#[inline]
fn group<A: Address, const N: usize>(
    view: FibView<'_>,
    addresses: &[[A; LANES]; N],
    next_hops: &mut [[u32; LANES]; N],
) {
    let ahead = addresses.as_flattened().as_ptr();
    let ahead = ahead.wrapping_add(AHEAD).cast::<i8>();
    for line in 0..size_of_val(addresses).div_ceil(64) {
        prefetch(ahead.wrapping_add(64 * line));
    }
    let zero = _mm512_setzero_si512();
    let (mut pointers, mut slots) = ([zero; N], [zero; N]);
    for n in 0..N {
        let mut keys = load(&addresses[n]);
        let index = keys.take::<A>(view.root_bits);
        slots[n] = keys.take::<A>(STRIDE);
        // SAFETY: invariant 1: the root has as many entries as `root_bits` number.
        pointers[n] = unsafe { gather_words(view.root.as_ptr(), index, !0, zero) };
    }
    let mut entries = [zero; N];
    for n in 0..N {
        // SAFETY: invariant 6: whole flat blocks begin there.
        entries[n] = unsafe { read(view, pointers[n], slots[n], !0) };
    }
    for n in 0..N {
        store(entries[n], &mut next_hops[n]);
        const { assert!(NODE == 1 << 31, "the sign") };
        let on = _mm512_movepi32_mask(entries[n]);
        if on != 0 {
            deeper(view, &addresses[n], &mut next_hops[n], on.into());
        }
    }
}

/// The entries `slots` of the blocks that `pointers` lead to, of the lanes of `on`; 0 of the others.
///
/// # Safety
/// Flat blocks with these slots begin at the places.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) unsafe fn read(
    view: FibView<'_>,
    pointers: __m512i,
    slots: __m512i,
    on: u16,
) -> __m512i {
    let arena = view.arena.as_ptr();
    let places = _mm512_and_si512(pointers, all(FLAT_PLACE));
    let half = _mm512_and_si512(pointers, all(HALF));
    // A whole word, as a read of 32 bits at the second half would touch the next word.
    let index = _mm512_add_epi32(places, _mm512_srlv_epi32(slots, half));
    // SAFETY: as this function's: as many words as slots, or half as many.
    let words = unsafe { gather_words(arena, index, on, _mm512_setzero_si512()) };
    let down = _mm512_slli_epi32::<4>(_mm512_and_si512(slots, half));
    let bits = _mm512_srlv_epi32(all(!0), _mm512_slli_epi32::<4>(half));
    _mm512_and_si512(_mm512_srlv_epi32(words, down), bits)
}
