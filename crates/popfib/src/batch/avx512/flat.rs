//! Flat tables: a read of the root and one of a block for each lookup, and a test that nearly always fails.
//!
//! Eight vectors advance together. Nothing depends on what was read but the addresses of the second reads, so the CPU overlaps
//! these groups by itself. The few lanes that lead deeper are looked up again one by one.

use core::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi32, _mm512_and_si512, _mm512_movepi32_mask,
    _mm512_setzero_si512, _mm512_slli_epi32, _mm512_srli_epi32, _mm512_srlv_epi32,
    _mm512_test_epi32_mask,
};

use super::lanes::{LANES, all, gather_words, load, store};
use super::{AHEAD, SHORT};
use crate::address::Address;
use crate::fib::layout::{Flat, View};
use crate::fib::lookup::lookup_each;
use crate::next_hop::Leaf;

/// Vectors that advance together. Four are a tenth slower.
const VECTORS: usize = 8;

/// Looks up each of `addresses` in a flat table; `next_hops` is as long.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch<A: Address, L: Leaf>(
    view: View<'_>,
    addresses: &[A],
    next_hops: &mut [L],
) {
    match view.flat.bits {
        16 => lookup_all::<A, L, true>(view, addresses, next_hops),
        _ => lookup_all::<A, L, false>(view, addresses, next_hops),
    }
}

/// `HALF`: entries have 16 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
#[inline]
fn lookup_all<A: Address, L: Leaf, const HALF: bool>(
    view: View<'_>,
    addresses: &[A],
    next_hops: &mut [L],
) {
    let (vectors, rest) = addresses.as_chunks::<LANES>();
    let (to_vectors, to_rest) = next_hops.as_chunks_mut::<LANES>();
    let (groups, vectors) = vectors.as_chunks::<VECTORS>();
    let (to_groups, to_vectors) = to_vectors.as_chunks_mut::<VECTORS>();
    for (addresses, next_hops) in groups.iter().zip(to_groups) {
        group::<A, L, HALF, VECTORS>(view, addresses, next_hops);
    }
    for (addresses, next_hops) in vectors.iter().zip(to_vectors) {
        group::<A, L, HALF, 1>(view, &[*addresses], core::array::from_mut(next_hops));
    }
    if rest.len() <= SHORT {
        lookup_each(view, rest, to_rest);
        return;
    }
    let mut padded = [A::MIN; LANES];
    let mut answers = [[L::default(); LANES]];
    padded[..rest.len()].copy_from_slice(rest);
    group::<A, L, HALF, 1>(view, &[padded], &mut answers);
    to_rest.copy_from_slice(&answers[0][..rest.len()]);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi1,bmi2")]
#[inline]
fn group<A: Address, L: Leaf, const HALF: bool, const N: usize>(
    view: View<'_>,
    addresses: &[[A; LANES]; N],
    next_hops: &mut [[L; LANES]; N],
) {
    let ahead = addresses.as_flattened().as_ptr();
    let ahead = ahead.wrapping_add(AHEAD).cast::<i8>();
    for line in 0..size_of_val(addresses).div_ceil(64) {
        _mm_prefetch::<_MM_HINT_T0>(ahead.wrapping_add(64 * line));
    }
    let zero = _mm512_setzero_si512();
    let (mut places, mut slots) = ([zero; N], [zero; N]);
    for n in 0..N {
        let mut keys = load(&addresses[n]);
        let index = keys.take::<A>(view.root_bits);
        slots[n] = keys.slot();
        // SAFETY: invariant 1: the root has as many entries as `root_bits` number.
        places[n] = unsafe { gather_words(view.root.as_ptr(), index, !0, zero) };
    }
    let mut entries = [zero; N];
    for n in 0..N {
        // SAFETY: invariant 6: whole flat blocks begin there.
        entries[n] = unsafe { read::<HALF>(view, places[n], slots[n]) };
    }
    for n in 0..N {
        store(entries[n], &mut next_hops[n]);
        let on = if HALF {
            _mm512_test_epi32_mask(entries[n], all(Flat::CHILD))
        } else {
            _mm512_movepi32_mask(entries[n])
        };
        if on != 0 {
            deeper(view, &addresses[n], &mut next_hops[n], on);
        }
    }
}

/// The entries `slots` of the blocks at `places`.
///
/// # Safety
/// Flat blocks begin at the places.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
unsafe fn read<const HALF: bool>(view: View<'_>, places: __m512i, slots: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let arena = view.arena.as_ptr();
    if !HALF {
        // SAFETY: as this function's: 64 words.
        return unsafe { gather_words(arena, _mm512_add_epi32(places, slots), !0, zero) };
    }
    // A whole word, as a read of 32 bits at the second half would touch the next word.
    let index = _mm512_add_epi32(places, _mm512_srli_epi32::<1>(slots));
    // SAFETY: as this function's: 32 words.
    let words = unsafe { gather_words(arena, index, !0, zero) };
    let down = _mm512_slli_epi32::<4>(_mm512_and_si512(slots, all(1)));
    _mm512_and_si512(_mm512_srlv_epi32(words, down), all(0xffff))
}

/// The lanes of `on` one by one.
#[cold]
fn deeper<A: Address, L: Leaf>(
    view: View<'_>,
    addresses: &[A; LANES],
    next_hops: &mut [L; LANES],
    mut on: u16,
) {
    while on != 0 {
        let lane = on.trailing_zeros() as usize;
        on &= on - 1;
        lookup_each(view, &addresses[lane..=lane], &mut next_hops[lane..=lane]);
    }
}
