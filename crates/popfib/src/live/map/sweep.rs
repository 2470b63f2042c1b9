//! What a source still has, after it had to begin again.
//!
//! Some sources send all routes again when a connection comes back, and nothing says which have gone
//! meanwhile. The routes that come are marked; when they have come, the others are
//! withdrawn, a few at a time. The marks are kept beside the map and not in it: a mark in each route would
//! change every pair, and the Fib with it, when nothing changed for lookups.

use alloc::vec::Vec;
use core::ops::Bound::{Excluded, Unbounded};

use super::LiveMap;
use super::ip_map::LiveIpMap;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::map::Stores;
use crate::next_hop::NextHop;
use crate::prefix::{IpPrefix, Prefix};
use crate::rib::Rib;

/// The routes that a source has sent since its reconnection; a sweep removes the others from a
/// [`LiveMap`](LiveMap::sweep).
///
/// ```
/// use popfib::live::Sweep;
/// use popfib::{LiveMap, Prefix};
///
/// let mut map: LiveMap<u32, &str> = LiveMap::new();
/// let [kept, gone]: [Prefix<u32>; 2] = ["10.0.0.0/8".parse()?, "11.0.0.0/8".parse()?];
/// map.apply([(kept, Some("a")), (gone, Some("b"))])?;
///
/// let mut sweep = Sweep::new();
/// map.announce(kept, "c")?;
/// sweep.confirm(kept);
/// while !map.sweep(&mut sweep, 1000, |_, _| true)? {}
/// assert!(map.iter().eq([(kept, &"c")]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Sweep<A: Address> {
    confirmed: Rib<A>,
    /// The last prefix that was looked at.
    last: Option<Prefix<A>>,
}

impl<A: Address> Sweep<A> {
    /// Nothing confirmed.
    pub fn new() -> Self {
        Self {
            confirmed: Rib::new(),
            last: None,
        }
    }

    /// Records that the source has a route of `prefix`.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn confirm(&mut self, prefix: Prefix<A>) {
        self.confirmed.insert(prefix, NextHop::MIN);
    }

    /// Records that the source has withdrawn that route.
    pub fn forget(&mut self, prefix: Prefix<A>) {
        self.confirmed.remove(prefix);
    }
}

impl<A: Address, V, S: Stores<V>> LiveMap<A, V, S> {
    /// Visits the next `count` routes, at least one, and withdraws those that are of the source (by `belongs`)
    /// but not confirmed; returns whether all routes have been visited. Routes may change between two calls.
    ///
    /// # Errors
    /// Those of [`withdraw`](Self::withdraw); to be called again.
    pub fn sweep(
        &mut self,
        sweep: &mut Sweep<A>,
        count: usize,
        mut belongs: impl FnMut(Prefix<A>, &V) -> bool,
    ) -> Result<bool, CompileError> {
        let from = sweep.last.map_or(Unbounded, Excluded);
        let rest = self.fib.rib().range((from, Unbounded));
        let mut seen = 0;
        let mut last = sweep.last;
        let mut gone = Vec::new();
        for (prefix, number) in rest.take(count.max(1)) {
            seen += 1;
            last = Some(prefix);
            if !sweep.confirmed.contains_key(prefix) && belongs(prefix, self.value(number)) {
                gone.push(prefix);
            }
        }
        for prefix in gone {
            self.withdraw(prefix)?;
        }
        sweep.last = last;
        Ok(seen < count.max(1))
    }
}

/// A [`Sweep`] of a [`LiveIpMap`].
#[derive(Debug, Default)]
pub struct IpMapSweep {
    ipv4: Sweep<u32>,
    ipv6: Sweep<u128>,
}

impl IpMapSweep {
    /// Nothing confirmed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that the source has a route of `prefix`.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn confirm(&mut self, prefix: impl Into<IpPrefix>) {
        match prefix.into() {
            IpPrefix::V4(prefix) => self.ipv4.confirm(prefix),
            IpPrefix::V6(prefix) => self.ipv6.confirm(prefix),
        }
    }

    /// Records that the source has withdrawn that route.
    pub fn forget(&mut self, prefix: impl Into<IpPrefix>) {
        match prefix.into() {
            IpPrefix::V4(prefix) => self.ipv4.forget(prefix),
            IpPrefix::V6(prefix) => self.ipv6.forget(prefix),
        }
    }
}

impl<V, S: Stores<V>> LiveIpMap<V, S> {
    /// As [`LiveMap::sweep`], IPv4 first.
    ///
    /// # Errors
    /// Those of [`withdraw`](Self::withdraw); to be called again.
    pub fn sweep(
        &mut self,
        sweep: &mut IpMapSweep,
        count: usize,
        mut belongs: impl FnMut(IpPrefix, &V) -> bool,
    ) -> Result<bool, CompileError> {
        let ipv4 = self.ipv4_mut();
        let is_done = ipv4.sweep(&mut sweep.ipv4, count, |prefix, value| {
            belongs(prefix.into(), value)
        })?;
        if !is_done {
            return Ok(false);
        }
        let ipv6 = self.ipv6_mut();
        ipv6.sweep(&mut sweep.ipv6, count, |prefix, value| {
            belongs(prefix.into(), value)
        })
    }
}
