//! Set algebra as methods and operators of the sets; `crate::algebra` does the work.

use core::ops::{BitAnd, BitOr, BitXor, Sub};

use super::set::{IpSet, PrefixSet};
use crate::address::Address;
use crate::algebra::{self, Coverage};
use crate::diff::{self, PrefixChange};
use crate::prefix::IpPrefix::{self, V4, V6};
use crate::prefix::Prefix;

/// An operation on two sets of either kind, as a method and as an operator.
macro_rules! operations {
    ($($(#[$docs:meta])* $name:ident, $Operator:ident::$operator:ident;)*) => {
        impl<A: Address> PrefixSet<A> {
            $($(#[$docs])*
            pub fn $name(&self, other: &Self) -> impl Iterator<Item = Prefix<A>> {
                algebra::$name(self, other)
            })*
        }

        impl IpSet {
            $($(#[$docs])*
            pub fn $name(&self, other: &Self) -> impl Iterator<Item = IpPrefix> {
                let (one, two) = (self.as_map(), other.as_map());
                let ipv4 = algebra::$name(one.ipv4().keys(), two.ipv4().keys()).map(V4);
                ipv4.chain(algebra::$name(one.ipv6().keys(), two.ipv6().keys()).map(V6))
            })*
        }

        $(impl<A: Address> $Operator for &PrefixSet<A> {
            type Output = PrefixSet<A>;

            fn $operator(self, other: Self) -> PrefixSet<A> {
                self.$name(other).collect()
            }
        }

        impl $Operator for &IpSet {
            type Output = IpSet;

            fn $operator(self, other: Self) -> IpSet {
                self.$name(other).collect()
            }
        })*
    };
}

operations! {
    /// The addresses of either set, as the fewest prefixes, in order; `|` makes a set of them.
    ///
    /// ```
    /// use popfib::IpSet;
    ///
    /// let set = |prefixes: &[&str]| -> IpSet { prefixes.iter().map(|p| p.parse().unwrap()).collect() };
    /// let (one, other) = (set(&["10.0.0.0/9", "10.1.0.0/16"]), set(&["10.128.0.0/9", "::/1"]));
    /// assert_eq!(&one | &other, set(&["10.0.0.0/8", "::/1"]));
    /// ```
    union, BitOr::bitor;
    /// The addresses of both sets, as the fewest prefixes, in order; `&` makes a set of them.
    intersection, BitAnd::bitand;
    /// The addresses that `other` does not have, as the fewest prefixes, in order; `-` makes a set of them.
    ///
    /// ```
    /// use popfib::PrefixSet;
    ///
    /// let all: PrefixSet<u32> = ["10.0.0.0/8".parse()?].into();
    /// let taken = ["10.64.0.0/10".parse()?].into();
    /// assert_eq!(&all - &taken, ["10.0.0.0/10".parse()?, "10.128.0.0/9".parse()?].into());
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    difference, Sub::sub;
    /// The addresses of one set that the other does not have, as the fewest prefixes, in order; `^`
    /// makes a set of them.
    symmetric_difference, BitXor::bitxor;
}

impl<A: Address> PrefixSet<A> {
    /// The addresses that the set does not have, as the fewest prefixes, in order.
    pub fn complement(&self) -> impl Iterator<Item = Prefix<A>> {
        algebra::complement(self)
    }

    /// The fewest prefixes with the addresses of the set, in order.
    pub fn fewest(&self) -> impl Iterator<Item = Prefix<A>> {
        algebra::fewest(self)
    }

    /// How many addresses the set has; of all of IPv6, one less. O(prefixes).
    pub fn address_count(&self) -> u128 {
        algebra::address_count(self)
    }

    /// The prefixes of the set, each with how much of it `other` contains.
    pub fn compare(&self, other: &Self) -> impl Iterator<Item = (Prefix<A>, Coverage)> {
        algebra::compare(self, other)
    }

    /// The prefixes that were added or removed from this set to `new`, in order, whatever their addresses are in.
    /// O(prefixes of both) in all.
    pub fn diff(&self, new: &Self) -> impl Iterator<Item = PrefixChange<Prefix<A>>> {
        diff::prefixes(self, new)
    }

    /// Whether `other` has every address of the set. O(prefixes of both).
    pub fn is_subset(&self, other: &Self) -> bool {
        algebra::is_subset(self, other)
    }

    /// Whether the set has every address of `other`. O(prefixes of both).
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Whether the sets have no address in common. O(prefixes of both).
    pub fn is_disjoint(&self, other: &Self) -> bool {
        algebra::is_disjoint(self, other)
    }
}

impl IpSet {
    /// The addresses of both families that the set does not have, as the fewest prefixes, in order.
    pub fn complement(&self) -> impl Iterator<Item = IpPrefix> {
        let ipv4 = algebra::complement(self.as_map().ipv4().keys()).map(V4);
        ipv4.chain(algebra::complement(self.as_map().ipv6().keys()).map(V6))
    }

    /// The fewest prefixes with the addresses of the set, in order.
    pub fn fewest(&self) -> impl Iterator<Item = IpPrefix> {
        let ipv4 = algebra::fewest(self.as_map().ipv4().keys()).map(V4);
        ipv4.chain(algebra::fewest(self.as_map().ipv6().keys()).map(V6))
    }

    /// How many addresses of both families the set has; `u128::MAX` if they are more than that. O(prefixes).
    ///
    /// ```
    /// use popfib::IpSet;
    ///
    /// let set: IpSet = ["10.0.0.0/8".parse()?, "10.1.0.0/16".parse()?, "::/112".parse()?].into_iter().collect();
    /// assert_eq!(set.address_count(), (1 << 24) + (1 << 16));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn address_count(&self) -> u128 {
        let (ipv4, ipv6) = (self.as_map().ipv4().keys(), self.as_map().ipv6().keys());
        algebra::address_count(ipv4).saturating_add(algebra::address_count(ipv6))
    }

    /// The prefixes of the set, each with how much of it `other` contains.
    pub fn compare(&self, other: &Self) -> impl Iterator<Item = (IpPrefix, Coverage)> {
        let (one, two) = (self.as_map(), other.as_map());
        let ipv4 = algebra::compare(one.ipv4().keys(), two.ipv4().keys());
        let ipv6 = algebra::compare(one.ipv6().keys(), two.ipv6().keys());
        let ipv6 = ipv6.map(|(prefix, how)| (V6(prefix), how));
        ipv4.map(|(prefix, how)| (V4(prefix), how)).chain(ipv6)
    }

    /// The prefixes that were added or removed from this set to `new`, in order, whatever their addresses are in.
    /// O(prefixes of both) in all.
    ///
    /// ```
    /// use popfib::IpSet;
    /// use popfib::diff::PrefixChange::{Added, Removed};
    ///
    /// let old: IpSet = "10.0.0.0/8\n2001:db8::/32\n".parse()?;
    /// let new: IpSet = "10.0.0.0/8\n10.1.0.0/16\n".parse()?;
    /// let changes = [Added("10.1.0.0/16".parse().unwrap()), Removed("2001:db8::/32".parse().unwrap())];
    /// assert!(old.diff(&new).eq(changes));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn diff(&self, new: &Self) -> impl Iterator<Item = PrefixChange<IpPrefix>> {
        diff::prefixes(self, new)
    }

    /// Whether `other` has every address of the set. O(prefixes of both).
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }

    /// Whether the set has every address of `other`. O(prefixes of both).
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Whether the sets have no address in common. O(prefixes of both).
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }
}
