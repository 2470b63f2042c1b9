//! Next hops: the small numbers that routes point to.

use core::fmt::Debug;
use core::hash::Hash;
use core::num::NonZeroU32;

/// The number of a next hop, 1 or more. 0 is "no route" wherever a bare number is returned.
///
/// The library carries the number only; what it stands for (an address, an AS,
/// a tenant) is the caller's, or [`IpMap`](crate::IpMap)'s.
pub type NextHop = NonZeroU32;

/// The width in which a [`Fib`](crate::Fib) stores next hops: `u16` or `u32`; 0 is "no route".
pub trait Leaf:
    sealed::Sealed + Copy + Eq + Hash + Debug + Default + Send + Sync + 'static
{
    /// The highest next hop that this width holds. For `u32` one bit less than
    /// the type: a direct entry marks its kind in the most significant bit.
    const MAX: u32;

    /// The leaf of a next hop (0 for none) known to be at most [`Leaf::MAX`].
    fn from_u32(next_hop: u32) -> Self;

    /// The next hop as a number, 0 for none.
    fn to_u32(self) -> u32;
}

pub(crate) use sealed::LeafSlice;

mod sealed {
    /// A private part of [`Leaf`](super::Leaf).
    pub trait Sealed: Sized {
        /// The leaf of a pointer that is a next hop; of another any number.
        fn from_pointer(pointer: u32) -> Self;

        fn leaves(leaves: &mut [Self]) -> LeafSlice<'_>;
    }

    /// Leaves, and which of the widths they have.
    pub enum LeafSlice<'a> {
        U16(&'a mut [u16]),
        U32(&'a mut [u32]),
    }

    impl Sealed for u16 {
        #[inline(always)]
        fn from_pointer(pointer: u32) -> Self {
            pointer as Self
        }

        #[inline(always)]
        fn leaves(leaves: &mut [Self]) -> LeafSlice<'_> {
            LeafSlice::U16(leaves)
        }
    }

    impl Sealed for u32 {
        #[inline(always)]
        fn from_pointer(pointer: u32) -> Self {
            pointer
        }

        #[inline(always)]
        fn leaves(leaves: &mut [Self]) -> LeafSlice<'_> {
            LeafSlice::U32(leaves)
        }
    }
}

impl Leaf for u16 {
    const MAX: u32 = u16::MAX as u32;

    #[inline(always)]
    fn from_u32(next_hop: u32) -> Self {
        debug_assert!(next_hop <= Self::MAX as u32);
        next_hop as Self
    }

    #[inline(always)]
    fn to_u32(self) -> u32 {
        u32::from(self)
    }
}

impl Leaf for u32 {
    const MAX: u32 = u32::MAX >> 1;

    #[inline(always)]
    fn from_u32(next_hop: u32) -> Self {
        debug_assert!(next_hop <= <Self as Leaf>::MAX);
        next_hop
    }

    #[inline(always)]
    fn to_u32(self) -> u32 {
        self
    }
}
