//! Random prefixes that meet often.

use popfib::{Address, Prefix};

/// xorshift64: random enough to choose tables.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 8) as usize % end
    }

    /// A prefix in which long runs of equal bits are common.
    pub(crate) fn prefix<A: Address>(&mut self) -> Prefix<A> {
        let len = self.below(usize::from(A::WIDTH) + 1) as u8;
        let mut bits = u128::from(self.next()) << 64 | u128::from(self.next());
        if self.next().is_multiple_of(2) {
            bits &= u128::from(self.next()) << 64 | u128::from(self.next());
            bits &= 0x8888_8888_8888_8888_8888_8888_8888_8888;
        }
        Prefix::new_masked(A::truncate(bits), len).unwrap()
    }
}
