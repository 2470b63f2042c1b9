//! A set of addresses of both families: prefixes in any order in, the fewest prefixes that have their addresses out, in order.

use std::sync::OnceLock;

use popfib::algebra::{self, Coverage};
use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{IpPrefix, NextHop, Prefix};
use pyo3::prelude::*;

use crate::routes::NumberMap;

/// Makes [`ByFamily`] the prefixes of both families.
pub(super) enum PrefixesOf {}

impl PerFamily for PrefixesOf {
    type Of<A: Family> = Vec<Prefix<A>>;
}

/// A set: two of these have the same addresses if and only if they have the same prefixes.
#[derive(Default)]
pub(super) struct SetAddresses {
    prefixes: ByFamily<PrefixesOf>,
    /// Compiled when it is first looked up in, which many sets never are.
    compiled: OnceLock<NumberMap>,
}

/// Operations on two sets.
macro_rules! operations {
    ($($name:ident)*) => {
        $(pub(super) fn $name(&self, other: &Self) -> Self {
            Self::of(
                algebra::$name(self.family::<u32>(), other.family::<u32>()),
                algebra::$name(self.family::<u128>(), other.family::<u128>()),
            )
        })*
    };
}

impl SetAddresses {
    /// The set of prefixes that are the fewest and in order.
    fn of(
        ipv4: impl Iterator<Item = Prefix<u32>>,
        ipv6: impl Iterator<Item = Prefix<u128>>,
    ) -> Self {
        Self {
            prefixes: ByFamily {
                ipv4: ipv4.collect(),
                ipv6: ipv6.collect(),
            },
            compiled: OnceLock::new(),
        }
    }

    /// The set of any prefixes, in any order.
    pub(super) fn new(prefixes: &[IpPrefix]) -> Self {
        fn sorted<A: Family>(prefixes: &[IpPrefix]) -> Vec<Prefix<A>> {
            let prefixes = prefixes.iter().filter_map(|&prefix| A::prefix(prefix));
            let mut prefixes: Vec<_> = prefixes.collect();
            prefixes.sort_unstable();
            prefixes
        }
        Self::in_order(sorted(prefixes), sorted(prefixes))
    }

    /// The set of any prefixes, in order.
    pub(super) fn in_order(
        ipv4: impl IntoIterator<Item = Prefix<u32>>,
        ipv6: impl IntoIterator<Item = Prefix<u128>>,
    ) -> Self {
        Self::of(algebra::fewest(ipv4), algebra::fewest(ipv6))
    }

    pub(super) fn family<A: Family>(&self) -> impl Iterator<Item = Prefix<A>> + Clone {
        A::of(&self.prefixes).iter().copied()
    }

    /// The addresses of one family.
    pub(super) fn only<A: Family>(&self) -> Self {
        let mut only = Self::default();
        A::of_mut(&mut only.prefixes).clone_from(A::of(&self.prefixes));
        only
    }

    pub(super) fn lens(&self) -> [usize; 2] {
        [self.prefixes.ipv4.len(), self.prefixes.ipv6.len()]
    }

    pub(super) fn len(&self) -> usize {
        self.lens().iter().sum()
    }

    /// A prefix by its place, IPv4 before IPv6.
    pub(super) fn get(&self, at: usize) -> Option<IpPrefix> {
        let ByFamily { ipv4, ipv6 } = &self.prefixes;
        let prefix = ipv4.get(at).copied().map(IpPrefix::V4);
        prefix.or_else(|| Some(IpPrefix::V6(*ipv6.get(at.checked_sub(ipv4.len())?)?)))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = IpPrefix> {
        let ipv4 = self.family().map(IpPrefix::V4);
        ipv4.chain(self.family().map(IpPrefix::V6))
    }

    pub(super) fn bytes(&self) -> usize {
        let ByFamily { ipv4, ipv6 } = &self.prefixes;
        let compiled = self.compiled.get();
        ipv4.capacity() * size_of::<Prefix<u32>>()
            + ipv6.capacity() * size_of::<Prefix<u128>>()
            + compiled.map_or(0, |map| map.0.ipv4.bytes() + map.0.ipv6.bytes())
    }

    operations! { union intersection difference symmetric_difference }

    pub(super) fn complement(&self) -> Self {
        Self::of(
            algebra::complement(self.family::<u32>()),
            algebra::complement(self.family::<u128>()),
        )
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        algebra::is_subset(self.family::<u32>(), other.family::<u32>())
            && algebra::is_subset(self.family::<u128>(), other.family::<u128>())
    }

    pub(super) fn is_disjoint(&self, other: &Self) -> bool {
        algebra::is_disjoint(self.family::<u32>(), other.family::<u32>())
            && algebra::is_disjoint(self.family::<u128>(), other.family::<u128>())
    }

    /// The first and the last address of each range, none of which touches the next.
    pub(super) fn ranges<A: Family>(&self) -> impl Iterator<Item = (A, A)> {
        algebra::ranges(self.family::<A>())
    }

    /// How many addresses of a family there are; `None` for 2^128.
    pub(super) fn count<A: Family>(&self) -> Option<u128> {
        let is_all = self.family::<A>().next() == Some(Prefix::DEFAULT_ROUTE) && A::WIDTH == 128;
        (!is_all).then(|| algebra::address_count(self.family::<A>()))
    }

    /// At most so many prefixes of each family that have all of these addresses and few others, and how many others of each
    /// family there have to be at least; `None` if `at_most` is 0 and a family has addresses.
    pub(super) fn cover(&self, at_most: usize) -> Option<(Self, [u128; 2])> {
        let ipv4 = popfib_table::cover(self.family::<u32>(), at_most)?;
        let ipv6 = popfib_table::cover(self.family::<u128>(), at_most)?;
        let least = [ipv4.extra_at_least, ipv6.extra_at_least];
        Some((
            Self::of(ipv4.prefixes.into_iter(), ipv6.prefixes.into_iter()),
            least,
        ))
    }

    /// The prefixes as a map, for lookups.
    ///
    /// # Errors
    /// `MemoryError` if there is no memory for the map.
    pub(super) fn compiled(&self) -> PyResult<&NumberMap> {
        fn routes<A: Family>(
            addresses: &SetAddresses,
        ) -> impl Iterator<Item = (Prefix<A>, NextHop)> {
            addresses.family().map(|prefix| (prefix, NextHop::MIN))
        }
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = NumberMap::new(routes(self), routes(self))?;
        Ok(self.compiled.get_or_init(|| compiled))
    }

    /// How much of a prefix is in the set. O(key width), once compiled.
    ///
    /// # Errors
    /// As [`Self::compiled`].
    pub(super) fn coverage(&self, prefix: IpPrefix) -> PyResult<Coverage> {
        fn of<A: Family>(map: &NumberMap, prefix: Prefix<A>) -> Coverage {
            match A::of(&map.0).subnets(prefix).next() {
                _ if is_whole(map, prefix) => Coverage::Whole,
                Some(_) => Coverage::Part,
                None => Coverage::None,
            }
        }
        let map = self.compiled()?;
        Ok(popfib::by_family!(prefix, |prefix| of(map, prefix)))
    }

    /// Whether all addresses of a prefix are in the set.
    ///
    /// # Errors
    /// As [`Self::compiled`].
    #[inline]
    pub(super) fn contains(&self, prefix: IpPrefix) -> PyResult<bool> {
        let map = self.compiled()?;
        Ok(popfib::by_family!(prefix, |prefix| is_whole(map, prefix)))
    }
}

/// Whether a map has all of a prefix: if so, in one prefix, since they are the fewest.
fn is_whole<A: Family>(map: &NumberMap, prefix: Prefix<A>) -> bool {
    let map = A::of(&map.0);
    match prefix.len() == A::WIDTH {
        true => map.lookup(prefix.address()).is_some(),
        false => map.supernets(prefix).next().is_some(),
    }
}

impl PartialEq for SetAddresses {
    fn eq(&self, other: &Self) -> bool {
        self.prefixes.ipv4 == other.prefixes.ipv4 && self.prefixes.ipv6 == other.prefixes.ipv6
    }
}

impl std::hash::Hash for SetAddresses {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.prefixes.ipv4.hash(state);
        self.prefixes.ipv6.hash(state);
    }
}
