//! Packed values above a limit, many at a time.

use super::load;
use crate::fib::arrays::FibWord;

/// Finds packed values above a limit, as many at a time as most blocks have: a
/// table has a million, and how often a short loop turns is hard to predict.
///
/// A value of `bits` bits is above the limit if adding `2^bits - 1 - limit`
/// carries out of its bits. Every second value is masked out to make room for
/// the carry.
pub(super) struct PackedLimit {
    limit: u32,
    bits: u32,
    /// Values in a step.
    step: u32,
    /// The bits of every second value of a step.
    every_second: u128,
    /// What is added to each of these.
    addend: u128,
    /// Where the carries arrive.
    carries: u128,
}

impl PackedLimit {
    pub(super) fn new(limit: u32, bits: u32) -> Self {
        let mask = u32::MAX >> (32 - bits);
        // One bit is left for the carry of the last.
        let step = 127 / bits;
        let repeated = |value: u32| {
            let places = (0..step).step_by(2).map(|index| index * bits);
            places.fold(0, |all, place| all | u128::from(value) << place)
        };
        Self {
            limit,
            bits,
            step,
            every_second: repeated(mask),
            addend: repeated(mask - mask.min(limit)),
            carries: repeated(1) << bits,
        }
    }

    /// The first of the `count` values that are packed at the beginning of
    /// `words` that is above the limit.
    #[inline]
    pub(super) fn first_above(&self, words: &[FibWord], count: u32) -> Option<u32> {
        let mut carries = 0;
        if self.addend != 0 {
            let mut first = 0;
            while first < count {
                let len = self.step.min(count - first) * self.bits;
                let values = Self::bits_at(words, first * self.bits) & ((1 << len) - 1);
                carries |= (values & self.every_second) + self.addend;
                carries |= (values >> self.bits & self.every_second) + self.addend;
                first += self.step;
            }
        }
        if carries & self.carries == 0 {
            return None;
        }
        let mask = u128::from(u32::MAX >> (32 - self.bits));
        (0..count)
            .map(|index| (Self::bits_at(words, index * self.bits) & mask) as u32)
            .find(|value| *value > self.limit)
    }

    /// 128 bits from bit `at` on; zeros beyond the words.
    #[inline]
    fn bits_at(words: &[FibWord], at: u32) -> u128 {
        let words = words.get((at / 32) as usize..).unwrap_or_default();
        let shift = at % 32;
        let (four, fifth) = match words {
            [a, b, c, d, rest @ ..] => {
                let low = u64::from(load(a)) | u64::from(load(b)) << 32;
                let high = u64::from(load(c)) | u64::from(load(d)) << 32;
                let four = u128::from(low) | u128::from(high) << 64;
                (four, rest.first().map_or(0, load))
            }
            fewer => {
                let fewer = fewer.iter().map(load).enumerate();
                (
                    fewer.fold(0, |all, (n, word)| all | u128::from(word) << (32 * n)),
                    0,
                )
            }
        };
        // In two steps, as a shift by all bits is none.
        four >> shift | (u128::from(fifth) << 1) << (127 - shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::arrays::words;

    #[test]
    fn packed_values_above_a_limit_are_found() {
        for bits in 1..=32u32 {
            let mask = u32::MAX >> (32 - bits);
            for limit in [0, 1, mask / 2, mask.saturating_sub(1), mask, u32::MAX] {
                for count in [1, 2, 3, 63, 64] {
                    for bad in 0..count {
                        // All at the limit, one above it if there is such a value.
                        let mut packed = [0u64; 64];
                        for index in 0..count {
                            let above = u32::from(index == bad && limit < mask);
                            let value = u64::from(limit.min(mask) + above);
                            let at = (index * bits) as usize;
                            let value = u128::from(value) << (at % 64);
                            packed[at / 64] |= value as u64;
                            packed[at / 64 + 1] |= (value >> 64) as u64;
                        }
                        let len = (count * bits).div_ceil(32) as usize;
                        let halves = packed.iter().flat_map(|n| [*n as u32, (*n >> 32) as u32]);
                        let words = words(halves.take(len).collect());
                        let expected = (limit < mask).then(|| limit + 1);
                        let found = PackedLimit::new(limit, bits).first_above(&words, count);
                        assert_eq!(
                            found, expected,
                            "{bits} bits, limit {limit}, {bad} of {count}"
                        );
                    }
                }
            }
        }
    }
}
