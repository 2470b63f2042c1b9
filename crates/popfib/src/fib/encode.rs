//! Blocks from slots and back: what a block's 64 slots are in words.
//!
//! `layout.rs` tells the form. A slot here is a pointer: a next hop, or the
//! place of a block.

use super::layout::{NODE, PLACE, WIDE};

/// Words in front of a block's values: its `runs`.
pub(crate) const HEAD: usize = 2;

/// The longest block: 64 values of 32 bits.
pub(crate) const MAX_BLOCK: usize = HEAD + 64;

/// A block as its values, one for each run of equal slots.
#[derive(Debug)]
pub(crate) struct Encoding {
    runs: u64,
    values: [u32; 64],
    count: usize,
    children: usize,
    /// Bits of a value.
    bits: u32,
}

impl Encoding {
    /// The block of `slots`; `value_bits` is the width of narrow values.
    pub(crate) fn of(slots: &[u32; 64], value_bits: u8) -> Self {
        let mut runs = 1;
        for slot in 1..64 {
            // Children differ from each other, so each is a run of its own.
            runs |= u64::from(slots[slot] != slots[slot - 1]) << slot;
        }
        let mut values = [0; 64];
        let (mut count, mut children) = (0, 0);
        let mut starts: u64 = runs;
        while starts != 0 {
            let value = slots[starts.trailing_zeros() as usize];
            starts &= starts - 1;
            values[count] = value;
            count += 1;
            children += (value >> 31) as usize;
        }
        const { assert!(NODE == 1 << 31, "counted by that bit") };
        let bits = if children > 0 { 32 } else { value_bits.into() };
        Self {
            runs,
            values,
            count,
            children,
            bits,
        }
    }

    /// Bit v says that slot v begins a run.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// The values, one for each run.
    pub(crate) fn values(&self) -> &[u32] {
        &self.values[..self.count]
    }

    /// Whether the values are pointers.
    pub(crate) fn is_wide(&self) -> bool {
        self.children > 0
    }

    /// Values that are next hops.
    pub(crate) fn leaves(&self) -> usize {
        self.count - self.children
    }

    /// The length in words.
    pub(crate) fn len(&self) -> usize {
        HEAD + (self.count * self.bits as usize).div_ceil(32)
    }

    /// Writes the block, `len` words.
    pub(crate) fn write(&self, words: &mut [u32]) {
        words[0] = self.runs as u32;
        words[1] = (self.runs >> 32) as u32;
        pack(self.values(), self.bits, &mut words[HEAD..]);
    }

    /// The pointer that leads to the block at `place`.
    pub(crate) fn pointer(&self, place: u32) -> u32 {
        NODE | if self.is_wide() { WIDE } else { 0 } | place
    }
}

/// The 64 slots of the block that `pointer` leads to.
///
/// `word` reads the arena: asked for words of the block only.
pub(crate) fn decode(pointer: u32, value_bits: u8, word: impl Fn(u32) -> u32) -> [u32; 64] {
    let place = pointer & PLACE;
    let bits = if pointer & WIDE != 0 {
        32
    } else {
        value_bits.into()
    };
    let mask = u64::from(u32::MAX >> (32 - bits));
    let mut runs = u64::from(word(place)) | u64::from(word(place + 1)) << 32;
    let mut slots = [0; 64];
    let mut next = place + HEAD as u32;
    // What is read and not yet used, the next value in its lowest bits.
    let (mut ready, mut left) = (0u64, 0);
    while runs != 0 {
        let start = runs.trailing_zeros() as usize;
        runs &= runs - 1;
        let end = if runs == 0 {
            64
        } else {
            runs.trailing_zeros() as usize
        };
        if left < bits {
            ready |= u64::from(word(next)) << left;
            next += 1;
            left += 32;
        }
        slots[start..end].fill((ready & mask) as u32);
        ready >>= bits;
        left -= bits;
    }
    slots
}

/// The length in words of the block that `pointer` leads to.
pub(crate) fn block_len(pointer: u32, value_bits: u8, runs: u64) -> usize {
    let bits = if pointer & WIDE != 0 {
        32
    } else {
        value_bits.into()
    };
    HEAD + (runs.count_ones() as usize * bits).div_ceil(32)
}

/// Writes each of `values` in `bits` bits, the first in the lowest bits of the first word.
fn pack(values: &[u32], bits: u32, words: &mut [u32]) {
    let (mut ready, mut left) = (0u64, 0);
    let mut next = 0;
    for value in values {
        ready |= u64::from(*value) << left;
        left += bits;
        if left >= 32 {
            words[next] = ready as u32;
            next += 1;
            ready >>= 32;
            left -= 32;
        }
    }
    if left > 0 {
        words[next] = ready as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 1
        };
        for value_bits in 1..=31u8 {
            let mask = u32::MAX >> (32 - u32::from(value_bits));
            for variety in [1, 2, 3, 64, 1000] {
                for children in [false, true] {
                    let mut slots = [0; 64];
                    for slot in 0..64 {
                        slots[slot] = if slot > 0 && random() % variety == 0 {
                            slots[slot - 1] & !NODE
                        } else {
                            random() & mask
                        };
                        if children && random() % 4 == 0 {
                            // Children differ, as places do.
                            slots[slot] = NODE | WIDE | (1000 + slot as u32);
                        }
                    }
                    if children {
                        slots[9] = NODE | 77;
                    }
                    let encoding = Encoding::of(&slots, value_bits);
                    assert_eq!(encoding.is_wide(), children);
                    let mut words = [u32::MAX; MAX_BLOCK];
                    encoding.write(&mut words);
                    let len = encoding.len();
                    assert!(words[len..].iter().all(|word| *word == u32::MAX));
                    let pointer = encoding.pointer(0);
                    assert_eq!(block_len(pointer, value_bits, encoding.runs()), len);
                    let decoded = decode(pointer, value_bits, |at| {
                        assert!((at as usize) < len, "inside the block");
                        words[at as usize]
                    });
                    assert_eq!(decoded, slots, "{value_bits} bits, children: {children}");
                }
            }
        }
    }
}
