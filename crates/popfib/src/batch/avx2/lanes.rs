//! The lookups of a block that go on below its first pass.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::{BLOCK, LANES};

/// The lookups of a block that have not ended; room for a whole vector after
/// the last. Not cleared, so that a short slice is cheap.
pub(super) struct Avx2Lanes {
    pub(super) pointers: [MaybeUninit<u32>; BLOCK + LANES],
    pub(super) windows: [MaybeUninit<u32>; BLOCK + LANES],
    /// Of the addresses in the block.
    pub(super) indices: [MaybeUninit<u32>; BLOCK + LANES],
}

impl Avx2Lanes {
    pub(super) const fn new() -> Self {
        Self {
            pointers: [const { MaybeUninit::uninit() }; BLOCK + LANES],
            windows: [const { MaybeUninit::uninit() }; BLOCK + LANES],
            indices: [const { MaybeUninit::uninit() }; BLOCK + LANES],
        }
    }

    /// Writes eight lanes from lane `at` on.
    ///
    /// # Safety
    /// `at` is at most BLOCK.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn write(
        &mut self,
        at: usize,
        pointers: __m256i,
        windows: __m256i,
        indices: __m256i,
    ) {
        // SAFETY: the arrays have room for that many.
        unsafe {
            _mm256_storeu_si256(self.pointers.as_mut_ptr().add(at).cast(), pointers);
            _mm256_storeu_si256(self.windows.as_mut_ptr().add(at).cast(), windows);
            _mm256_storeu_si256(self.indices.as_mut_ptr().add(at).cast(), indices);
        }
    }

    /// Writes those of eight lanes that lead to a block, one after the other
    /// from lane `at` on; returns the place after them.
    ///
    /// # Safety
    /// `at` is at most BLOCK.
    #[target_feature(enable = "avx2,popcnt")]
    #[inline]
    pub(super) unsafe fn pack(
        &mut self,
        at: usize,
        pointers: __m256i,
        windows: __m256i,
        indices: __m256i,
    ) -> usize {
        let mask = _mm256_movemask_ps(_mm256_castsi256_ps(pointers)) as usize;
        // SAFETY: a mask of eight bits; room as the caller says.
        unsafe {
            let order = _mm_loadl_epi64(PACKING.get_unchecked(mask).as_ptr().cast());
            let order = _mm256_cvtepu8_epi32(order);
            self.write(
                at,
                _mm256_permutevar8x32_epi32(pointers, order),
                _mm256_permutevar8x32_epi32(windows, order),
                _mm256_permutevar8x32_epi32(indices, order),
            );
        }
        at + mask.count_ones() as usize
    }
}

/// For each mask of eight lanes the numbers of those in it, in order.
static PACKING: [[u8; LANES]; 1 << LANES] = {
    let mut packing = [[0; LANES]; 1 << LANES];
    let mut mask = 0;
    while mask < packing.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if mask >> lane & 1 == 1 {
                packing[mask][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    packing
};
