//! Seeded random tables in the shapes that trouble a trie.

use crate::oracle::Route;

/// SplitMix64: small, seedable, the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.bits()) << 64 | u128::from(self.bits())
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.bits() % (u64::from(high - low) + 1)) as u32
    }

    /// A prefix length in `low..=high`.
    pub(crate) fn len(&mut self, low: u8, high: u8) -> u8 {
        self.between(low.into(), high.into()) as u8
    }

    /// The first `len` bits of `bits`, then random ones.
    pub(crate) fn under(&mut self, bits: u128, len: u8) -> u128 {
        let behind = u128::MAX.checked_shr(len.into()).unwrap_or(0);
        (bits & !behind) | (self.wide() & behind)
    }
}

/// About `count` routes of at most `width` bits, some prefixes twice.
///
/// Groups of different shapes are mixed in one table, with one, few or many
/// next hops, in one table of two with a default route.
pub(crate) fn mixed(random: &mut Random, width: u8, count: usize) -> Vec<Route> {
    let next_hops = [1, 2, 3, 64, 65_535][random.between(0, 4) as usize];
    let mut routes = Vec::new();
    if random.between(0, 1) == 0 {
        let next_hop = random.between(1, next_hops);
        routes.push(Route::new(0, 0, next_hop));
    }
    while routes.len() < count {
        let room = (count - routes.len()).min(40);
        let group = random.between(1, room as u32);
        match random.between(0, 3) {
            0 => uniform(random, width, group, next_hops, &mut routes),
            1 => cluster(random, width, group, next_hops, &mut routes),
            2 => chain(random, width, next_hops, &mut routes),
            _ => siblings(random, width, next_hops, &mut routes),
        }
    }
    routes.truncate(count);
    routes
}

/// Addresses and lengths independent of each other.
fn uniform(random: &mut Random, width: u8, count: u32, next_hops: u32, to: &mut Vec<Route>) {
    for _ in 0..count {
        let len = random.len(1, width);
        to.push(Route::new(random.wide(), len, random.between(1, next_hops)));
    }
}

/// Many routes under one shorter prefix, of lengths close to each other.
fn cluster(random: &mut Random, width: u8, count: u32, next_hops: u32, to: &mut Vec<Route>) {
    let above = random.len(0, width - 1);
    let deepest = width.min(above + random.len(1, 12));
    let anchor = random.wide();
    for _ in 0..count {
        let len = random.len(above, deepest).max(1);
        let bits = random.under(anchor, above);
        to.push(Route::new(bits, len, random.between(1, next_hops)));
    }
}

/// Prefixes nested in each other along one address, here and there with the sibling.
fn chain(random: &mut Random, width: u8, next_hops: u32, to: &mut Vec<Route>) {
    let anchor = [0, u128::MAX, random.wide()][random.between(0, 2) as usize];
    let step = random.len(1, 7);
    let mut len = random.len(1, width.min(8));
    while len <= width {
        to.push(Route::new(anchor, len, random.between(1, next_hops)));
        if random.between(0, 2) == 0 {
            let sibling = anchor ^ (1 << (128 - len));
            to.push(Route::new(sibling, len, random.between(1, next_hops)));
        }
        len += random.len(1, step);
    }
}

/// All equally long parts of one prefix, most with one next hop: work for route aggregation.
fn siblings(random: &mut Random, width: u8, next_hops: u32, to: &mut Vec<Route>) {
    let above = random.len(0, width - 1);
    let split = random.len(1, (width - above).min(5));
    let len = above + split;
    let anchor = Route::new(random.wide(), above, 1).bits;
    let usual = random.between(1, next_hops);
    let odd_one_in = [4, 16, 1_000][random.between(0, 2) as usize];
    for part in 0..1u128 << split {
        let odd = random.between(1, odd_one_in) == 1;
        let next_hop = if odd {
            random.between(1, next_hops)
        } else {
            usual
        };
        to.push(Route::new(anchor | part << (128 - len), len, next_hop));
    }
}
