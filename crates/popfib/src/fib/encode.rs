//! Blocks from slots and back: what a block's 64 slots are in words.
//!
//! `layout.rs` describes the format. A slot here is a pointer: a next hop, or the
//! place of a block.

use super::layout::{NODE, PLACE, WIDE};

/// Words in front of a block's values: its `runs`.
pub(crate) const HEAD: usize = 2;

/// The longest block: 64 values of 32 bits.
pub(crate) const MAX_BLOCK: usize = HEAD + 64;

/// The longest block that [`put`] makes: few are longer, and to clear the words for all of these takes longer than the rest.
pub(crate) const MAX_PUT: usize = 32;

/// A block as its values, one for each run of equal slots.
#[derive(Debug, PartialEq)]
pub(crate) struct BlockEncoding {
    runs: u64,
    values: [u32; 64],
    count: usize,
    children: usize,
    /// Bits of a value.
    bits: u32,
}

impl BlockEncoding {
    /// The block of `slots`; `value_bits` is the width of narrow values.
    pub(crate) fn of(slots: &[u32; 64], value_bits: u8) -> Self {
        let mut runs = 1;
        for slot in 1..64 {
            // Children differ from each other, so each is a run of its own.
            runs |= u64::from(slots[slot] != slots[slot - 1]) << slot;
        }
        let mut values = [0; 64];
        let mut count = 0;
        let mut starts: u64 = runs;
        while starts != 0 {
            values[count] = slots[starts.trailing_zeros() as usize];
            starts &= starts - 1;
            count += 1;
        }
        Self::new(runs, values, count, value_bits)
    }

    /// The block that `pointer` leads to.
    ///
    /// `word` reads the arena: asked for words of the block only.
    #[inline]
    pub(crate) fn read(pointer: u32, value_bits: u8, word: impl Fn(u32) -> u32) -> Self {
        let place = pointer & PLACE;
        let bits = if pointer & WIDE != 0 {
            32
        } else {
            value_bits.into()
        };
        let mask = u64::from(u32::MAX >> (32 - bits));
        let runs = u64::from(word(place)) | u64::from(word(place + 1)) << 32;
        let count = runs.count_ones() as usize;
        let mut values = [0; 64];
        let mut next = place + HEAD as u32;
        // What is read and not yet used, the next value in its lowest bits.
        let (mut ready, mut left) = (0u64, 0);
        for value in &mut values[..count] {
            if left < bits {
                ready |= u64::from(word(next)) << left;
                next += 1;
                left += 32;
            }
            *value = (ready & mask) as u32;
            ready >>= bits;
            left -= bits;
        }
        Self::new(runs, values, count, value_bits)
    }

    fn new(runs: u64, values: [u32; 64], count: usize, value_bits: u8) -> Self {
        const { assert!(NODE == 1 << 31, "counted by that bit") };
        let children = values[..count]
            .iter()
            .map(|value| (value >> 31) as usize)
            .sum();
        Self {
            runs,
            values,
            count,
            children,
            bits: if children > 0 { 32 } else { value_bits.into() },
        }
    }

    /// The block with `value` in the `len` slots from `first` on.
    pub(crate) fn with(&self, first: usize, len: usize, value: u32, value_bits: u8) -> Self {
        let end = first + len;
        let mut runs = self.runs & !(u64::MAX << first);
        let mut values = [0; 64];
        let mut count = if first == 0 {
            0
        } else {
            self.rank(first - 1) + 1
        };
        values[..count].copy_from_slice(&self.values[..count]);
        if count == 0 || values[count - 1] != value {
            runs |= 1 << first;
            values[count] = value;
            count += 1;
        }
        if end < 64 {
            // What slot `end` has goes on, as a run of its own unless it is equal.
            let mut right = self.rank(end);
            if self.values[right] == value {
                right += 1;
            } else {
                runs |= 1 << end;
            }
            runs |= self.runs & (u64::MAX << end << 1);
            let rest = &self.values[right..self.count];
            values[count..][..rest.len()].copy_from_slice(rest);
            count += rest.len();
        }
        Self::new(runs, values, count, value_bits)
    }

    /// What `slot` holds.
    pub(crate) fn slot(&self, slot: usize) -> u32 {
        self.values[self.rank(slot)]
    }

    /// The 64 slots.
    pub(crate) fn slots(&self) -> [u32; 64] {
        core::array::from_fn(|slot| self.slot(slot))
    }

    /// Which value is that of `slot`.
    fn rank(&self, slot: usize) -> usize {
        rank(self.runs, slot as u32) as usize
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

/// What `slot` of the block that `pointer` leads to holds, and the word that it is in.
///
/// `word` reads the arena: asked for words of the block only.
pub(crate) fn slot(
    pointer: u32,
    value_bits: u8,
    slot: u32,
    word: impl Fn(u32) -> u32,
) -> (u32, u32) {
    let place = pointer & PLACE;
    let runs = u64::from(word(place)) | u64::from(word(place + 1)) << 32;
    let (rank, first) = (rank(runs, slot), place + HEAD as u32);
    if pointer & WIDE != 0 {
        return (first + rank, word(first + rank));
    }
    let bits = u32::from(value_bits);
    let (start, last) = (rank * bits, (rank + 1) * bits - 1);
    let at = first + start / 32;
    let both = u64::from(word(at)) | u64::from(word(first + last / 32)) << 32;
    let mask = u32::MAX >> (32 - bits);
    (at, (both >> (start % 32)) as u32 & mask)
}

/// Puts `new` into the `len` slots from `first` on of the block that `pointer` leads to, where these are in one run and hold
/// another leaf; returns the words of `to` that are the block then. `None` where they are not, where the block would
/// become one leaf or have its first child, and where it is long.
///
/// As [`BlockEncoding::with`], without a look at all other values: these are moved as they are packed.
///
/// `word` reads the arena: asked for words of the block only.
#[inline(always)]
pub(crate) fn put(
    pointer: u32,
    value_bits: u8,
    (first, len): (u32, u32),
    new: u32,
    word: impl Fn(u32) -> u32,
    to: &mut [u32; MAX_PUT],
) -> Option<usize> {
    let bits = if pointer & WIDE != 0 {
        32
    } else {
        u32::from(value_bits)
    };
    let mask = u32::MAX >> (32 - bits);
    let place = pointer & PLACE;
    let runs = u64::from(word(place)) | u64::from(word(place + 1)) << 32;
    let (values, count) = (place + HEAD as u32, runs.count_ones());
    // So many bits (1 to 32) of the values, from a bit on.
    let packed = |from: u32, count: u32| {
        let low = word(values + from / 32) >> (from % 32);
        let high = match from % 32 + count > 32 {
            true => word(values + from / 32 + 1) << (32 - from % 32),
            false => 0,
        };
        (low | high) & (u32::MAX >> (32 - count))
    };
    let value = |rank: u32| packed(rank * bits, bits);
    let (at, end) = (rank(runs, first), first + len);
    let old = value(at);
    let begins_within = (runs >> first >> 1) & ((1 << (len - 1)) - 1) != 0;
    let has_first_child = new & NODE != 0 && bits < 32;
    let is_long = (count + 2) * bits > 32 * (MAX_PUT - HEAD) as u32;
    if begins_within || old & NODE != 0 || old == new || has_first_child || is_long {
        return None;
    }
    let begins = runs >> first & 1 != 0;
    let ends = end == 64 || runs >> end & 1 != 0;
    // Equal neighbours become one run with it. No branch here or below depends on what blocks hold: the CPU could not foretell it.
    let joins_left = begins & (first > 0) & (value(at.saturating_sub(1)) == new);
    let joins_right = ends & (end < 64) & (value((at + 1).min(count - 1)) == new);
    let mut new_runs = runs & !(1 << first) | u64::from(!joins_left) << first;
    if end < 64 {
        new_runs = new_runs & !(1 << end) | u64::from(!joins_right) << end;
    }
    if new_runs == 1 {
        return None;
    }
    to[0] = new_runs as u32;
    to[1] = (new_runs >> 32) as u32;
    let kept = (at + u32::from(!begins)) * bits;
    let whole = kept / 32;
    for (to, at) in to[HEAD..].iter_mut().zip(values..values + whole) {
        *to = word(at);
    }
    let mut next = HEAD + whole as usize;
    let (mut ready, mut left) = (0, kept % 32);
    if left > 0 {
        ready = u64::from(packed(kept - left, left));
    }
    // At most 32 bits.
    let mut write = |value: u32, bits: u32| {
        ready |= u64::from(value) << left;
        left += bits;
        to[next] = ready as u32;
        next += (left / 32) as usize;
        ready >>= left / 32 * 32;
        left %= 32;
    };
    let (one, other) = (u32::from(!joins_left), u32::from(!ends));
    write(new & mask & one.wrapping_neg(), bits * one);
    write(old & other.wrapping_neg(), bits * other);
    let mut from = (at + 1 + u32::from(joins_right)) * bits;
    let rest = count * bits;
    while from < rest {
        let count = (rest - from).min(32);
        write(packed(from, count), count);
        from += count;
    }
    if left > 0 {
        to[next] = ready as u32;
        next += 1;
    }
    Some(next)
}

/// A block of one value in some slots, and a leaf around it.
pub(crate) struct OneValueBlock {
    words: [u32; HEAD + 3],
    len: usize,
    /// Values, and those of them that are children.
    count: usize,
    children: usize,
}

impl OneValueBlock {
    /// The block with `value` in the `len` slots from `first` on, and `around` in all others; the two are equal only without aggregation.
    pub(crate) fn new(value_bits: u8, (first, len): (u8, u8), value: u32, around: u32) -> Self {
        let end = first + len;
        let (mut runs, mut values, mut count) = (1u64, [around; 3], 1);
        if value != around {
            count += usize::from(first > 0);
            values[count - 1] = value;
            runs |= 1 << first;
            if end < 64 {
                runs |= 1 << end;
                count += 1;
            }
        }
        let children = usize::from(value & NODE != 0);
        let bits = if children > 0 {
            32
        } else {
            u32::from(value_bits)
        };
        let mut words = [runs as u32, (runs >> 32) as u32, 0, 0, 0];
        pack(&values[..count], bits, &mut words[HEAD..]);
        Self {
            words,
            len: HEAD + (count * bits as usize).div_ceil(32),
            count,
            children,
        }
    }

    pub(crate) fn words(&self) -> &[u32] {
        &self.words[..self.len]
    }

    /// Values that are next hops.
    pub(crate) fn leaves(&self) -> usize {
        self.count - self.children
    }

    /// The pointer that leads to the block at `place`.
    pub(crate) fn pointer(&self, place: u32) -> u32 {
        NODE | if self.children > 0 { WIDE } else { 0 } | place
    }
}

/// Which value of a block with these `runs` is that of `slot`.
#[inline(always)]
fn rank(runs: u64, slot: u32) -> u32 {
    (runs << (63 - slot)).count_ones() - 1
}

/// The length in words of the block that `pointer` leads to.
#[inline(always)]
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
        let (mut state, mut puts) = (1u32, 0);
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
                    let encoding = BlockEncoding::of(&slots, value_bits);
                    assert_eq!(encoding.is_wide(), children);
                    let mut words = [u32::MAX; MAX_BLOCK];
                    encoding.write(&mut words);
                    let len = encoding.len();
                    let words_len = len;
                    assert!(words[len..].iter().all(|word| *word == u32::MAX));
                    let pointer = encoding.pointer(0);
                    assert_eq!(block_len(pointer, value_bits, encoding.runs()), len);
                    let decoded = BlockEncoding::read(pointer, value_bits, |at| {
                        assert!((at as usize) < len, "inside the block");
                        words[at as usize]
                    });
                    let what = format!("{value_bits} bits, children: {children}");
                    assert_eq!(decoded, encoding, "{what}");
                    assert_eq!(decoded.slots(), slots, "{what}");
                    for (at, expected) in (0..).zip(slots) {
                        let (_, found) = slot(pointer, value_bits, at, |at| {
                            assert!((at as usize) < len, "inside the block");
                            words[at as usize]
                        });
                        assert_eq!(found, expected, "{what}, slot {at}");
                    }
                    // Each part of the block set to a value of its own, a neighbour's, or a child.
                    for level in 0..=6 {
                        let len = 64 >> level;
                        for first in (0..64).step_by(len) {
                            let near = slots[(first + len) % 64] & !NODE;
                            for value in [near & mask, random() & mask, NODE | WIDE | 99] {
                                slots[first..][..len].fill(value);
                                if value & NODE == 0 || len == 1 {
                                    let with = decoded.with(first, len, value, value_bits);
                                    let expected = BlockEncoding::of(&slots, value_bits);
                                    assert_eq!(with, expected, "{what}, {len} from {first}");
                                }
                                let range = (first as u32, len as u32);
                                let mut to = [0; MAX_PUT];
                                let word = |at: u32| {
                                    assert!((at as usize) < words_len, "inside the block");
                                    words[at as usize]
                                };
                                let put = put(pointer, value_bits, range, value, word, &mut to);
                                let before = decoded.slots();
                                let before = &before[first..][..len];
                                let is_leaf = before[0] & NODE == 0 && before[0] != value;
                                let is_one = before.iter().all(|slot| *slot == before[0]);
                                let after = BlockEncoding::of(&slots, value_bits);
                                let stays = after.count > 1;
                                let fits = value & NODE == 0 || children && len == 1;
                                let most = decoded.count as u32 + 2;
                                let is_short = most * decoded.bits <= 32 * (MAX_PUT - HEAD) as u32;
                                let can = fits && is_leaf && is_one && stays && is_short;
                                if value & NODE == 0 || len == 1 {
                                    assert_eq!(put.is_some(), can, "{what}, {len} from {first}");
                                }
                                if let Some(len) = put.filter(|_| can) {
                                    let mut expected = [0; MAX_BLOCK];
                                    after.write(&mut expected);
                                    assert_eq!(to[..len], expected[..after.len()], "{what}");
                                    puts += 1;
                                }
                                let mut around = [near & mask; 64];
                                around[first..][..len].fill(value);
                                if value & NODE == 0 || len == 1 {
                                    let after = BlockEncoding::of(&around, value_bits);
                                    let range = (first as u8, len as u8);
                                    let one =
                                        OneValueBlock::new(value_bits, range, value, near & mask);
                                    let mut expected = [0; MAX_BLOCK];
                                    after.write(&mut expected);
                                    assert_eq!(one.words(), &expected[..after.len()], "{what}");
                                    assert_eq!(one.pointer(7), after.pointer(7));
                                    assert_eq!(one.leaves(), after.leaves());
                                }
                                slots = decoded.slots();
                            }
                        }
                    }
                }
            }
        }
        assert!(puts > 10_000, "{puts}");
    }
}
