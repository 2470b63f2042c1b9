//! The AVX2 kernel: eight lookups in a vector.
//!
//! Addresses are taken in blocks, as by the portable kernel. The first pass
//! gathers the root's entries and writes the next hops among them; what leads
//! further is packed into a list of *lanes*, eight at a time by a permutation
//! that the mask of the survivors selects. Then pass follows pass over the
//! list, one level of the arena each. Where most addresses lead beyond the
//! root, the first pass takes all of them one level down before it packs.
//!
//! A lane carries the next 32 bits of its address, its *window*. Each level
//! uses 6 of them up; every fifth, the windows of those few that are left are
//! read again from the addresses. So keys of any width are one code.
//!
//! A value is gathered as the four bytes that its last bit ends, which hold it whole if
//! it has at most 25 bits; wider next hops go to the portable kernel, and so do
//! keys that are narrower than a window. AVX2 counts no bits: that is done by
//! nibbles, with a table in a register.

pub(super) mod flat;
mod lanes;
mod vectors;

use core::arch::x86_64::*;

use self::lanes::Avx2Lanes;
use self::vectors::{
    any_leads_on, count_ones, gather_bytes, gather_pairs, gather_words, lower_halves, upper_halves,
    wide,
};
use super::{BYTE_READ_BITS, portable};
use crate::address::{Address, STRIDE};
use crate::cpu::prefetch;
use crate::fib::arrays::FibView;
use crate::fib::layout::{FLAT_PLACE, PLACE};
use crate::fib::lookup::lookup_each;

/// Lanes of a vector.
const LANES: usize = 8;

/// Vectors that the first pass takes together. Eight are no faster.
const VECTORS: usize = 4;

/// How many bytes ahead addresses are fetched.
const AHEAD: usize = 4096;

/// A cache line.
const LINE: usize = 64;

/// Addresses of a block. All arrays together fit the innermost cache.
const BLOCK: usize = 256;

/// Levels that a window lasts.
const WINDOW_LEVELS: u8 = 32 / STRIDE;

/// Looks up each of `addresses`; `next_hops` is as long.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
    assert_eq!(addresses.len(), next_hops.len());
    if A::WIDTH < 32 || view.value_bits > BYTE_READ_BITS {
        portable::lookup_batch(view, addresses, next_hops);
        return;
    }
    in_blocks::<A, false>(view, addresses, next_hops);
}

/// Looks up each of `addresses`, of more than 32 bits, in a flat table; `next_hops` is as long.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
pub(super) fn lookup_batch_flat<A: Address>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    in_blocks::<A, true>(view, addresses, next_hops);
}

/// The slice block by block. `FLAT`: all blocks of the table are flat.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
fn in_blocks<A: Address, const FLAT: bool>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    let mut lanes = Avx2Lanes::new();
    let whole = addresses.len() / LANES * LANES;
    let blocks = addresses[..whole].chunks(BLOCK);
    for (addresses, next_hops) in blocks.zip(next_hops.chunks_mut(BLOCK)) {
        // SAFETY: as long, a multiple of LANES and at most BLOCK.
        unsafe {
            if portable::mostly_beyond_root(view, addresses) {
                block::<A, true, FLAT>(view, addresses, next_hops, &mut lanes);
            } else {
                block::<A, false, FLAT>(view, addresses, next_hops, &mut lanes);
            }
        }
    }
    lookup_each(view, &addresses[whole..], &mut next_hops[whole..]);
}

/// Writes the next hops that the root has, and if `ALL` those of the first
/// blocks; then takes the other lookups down to theirs.
///
/// # Safety
/// `next_hops` is as long as `addresses`, a multiple of LANES and at most BLOCK.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
unsafe fn block<A: Address, const ALL: bool, const FLAT: bool>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut Avx2Lanes,
) {
    let (mut at, mut count) = (0, 0);
    // SAFETY: the addresses from `at` on are as many as each step takes.
    unsafe {
        while at + VECTORS * LANES <= addresses.len() {
            count =
                first_pass::<A, ALL, FLAT, VECTORS>(view, addresses, next_hops, at, lanes, count);
            at += VECTORS * LANES;
        }
        while at < addresses.len() {
            count = first_pass::<A, ALL, FLAT, 1>(view, addresses, next_hops, at, lanes, count);
            at += LANES;
        }
        if count > 0 {
            let depth = view.root_bits + view.page_bits;
            levels::<A, FLAT>(
                view,
                addresses,
                next_hops,
                lanes,
                count,
                depth,
                u8::from(ALL),
            );
        }
    }
}

/// The first pass over `N` vectors of addresses from `at` on. There are `count`
/// lanes yet; returns how many there are then.
///
/// # Safety
/// There are that many addresses and next hops, and no more lanes than addresses
/// before `at`.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
unsafe fn first_pass<A: Address, const ALL: bool, const FLAT: bool, const N: usize>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    at: usize,
    lanes: &mut Avx2Lanes,
    mut count: usize,
) -> usize {
    let depth = view.root_bits + view.page_bits;
    let root_shift = _mm_cvtsi32_si128(32 - i32::from(view.root_bits));
    let page_left = _mm_cvtsi32_si128(i32::from(view.root_bits));
    let page_right = _mm_cvtsi32_si128(32 - i32::from(view.page_bits));
    let zero = [_mm256_setzero_si256(); N];
    let (mut leadings, mut following, mut pointers) = (zero, zero, zero);
    // By itself the CPU does not fetch the addresses early enough. A prefetch may
    // lie after them: it is no access.
    let ahead = addresses.as_ptr().wrapping_add(at).wrapping_byte_add(AHEAD);
    for line in 0..(N * LANES * size_of::<A>()).div_ceil(LINE) {
        prefetch(ahead.wrapping_byte_add(line * LINE));
    }
    for n in 0..N {
        // SAFETY: eight addresses; indices into the root have `root_bits` (invariant 1).
        unsafe {
            (leadings[n], following[n]) = windows(addresses.as_ptr().add(at + n * LANES), depth);
            let index = _mm256_srl_epi32(leadings[n], root_shift);
            pointers[n] = gather_words(view.root.as_ptr(), index);
        }
    }
    for n in 0..N {
        if A::WIDTH > 32 && view.page_bits != 0 && any_leads_on(pointers[n]) {
            let live = _mm256_srai_epi32::<31>(pointers[n]);
            let index = _mm256_srl_epi32(_mm256_sll_epi32(leadings[n], page_left), page_right);
            let place = _mm256_and_si256(pointers[n], _mm256_set1_epi32(PLACE as i32));
            // What ended at the root reads the first word for nothing.
            let place = _mm256_and_si256(_mm256_add_epi32(place, index), live);
            // SAFETY: invariant 2: a page lies inside the arena.
            let entries = unsafe { gather_words(view.arena.as_ptr(), place) };
            pointers[n] = _mm256_blendv_epi8(pointers[n], entries, live);
        }
    }
    if ALL {
        let mut masked = pointers;
        for n in 0..N {
            masked[n] = _mm256_and_si256(pointers[n], _mm256_srai_epi32::<31>(pointers[n]));
        }
        // SAFETY: pointers to blocks, and 0 where a lookup has ended.
        let values = unsafe { values::<FLAT, N>(view, masked, following) };
        for n in 0..N {
            pointers[n] =
                _mm256_blendv_epi8(pointers[n], values[n], _mm256_srai_epi32::<31>(pointers[n]));
            following[n] = _mm256_slli_epi32::<{ STRIDE as i32 }>(following[n]);
        }
    }
    for n in 0..N {
        let first = (at + n * LANES) as i32;
        let indices = _mm256_add_epi32(
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
            _mm256_set1_epi32(first),
        );
        // SAFETY: eight next hops; at most one lane an address.
        unsafe {
            write_next_hops(next_hops.as_mut_ptr().add(at + n * LANES), pointers[n]);
            count = lanes.pack(count, pointers[n], following[n], indices);
        }
    }
    count
}

/// Of eight addresses the first 32 bits, and the 32 bits from `depth` on.
///
/// # Safety
/// Eight addresses of at least 32 bits can be read; `depth` is at most 24.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn windows<A: Address>(addresses: *const A, depth: u8) -> (__m256i, __m256i) {
    let depth = _mm_cvtsi32_si128(i32::from(depth));
    let vectors: *const __m256i = addresses.cast();
    if A::WIDTH == 32 {
        // SAFETY: eight addresses make one vector.
        let leading = unsafe { _mm256_loadu_si256(vectors) };
        return (leading, _mm256_sll_epi32(leading, depth));
    }
    // The first halves, as they come; put in order at the end.
    let (low, high, order) = if A::WIDTH == 64 {
        // SAFETY: eight addresses make two vectors.
        let (low, high) = unsafe {
            (
                _mm256_loadu_si256(vectors),
                _mm256_loadu_si256(vectors.add(1)),
            )
        };
        (low, high, _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7))
    } else {
        // SAFETY: eight addresses make four vectors.
        let (low, high) = unsafe {
            (
                _mm256_unpackhi_epi64(
                    _mm256_loadu_si256(vectors),
                    _mm256_loadu_si256(vectors.add(1)),
                ),
                _mm256_unpackhi_epi64(
                    _mm256_loadu_si256(vectors.add(2)),
                    _mm256_loadu_si256(vectors.add(3)),
                ),
            )
        };
        (low, high, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
    };
    let leading = upper_halves(low, high);
    let windows = upper_halves(_mm256_sll_epi64(low, depth), _mm256_sll_epi64(high, depth));
    (
        _mm256_permutevar8x32_epi32(leading, order),
        _mm256_permutevar8x32_epi32(windows, order),
    )
}

/// What the blocks that `pointers` lead to hold in the slots that the first 6
/// bits of `windows` number. Several vectors at a time, stage by stage, so that
/// their memory accesses overlap.
///
/// # Safety
/// The pointers lead to whole blocks, as invariants 3 and 4, or 7, have it, or are 0:
/// the idle block (invariant 5).
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn values<const FLAT: bool, const N: usize>(
    view: FibView<'_>,
    pointers: [__m256i; N],
    windows: [__m256i; N],
) -> [__m256i; N] {
    let arena = view.arena.as_ptr();
    let zero = [_mm256_setzero_si256(); N];
    let (mut low, mut high, mut end, mut values) = (zero, zero, zero, zero);
    let all = _mm256_set1_epi32;
    if FLAT {
        for n in 0..N {
            let slots = _mm256_srli_epi32::<{ 32 - STRIDE as i32 }>(windows[n]);
            let places = _mm256_and_si256(pointers[n], all(FLAT_PLACE as i32));
            // Idle lanes read the first word for nothing.
            let live = _mm256_srai_epi32::<31>(pointers[n]);
            let index = _mm256_and_si256(_mm256_add_epi32(places, slots), live);
            // SAFETY: 64 entries.
            values[n] = unsafe { gather_words(arena, index) };
        }
        return values;
    }
    for n in 0..N {
        let places = _mm256_and_si256(pointers[n], _mm256_set1_epi32(PLACE as i32));
        // SAFETY: a block has two words of `runs`.
        unsafe {
            let places = (
                _mm256_castsi256_si128(places),
                _mm256_extracti128_si256::<1>(places),
            );
            low[n] = gather_pairs(arena, places.0);
            high[n] = gather_pairs(arena, places.1);
        }
    }
    for n in 0..N {
        let slots = _mm256_srli_epi32::<{ 32 - STRIDE as i32 }>(windows[n]);
        let shifts = _mm256_xor_si256(slots, _mm256_set1_epi32(63));
        let low_shifts = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(shifts));
        let high_shifts = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(shifts));
        let counts = lower_halves(
            count_ones(_mm256_sllv_epi64(low[n], low_shifts)),
            count_ones(_mm256_sllv_epi64(high[n], high_shifts)),
        );
        let narrow_bits = all(-i32::from(view.value_bits));
        let value_bits = _mm256_blendv_epi8(narrow_bits, all(-32), wide(pointers[n]));
        // Where the value's bits end, negative, which saves to subtract one: the last of
        // them is number `!end`. At most 64 runs of 32 bits: 16 bits are enough.
        end[n] = _mm256_madd_epi16(counts, value_bits);
    }
    for n in 0..N {
        // The shift drops what is not the place.
        let places = _mm256_slli_epi32::<2>(pointers[n]);
        let bytes = _mm256_sub_epi32(places, _mm256_srai_epi32::<3>(end[n]));
        // SAFETY: the four bytes that the value's last bit ends: the first of them
        // lies in the second word of `runs` at worst. The arena has fewer than 2^31 bytes.
        let bits = unsafe { gather_bytes(arena.byte_add(4), bytes) };
        let up = _mm256_and_si256(end[n], all(7));
        let down = _mm256_andnot_si256(wide(pointers[n]), all(32 - i32::from(view.value_bits)));
        values[n] = _mm256_srlv_epi32(_mm256_sllv_epi32(bits, up), down);
    }
    values
}

/// Takes the first `count` lanes down to their next hops. `used` levels of
/// their windows have been passed.
///
/// # Safety
/// That many lanes have been written for these addresses, and their pointers
/// lead to blocks; `next_hops` is as long as `addresses`.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
unsafe fn levels<A: Address, const FLAT: bool>(
    view: FibView<'_>,
    addresses: &[A],
    next_hops: &mut [u32],
    lanes: &mut Avx2Lanes,
    mut count: usize,
    mut depth: u8,
    mut used: u8,
) {
    let zero = _mm256_setzero_si256();
    while count > 0 {
        // SAFETY: lanes below `count` have been written, and those that fill
        // the last vector are idle; `left` is never ahead of `at`.
        unsafe {
            if used == WINDOW_LEVELS {
                depth += used * STRIDE;
                used = 0;
                refill(addresses, lanes, count, depth);
            }
            lanes.write(count, zero, zero, zero);
            let mut left = 0;
            for at in (0..count).step_by(LANES) {
                left = level::<FLAT>(view, next_hops, lanes, at, count, left);
            }
            count = left;
            used += 1;
        }
    }
}

/// One level for the vector of lanes from `at` on, of `count` lanes in all. Those
/// that go on are packed from lane `left` on; returns the place after them.
///
/// One vector at a time: the next ones do not depend on it, so that the CPU
/// overlaps them by itself, and taking four together was no faster.
///
/// # Safety
/// `count` lanes have been written, and idle ones to the end of the last vector. Their pointers lead to blocks, and
/// their indices are below the length of `next_hops`. `left` is at most `at`.
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
#[inline]
unsafe fn level<const FLAT: bool>(
    view: FibView<'_>,
    next_hops: &mut [u32],
    lanes: &mut Avx2Lanes,
    at: usize,
    count: usize,
    left: usize,
) -> usize {
    let mut results = [0; LANES];
    // SAFETY: whole vectors of lanes have been written: pointers to blocks, and
    // 0 in idle lanes; results are a vector long; indices are those of next hops.
    unsafe {
        let pointers = _mm256_loadu_si256(lanes.pointers.as_ptr().add(at).cast());
        let windows = _mm256_loadu_si256(lanes.windows.as_ptr().add(at).cast());
        let indices = _mm256_loadu_si256(lanes.indices.as_ptr().add(at).cast());
        let [values] = values::<FLAT, 1>(view, [pointers], [windows]);
        _mm256_storeu_si256(results.as_mut_ptr().cast(), values);
        let whole = (count - at).min(LANES);
        for (lane, result) in results[..whole].iter().enumerate() {
            let index = lanes.indices.get_unchecked(at + lane).assume_init() as usize;
            *next_hops.get_unchecked_mut(index) = *result;
        }
        let windows = _mm256_slli_epi32::<{ STRIDE as i32 }>(windows);
        lanes.pack(left, values, windows, indices)
    }
}

/// Reads the windows of the first `count` lanes again, from `depth` on.
///
/// # Safety
/// That many lanes have been written for these addresses.
#[cold]
unsafe fn refill<A: Address>(addresses: &[A], lanes: &mut Avx2Lanes, count: usize, depth: u8) {
    for lane in 0..count {
        // SAFETY: as above.
        unsafe {
            let index = lanes.indices.get_unchecked(lane).assume_init() as usize;
            let rest = addresses.get_unchecked(index).skip_bits(depth);
            lanes
                .windows
                .get_unchecked_mut(lane)
                .write(rest.leading(32));
        }
    }
}

/// Writes eight next hops. A pointer among them leaves a number without meaning.
///
/// # Safety
/// Eight next hops can be written.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn write_next_hops(next_hops: *mut u32, values: __m256i) {
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(next_hops.cast(), values) };
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::portable::tests::{Lookup, agrees_with_scalar};
    use super::*;

    struct Avx2;

    impl Lookup for Avx2 {
        fn lookup<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
            // SAFETY: the test has looked.
            unsafe { lookup_batch(view, addresses, next_hops) };
        }
    }

    #[test]
    fn avx2_agrees_with_scalar() {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        // Said aloud: a test that does not run proves nothing.
        if has_all {
            agrees_with_scalar::<Avx2>();
        } else {
            std::eprintln!("this CPU has no AVX2: the kernel was not tested");
        }
    }
}
