//! Seeded random numbers: the same seed gives the same addresses on every machine.
//!
//! SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a counter behind a mixing
//! function. Speed and good bits are all that is asked for here; a crate for
//! it would promise less, since most reserve the right to change the stream.

use popfib::{Address, Prefix};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0. The bias is below `bound / 2^64`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// One of `items`, of which there is at least one.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Puts `items` into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A number in `0.0..1.0`.
    pub fn fraction(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Any address.
    pub fn address<A: Address>(&mut self) -> A {
        let low = u128::from(self.bits());
        let high = if A::WIDTH > 64 {
            u128::from(self.bits()) << 64
        } else {
            0
        };
        A::truncate(high | low)
    }

    /// An address inside `prefix`.
    pub fn host<A: Address>(&mut self, prefix: Prefix<A>) -> A {
        prefix.address() | (self.address::<A>() & !A::mask(prefix.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // First outputs of SplitMix64 for seed 0.
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn numbers_stay_in_bounds_and_reach_every_value() {
        let mut random = Random::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..5_000 {
            seen[random.below(5)] += 1;
            assert!((0.0..1.0).contains(&random.fraction()));
        }
        assert!(seen.iter().all(|&n| (800..1_200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn hosts_are_inside_their_prefix() {
        let mut random = Random::new(1);
        for text in ["::/0", "2001:db8::/33", "2001:db8::1/128"] {
            let prefix: Prefix<u128> = text.parse().unwrap();
            for _ in 0..100 {
                assert!(prefix.contains(random.host(prefix)));
            }
        }
        // Both halves of a wide key are random.
        let a: u128 = random.address();
        assert!(a >> 64 != 0 && a as u64 != 0 && (a >> 64) as u64 != a as u64);
    }
}
