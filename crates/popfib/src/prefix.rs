//! Prefixes: the first `len` bits of an address, always in canonical form.
//!
//! No bit beyond the length is ever set, so two prefixes are the same network
//! exactly if they compare equal. They order as a walk of the binary tree
//! meets them: by address, a covering prefix before what it covers.

use core::error::Error;
use core::fmt;
use core::iter;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use crate::address::Address;

/// A network of `A`: an address whose bits beyond the first `len` are zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Prefix<A> {
    // The order of the fields is the order of prefixes: bits, then length.
    bits: A,
    len: u8,
}

impl<A: Address> Prefix<A> {
    /// The prefix of length 0, which holds every address.
    pub const DEFAULT_ROUTE: Self = Self {
        bits: A::MIN,
        len: 0,
    };

    /// The prefix `bits/len`.
    ///
    /// # Errors
    /// [`PrefixError::Length`] for a length beyond the key's width,
    /// [`PrefixError::HostBits`] if a bit beyond the length is set; see
    /// [`Prefix::new_masked`].
    #[inline]
    pub fn new(bits: A, len: u8) -> Result<Self, PrefixError> {
        let prefix = Self::new_masked(bits, len)?;
        if prefix.bits != bits {
            return Err(PrefixError::HostBits);
        }
        Ok(prefix)
    }

    /// The prefix of length `len` that holds the address `bits`; host bits are cleared.
    ///
    /// # Errors
    /// [`PrefixError::Length`] for a length beyond the key's width.
    #[inline]
    pub fn new_masked(bits: A, len: u8) -> Result<Self, PrefixError> {
        if len > A::WIDTH {
            return Err(PrefixError::Length { max: A::WIDTH });
        }
        Ok(Self::clamped(bits, len))
    }

    /// [`Prefix::new_masked`] where the length is known to fit.
    #[inline]
    pub(crate) fn clamped(bits: A, len: u8) -> Self {
        debug_assert!(len <= A::WIDTH);
        Self {
            bits: bits & A::mask(len),
            len,
        }
    }

    /// The prefix that holds this one address.
    #[inline]
    pub fn host(address: A) -> Self {
        Self {
            bits: address,
            len: A::WIDTH,
        }
    }

    /// The prefix `bits` under a network mask written as an address (`255.255.0.0`).
    ///
    /// # Errors
    /// [`PrefixError::Mask`] if the mask's ones are not contiguous: a
    /// longest-prefix match has no meaning for such a mask;
    /// [`PrefixError::HostBits`] as for [`Prefix::new`].
    pub fn with_mask(bits: A, mask: A) -> Result<Self, PrefixError> {
        Self::new(bits, mask_len(mask)?)
    }

    /// The network address: the first address of the prefix.
    #[inline]
    pub fn address(&self) -> A {
        self.bits
    }

    /// The prefix length in bits.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // a prefix always holds an address
    pub fn len(&self) -> u8 {
        self.len
    }

    /// The first address; the same as [`Prefix::address`].
    #[inline]
    pub fn first(&self) -> A {
        self.bits
    }

    /// The last address (for IPv4, the broadcast address).
    #[inline]
    pub fn last(&self) -> A {
        self.bits | !A::mask(self.len)
    }

    /// Whether `address` is in this prefix.
    #[inline]
    pub fn contains(&self, address: A) -> bool {
        address & A::mask(self.len) == self.bits
    }

    /// Whether every address of `other` is in this prefix; a prefix covers itself.
    #[inline]
    pub fn covers(&self, other: &Self) -> bool {
        self.len <= other.len && self.contains(other.bits)
    }

    /// The prefixes of length `len` that this prefix is made of, in order; none if it is longer, or `len` beyond the key's width.
    ///
    /// ```
    /// use popfib::Prefix;
    ///
    /// let prefix: Prefix<u32> = "10.0.0.0/23".parse()?;
    /// assert!(prefix.subnets(24).eq(["10.0.0.0/24".parse()?, "10.0.1.0/24".parse()?]));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn subnets(&self, len: u8) -> impl Iterator<Item = Self> + use<A> {
        let is_part = (self.len..=A::WIDTH).contains(&len);
        let first = is_part.then(|| Self::clamped(self.bits, len));
        let last = self.last();
        iter::successors(first, move |prefix| {
            let next = prefix.last().checked_next()?;
            (next <= last).then(|| Self::clamped(next, len))
        })
    }

    /// Reads `ADDRESS/LENGTH`, `ADDRESS/MASK`, or `ADDRESS` for a host prefix, and
    /// clears host bits.
    ///
    /// # Errors
    /// As [`Prefix::from_str`], but never [`PrefixError::HostBits`].
    pub fn parse_masked(text: &str) -> Result<Self, PrefixError> {
        let (bits, len) = split::<A>(text)?;
        Self::new_masked(bits, len)
    }
}

/// The length of a network mask.
fn mask_len<A: Address>(mask: A) -> Result<u8, PrefixError> {
    let len = (!mask).leading_zeros();
    if A::mask(len) != mask {
        return Err(PrefixError::Mask);
    }
    Ok(len)
}

/// The address and length of `ADDRESS[/LENGTH]`, the length possibly too long
/// or written as a mask.
fn split<A: Address>(text: &str) -> Result<(A, u8), PrefixError> {
    let (address, len) = match text.split_once('/') {
        Some((address, len)) => (address, Some(len)),
        None => (text, None),
    };
    let bits = A::parse(address).ok_or(PrefixError::Address)?;
    let len = match len {
        None => A::WIDTH,
        // `u8::from_str` alone would take a sign.
        Some(len) if !len.is_empty() && len.bytes().all(|b| b.is_ascii_digit()) => {
            len.parse().unwrap_or(u8::MAX)
        }
        Some(mask) => mask_len(A::parse(mask).ok_or(PrefixError::LengthText)?)?,
    };
    Ok((bits, len))
}

impl<A: Address> FromStr for Prefix<A> {
    type Err = PrefixError;

    /// Reads `ADDRESS/LENGTH`, `ADDRESS/MASK` as by [`Prefix::with_mask`], or
    /// `ADDRESS` for a host prefix.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (bits, len) = split::<A>(text)?;
        Self::new(bits, len)
    }
}

impl<A: Address> fmt::Display for Prefix<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bits.format(f)?;
        write!(f, "/{}", self.len)
    }
}

impl<A: Address> fmt::Debug for Prefix<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why something is not a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrefixError {
    /// The address could not be read.
    Address,
    /// The length is neither a number nor a network mask.
    LengthText,
    /// The length is beyond the width of the address.
    Length {
        /// The longest length there is for this kind of address.
        max: u8,
    },
    /// Bits beyond the length are set.
    HostBits,
    /// The ones of a network mask are not contiguous.
    Mask,
}

impl fmt::Display for PrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("not an address"),
            Self::LengthText => f.write_str("the prefix length is not a number"),
            Self::Length { max } => write!(f, "the prefix length is more than {max}"),
            Self::HostBits => f.write_str("host bits are set beyond the prefix length"),
            Self::Mask => f.write_str(
                "the ones of the network mask are not contiguous; a longest match is defined for prefixes only",
            ),
        }
    }
}

impl Error for PrefixError {}

/// A prefix of either family. IPv4 orders before IPv6.
///
/// An IPv4-mapped IPv6 prefix (`::ffff:a.b.c.d`) is IPv6; nothing is
/// translated between the families.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpPrefix {
    /// An IPv4 prefix.
    V4(Prefix<u32>),
    /// An IPv6 prefix.
    V6(Prefix<u128>),
}

impl IpPrefix {
    /// The prefix `address/len`.
    ///
    /// # Errors
    /// As [`Prefix::new`].
    pub fn new(address: IpAddr, len: u8) -> Result<Self, PrefixError> {
        Ok(match address {
            IpAddr::V4(a) => Self::V4(Prefix::new(u32::from(a), len)?),
            IpAddr::V6(a) => Self::V6(Prefix::new(u128::from(a), len)?),
        })
    }

    /// The prefix that holds this one address.
    pub fn host(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(a) => Self::V4(Prefix::host(u32::from(a))),
            IpAddr::V6(a) => Self::V6(Prefix::host(u128::from(a))),
        }
    }

    /// The network address.
    pub fn address(&self) -> IpAddr {
        match self {
            Self::V4(p) => IpAddr::V4(Ipv4Addr::from(p.address())),
            Self::V6(p) => IpAddr::V6(Ipv6Addr::from(p.address())),
        }
    }

    /// The prefix length in bits.
    #[allow(clippy::len_without_is_empty)] // a prefix always holds an address
    pub fn len(&self) -> u8 {
        match self {
            Self::V4(p) => p.len(),
            Self::V6(p) => p.len(),
        }
    }

    /// The first address; the same as [`IpPrefix::address`].
    pub fn first(&self) -> IpAddr {
        self.address()
    }

    /// The last address (for IPv4, the broadcast address).
    pub fn last(&self) -> IpAddr {
        match self {
            Self::V4(p) => IpAddr::V4(Ipv4Addr::from(p.last())),
            Self::V6(p) => IpAddr::V6(Ipv6Addr::from(p.last())),
        }
    }

    /// Whether every address of `other` is in this prefix; never across the families.
    ///
    /// ```
    /// use popfib::IpPrefix;
    ///
    /// let prefix: IpPrefix = "10.0.0.0/8".parse()?;
    /// assert!(prefix.covers(&"10.1.0.0/16".parse()?) && !prefix.covers(&"::/0".parse()?));
    /// assert_eq!(prefix.last().to_string(), "10.255.255.255");
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::V4(p), Self::V4(q)) => p.covers(q),
            (Self::V6(p), Self::V6(q)) => p.covers(q),
            _ => false,
        }
    }

    /// Whether `address` is in this prefix; never across the families.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self, address) {
            (Self::V4(p), IpAddr::V4(a)) => p.contains(u32::from(a)),
            (Self::V6(p), IpAddr::V6(a)) => p.contains(u128::from(a)),
            _ => false,
        }
    }

    /// The prefix that is one bit shorter and covers this one; none of a whole family.
    ///
    /// ```
    /// use popfib::IpPrefix;
    ///
    /// let prefix = IpPrefix::try_from("10.0.1.0/24")?;
    /// assert_eq!(prefix.supernet(), Some("10.0.0.0/23".parse()?));
    /// assert_eq!(prefix.halves(), Some(["10.0.1.0/25".parse()?, "10.0.1.128/25".parse()?]));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn supernet(&self) -> Option<Self> {
        let len = self.len().checked_sub(1)?;
        Some(match self {
            Self::V4(p) => Self::V4(Prefix::clamped(p.bits, len)),
            Self::V6(p) => Self::V6(Prefix::clamped(p.bits, len)),
        })
    }

    /// The two prefixes of one bit more that it is made of; none of one address.
    pub fn halves(&self) -> Option<[Self; 2]> {
        let len = self.len() + 1;
        let last = match self {
            Self::V4(p) => Self::V4(p.subnets(len).nth(1)?),
            Self::V6(p) => Self::V6(p.subnets(len).nth(1)?),
        };
        Some([Self::new(self.address(), len).ok()?, last])
    }

    /// Reads either family's `ADDRESS[/LENGTH]` and clears host bits.
    ///
    /// # Errors
    /// As [`Prefix::parse_masked`].
    pub fn parse_masked(text: &str) -> Result<Self, PrefixError> {
        if text.contains(':') {
            Prefix::parse_masked(text).map(Self::V6)
        } else {
            Prefix::parse_masked(text).map(Self::V4)
        }
    }
}

impl FromStr for IpPrefix {
    type Err = PrefixError;

    /// Reads either family's `ADDRESS/LENGTH`, or `ADDRESS` for a host prefix.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        if text.contains(':') {
            text.parse().map(Self::V6)
        } else {
            text.parse().map(Self::V4)
        }
    }
}

impl TryFrom<&str> for IpPrefix {
    type Error = PrefixError;

    /// As [`from_str`](Self::from_str).
    fn try_from(text: &str) -> Result<Self, PrefixError> {
        text.parse()
    }
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(p) => fmt::Display::fmt(p, f),
            Self::V6(p) => fmt::Display::fmt(p, f),
        }
    }
}

impl fmt::Debug for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Prefix<u32>> for IpPrefix {
    fn from(prefix: Prefix<u32>) -> Self {
        Self::V4(prefix)
    }
}

impl From<Prefix<u128>> for IpPrefix {
    fn from(prefix: Prefix<u128>) -> Self {
        Self::V6(prefix)
    }
}

impl From<IpAddr> for IpPrefix {
    /// The host prefix of the address.
    fn from(address: IpAddr) -> Self {
        Self::host(address)
    }
}

impl From<Ipv4Addr> for IpPrefix {
    /// The host prefix of the address.
    fn from(address: Ipv4Addr) -> Self {
        Self::host(address.into())
    }
}

impl From<Ipv6Addr> for IpPrefix {
    /// The host prefix of the address.
    fn from(address: Ipv6Addr) -> Self {
        Self::host(address.into())
    }
}

impl From<Ipv4Addr> for Prefix<u32> {
    /// The host prefix of the address.
    fn from(address: Ipv4Addr) -> Self {
        Self::host(u32::from(address))
    }
}

impl From<Ipv6Addr> for Prefix<u128> {
    /// The host prefix of the address.
    fn from(address: Ipv6Addr) -> Self {
        Self::host(u128::from(address))
    }
}

/// `ipnet`'s networks keep host bits; they are cleared here, as `trunc` does.
#[cfg(feature = "ipnet")]
mod ipnet_conversions {
    use super::{IpPrefix, Ipv4Addr, Ipv6Addr, Prefix};
    use ipnet::{IpNet, Ipv4Net, Ipv6Net};

    impl From<Ipv4Net> for Prefix<u32> {
        fn from(net: Ipv4Net) -> Self {
            Self::clamped(u32::from(net.addr()), net.prefix_len())
        }
    }

    impl From<Ipv6Net> for Prefix<u128> {
        fn from(net: Ipv6Net) -> Self {
            Self::clamped(u128::from(net.addr()), net.prefix_len())
        }
    }

    impl From<IpNet> for IpPrefix {
        fn from(net: IpNet) -> Self {
            match net {
                IpNet::V4(net) => Self::V4(net.into()),
                IpNet::V6(net) => Self::V6(net.into()),
            }
        }
    }

    impl From<Prefix<u32>> for Ipv4Net {
        fn from(prefix: Prefix<u32>) -> Self {
            Self::new_assert(Ipv4Addr::from(prefix.address()), prefix.len())
        }
    }

    impl From<Prefix<u128>> for Ipv6Net {
        fn from(prefix: Prefix<u128>) -> Self {
            Self::new_assert(Ipv6Addr::from(prefix.address()), prefix.len())
        }
    }

    impl From<IpPrefix> for IpNet {
        fn from(prefix: IpPrefix) -> Self {
            match prefix {
                IpPrefix::V4(p) => Self::V4(p.into()),
                IpPrefix::V6(p) => Self::V6(p.into()),
            }
        }
    }
}
