//! Keys: addresses of any width, read from the most significant bit down.
//!
//! IPv4 is `u32`, IPv6 is `u128`, both in host order, so that the first bit on
//! the wire is the most significant bit here. `u8` and `u16` keys make
//! exhaustive tests possible, `u64` serves IPv6 networks without their host
//! half. One generic implementation serves all of them.

use core::fmt::{self, Debug};
use core::hash::Hash;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::ops::{BitAnd, BitOr, BitXor, Not, Shr};

/// Bits that a node resolves, in the Rib and in the Fib, so that both align: the
/// paper's k.
pub const STRIDE: u8 = 6;

mod sealed {
    /// A private part of [`Address`](super::Address).
    pub trait Sealed: Sized {
        fn keys(keys: &[Self]) -> KeySlice<'_>;
    }

    /// Keys, and which of the widths they have.
    pub enum KeySlice<'a> {
        U8(&'a [u8]),
        U16(&'a [u16]),
        U32(&'a [u32]),
        U64(&'a [u64]),
        U128(&'a [u128]),
    }
}
pub(crate) use sealed::KeySlice;

/// A key of [`WIDTH`](Address::WIDTH) bits: `u8`, `u16`, `u32` (IPv4), `u64` or `u128` (IPv6).
///
/// Bit offsets count from the most significant bit, as prefix lengths do.
/// The trait is sealed: the kernels know all its implementations.
pub trait Address:
    sealed::Sealed
    + Copy
    + Ord
    + Hash
    + Debug
    + Default
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shr<u8, Output = Self>
    + 'static
{
    /// The key as it stands in packets: its bytes in network order.
    type Bytes: Copy + Eq + Hash + Debug + Default + AsRef<[u8]> + Send + Sync + 'static;

    /// Width of the key in bits, 8 to 128.
    // Not `BITS`: the integer types have a constant of that name and another type, which would be taken instead, silently.
    const WIDTH: u8;
    /// The lowest address: all bits zero.
    const MIN: Self;
    /// The highest address: all bits one.
    const MAX: Self;

    /// The first `len` bits as a number; `len` is at most 32 and at most [`Self::WIDTH`].
    ///
    /// The index into the direct table (paper, Algorithm 3). Zero for `len` 0.
    fn leading(self, len: u8) -> u32;

    /// The `len` bits after the first `offset`, as a number; the paper's
    /// `extract(key, off, len)`.
    ///
    /// Bits past the end of the key read as zero, so the last, shorter chunk of
    /// a key is its bits shifted up. `len` is 1 to 8, `offset` below
    /// [`Self::WIDTH`].
    fn extract(self, offset: u8, len: u8) -> u32;

    /// The key without its first `count` bits: shifted up, zeros after.
    ///
    /// `count` below [`Self::WIDTH`]; a larger one wraps around, as the shift
    /// instructions do.
    fn skip_bits(self, count: u8) -> Self;

    /// A key whose first `len` bits are the low bits of `value`; the inverse of
    /// [`Self::leading`]. `len` at most 32 and at most [`Self::WIDTH`].
    fn from_leading(value: u32, len: u8) -> Self;

    /// The network mask of prefix length `len`: that many ones, then zeros.
    /// All ones from [`Self::WIDTH`] on.
    fn mask(len: u8) -> Self;

    /// Number of leading zero bits.
    fn leading_zeros(self) -> u8;

    /// The next higher address; `None` after [`Self::MAX`].
    fn checked_next(self) -> Option<Self>;

    /// The next lower address; `None` before [`Self::MIN`].
    fn checked_previous(self) -> Option<Self>;

    /// The key as a number in the low bits of a `u128`.
    fn to_u128(self) -> u128;

    /// The low [`Self::WIDTH`] bits of `value`.
    fn truncate(value: u128) -> Self;

    /// The key whose bytes in network order these are.
    fn from_be_bytes(bytes: Self::Bytes) -> Self;

    /// The key's bytes in network order.
    fn to_be_bytes(self) -> Self::Bytes;

    /// Reads the usual text form: dotted for `u32`, any legal IPv6 spelling for
    /// `u128`, decimal or `0x` hexadecimal for the other widths.
    fn parse(text: &str) -> Option<Self>;

    /// Writes the text form that [`Self::parse`] reads.
    fn format(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// The first 32 bits of a key, with zeros after a shorter one.
#[inline(always)]
pub(crate) fn leading_word<A: Address>(key: A) -> u32 {
    let bits = A::WIDTH.min(32);
    key.leading(bits) << (32 - bits)
}

macro_rules! address {
    ($type:ty, $keys:ident, $leading:expr, $parse:expr, $format:expr) => {
        impl sealed::Sealed for $type {
            #[inline(always)]
            fn keys(keys: &[Self]) -> KeySlice<'_> {
                KeySlice::$keys(keys)
            }
        }

        impl Address for $type {
            type Bytes = [u8; size_of::<$type>()];

            const WIDTH: u8 = <$type>::BITS as u8;
            const MIN: Self = <$type>::MIN;
            const MAX: Self = <$type>::MAX;

            #[inline(always)]
            fn leading(self, len: u8) -> u32 {
                debug_assert!(len <= Self::WIDTH.min(32));
                let leading: fn(Self, u32) -> u32 = $leading;
                leading(self, u32::from(len))
            }

            #[inline(always)]
            fn extract(self, offset: u8, len: u8) -> u32 {
                debug_assert!((1..=8).contains(&len) && offset < Self::WIDTH);
                (self.wrapping_shl(u32::from(offset)) >> (Self::WIDTH - len)) as u32
            }

            #[inline(always)]
            fn skip_bits(self, count: u8) -> Self {
                self.wrapping_shl(u32::from(count))
            }

            #[inline]
            fn from_leading(value: u32, len: u8) -> Self {
                debug_assert!(len <= Self::WIDTH.min(32));
                if len == 0 {
                    0
                } else {
                    (value as $type) << (Self::WIDTH - len)
                }
            }

            #[inline]
            fn mask(len: u8) -> Self {
                !Self::MAX.checked_shr(u32::from(len)).unwrap_or(0)
            }

            #[inline]
            fn leading_zeros(self) -> u8 {
                <$type>::leading_zeros(self) as u8
            }

            #[inline]
            fn checked_next(self) -> Option<Self> {
                self.checked_add(1)
            }

            #[inline]
            fn checked_previous(self) -> Option<Self> {
                self.checked_sub(1)
            }

            #[inline]
            fn to_u128(self) -> u128 {
                self as u128
            }

            #[inline]
            fn truncate(value: u128) -> Self {
                value as $type
            }

            #[inline(always)]
            fn from_be_bytes(bytes: Self::Bytes) -> Self {
                <$type>::from_be_bytes(bytes)
            }

            #[inline(always)]
            fn to_be_bytes(self) -> Self::Bytes {
                <$type>::to_be_bytes(self)
            }

            fn parse(text: &str) -> Option<Self> {
                let parse: fn(&str) -> Option<Self> = $parse;
                parse(text)
            }

            fn format(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let format: fn(Self, &mut fmt::Formatter<'_>) -> fmt::Result = $format;
                format(self, f)
            }
        }
    };
}

/// Decimal, or hexadecimal after `0x`, for the widths without a text form of their own.
fn parse_number(text: &str, bits: u32) -> Option<u128> {
    let value = match text.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok()?,
        None => text.parse().ok()?,
    };
    (value >> bits == 0).then_some(value)
}

// Keys up to 32 bits: one shift in 64 bits, where a shift by the whole width
// (len 0) is still defined; no branch on the direct bits being 0. Wider keys
// have to split that shift in two.
//
// The first bits of narrow keys by `63 - len` and not by `WIDTH - len`: for that compilers write to
// the lowest byte of a register only, which then waits for whatever was in it, often the answer of
// the lookup before (docs/experiments/updates.md).
address!(
    u8,
    U8,
    |key, len| ((u64::from(key) << 55) >> (63 - len)) as u32,
    |text| parse_number(text, 8).map(|n| n as u8),
    |key, f| write!(f, "{key:#04x}")
);
address!(
    u16,
    U16,
    |key, len| ((u64::from(key) << 47) >> (63 - len)) as u32,
    |text| parse_number(text, 16).map(|n| n as u16),
    |key, f| write!(f, "{key:#06x}")
);
address!(
    u32,
    U32,
    |key, len| ((u64::from(key) << 31) >> (63 - len)) as u32,
    |text| text.parse::<Ipv4Addr>().ok().map(u32::from),
    |key, f| fmt::Display::fmt(&Ipv4Addr::from(key), f)
);
address!(
    u64,
    U64,
    |key, len| ((key >> 1) >> (63 - len)) as u32,
    |text| parse_number(text, 64).map(|n| n as u64),
    |key, f| write!(f, "{key:#018x}")
);
address!(
    u128,
    U128,
    |key, len| (((key >> 65) as u64) >> (63 - len)) as u32,
    |text| text.parse::<Ipv6Addr>().ok().map(u128::from),
    |key, f| fmt::Display::fmt(&Ipv6Addr::from(key), f)
);

#[cfg(test)]
mod tests {
    use super::*;

    fn widths_agree<A: Address>() {
        for offset in 0..A::WIDTH {
            let ones = A::MAX.skip_bits(offset);
            let kept = u32::from((A::WIDTH - offset).min(6));
            // The last chunks are padded with zeros below.
            assert_eq!(A::MAX.extract(offset, 6), ((1 << kept) - 1) << (6 - kept));
            assert_eq!(ones.extract(0, 6), A::MAX.extract(offset, 6));
        }
        for len in 0..=A::WIDTH.min(32) {
            assert_eq!(A::MIN.leading(len), 0);
            assert_eq!(u64::from(A::MAX.leading(len)), (1u64 << len) - 1);
            assert_eq!(A::from_leading(A::MAX.leading(len), len), A::mask(len));
        }
        assert_eq!(A::mask(0), A::MIN);
        assert_eq!(A::mask(A::WIDTH), A::MAX);
        assert_eq!(A::MIN.leading_zeros(), A::WIDTH);
        assert_eq!(A::MAX.checked_next(), None);
        assert_eq!(A::MIN.checked_previous(), None);
    }

    #[test]
    fn every_width_reads_bits_from_the_top() {
        widths_agree::<u8>();
        widths_agree::<u16>();
        widths_agree::<u32>();
        widths_agree::<u64>();
        widths_agree::<u128>();
    }
}
