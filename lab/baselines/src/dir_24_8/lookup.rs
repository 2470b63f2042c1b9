//! Lookup in a DIR-24-8 table, without checks of indices.

use popfib::Address;

use super::BLOCK;
use crate::loops::Find;
use crate::loops::prefetch;

/// The two tables.
///
/// Invariants, by `build`, the only maker: TBL24 has 2^24 entries; a block that
/// one of them numbers has its 256 entries in TBLlong.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) tbl24: &'a [u16],
    pub(super) tbl_long: &'a [u16],
}

/// How many addresses a batch asks for ahead.
const AHEAD: usize = 16;

impl View<'_> {
    #[inline(always)]
    fn index<A: Address>(address: A) -> usize {
        address.leading(24) as usize
    }

    /// Looks up one address while the lines of those after it are on their way.
    pub(super) fn batch<A: Address>(self, addresses: &[A], next_hops: &mut [u32]) {
        for address in addresses.iter().take(AHEAD) {
            prefetch(self.tbl24, Self::index(*address));
        }
        let ahead = addresses.iter().skip(AHEAD).map(Some);
        let ahead = ahead.chain(std::iter::repeat(None));
        for ((address, next_hop), ahead) in addresses.iter().zip(next_hops).zip(ahead) {
            if let Some(ahead) = ahead {
                prefetch(self.tbl24, Self::index(*ahead));
            }
            *next_hop = self.find(*address);
        }
    }
}

impl<A: Address> Find<A> for View<'_> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let index = Self::index(address);
        debug_assert!(index < self.tbl24.len());
        // SAFETY: TBL24 has an entry for all that 24 bits can be.
        let entry = unsafe { *self.tbl24.get_unchecked(index) };
        if entry & BLOCK == 0 {
            return entry.into();
        }
        let host = address.extract(24, 8) as usize;
        let index = usize::from(entry & !BLOCK) << 8 | host;
        debug_assert!(index < self.tbl_long.len());
        // SAFETY: each block has its 256 entries.
        unsafe { *self.tbl_long.get_unchecked(index) }.into()
    }
}
