//! A live map of both families: two maps, and each question to the one that it concerns.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::net::IpAddr;

use super::{LiveMap, MapGuard, MapReader};
use crate::compile_error::CompileError;
use crate::family::{ByFamily, Family, PerFamily};
use crate::fib::{CheckError, Options};
use crate::map::batch::MixedFamilies;
use crate::map::both::ip;
use crate::map::{Both, Own, Shared, Storage, Stores};
use crate::memory::OutOfMemory;
use crate::prefix::IpPrefix::{self, V4, V6};

/// A map from IP prefixes of both families to values that changes while other threads look up.
///
/// It holds a [`LiveMap`] for each family, which says how it behaves. The families never mix: an
/// IPv4-mapped IPv6 address is IPv6.
///
/// ```
/// use popfib::{IpPrefix, LiveIpMap};
/// use std::net::IpAddr;
///
/// let mut table = LiveIpMap::shared();
/// let mut reader = table.reader();
/// table.announce("10.0.0.0/8".parse::<IpPrefix>()?, "192.0.2.1")?;
/// table.announce("2001:db8::/32".parse::<IpPrefix>()?, "192.0.2.2")?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let guard = reader.pin();
///         let address: IpAddr = "10.1.2.3".parse().unwrap();
///         assert_eq!(guard.lookup(address), Some(&"192.0.2.1"));
///     });
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LiveIpMap<V, S: Storage = Own> {
    ipv4: LiveMap<u32, V, S>,
    ipv6: LiveMap<u128, V, S>,
}

impl<V> LiveIpMap<V> {
    /// A map in which each route has a value of its own.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<V> LiveIpMap<V, Shared> {
    /// A map in which routes with equal values share one.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn shared() -> Self {
        Self::default()
    }
}

impl<V, S: Storage> Default for LiveIpMap<V, S> {
    fn default() -> Self {
        Self {
            ipv4: LiveMap::default(),
            ipv6: LiveMap::default(),
        }
    }
}

impl<V, S: Storage> LiveIpMap<V, S> {
    /// A map without routes whose Poptries are compiled with `options`.
    ///
    /// # Errors
    /// As [`LiveMap::with_options`].
    pub fn with_options(options: Options) -> Result<Self, CompileError> {
        Ok(Self {
            ipv4: LiveMap::with_options(options.clone())?,
            ipv6: LiveMap::with_options(options)?,
        })
    }

    /// One more reader. Aborts the program if memory is exhausted; [`LiveIpMap::try_reader`] does not.
    pub fn reader(&self) -> IpMapReader<V> {
        IpMapReader {
            ipv4: self.ipv4.reader(),
            ipv6: self.ipv6.reader(),
        }
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_reader(&self) -> Result<IpMapReader<V>, OutOfMemory> {
        Ok(IpMapReader {
            ipv4: self.ipv4.try_reader()?,
            ipv6: self.ipv6.try_reader()?,
        })
    }

    /// The IPv4 routes.
    pub fn ipv4(&self) -> &LiveMap<u32, V, S> {
        &self.ipv4
    }

    /// The IPv6 routes.
    pub fn ipv6(&self) -> &LiveMap<u128, V, S> {
        &self.ipv6
    }

    /// The IPv4 routes, to be changed.
    pub fn ipv4_mut(&mut self) -> &mut LiveMap<u32, V, S> {
        &mut self.ipv4
    }

    /// The IPv6 routes, to be changed.
    pub fn ipv6_mut(&mut self) -> &mut LiveMap<u128, V, S> {
        &mut self.ipv6
    }

    /// The number of routes of both families.
    pub fn len(&self) -> usize {
        self.ipv4.len() + self.ipv6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of exactly `prefix`.
    pub fn get(&self, prefix: impl Into<IpPrefix>) -> Option<&V> {
        match prefix.into() {
            V4(prefix) => self.ipv4.get(prefix),
            V6(prefix) => self.ipv6.get(prefix),
        }
    }

    /// The value of the longest prefix that contains `address`.
    pub fn lookup(&self, address: impl Into<IpAddr>) -> Option<&V> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.lookup(address),
            IpAddr::V6(address) => self.ipv6.lookup(address),
        }
    }

    /// The longest prefix that contains `address`, and its value.
    pub fn longest_match(&self, address: impl Into<IpAddr>) -> Option<(IpPrefix, &V)> {
        match address.into() {
            IpAddr::V4(address) => self.ipv4.longest_match(address).map(ip),
            IpAddr::V6(address) => self.ipv6.longest_match(address).map(ip),
        }
    }

    /// The routes in prefix order, IPv4 first.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, &V)> {
        Both::new(self.ipv4.iter(), self.ipv6.iter())
    }

    /// As [`LiveMap::reclaim`].
    pub fn reclaim(&mut self) {
        self.ipv4.reclaim();
        self.ipv6.reclaim();
    }

    /// As [`LiveMap::bytes`].
    pub fn bytes(&self) -> usize {
        self.ipv4.bytes() + self.ipv6.bytes()
    }
}

impl<V, S: Stores<V>> LiveIpMap<V, S> {
    /// As [`LiveMap::announce`].
    ///
    /// # Errors
    /// The same.
    pub fn announce(
        &mut self,
        prefix: impl Into<IpPrefix>,
        value: V,
    ) -> Result<bool, CompileError> {
        match prefix.into() {
            V4(prefix) => self.ipv4.announce(prefix, value),
            V6(prefix) => self.ipv6.announce(prefix, value),
        }
    }

    /// As [`LiveMap::withdraw`].
    ///
    /// # Errors
    /// The same.
    pub fn withdraw(&mut self, prefix: impl Into<IpPrefix>) -> Result<bool, CompileError> {
        match prefix.into() {
            V4(prefix) => self.ipv4.withdraw(prefix),
            V6(prefix) => self.ipv6.withdraw(prefix),
        }
    }

    /// As [`LiveMap::apply`], IPv4 first.
    ///
    /// # Errors
    /// The same.
    pub fn apply<P: Into<IpPrefix>>(
        &mut self,
        changes: impl IntoIterator<Item = (P, Option<V>)>,
    ) -> Result<(), CompileError> {
        let (mut ipv4, mut ipv6) = (Vec::new(), Vec::new());
        for (prefix, value) in changes {
            match prefix.into() {
                V4(prefix) => ipv4.push((prefix, value)),
                V6(prefix) => ipv6.push((prefix, value)),
            }
        }
        self.ipv4.apply(ipv4)?;
        self.ipv6.apply(ipv6)
    }

    /// Verifies both maps; see [`LiveMap::check`].
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was done to the map.
    pub fn check(&self) -> Result<(), CheckError> {
        self.ipv4.check()?;
        self.ipv6.check()
    }
}

impl<V, S: Storage> fmt::Debug for LiveIpMap<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveIpMap")
            .field("ipv4", &self.ipv4)
            .field("ipv6", &self.ipv6)
            .finish()
    }
}

/// One reader of a [`LiveIpMap`], for one thread; see [`MapReader`].
pub struct IpMapReader<V> {
    ipv4: MapReader<u32, V>,
    ipv6: MapReader<u128, V>,
}

impl<V> IpMapReader<V> {
    /// One more reader of the same map.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            ipv4: self.ipv4.try_clone()?,
            ipv6: self.ipv6.try_clone()?,
        })
    }

    /// Enters a read-side section; see [`MapReader::pin`].
    #[inline]
    pub fn pin(&mut self) -> IpMapGuard<'_, V> {
        IpMapGuard(ByFamily {
            ipv4: self.ipv4.pin(),
            ipv6: self.ipv6.pin(),
        })
    }
}

impl<V> Clone for IpMapReader<V> {
    /// One more reader of the same map. Aborts the program if memory is exhausted;
    /// [`IpMapReader::try_clone`] does not.
    fn clone(&self) -> Self {
        Self {
            ipv4: self.ipv4.clone(),
            ipv6: self.ipv6.clone(),
        }
    }
}

impl<V> fmt::Debug for IpMapReader<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpMapReader").finish_non_exhaustive()
    }
}

/// An [`IpMapReader`] inside of the map; see [`MapGuard`].
pub struct IpMapGuard<'r, V>(ByFamily<Guards<'r, V>>);

/// Makes of [`ByFamily`] the guards of both families.
struct Guards<'r, V>(PhantomData<&'r V>);

impl<'r, V> PerFamily for Guards<'r, V> {
    type Of<A: Family> = MapGuard<'r, A, V>;
}

impl<'r, V> IpMapGuard<'r, V> {
    /// The routes of one family: `u32` is IPv4, `u128` IPv6.
    #[inline]
    pub fn family<A: Family>(&self) -> &MapGuard<'r, A, V> {
        A::of(&self.0)
    }

    /// The IPv4 routes.
    pub fn ipv4(&self) -> &MapGuard<'r, u32, V> {
        &self.0.ipv4
    }

    /// The IPv6 routes.
    pub fn ipv6(&self) -> &MapGuard<'r, u128, V> {
        &self.0.ipv6
    }

    /// The value of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: impl Into<IpAddr>) -> Option<&V> {
        match address.into() {
            IpAddr::V4(address) => self.0.ipv4.lookup(address),
            IpAddr::V6(address) => self.0.ipv6.lookup(address),
        }
    }

    /// The longest prefix that contains `address`, and its value.
    #[inline]
    pub fn longest_match(&self, address: impl Into<IpAddr>) -> Option<(IpPrefix, &V)> {
        match address.into() {
            IpAddr::V4(address) => self.0.ipv4.longest_match(address).map(ip),
            IpAddr::V6(address) => self.0.ipv6.longest_match(address).map(ip),
        }
    }

    /// As [`IpMap::lookup_batch`](crate::IpMap::lookup_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, or [`Kernel::best`](crate::Kernel::best) panics.
    pub fn lookup_batch<'g, K: Copy + Into<IpAddr>>(
        &'g self,
        addresses: &[K],
        values: &mut [Option<&'g V>],
    ) {
        MixedFamilies(&self.0.ipv4, &self.0.ipv6).values(addresses, values);
    }

    /// As [`IpMap::longest_match_batch`](crate::IpMap::longest_match_batch).
    ///
    /// # Panics
    /// If the slices have different lengths, or [`Kernel::best`](crate::Kernel::best) panics.
    pub fn longest_match_batch<'g, K: Copy + Into<IpAddr>>(
        &'g self,
        addresses: &[K],
        matches: &mut [Option<(IpPrefix, &'g V)>],
    ) {
        MixedFamilies(&self.0.ipv4, &self.0.ipv6).matches(addresses, matches);
    }

    /// Reports a quiescent state: nothing that was found so far is still in use. The guard stays in its
    /// read-side section.
    #[inline]
    pub fn quiescent(&mut self) {
        self.0.ipv4.quiescent();
        self.0.ipv6.quiescent();
    }
}

impl<V> fmt::Debug for IpMapGuard<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpMapGuard").finish_non_exhaustive()
    }
}
