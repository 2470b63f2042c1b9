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

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use crate::address::Address;
use crate::fib::layout::{NODE, PLACE, STRIDE, View};
use crate::fib::lookup::root_entry;
use crate::next_hop::Leaf;

/// Addresses of a block. Its lanes take 2 KiB of the innermost cache.
const BLOCK: usize = 256;

/// How many bytes ahead addresses are fetched.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// A cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Addresses of a block that are tried to see how many end at the root.
const SAMPLE: usize = 16;

/// Looks up each of `addresses`; `next_hops` is as long.
pub(super) fn lookup_batch<A: Address, L: Leaf>(
    view: View<'_>,
    addresses: &[A],
    next_hops: &mut [L],
) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the CPU has what the function was compiled for.
        unsafe { with_popcnt(view, addresses, next_hops) };
        return;
    }
    each_block(view, addresses, next_hops);
}

/// The same code compiled for CPUs with `popcnt`, and with the shifts of BMI2.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
// Inside the AVX2 kernel, which calls it, it would be vectorised, to its harm.
#[inline(never)]
fn with_popcnt<A: Address, L: Leaf>(view: View<'_>, addresses: &[A], next_hops: &mut [L]) {
    each_block(view, addresses, next_hops);
}

/// The lookups of a block that have not ended. Not cleared, so that a short
/// slice is cheap; two arrays, since the first pass writes one of them only.
struct Lanes {
    pointers: [MaybeUninit<u32>; BLOCK],
    /// Of the addresses in the block.
    indices: [MaybeUninit<u32>; BLOCK],
}

impl Lanes {
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

#[inline(always)]
fn each_block<A: Address, L: Leaf>(view: View<'_>, addresses: &[A], next_hops: &mut [L]) {
    assert_eq!(addresses.len(), next_hops.len());
    let kinds = Kinds::new(view.value_bits);
    let mut lanes = Lanes::new();
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

/// Has addresses fetched that lie some blocks behind these, or any other memory
/// that is there: where nearly all lookups end at the root, the CPU does not fetch
/// them early enough by itself. (Where they lead further it does, and this only
/// costs.) All of x86-64 has the instruction; stable Rust has none that is portable.
#[inline(always)]
fn fetch_ahead<A: Address>(addresses: &[A]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(addresses)).step_by(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let ahead = addresses.as_ptr().wrapping_byte_add(AHEAD + at);
        // SAFETY: a prefetch is no access: it may lie outside of any memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = addresses;
}

/// Whether most of the first few addresses lead beyond the root.
///
/// Not inlined: as part of a kernel for AVX2 it would be vectorised, to its harm.
#[inline(never)]
pub(super) fn mostly_beyond_root<A: Address>(view: View<'_>, addresses: &[A]) -> bool {
    let sample = &addresses[..addresses.len().min(SAMPLE)];
    let beyond: u32 = sample.iter().map(|a| root_entry(view, *a) / NODE).sum();
    beyond as usize * 2 > sample.len()
}

/// Writes the next hops that the root has; lists the other addresses.
///
/// # Safety
/// `next_hops` is as long as `addresses`, at most BLOCK.
#[inline(always)]
unsafe fn root_of_all<A: Address, L: Leaf>(
    view: View<'_>,
    addresses: &[A],
    next_hops: &mut [L],
    lanes: &mut Lanes,
) -> usize {
    let mut count = 0;
    for (index, (address, next_hop)) in addresses.iter().zip(next_hops).enumerate() {
        let entry = root_entry(view, *address);
        *next_hop = L::from_u32(entry & L::MAX);
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
unsafe fn first_level<A: Address, L: Leaf>(
    view: View<'_>,
    kinds: &Kinds,
    addresses: &[A],
    next_hops: &mut [L],
    lanes: &mut Lanes,
    count: usize,
) -> usize {
    let mut left = 0;
    for lane in 0..count {
        // SAFETY: as the caller says; `left` is never ahead of `lane`.
        unsafe {
            let index = lanes.index(lane);
            let address = *addresses.get_unchecked(index);
            let pointer = first_value(view, kinds, address);
            *next_hops.get_unchecked_mut(index) = L::from_u32(pointer & L::MAX);
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
unsafe fn first_level_of_all<A: Address, L: Leaf>(
    view: View<'_>,
    kinds: &Kinds,
    addresses: &[A],
    next_hops: &mut [L],
    lanes: &mut Lanes,
) -> usize {
    let mut left = 0;
    for (index, (address, next_hop)) in addresses.iter().zip(next_hops).enumerate() {
        let pointer = first_value(view, kinds, *address);
        *next_hop = L::from_u32(pointer & L::MAX);
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
unsafe fn levels<A: Address, L: Leaf>(
    view: View<'_>,
    kinds: &Kinds,
    addresses: &[A],
    next_hops: &mut [L],
    lanes: &mut Lanes,
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
/// number that go on. `slot` is as in [`Kinds::value`], of an address' index.
///
/// # Safety
/// As for [`levels`].
#[inline(always)]
unsafe fn level<L: Leaf>(
    view: View<'_>,
    kinds: &Kinds,
    next_hops: &mut [L],
    lanes: &mut Lanes,
    count: usize,
    slot: impl Fn(usize) -> u64,
) -> usize {
    let mut left = 0;
    for lane in 0..count {
        // SAFETY: as the caller says; `left` is never ahead of `lane`.
        unsafe {
            let index = lanes.index(lane);
            let pointer = kinds.value(view.arena, lanes.pointer(lane), slot(index));
            *next_hops.get_unchecked_mut(index) = L::from_u32(pointer & L::MAX);
            lanes.write_both(left, index, pointer);
            left += (pointer / NODE) as usize;
        }
    }
    left
}

/// The next hop of `address`, or the pointer that its first block holds for it.
#[inline(always)]
fn first_value<A: Address>(view: View<'_>, kinds: &Kinds, address: A) -> u32 {
    let mut pointer = root_entry(view, address);
    let depth = view.root_bits + view.page_bits;
    if A::WIDTH > 32 && view.page_bits != 0 {
        // What ends at the root reads the first word of the arena for nothing.
        let mask = (pointer as i32 >> 31) as u32;
        let index = address.skip_bits(view.root_bits).leading(view.page_bits);
        let place = ((pointer & PLACE) + index) & mask;
        debug_assert!((place as usize) < view.arena.len());
        // SAFETY: invariant 2: a page lies inside the arena.
        let entry = unsafe { *view.arena.get_unchecked(place as usize) };
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

/// The first 64 bits of `address`, with zeros behind a shorter one.
#[inline(always)]
fn first_64_bits<A: Address>(address: A) -> u64 {
    ((address.to_u128() << (128 - u32::from(A::WIDTH))) >> 64) as u64
}

/// What to do with a pointer, by its bits 31 and 30: twice next hop, narrow, wide.
struct Kinds {
    /// Bits that are the place of the block; none for a next hop: the idle block.
    place: [u32; 4],
    /// Bits of a value in the block.
    value_bits: [u64; 4],
    /// That many ones.
    mask: [u32; 4],
}

impl Kinds {
    #[inline(always)]
    fn new(value_bits: u8) -> Self {
        Self {
            place: [0, 0, PLACE, PLACE],
            value_bits: [0, 0, u64::from(value_bits), 32],
            mask: [0, 0, u32::MAX >> (32 - value_bits), u32::MAX],
        }
    }

    /// What a slot of the block that `pointer` leads to holds; 0 if it is a
    /// next hop. The slot is the low 6 bits of `slot`; those above may be any.
    ///
    /// # Safety
    /// The pointer leads to a whole block of `arena`, as invariants 3 and 4
    /// have it, or is a next hop.
    #[inline(always)]
    unsafe fn value(&self, arena: &[u32], pointer: u32, slot: u64) -> u32 {
        let kind = (pointer >> 30) as usize;
        // In 64 bits: could an index wrap, two words would not be read as one.
        let place = (pointer & self.place[kind]) as usize;
        // SAFETY: a block has two words of `runs` and a value for each run; the
        // second word of the last value may lie in the padding. The idle block
        // (invariant 5) is one too.
        unsafe {
            let runs = two_words(arena, place);
            // Runs up to and with the slot's own; bit 0 is set, so at least one.
            let rank = u64::from((runs << (!slot & 63)).count_ones()) - 1;
            let at = rank * self.value_bits[kind];
            let both = two_words(arena, place + 2 + (at / 32) as usize);
            (both >> (at % 32)) as u32 & self.mask[kind]
        }
    }
}

/// # Safety
/// `index` and the next are inside the arena.
#[inline(always)]
unsafe fn two_words(arena: &[u32], index: usize) -> u64 {
    debug_assert!(index + 1 < arena.len());
    // SAFETY: as above.
    unsafe {
        u64::from(*arena.get_unchecked(index)) | u64::from(*arena.get_unchecked(index + 1)) << 32
    }
}

#[cfg(test)]
pub(super) mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::fib::layout::{IDLE_BLOCK, MAX_DIRECT_BITS, PADDING, WIDE, root_bits};
    use crate::fib::lookup::lookup_each;

    /// A function under test, for any key and leaf.
    pub(in crate::batch) trait Lookup {
        fn lookup<A: Address, L: Leaf>(view: View<'_>, addresses: &[A], next_hops: &mut [L]);
    }

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }

        fn address<A: Address>(&mut self) -> A {
            A::truncate(u128::from(self.next()) << 64 | u128::from(self.next()))
        }
    }

    /// Arrays in which random addresses reach every depth: a few blocks for
    /// each level, shared by all pointers of the level above. (In a Fib nothing
    /// is shared, but a lookup can't tell.)
    struct Arrays {
        random: Random,
        root: Vec<u32>,
        arena: Vec<u32>,
        page_bits: u8,
        value_bits: u8,
        max_next_hop: u32,
    }

    impl Arrays {
        /// `eighths` of the root's entries lead further.
        fn new<A: Address, L: Leaf>(direct_bits: u8, value_bits: u8, eighths: u64) -> Self {
            let root_bits = root_bits::<A>(direct_bits);
            let page_bits = direct_bits - root_bits;
            let seed = u64::from(direct_bits) << 16 | u64::from(value_bits) << 8 | eighths;
            let mut arrays = Self {
                random: Random(seed),
                root: Vec::new(),
                arena: IDLE_BLOCK.to_vec(),
                page_bits,
                value_bits,
                max_next_hop: L::MAX & (u32::MAX >> (32 - value_bits)),
            };
            let mut below = Vec::new();
            for depth in (direct_bits..A::WIDTH).step_by(STRIDE.into()).rev() {
                // Narrow ones last, so that the last value is next to the padding.
                let mut blocks = Vec::new();
                if depth + STRIDE < A::WIDTH {
                    blocks.extend([arrays.wide(&below), arrays.wide(&below)]);
                }
                blocks.push(arrays.narrow());
                below = blocks;
            }
            if page_bits > 0 {
                let page = arrays.arena.len() as u32;
                let entries: Vec<u32> = (0..1 << page_bits)
                    .map(|_| arrays.pointer(&below, 6))
                    .collect();
                arrays.arena.extend(entries);
                let narrow = arrays.narrow();
                below = vec![NODE | page];
                assert!(narrow & NODE != 0);
            }
            arrays.root = (0..1 << root_bits)
                .map(|_| arrays.pointer(&below, eighths))
                .collect();
            arrays.arena.extend([0; PADDING]);
            arrays
        }

        fn view(&self) -> View<'_> {
            View {
                root: &self.root,
                arena: &self.arena,
                root_bits: self.root.len().ilog2() as u8,
                page_bits: self.page_bits,
                value_bits: self.value_bits,
            }
        }

        fn next_hop(&mut self) -> u32 {
            self.random.next() as u32 & self.max_next_hop
        }

        fn pointer(&mut self, below: &[u32], eighths: u64) -> u32 {
            let random = self.random.next() >> 8;
            if random % 8 < eighths && !below.is_empty() {
                below[(random >> 8) as usize % below.len()]
            } else {
                self.next_hop()
            }
        }

        fn runs(&mut self) -> u64 {
            let runs = self.random.next() | 1;
            match self.random.next() % 4 {
                0 => u64::MAX,
                1 => runs & self.random.next() | 1,
                _ => runs,
            }
        }

        fn wide(&mut self, below: &[u32]) -> u32 {
            let (place, runs) = (self.arena.len() as u32, self.runs());
            self.arena.extend([runs as u32, (runs >> 32) as u32]);
            for _ in 0..runs.count_ones() {
                let value = self.pointer(below, 7);
                self.arena.push(value);
            }
            NODE | WIDE | place
        }

        fn narrow(&mut self) -> u32 {
            let (place, runs) = (self.arena.len() as u32, self.runs());
            self.arena.extend([runs as u32, (runs >> 32) as u32]);
            let (mut bits, mut len) = (0, 0);
            for _ in 0..runs.count_ones() {
                bits |= u64::from(self.next_hop()) << len;
                len += self.value_bits;
                if len >= 32 {
                    self.arena.push(bits as u32);
                    (bits, len) = (bits >> 32, len - 32);
                }
            }
            if len > 0 {
                self.arena.push(bits as u32);
            }
            NODE | place
        }
    }

    /// `K` gives the answers of the scalar lookup, and writes nothing else.
    pub(in crate::batch) fn agrees_with_scalar<K: Lookup>() {
        for_key::<K, u8>();
        for_key::<K, u16>();
        for_key::<K, u32>();
        for_key::<K, u64>();
        for_key::<K, u128>();
    }

    fn for_key<K: Lookup, A: Address>() {
        let most = MAX_DIRECT_BITS.min(A::WIDTH);
        for direct_bits in 0..=most {
            compare::<K, A, u16>(&Arrays::new::<A, u16>(direct_bits, 9, 6));
        }
        for value_bits in 1..=32 {
            let direct_bits = value_bits * 5 % (most.min(18) + 1);
            for eighths in [1, 4, 8] {
                compare::<K, A, u16>(&Arrays::new::<A, u16>(direct_bits, value_bits, eighths));
                compare::<K, A, u32>(&Arrays::new::<A, u32>(direct_bits, value_bits, eighths));
            }
        }
    }

    fn compare<K: Lookup, A: Address, L: Leaf>(arrays: &Arrays) {
        let mut random = Random(42);
        let addresses: Vec<A> = (0..800).map(|_| random.address()).collect();
        let mut expected = vec![L::default(); addresses.len()];
        lookup_each(arrays.view(), &addresses, &mut expected);
        let untouched = L::from_u32(0x5a5a);
        for (len, offset) in (0..=200)
            .map(|len| (len, len % 67))
            .chain([(800, 0), (777, 9)])
        {
            let mut next_hops = vec![untouched; len + 16];
            let asked = &addresses[offset..offset + len];
            K::lookup(arrays.view(), asked, &mut next_hops[8..8 + len]);
            assert_eq!(next_hops[8..8 + len], expected[offset..offset + len]);
            let around = next_hops[..8].iter().chain(&next_hops[8 + len..]);
            assert!({ around }.all(|next_hop| *next_hop == untouched));
        }
    }

    struct Chosen;

    impl Lookup for Chosen {
        fn lookup<A: Address, L: Leaf>(view: View<'_>, addresses: &[A], next_hops: &mut [L]) {
            lookup_batch(view, addresses, next_hops);
        }
    }

    #[test]
    fn portable_agrees_with_scalar() {
        agrees_with_scalar::<Chosen>();
    }

    struct Plain;

    impl Lookup for Plain {
        fn lookup<A: Address, L: Leaf>(view: View<'_>, addresses: &[A], next_hops: &mut [L]) {
            each_block(view, addresses, next_hops);
        }
    }

    #[test]
    fn portable_without_popcnt_agrees_with_scalar() {
        agrees_with_scalar::<Plain>();
    }
}
