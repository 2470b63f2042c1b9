//! Lookup in a DXR structure, without checks of indices.

use popfib::Address;

use super::{Form, NEXT_HOP_BITS};
use crate::loops::Find;

/// The two tables, the range table also in the short format.
///
/// Invariants, by `build`, the only maker: the lookup table has `2^bits` words;
/// where one has a number of entries, they lie inside the range table, sorted,
/// and the first has the start 0.
#[derive(Clone, Copy)]
pub struct View<'a, A, const MODIFIED: bool> {
    pub(super) table: &'a [u32],
    pub(super) entries: &'a [A],
    pub(super) shorts: &'a [u16],
    pub(super) bits: u8,
}

/// The last of `count` sorted entries from `first` on that is not above `key`;
/// the first one never is.
///
/// # Safety
/// The entries lie inside the slice; `count` is not 0.
#[inline(always)]
unsafe fn last_not_above<T: Copy + Ord>(entries: &[T], first: usize, count: u32, key: T) -> T {
    debug_assert!(count > 0 && first + count as usize <= entries.len());
    let mut at = first;
    let mut left = count as usize;
    while left > 1 {
        let half = left / 2;
        // SAFETY: `at + left` never grows, so this stays inside.
        let middle = unsafe { *entries.get_unchecked(at + half) };
        // A conditional move.
        at = std::hint::select_unpredictable(middle <= key, at + half, at);
        left -= half;
    }
    // SAFETY: as above.
    unsafe { *entries.get_unchecked(at) }
}

impl<A: Address, const MODIFIED: bool> Find<A> for View<'_, A, MODIFIED> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let index = address.leading(self.bits) as usize;
        debug_assert!(index < self.table.len());
        // SAFETY: the table has a word for all that so many bits can be.
        let word = unsafe { *self.table.get_unchecked(index) };
        let count = word & ((1 << Form::<A, MODIFIED>::COUNT_BITS) - 1);
        let index = (word >> Form::<A, MODIFIED>::BELOW_INDEX) as usize;
        if count == 0 {
            return index as u32;
        }
        let start = address.skip_bits(self.bits);
        if Form::<A, MODIFIED>::SHORT && word & Form::<A, MODIFIED>::SHORT_MARK != 0 {
            let key = (start.leading(8) << 8 | 0xff) as u16;
            // SAFETY: the chunk's entries, two for each long one.
            let entry = unsafe { last_not_above(self.shorts, 2 * index, count + 1, key) };
            return u32::from(entry & 0xff);
        }
        let mask = A::truncate((1 << NEXT_HOP_BITS) - 1);
        // SAFETY: the chunk's entries.
        let entry = unsafe { last_not_above(self.entries, index, count + 1, start | mask) };
        (entry & mask).to_u128() as u32
    }
}
