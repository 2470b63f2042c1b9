//! The portable kernel against scalar lookups; what the tests of other kernels build on.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::fib::arrays::{FibWord, IDLE_BLOCK, MAX_DIRECT_BITS, root_bits, words};
use crate::fib::layout::WIDE;
use crate::fib::lookup::lookup_each;
use crate::next_hop::MAX_NEXT_HOP;
use crate::rounds::rounds;

/// A function under test, for any key and leaf.
pub(in crate::batch) trait Lookup {
    fn lookup<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]);
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
    root: Vec<FibWord>,
    arena: Vec<FibWord>,
    page_bits: u8,
    value_bits: u8,
    max_next_hop: u32,
}

impl Arrays {
    /// `eighths` of the root's entries lead further.
    fn new<A: Address>(direct_bits: u8, value_bits: u8, eighths: u64) -> Self {
        let root_bits = root_bits::<A>(direct_bits);
        let page_bits = direct_bits - root_bits;
        let seed = u64::from(direct_bits) << 16 | u64::from(value_bits) << 8 | eighths;
        let mut arrays = Self {
            random: Random(seed),
            root: Vec::new(),
            arena: words(IDLE_BLOCK.to_vec()),
            page_bits,
            value_bits,
            max_next_hop: MAX_NEXT_HOP & (u32::MAX >> (32 - value_bits)),
        };
        let mut below = Vec::new();
        for depth in (direct_bits..A::WIDTH).step_by(STRIDE.into()).rev() {
            // Narrow ones last, so that the last value is at the arena's end.
            let mut blocks = Vec::new();
            if depth + STRIDE < A::WIDTH {
                blocks.extend([arrays.wide(&below), arrays.wide(&below)]);
            }
            blocks.push(arrays.narrow());
            below = blocks;
        }
        if page_bits > 0 {
            let page = arrays.arena.len() as u32;
            let entries: Vec<FibWord> = (0..1 << page_bits)
                .map(|_| FibWord::new(arrays.pointer(&below, 6)))
                .collect();
            arrays.arena.extend(entries);
            let narrow = arrays.narrow();
            below = vec![NODE | page];
            assert!(narrow & NODE != 0);
        }
        arrays.root = (0..1 << root_bits)
            .map(|_| FibWord::new(arrays.pointer(&below, eighths)))
            .collect();
        arrays
    }

    fn view(&self) -> FibView<'_> {
        FibView {
            root: &self.root,
            arena: &self.arena,
            root_bits: self.root.len().ilog2() as u8,
            page_bits: self.page_bits,
            value_bits: self.value_bits,
            is_flat: false,
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
        self.arena
            .extend([runs as u32, (runs >> 32) as u32].map(FibWord::new));
        for _ in 0..runs.count_ones() {
            let value = self.pointer(below, 7);
            self.arena.push(FibWord::new(value));
        }
        NODE | WIDE | place
    }

    fn narrow(&mut self) -> u32 {
        let (place, runs) = (self.arena.len() as u32, self.runs());
        self.arena
            .extend([runs as u32, (runs >> 32) as u32].map(FibWord::new));
        let (mut bits, mut len) = (0, 0);
        for _ in 0..runs.count_ones() {
            bits |= u64::from(self.next_hop()) << len;
            len += self.value_bits;
            if len >= 32 {
                self.arena.push(FibWord::new(bits as u32));
                (bits, len) = (bits >> 32, len - 32);
            }
        }
        if len > 0 {
            self.arena.push(FibWord::new(bits as u32));
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
    for direct_bits in 0..=most.min(rounds(20, most)) {
        compare::<K, A>(&Arrays::new::<A>(direct_bits, 9, 6));
    }
    for value_bits in 1..=32 {
        let direct_bits = value_bits * 5 % (most.min(18) + 1);
        for eighths in [1, 4, 8] {
            compare::<K, A>(&Arrays::new::<A>(direct_bits, value_bits, eighths));
        }
    }
}

fn compare<K: Lookup, A: Address>(arrays: &Arrays) {
    let mut random = Random(42);
    let addresses: Vec<A> = (0..800).map(|_| random.address()).collect();
    let mut expected = vec![0; addresses.len()];
    lookup_each(arrays.view(), &addresses, &mut expected);
    let untouched = 0x5a5a;
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
    fn lookup<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
        lookup_batch(view, addresses, next_hops);
    }
}

#[test]
fn portable_agrees_with_scalar() {
    agrees_with_scalar::<Chosen>();
}

struct Plain;

impl Lookup for Plain {
    fn lookup<A: Address>(view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
        each_table::<A, BYTES>(view, addresses, next_hops);
    }
}

#[test]
fn portable_without_popcnt_agrees_with_scalar() {
    agrees_with_scalar::<Plain>();
}
