//! The routes of a Rib as the builders take them: a slice in prefix order, a
//! covering prefix before what it covers.

use popfib::{Address, Prefix, Rib};

use crate::cannot_build::CannotBuild;

/// A prefix and its next hop.
pub(crate) type Route<A> = (Prefix<A>, u32);

/// All routes, in prefix order; none with a next hop above `max`.
pub(crate) fn sorted<A: Address>(rib: &Rib<A>, max: u32) -> Result<Vec<Route<A>>, CannotBuild> {
    let mut routes = Vec::with_capacity(rib.len());
    for (prefix, next_hop) in rib.iter() {
        let next_hop = next_hop.get();
        if next_hop > max {
            return Err(CannotBuild::NextHop { next_hop, max });
        }
        routes.push((prefix, next_hop));
    }
    Ok(routes)
}

/// The number of the next element of an array whose indices have 32 bits.
pub(crate) fn next_index(len: usize, what: &'static str) -> Result<u32, CannotBuild> {
    u32::try_from(len).map_err(|_| CannotBuild::TooMany { what, max: 1 << 32 })
}
