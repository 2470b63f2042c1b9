//! Flat tables: a read of the root and one of a block for each lookup, as in `avx512/flat.rs`.

use core::arch::x86_64::*;

use super::vectors::gather_words;
use super::{AHEAD, LANES, LINE, windows, write_next_hops};
use crate::address::{Address, STRIDE};
use crate::batch::flat::{deeper, in_groups};
use crate::cpu::prefetch;
use crate::fib::arrays::FibView;
use crate::fib::layout::{FLAT_PLACE, HALF, NODE};

/// Vectors that advance together.
const VECTORS: usize = 4;

/// Looks up each of `addresses`, of 32 bits, in a flat table; `next_hops` is as long.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
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

#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
fn group<A: Address, const N: usize>(
    view: FibView<'_>,
    addresses: &[[A; LANES]; N],
    next_hops: &mut [[u32; LANES]; N],
) {
    let ahead = addresses.as_ptr().wrapping_byte_add(AHEAD);
    for line in 0..size_of_val(addresses).div_ceil(LINE) {
        prefetch(ahead.wrapping_byte_add(line * LINE));
    }
    let root_shift = _mm_cvtsi32_si128(32 - i32::from(view.root_bits));
    let zero = _mm256_setzero_si256();
    let (mut pointers, mut slots) = ([zero; N], [zero; N]);
    for n in 0..N {
        // SAFETY: eight addresses; indices into the root have `root_bits` (invariant 1).
        unsafe {
            let (leading, following) = windows(addresses[n].as_ptr(), view.root_bits);
            slots[n] = _mm256_srli_epi32::<{ 32 - STRIDE as i32 }>(following);
            pointers[n] = gather_words(view.root.as_ptr(), _mm256_srl_epi32(leading, root_shift));
        }
    }
    let mut entries = [zero; N];
    for n in 0..N {
        let places = _mm256_and_si256(pointers[n], _mm256_set1_epi32(FLAT_PLACE as i32));
        let half = _mm256_and_si256(pointers[n], _mm256_set1_epi32(HALF as i32));
        let index = _mm256_add_epi32(places, _mm256_srlv_epi32(slots[n], half));
        // SAFETY: invariant 6: whole flat blocks with these slots begin there.
        let words = unsafe { gather_words(view.arena.as_ptr(), index) };
        let down = _mm256_slli_epi32::<4>(_mm256_and_si256(slots[n], half));
        let bits = _mm256_srlv_epi32(_mm256_set1_epi32(-1), _mm256_slli_epi32::<4>(half));
        entries[n] = _mm256_and_si256(_mm256_srlv_epi32(words, down), bits);
    }
    for n in 0..N {
        // SAFETY: eight next hops.
        unsafe { write_next_hops(next_hops[n].as_mut_ptr(), entries[n]) };
        const { assert!(NODE == 1 << 31, "the sign") };
        let on = _mm256_movemask_ps(_mm256_castsi256_ps(entries[n]));
        if on != 0 {
            deeper(view, &addresses[n], &mut next_hops[n], on as u32);
        }
    }
}
