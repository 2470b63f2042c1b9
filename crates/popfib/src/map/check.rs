//! What holds of every map, whatever was done to it.

use alloc::vec;

use super::PrefixMap;
use super::follow::FollowedRib;
use super::ip_map::IpMap;
use super::pairs::{PairSlots, Pairs};
use super::stores::Stores;
use crate::address::Address;
use crate::fib::{CheckError, check};
use crate::next_hop::NextHop;
use crate::patch::Home;
use crate::prefix::Prefix;
use crate::rib::Rib;

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// Verifies that the Poptrie is well formed; that each pair has the routes that it counts, and no pair is without;
    /// and that it answers the first and last addresses of all routes, and their neighbours, as the Rib does.
    /// O(routes * key width / 6); takes memory meanwhile.
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was done to the map.
    pub fn check(&self) -> Result<(), CheckError> {
        let routes = &self.routes;
        routes.check()?;
        let is_right = |address, expected| routes.is_right(address, expected);
        check_pairs(&routes.rib, &self.pairs, is_right, |_| false)
    }
}

impl<A: Address> FollowedRib<A> {
    /// Whether the Poptrie is well formed.
    pub(super) fn check(&self) -> Result<(), CheckError> {
        let fib = self.fib.peek();
        fib.map_or(Ok(()), |fib| check::check::<A>(fib.home.view()))
    }

    pub(super) fn is_right(&self, address: A, expected: u32) -> bool {
        self.answer(address) == expected
    }
}

/// Whether lookups answer as the Rib does at the first and last address of a route and at their neighbours.
pub(super) fn are_right_around<A: Address>(
    rib: &Rib<A>,
    prefix: Prefix<A>,
    is_right: impl Fn(A, u32) -> bool,
) -> bool {
    let (first, last) = (prefix.first(), prefix.last());
    let outside = [first.checked_previous(), last.checked_next()];
    let mut around = [first, last]
        .into_iter()
        .chain(outside.into_iter().flatten());
    around.all(|address| is_right(address, rib.lookup(address).map_or(0, NextHop::get)))
}

/// Whether each pair is that of its routes, as many as it says, and no other is left but those that wait
/// for readers; and whether lookups answer as the Rib does around each route.
pub(crate) fn check_pairs<A: Address, V, S: Stores<V>, M: PairSlots<V>>(
    rib: &Rib<A>,
    pairs: &Pairs<V, S, M>,
    is_right: impl Fn(A, u32) -> bool,
    is_waiting: impl Fn(u32) -> bool,
) -> Result<(), CheckError> {
    let mut routes = vec![0usize; pairs.end()];
    for (prefix, number) in rib {
        let wrong = CheckError::Pair {
            number: number.get(),
        };
        match pairs.get(number.get()) {
            Some(pair) if pair.len() == prefix.len() => routes[number.get() as usize] += 1,
            _ => return Err(wrong),
        }
        if !are_right_around(rib, prefix, &is_right) {
            return Err(wrong);
        }
    }
    for (number, routes) in (0..).zip(routes) {
        let holds = match NextHop::new(number) {
            Some(number) if routes > 0 => S::check(pairs, number, routes),
            Some(waits) if is_waiting(waits.get()) => pairs.get(number).is_some(),
            _ => pairs.is_free(number),
        };
        if !holds {
            return Err(CheckError::Pair { number });
        }
    }
    Ok(())
}

impl<V, S: Stores<V>> IpMap<V, S> {
    /// Verifies both maps; see [`PrefixMap::check`].
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was done to the map.
    pub fn check(&self) -> Result<(), CheckError> {
        self.ipv4().check()?;
        self.ipv6().check()
    }
}
