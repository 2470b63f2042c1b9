//! Walks over the routes of both families as one, IPv4 first, and prefixes of either as those of one.

use core::iter::FusedIterator;
use core::ops::Bound::{self, Excluded, Included, Unbounded};

use super::{IntoIter, Iter};
use crate::address::Address;
use crate::prefix::IpPrefix::{self, V4, V6};
use crate::prefix::Prefix;

/// The routes of an [`IpMap`](crate::IpMap) in prefix order, IPv4 first.
pub type IpIter<'a, V> = Both<Iter<'a, u32, V>, Iter<'a, u128, V>>;

/// The routes of a consumed [`IpMap`](crate::IpMap) in prefix order, IPv4 first.
pub type IpIntoIter<V, S> = Both<IntoIter<u32, V, S>, IntoIter<u128, V, S>>;

/// A walk over IPv4 routes and then one over IPv6 routes, as one.
#[derive(Clone, Debug)]
pub struct Both<I, J> {
    ipv4: I,
    ipv6: J,
}

impl<I, J> Both<I, J> {
    pub(crate) fn new(ipv4: I, ipv6: J) -> Self {
        Self { ipv4, ipv6 }
    }
}

impl<T, I, J> Iterator for Both<I, J>
where
    I: Iterator<Item = (Prefix<u32>, T)>,
    J: Iterator<Item = (Prefix<u128>, T)>,
{
    type Item = (IpPrefix, T);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.ipv4.next() {
            Some(route) => Some(ip(route)),
            None => self.ipv6.next().map(ip),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least4, most4) = self.ipv4.size_hint();
        let (least6, most6) = self.ipv6.size_hint();
        let most = most4
            .zip(most6)
            .and_then(|(ipv4, ipv6)| ipv4.checked_add(ipv6));
        (least4.saturating_add(least6), most)
    }
}

impl<T, I, J> ExactSizeIterator for Both<I, J>
where
    I: ExactSizeIterator<Item = (Prefix<u32>, T)>,
    J: ExactSizeIterator<Item = (Prefix<u128>, T)>,
{
}

impl<T, I, J> FusedIterator for Both<I, J>
where
    I: FusedIterator<Item = (Prefix<u32>, T)>,
    J: FusedIterator<Item = (Prefix<u128>, T)>,
{
}

/// A route of one family as one of either.
#[inline(always)]
pub(crate) fn ip<A: Address, T>((prefix, value): (Prefix<A>, T)) -> (IpPrefix, T)
where
    Prefix<A>: Into<IpPrefix>,
{
    (prefix.into(), value)
}

/// The prefix as one of its family.
pub(super) fn split(prefix: IpPrefix) -> (Option<Prefix<u32>>, Option<Prefix<u128>>) {
    match prefix {
        V4(prefix) => (Some(prefix), None),
        V6(prefix) => (None, Some(prefix)),
    }
}

/// The bound as one of a family; none if it is of the other.
pub(super) fn bound<T>(bound: Bound<IpPrefix>, of: impl Fn(IpPrefix) -> Option<T>) -> Bound<T> {
    match bound {
        Included(prefix) => of(prefix).map_or(Unbounded, Included),
        Excluded(prefix) => of(prefix).map_or(Unbounded, Excluded),
        Unbounded => Unbounded,
    }
}
