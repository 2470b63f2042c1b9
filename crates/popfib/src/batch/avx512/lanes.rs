//! Vectors of 16 lanes of 32 bits: keys, answers, counts, and the reads of the Fib's arrays.
//!
//! Each function is compiled for what both kernels have, and inlined into them. What only one of them has
//! would not be: a function is inlined only into those that are compiled for as much.

use core::arch::asm;
use core::arch::x86_64::{
    __m256i, __m512i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_loadu_si256, _mm512_add_epi8,
    _mm512_and_si512, _mm512_andnot_si512, _mm512_castsi512_si256, _mm512_cvtepu8_epi32,
    _mm512_cvtepu16_epi32, _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_loadu_si512,
    _mm512_mask_add_epi32, _mm512_mask_mov_epi32, _mm512_mask_srlv_epi32, _mm512_maskz_mov_epi32,
    _mm512_movepi32_mask, _mm512_movepi64_mask, _mm512_or_si512, _mm512_permutex2var_epi32,
    _mm512_permutex2var_epi64, _mm512_sad_epu8, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_set4_epi32, _mm512_setr_epi32, _mm512_setr_epi64,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_sll_epi32, _mm512_slli_epi32,
    _mm512_sllv_epi64, _mm512_srl_epi32, _mm512_srli_epi16, _mm512_srli_epi32, _mm512_storeu_si512,
    _mm512_test_epi32_mask, _mm512_testn_epi64_mask,
};

use crate::address::Address;
use crate::fib::arrays::{FibView, FibWord};
use crate::fib::layout::{NODE, WIDE};

// The gathers take an address as a whole register.
const _: () = assert!(size_of::<*const FibWord>() == 8);

/// Lanes of a vector.
pub(super) const LANES: usize = 16;

/// The first 64 bits of 16 keys: shorter keys end in zeros.
#[derive(Clone, Copy)]
pub(super) struct KeyLanes {
    /// The first 32 bits of each.
    high: __m512i,
    /// The 32 bits after them.
    low: __m512i,
}

impl KeyLanes {
    /// The first 32 bits.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn leading(&self) -> __m512i {
        self.high
    }

    /// Takes away the first `count` bits, at most 32, and returns them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn take<A: Address>(&mut self, count: u8) -> __m512i {
        let taken = down(self.high, 32 - count);
        self.high = up(self.high, count);
        if A::WIDTH > 32 {
            self.high = _mm512_or_si512(self.high, down(self.low, 32 - count));
            self.low = up(self.low, count);
        }
        taken
    }

    /// Takes away the first 6 bits, a slot, and returns 63 minus it.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn take_slot<A: Address>(&mut self) -> __m512i {
        let slot = _mm512_srli_epi32::<26>(self.high);
        self.high = _mm512_slli_epi32::<6>(self.high);
        if A::WIDTH > 32 {
            self.high = _mm512_or_si512(self.high, _mm512_srli_epi32::<26>(self.low));
            self.low = _mm512_slli_epi32::<6>(self.low);
        }
        _mm512_andnot_si512(slot, all(63))
    }
}

/// The first 64 bits of each of `addresses`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn load<A: Address>(addresses: &[A; LANES]) -> KeyLanes {
    let at = addresses.as_ptr();
    // SAFETY: each arm reads 16 addresses of its width.
    // Vectors are in host order, as the keys themselves.
    unsafe {
        match A::WIDTH {
            8 => short(_mm512_slli_epi32::<24>(_mm512_cvtepu8_epi32(
                _mm_loadu_si128(at.cast()),
            ))),
            16 => short(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(
                _mm256_loadu_si256(at.cast()),
            ))),
            32 => short(_mm512_loadu_si512(at.cast())),
            64 => {
                let at = at.cast::<__m512i>();
                long(_mm512_loadu_si512(at), _mm512_loadu_si512(at.add(1)))
            }
            _ => {
                let at = at.cast::<__m512i>();
                long(
                    upper_halves(_mm512_loadu_si512(at), _mm512_loadu_si512(at.add(1))),
                    upper_halves(_mm512_loadu_si512(at.add(2)), _mm512_loadu_si512(at.add(3))),
                )
            }
        }
    }
}

/// Keys of 32 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn short(high: __m512i) -> KeyLanes {
    let low = _mm512_setzero_si512();
    KeyLanes { high, low }
}

/// The lower and the upper 32 bits of 8 and 8 lanes of 64 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn halves((first, second): (__m512i, __m512i)) -> (__m512i, __m512i) {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    (
        _mm512_permutex2var_epi32(first, even, second),
        _mm512_permutex2var_epi32(first, odd, second),
    )
}

/// Keys of 64 bits, 8 and 8.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn long(first: __m512i, second: __m512i) -> KeyLanes {
    let (low, high) = halves((first, second));
    KeyLanes { high, low }
}

/// The upper 64 bits of keys of 128 bits, 4 and 4.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn upper_halves(first: __m512i, second: __m512i) -> __m512i {
    let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    _mm512_permutex2var_epi64(first, odd, second)
}

/// Writes the lanes to `to`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn store(lanes: __m512i, to: &mut [u32; LANES]) {
    // SAFETY: 16 next hops.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), lanes) };
}

/// Each lane moved `count` bits down; 0 from 32 on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn down(lanes: __m512i, count: u8) -> __m512i {
    _mm512_srl_epi32(lanes, _mm_cvtsi32_si128(count.into()))
}

/// Each lane moved `count` bits up; 0 from 32 on.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn up(lanes: __m512i, count: u8) -> __m512i {
    _mm512_sll_epi32(lanes, _mm_cvtsi32_si128(count.into()))
}

/// Ones of the `runs` of 16 blocks that begin up to 63 minus `complements`. In a set, where the first bit may be missing, the place of
/// the value plus one.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn count_runs<P: CountOnes, const OF_SET: bool>(
    ones: P,
    runs: (__m512i, __m512i),
    complements: __m512i,
) -> __m512i {
    let first = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(complements));
    let second = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(complements));
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let up_to = (
        _mm512_sllv_epi64(runs.0, first),
        _mm512_sllv_epi64(runs.1, second),
    );
    let counts = (ones.count_ones(up_to.0), ones.count_ones(up_to.1));
    let counts = _mm512_permutex2var_epi32(counts.0, even, counts.1);
    if !OF_SET {
        return counts;
    }
    // As `sparse_rank`.
    let both = |[first, second]: [u8; 2]| u16::from(first) | u16::from(second) << 8;
    let bit = _mm512_set1_epi64(1);
    let sparse = [
        _mm512_testn_epi64_mask(runs.0, bit),
        _mm512_testn_epi64_mask(runs.1, bit),
    ];
    if sparse == [0; 2] {
        return counts;
    }
    let sparse = both(sparse);
    let own = both([_mm512_movepi64_mask(up_to.0), _mm512_movepi64_mask(up_to.1)]);
    let ranks = _mm512_maskz_mov_epi32(!sparse | own, counts);
    _mm512_mask_add_epi32(ranks, sparse, ranks, all(1))
}

/// How to count the ones of each of 8 times 64 bits.
pub(super) trait CountOnes: Copy {
    fn count_ones(self, bits: __m512i) -> __m512i;
}

/// By the instruction. A value says that the CPU has it.
#[derive(Clone, Copy)]
pub(super) struct Vpopcntdq(());

impl Vpopcntdq {
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl CountOnes for Vpopcntdq {
    #[inline(always)]
    fn count_ones(self, bits: __m512i) -> __m512i {
        // SAFETY: `new`, the only maker, runs only where the CPU has the feature.
        unsafe { popcnt(bits) }
    }
}

/// # Safety
/// The CPU has VPOPCNTDQ.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn popcnt(bits: __m512i) -> __m512i {
    let counts;
    // SAFETY: as this function's. Not the intrinsic, which would stay a call: the callers are compiled without it.
    unsafe {
        asm!(
            "vpopcntq {counts}, {bits}",
            counts = lateout(zmm_reg) counts,
            bits = in(zmm_reg) bits,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    counts
}

/// By a table of the 16 values of 4 bits, summed up. A value says that the CPU has AVX-512 BW.
#[derive(Clone, Copy)]
pub(super) struct Nibbles(());

impl Nibbles {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl CountOnes for Nibbles {
    #[inline(always)]
    fn count_ones(self, bits: __m512i) -> __m512i {
        // SAFETY: `new`, the only maker, runs only where the CPU has the features.
        unsafe { sum_nibbles(bits) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn sum_nibbles(bits: __m512i) -> __m512i {
    // Ones of 0 to 15, a byte each, in every 128 bits; the last first.
    let ones = _mm512_set4_epi32(0x0403_0302, 0x0302_0201, 0x0302_0201, 0x0201_0100);
    let low_half = _mm512_set1_epi8(15);
    let low = _mm512_and_si512(bits, low_half);
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bits), low_half);
    let bytes = _mm512_add_epi8(
        _mm512_shuffle_epi8(ones, low),
        _mm512_shuffle_epi8(ones, high),
    );
    _mm512_sad_epu8(bytes, _mm512_setzero_si512())
}

/// `value` in every lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn all(value: u32) -> __m512i {
    _mm512_set1_epi32(value as i32)
}

/// The lanes that hold a pointer to follow, not a next hop.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn on(pointers: __m512i) -> u16 {
    const { assert!(NODE == 1 << 31, "the sign of a lane") };
    _mm512_movepi32_mask(pointers)
}

/// The lanes whose pointers lead to wide blocks; idle lanes are in any case none.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn is_wide(pointers: __m512i) -> u16 {
    on(pointers) & _mm512_test_epi32_mask(pointers, all(WIDE))
}

/// Minus the bits of a value in the blocks of each lane.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn negative_bits(view: FibView<'_>, wide: u16) -> __m512i {
    _mm512_mask_mov_epi32(
        _mm512_set1_epi32(-i32::from(view.value_bits)),
        wide,
        _mm512_set1_epi32(-32),
    )
}

/// What lanes hold after a step that read values into the upper of `bits`; idle
/// ones as before.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn select(view: FibView<'_>, pointers: __m512i, bits: __m512i) -> __m512i {
    let down = all(32 - u32::from(view.value_bits));
    let values = _mm512_mask_srlv_epi32(bits, !is_wide(pointers), bits, down);
    _mm512_mask_mov_epi32(pointers, on(pointers), values)
}

// All reads of the Fib's arrays are these three. They are instructions of their own
// and not intrinsics because a writer may store the words meanwhile; see `batch/mod.rs`.
// The instruction clears its mask.

/// `words[index]` of each lane of `mask`; `otherwise` of the others.
///
/// # Safety
/// The indices are in range.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn gather_words(
    words: *const FibWord,
    index: __m512i,
    mask: u16,
    otherwise: __m512i,
) -> __m512i {
    let mut lanes = otherwise;
    // SAFETY: as this function's.
    unsafe {
        asm!(
            "vpgatherdd {lanes} {{{mask}}}, [{words} + 4 * {index}]",
            lanes = inout(zmm_reg) lanes,
            mask = inout(kreg) mask => _,
            index = in(zmm_reg) index,
            words = in(reg) words,
            options(nostack, preserves_flags),
        );
    }
    lanes
}

/// `words[index]` and the word after it of each lane, as 64 bits: lanes 0 to 7, and 8 to 15.
/// The two may be of different times.
///
/// # Safety
/// The indices plus 1 are in range.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) unsafe fn gather_pairs(words: *const FibWord, index: __m512i) -> (__m512i, __m512i) {
    // SAFETY: as this function's.
    unsafe {
        (
            gather_eight_pairs(words, _mm512_castsi512_si256(index)),
            gather_eight_pairs(words, _mm512_extracti64x4_epi64::<1>(index)),
        )
    }
}

/// As [`gather_pairs`], of 8 lanes.
///
/// # Safety
/// The indices plus 1 are in range.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn gather_eight_pairs(words: *const FibWord, index: __m256i) -> __m512i {
    let mut lanes = _mm512_setzero_si512();
    // SAFETY: as this function's.
    unsafe {
        asm!(
            "kxnorw {mask}, {mask}, {mask}",
            "vpgatherdq {lanes} {{{mask}}}, [{words} + 4 * {index:y}]",
            lanes = inout(zmm_reg) lanes,
            mask = out(kreg) _,
            // Any of the 32 registers, of which a `ymm_reg` is one of 16.
            index = in(zmm_reg) index,
            words = in(reg) words,
            options(nostack, preserves_flags),
        );
    }
    lanes
}

/// The 32 bits from byte `index` of `words` on, of each lane.
///
/// # Safety
/// The indices plus 3 are in range.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn gather_bytes(words: *const FibWord, index: __m512i) -> __m512i {
    let mut lanes = _mm512_setzero_si512();
    // SAFETY: as this function's.
    unsafe {
        asm!(
            "kxnorw {mask}, {mask}, {mask}",
            "vpgatherdd {lanes} {{{mask}}}, [{words} + {index}]",
            lanes = inout(zmm_reg) lanes,
            mask = out(kreg) _,
            index = in(zmm_reg) index,
            words = in(reg) words,
            options(nostack, preserves_flags),
        );
    }
    lanes
}
