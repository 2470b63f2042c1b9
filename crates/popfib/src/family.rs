//! The two families of IP addresses, and what there is for each of them.
//!
//! A table of both families has a part for each, of one generic type: `Rib<u32>` and `Rib<u128>`. [`ByFamily`] is
//! such a pair, written once, and code that is generic over the family finds its part by the type of the address.

use core::fmt;
use core::net::IpAddr;

use crate::address::Address;
use crate::prefix::{IpPrefix, Prefix};

mod sealed {
    pub trait Sealed {}
}

/// A family of IP addresses: `u32` is IPv4, `u128` IPv6.
pub trait Family: Address + sealed::Sealed {
    /// What users call it.
    const NAME: &'static str;

    /// The part of this family.
    fn of<K: PerFamily + ?Sized>(both: &ByFamily<K>) -> &K::Of<Self>;

    /// The part of this family, to change it.
    fn of_mut<K: PerFamily + ?Sized>(both: &mut ByFamily<K>) -> &mut K::Of<Self>;

    /// The prefix as one of this family; `None` if it is of the other.
    fn prefix(prefix: IpPrefix) -> Option<Prefix<Self>>;

    /// The prefix as one of either family.
    fn ip_prefix(prefix: Prefix<Self>) -> IpPrefix;

    /// The address as one of either family.
    fn ip(self) -> IpAddr;
}

macro_rules! family {
    ($type:ty, $name:expr, $part:ident, $version:ident) => {
        impl sealed::Sealed for $type {}

        impl Family for $type {
            const NAME: &'static str = $name;

            #[inline(always)]
            fn of<K: PerFamily + ?Sized>(both: &ByFamily<K>) -> &K::Of<Self> {
                &both.$part
            }

            #[inline(always)]
            fn of_mut<K: PerFamily + ?Sized>(both: &mut ByFamily<K>) -> &mut K::Of<Self> {
                &mut both.$part
            }

            #[inline]
            fn prefix(prefix: IpPrefix) -> Option<Prefix<Self>> {
                match prefix {
                    IpPrefix::$version(prefix) => Some(prefix),
                    _ => None,
                }
            }

            #[inline(always)]
            fn ip_prefix(prefix: Prefix<Self>) -> IpPrefix {
                prefix.into()
            }

            #[inline(always)]
            fn ip(self) -> IpAddr {
                IpAddr::$version(self.into())
            }
        }
    };
}
family!(u32, "IPv4", ipv4, V4);
family!(u128, "IPv6", ipv6, V6);

/// A type for each family, as `Rib<A>` for addresses `A`.
///
/// ```
/// use popfib::family::{ByFamily, Family, PerFamily};
/// use popfib::{NextHop, Prefix, Rib};
///
/// enum Ribs {}
/// impl PerFamily for Ribs {
///     type Of<A: Family> = Rib<A>;
/// }
///
/// fn announce<A: Family>(ribs: &mut ByFamily<Ribs>, prefix: Prefix<A>) {
///     A::of_mut(ribs).insert(prefix, NextHop::MIN);
/// }
///
/// let mut ribs = ByFamily::<Ribs>::default();
/// announce::<u32>(&mut ribs, "10.0.0.0/8".parse()?);
/// announce::<u128>(&mut ribs, "2001:db8::/32".parse()?);
/// assert_eq!((ribs.ipv4.len(), ribs.ipv6.len()), (1, 1));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub trait PerFamily {
    /// The type for addresses `A`.
    type Of<A: Family>;
}

/// Does the same with a prefix or an address of either family: `|prefix|` alone, `|prefix: Prefix<A>|` where what is done names the
/// family, or `|address: A|` of an [`IpAddr`], which becomes a number.
///
/// ```
/// use popfib::{IpPrefix, by_family};
///
/// let prefix: IpPrefix = "2001:db8::/32".parse()?;
/// assert_eq!(by_family!(prefix, |prefix| prefix.len()), 32);
/// assert_eq!(by_family!(prefix, |prefix: Prefix<A>| A::NAME), "IPv6");
/// assert_eq!(by_family!(prefix.address(), |address: A| address.count_ones()), 9);
/// # Ok::<(), popfib::PrefixError>(())
/// ```
#[macro_export]
macro_rules! by_family {
    ($prefix:expr, |$part:ident| $body:expr) => {
        match $prefix {
            $crate::IpPrefix::V4($part) => $body,
            $crate::IpPrefix::V6($part) => $body,
        }
    };
    ($prefix:expr, |$part:ident: Prefix<$family:ident>| $body:expr) => {{
        #[allow(unused_imports)]
        use $crate::{Address as _, family::Family as _};
        match $prefix {
            $crate::IpPrefix::V4($part) => {
                type $family = u32;
                $body
            }
            $crate::IpPrefix::V6($part) => {
                type $family = u128;
                $body
            }
        }
    }};
    ($address:expr, |$part:ident: $family:ident| $body:expr) => {{
        #[allow(unused_imports)]
        use $crate::{Address as _, family::Family as _};
        match $address {
            ::core::net::IpAddr::V4($part) => {
                type $family = u32;
                let $part: $family = $part.into();
                $body
            }
            ::core::net::IpAddr::V6($part) => {
                type $family = u128;
                let $part: $family = $part.into();
                $body
            }
        }
    }};
}

/// A part for each family.
pub struct ByFamily<K: PerFamily + ?Sized> {
    /// The part of IPv4.
    pub ipv4: K::Of<u32>,
    /// The part of IPv6.
    pub ipv6: K::Of<u128>,
}

impl<K: PerFamily + ?Sized> Clone for ByFamily<K>
where
    K::Of<u32>: Clone,
    K::Of<u128>: Clone,
{
    fn clone(&self) -> Self {
        Self {
            ipv4: self.ipv4.clone(),
            ipv6: self.ipv6.clone(),
        }
    }
}

impl<K: PerFamily + ?Sized> Default for ByFamily<K>
where
    K::Of<u32>: Default,
    K::Of<u128>: Default,
{
    fn default() -> Self {
        Self {
            ipv4: Default::default(),
            ipv6: Default::default(),
        }
    }
}

impl<K: PerFamily + ?Sized> fmt::Debug for ByFamily<K>
where
    K::Of<u32>: fmt::Debug,
    K::Of<u128>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByFamily")
            .field("ipv4", &self.ipv4)
            .field("ipv6", &self.ipv6)
            .finish()
    }
}
