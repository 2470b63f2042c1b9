//! What AVX2 takes several instructions for, and the reads of the Fib's arrays.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::fib::arrays::FibWord;

// The gathers take an address as a whole register.
const _: () = assert!(size_of::<*const FibWord>() == 8);

/// A gather of eight lanes of 32 bits, or four of 64, from an array of words.
///
/// All reads of the Fib's arrays are these three. They are instructions of their own
/// and not intrinsics because a writer may store the words meanwhile; see `batch/mod.rs`.
/// The instruction clears its mask.
macro_rules! gather {
    ($(#[$doc:meta])* $name:ident($register:ident: $index:ty) = $instruction:literal) => {
        // With a section `# Safety`.
        $(#[$doc])*
        #[target_feature(enable = "avx2")]
        #[inline]
        pub(super) unsafe fn $name(words: *const FibWord, index: $index) -> __m256i {
            let mut lanes = _mm256_setzero_si256();
            // SAFETY: as this function's.
            unsafe {
                asm!(
                    "vpcmpeqd {mask}, {mask}, {mask}",
                    $instruction,
                    lanes = inout(ymm_reg) lanes,
                    mask = out(ymm_reg) _,
                    index = in($register) index,
                    words = in(reg) words,
                    options(nostack, preserves_flags),
                );
            }
            lanes
        }
    };
}

gather! {
    /// `words[index]` of each lane.
    ///
    /// # Safety
    /// The indices are in range.
    gather_words(ymm_reg: __m256i) = "vpgatherdd {lanes}, [{words} + 4 * {index}], {mask}"
}

gather! {
    /// `words[index]` and the word after it of each lane, as 64 bits. The two may be of
    /// different times.
    ///
    /// # Safety
    /// The indices plus 1 are in range.
    gather_pairs(xmm_reg: __m128i) = "vpgatherdq {lanes}, [{words} + 4 * {index}], {mask}"
}

gather! {
    /// The 32 bits from byte `index` of `words` on, of each lane.
    ///
    /// # Safety
    /// The indices plus 3 are in range.
    gather_bytes(ymm_reg: __m256i) = "vpgatherdd {lanes}, [{words} + {index}], {mask}"
}

/// Whether a lane leads to a block.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn any_leads_on(pointers: __m256i) -> bool {
    _mm256_movemask_ps(_mm256_castsi256_ps(pointers)) != 0
}

/// The upper 32 bits of eight times 64.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn upper_halves(low: __m256i, high: __m256i) -> __m256i {
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high))
}

/// All ones where a pointer leads to a wide block.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn wide(pointers: __m256i) -> __m256i {
    _mm256_srai_epi32::<31>(_mm256_slli_epi32::<1>(pointers))
}

/// The lower 32 bits of eight times 64, in order.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn lower_halves(low: __m256i, high: __m256i) -> __m256i {
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
}

/// The population counts of four times 64 bits.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn count_ones(bits: __m256i) -> __m256i {
    let ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
    ));
    let nibble = _mm256_set1_epi8(15);
    let low = _mm256_and_si256(bits, nibble);
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bits), nibble);
    let sums = _mm256_add_epi8(
        _mm256_shuffle_epi8(ones, low),
        _mm256_shuffle_epi8(ones, high),
    );
    _mm256_sad_epu8(sums, _mm256_setzero_si256())
}
