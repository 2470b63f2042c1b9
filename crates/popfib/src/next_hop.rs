//! Next hops: the small numbers that routes point to.

use core::num::NonZeroU32;

/// The number of a next hop, 1 or more. 0 is "no route" wherever a bare number is returned.
///
/// The library carries the number only; what it stands for (an address, an AS,
/// a tenant) is the caller's, or [`IpMap`](crate::IpMap)'s. In a [`Fib`](crate::Fib) it is at most 2^31 - 1.
pub type NextHop = NonZeroU32;

/// The highest next hop of a Fib: a pointer marks its kind in the most significant bit.
pub(crate) const MAX_NEXT_HOP: u32 = u32::MAX >> 1;
