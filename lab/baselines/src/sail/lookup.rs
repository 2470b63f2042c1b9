//! Lookup in the three levels of SAIL_L, without checks of indices.

use popfib::Address;

use super::DEEPER;
use crate::loops::Find;
use crate::loops::prefetch;

/// The arrays.
///
/// Invariants, by `build`, the only maker: BCN16 has 2^16 entries; a chunk that
/// it numbers has its 256 entries in BN24 and in C24; one that C24 numbers,
/// where BN24 says that routes go on, has them in N32.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) bcn16: &'a [u16],
    pub(super) bn24: &'a [u16],
    pub(super) c24: &'a [u32],
    pub(super) n32: &'a [u16],
}

/// Addresses of a batch that are in one level at the same time.
const GROUP: usize = 32;

impl View<'_> {
    #[inline(always)]
    fn first<A: Address>(self, address: A) -> u16 {
        let index = address.leading(16) as usize;
        debug_assert!(index < self.bcn16.len());
        // SAFETY: BCN16 has an entry for all that 16 bits can be.
        unsafe { *self.bcn16.get_unchecked(index) }
    }

    /// The entry of level 24 that `address` and its entry of level 16 lead to.
    #[inline(always)]
    fn second<A: Address>(address: A, entry: u16) -> usize {
        usize::from(entry & !DEEPER) << 8 | address.extract(16, 8) as usize
    }

    /// The next hop from the entry of level 24 on.
    #[inline(always)]
    fn rest<A: Address>(self, address: A, second: usize) -> u32 {
        debug_assert!(second < self.bn24.len());
        // SAFETY: a chunk of level 24 has its 256 entries.
        let entry = unsafe { *self.bn24.get_unchecked(second) };
        if entry & DEEPER == 0 {
            return entry.into();
        }
        // SAFETY: C24 is as long as BN24.
        let chunk = unsafe { *self.c24.get_unchecked(second) } as usize;
        let third = chunk << 8 | address.extract(24, 8) as usize;
        debug_assert!(third < self.n32.len());
        // SAFETY: a chunk of level 32 has its 256 entries.
        unsafe { *self.n32.get_unchecked(third) }.into()
    }

    /// All of a group in level 16, then all that go on: their lines are on their
    /// way at the same time.
    pub(super) fn batch<A: Address>(self, addresses: &[A], next_hops: &mut [u32]) {
        let groups = addresses.chunks(GROUP).zip(next_hops.chunks_mut(GROUP));
        for (addresses, next_hops) in groups {
            let mut seconds = [0; GROUP];
            for ((address, next_hop), second) in
                addresses.iter().zip(&mut *next_hops).zip(&mut seconds)
            {
                let entry = self.first(*address);
                *next_hop = entry.into();
                if entry & DEEPER != 0 {
                    *second = Self::second(*address, entry);
                    prefetch(self.bn24, *second);
                }
            }
            for ((address, next_hop), second) in addresses.iter().zip(next_hops).zip(seconds) {
                if *next_hop & u32::from(DEEPER) != 0 {
                    *next_hop = self.rest(*address, second);
                }
            }
        }
    }
}

impl<A: Address> Find<A> for View<'_> {
    #[inline(always)]
    fn find(self, address: A) -> u32 {
        let entry = self.first(address);
        if entry & DEEPER == 0 {
            return entry.into();
        }
        self.rest(address, Self::second(address, entry))
    }
}
