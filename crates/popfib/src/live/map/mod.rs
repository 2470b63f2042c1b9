//! Maps whose routes change while others look up: values and matched prefixes for readers who never wait.
//!
//! A live map is a [`LiveFib`] whose next hops number pairs of a value and a prefix length, as those of a
//! [`PrefixMap`](crate::PrefixMap) do. A pair is written before the word that leads to it (`segments.rs`).
//! When its last route has gone, the pair waits until no reader can have come by its number; the clock is that by which
//! the Fib's blocks wait. Then its value is dropped and its number given out again, the lowest number first.

pub(crate) mod ip_map;
mod mirror;
mod reader;
mod segments;
mod sweep;

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::{CheckError, Options};
use crate::live::{Limbo, LiveBytes, LiveFib, last_of_each};
use crate::map::check::check_pairs;
use crate::map::pairs::Pairs;
use crate::map::{Own, Shared, Storage, Stores};
use crate::memory::{self, Global, OutOfMemory};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use mirror::MirroredPairs;
use segments::StableSlots;

pub use ip_map::{IpMapGuard, IpMapReader};
pub use reader::{MapGuard, MapReader};
pub use sweep::{IpMapSweep, Sweep};

/// A map from prefixes of one family to values that changes while other threads look up.
///
/// It is the only writer, which the type ensures: changes take `&mut self`.
/// [Readers](LiveMap::reader) get references to values and the matched prefixes, and never wait;
/// [`LiveIpMap`](crate::LiveIpMap) is the map of both families.
///
/// As with [`PrefixMap`](crate::PrefixMap), [`shared`](LiveMap::shared) makes a map that stores equal values once; in one
/// by [`new`](LiveMap::new) each route has a value of its own, at a third to two thirds of the lookup rate and up to twice
/// the memory. The writer drops a removed value when no reader can see it any more, during a later change or in
/// [`reclaim`](LiveMap::reclaim); the remaining ones are dropped when the writer and all readers are gone.
///
/// ```
/// use popfib::LiveMap;
/// use popfib::map::Shared;
///
/// let mut map: LiveMap<u32, &str, Shared> = LiveMap::shared();
/// let mut reader = map.reader();
/// map.announce("10.0.0.0/8".parse()?, "inside")?;
/// map.announce("10.1.0.0/16".parse()?, "lab")?;
/// let lab = std::thread::scope(|scope| {
///     scope.spawn(|| *reader.pin().lookup(0x0a01_0203_u32).unwrap()).join()
/// });
/// assert_eq!(lab.unwrap(), "lab");
/// map.withdraw("10.1.0.0/16".parse()?)?;
/// let guard = reader.pin();
/// let (prefix, value) = guard.longest_match(0x0a01_0203_u32).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *value), ("10.0.0.0/8", "inside"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A change takes as long as that of a [`LiveFib`]. Memory comes from the global allocator.
pub struct LiveMap<A: Address, V, S: Storage = Own> {
    fib: LiveFib<A>,
    pairs: Pairs<V, S, StableSlots<V>>,
    /// Numbers of pairs without a route.
    retired: Limbo<NextHop>,
    /// As these, but lookups may still answer them: the change that took their routes away could
    /// not be published.
    held: allocator_api2::vec::Vec<NextHop>,
    /// If there is a mirror.
    mirrored: Option<MirroredPairs>,
}

impl<A: Address, V> LiveMap<A, V> {
    /// A map in which each route has a value of its own.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<A: Address, V> LiveMap<A, V, Shared> {
    /// A map in which routes with equal values share one.
    ///
    /// Aborts the program if memory is exhausted.
    pub fn shared() -> Self {
        Self::default()
    }
}

impl<A: Address, V, S: Storage> Default for LiveMap<A, V, S> {
    fn default() -> Self {
        match Self::with_options(Options::default()) {
            Ok(map) => map,
            Err(CompileError::OutOfMemory(error)) => error.abort(),
            Err(_) => unreachable!("no routes, and nothing asked for"),
        }
    }
}

impl<A: Address, V, S: Storage> LiveMap<A, V, S> {
    /// A map without routes whose Poptrie is compiled with `options`.
    ///
    /// # Errors
    /// [`CompileError`], if the options ask for too many direct bits or memory is exhausted.
    pub fn with_options(options: Options) -> Result<Self, CompileError> {
        Ok(Self {
            fib: LiveFib::new(options)?,
            pairs: Pairs::try_new()?,
            retired: Limbo::new_in(Global),
            held: allocator_api2::vec::Vec::new(),
            mirrored: None,
        })
    }

    /// One more reader. Aborts the program if memory is exhausted; [`LiveMap::try_reader`] does not.
    pub fn reader(&self) -> MapReader<A, V> {
        match self.try_reader() {
            Ok(reader) => reader,
            Err(error) => error.abort(),
        }
    }

    /// One more reader.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_reader(&self) -> Result<MapReader<A, V>, OutOfMemory> {
        let pairs = self.pairs.memory().shared.clone();
        Ok(MapReader::new(self.fib.try_reader()?, pairs))
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.fib.rib().len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of exactly `prefix`.
    pub fn get(&self, prefix: Prefix<A>) -> Option<&V> {
        Some(self.value(self.fib.rib().get(prefix)?))
    }

    /// The value of the longest prefix that contains `address`, as readers see it.
    pub fn lookup(&self, address: impl Into<A>) -> Option<&V> {
        Some(self.longest_match(address)?.1)
    }

    /// The longest prefix that contains `address`, and its value, as readers see them.
    pub fn longest_match(&self, address: impl Into<A>) -> Option<(Prefix<A>, &V)> {
        let address = address.into();
        let pair = self.pairs.get(self.fib.lookup(address))?;
        Some(pair.matched(address))
    }

    /// The routes in prefix order.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, &V)> {
        let routes = self.fib.rib().iter();
        routes.map(|(prefix, number)| (prefix, self.value(number)))
    }

    /// Every stored value, once for each place where it is stored, including those that wait for readers. For
    /// garbage collectors, which count the references to an object.
    pub fn stored(&self) -> impl Iterator<Item = &V> {
        let numbers = 0..u32::try_from(self.pairs.end()).unwrap_or(u32::MAX);
        numbers.filter_map(|number| Some(&self.pairs.get(number)?.value))
    }

    /// Drops values and frees memory that no reader can see any more, now instead of later.
    pub fn reclaim(&mut self) {
        self.fib.reclaim();
        // Once for what waits, and once for what could not begin to wait before.
        for _ in 0..2 {
            self.collect();
        }
    }

    /// The number of removed values that are still stored, because a reader may see them or nobody has checked
    /// yet.
    pub fn waiting(&self) -> usize {
        let of_mirror = self
            .mirrored
            .as_ref()
            .map_or(0, |mirrored| mirrored.held.len());
        self.retired.iter().count() + self.held.len() + of_mirror
    }

    /// The memory of the Poptrie; see [`LiveFib::bytes`].
    pub fn fib_bytes(&self) -> LiveBytes {
        self.fib.bytes()
    }

    /// Heap bytes of the routes, the Poptrie and the values, spare capacity included, without what the values
    /// themselves own.
    pub fn bytes(&self) -> usize {
        let of_mirror = self.mirrored.as_ref().map_or(0, MirroredPairs::bytes);
        self.fib.rib().bytes() + self.fib.heap_bytes() + self.pairs.bytes() + of_mirror
    }

    fn value(&self, number: NextHop) -> &V {
        let pair = self.pairs.get(number.get());
        &pair.expect("a route has a pair").value
    }

    fn collect(&mut self) {
        let Self { fib, pairs, .. } = self;
        match &mut self.mirrored {
            Some(mirrored) => mirrored.hold(&mut self.retired, fib.epochs()),
            None => self
                .retired
                .collect(fib.epochs(), |number| drop(pairs.take(number))),
        }
    }
}

impl<A: Address, V, S: Stores<V>> LiveMap<A, V, S> {
    /// Sets the value of `prefix`; returns whether there was a route. Lookups that begin after it returns see
    /// the change.
    ///
    /// # Errors
    /// [`CompileError::OutOfMemory`], also for more than 2^31 - 2 pairs of value and length, those that
    /// wait for readers included; [`CompileError::Words`], if the table grows beyond what can be
    /// numbered. Nothing has changed then.
    pub fn announce(&mut self, prefix: Prefix<A>, value: V) -> Result<bool, CompileError> {
        self.reserve()?;
        let number = self.add(value, prefix.len())?;
        match self.fib.announce(prefix, number) {
            Ok(old) => {
                self.retire(old);
                Ok(old.is_some())
            }
            Err(error) => {
                // No reader has seen it.
                if S::release(&mut self.pairs, number) {
                    drop(self.pairs.take(number));
                }
                Err(error)
            }
        }
    }

    /// Removes the route of exactly `prefix`; returns whether there was one.
    ///
    /// # Errors
    /// As [`LiveFib::withdraw`]. Nothing has changed then.
    pub fn withdraw(&mut self, prefix: Prefix<A>) -> Result<bool, CompileError> {
        self.reserve()?;
        let old = self.fib.withdraw(prefix)?;
        self.retire(old);
        Ok(old.is_some())
    }

    /// Makes several changes as one batch: a value to set, or `None` to remove the route. If several are for
    /// the same prefix, the last one counts: a route that is removed and set again is never missing meanwhile.
    ///
    /// For each prefix, readers see the state before or after the batch. If the changes are a large part of the
    /// routes, a new table is compiled beside the one in use, once: this is how to load a table. O(n log n), or O(n) if
    /// they come in prefix order.
    ///
    /// ```
    /// use popfib::{LiveMap, Prefix};
    ///
    /// let mut map: LiveMap<u32, &str> = LiveMap::new();
    /// let prefix: Prefix<u32> = "10.0.0.0/8".parse()?;
    /// map.apply([(prefix, Some("old"))])?;
    /// map.apply([(prefix, None), (prefix, Some("new"))])?;
    /// assert_eq!(map.get(prefix), Some(&"new"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`announce`](Self::announce). Some of the changes may have been made then, each of them
    /// completely; those that could not be published become visible with the next successful change.
    pub fn apply(
        &mut self,
        changes: impl IntoIterator<Item = (Prefix<A>, Option<V>)>,
    ) -> Result<(), CompileError> {
        let changes: Vec<_> = changes.into_iter().collect();
        let is_bulk = self.fib.is_bulk(changes.len());
        let mut result = Ok(());
        for (prefix, value) in last_of_each(changes) {
            result = match value {
                _ if is_bulk => self.change_unseen(prefix, value),
                Some(value) => self.announce(prefix, value).map(drop),
                None => self.withdraw(prefix).map(drop),
            };
            if result.is_err() {
                break;
            }
        }
        if self.fib.is_stale() {
            self.fib.publish()?;
            self.retire(None);
        }
        result
    }

    /// A change that lookups do not see yet.
    fn change_unseen(&mut self, prefix: Prefix<A>, value: Option<V>) -> Result<(), CompileError> {
        memory::grow(&mut self.held, 1)?;
        let number = match value {
            Some(value) => Some(self.add(value, prefix.len())?),
            None => None,
        };
        match self.fib.change_unseen(prefix, number) {
            Ok(None) => {}
            Ok(Some(old)) => {
                if S::release(&mut self.pairs, old) {
                    self.held.push(old);
                }
            }
            Err(error) => {
                if let Some(number) = number
                    && S::release(&mut self.pairs, number)
                {
                    drop(self.pairs.take(number));
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// The number of a pair, a new one if there is none yet.
    fn add(&mut self, value: V, len: u8) -> Result<NextHop, OutOfMemory> {
        let pairs = self.pairs.len();
        if self
            .mirrored
            .as_mut()
            .is_some_and(|mirrored| !mirrored.has_room(pairs))
        {
            self.end_mirror();
        }
        let before = self.pairs.len();
        let number = S::add(&mut self.pairs, value, len)?;
        if let Some(mirrored) = &mut self.mirrored
            && self.pairs.len() > before
        {
            mirrored.note(number);
        }
        Ok(number)
    }

    /// Makes sure of the memory to let one pair wait.
    fn reserve(&mut self) -> Result<(), OutOfMemory> {
        memory::grow(&mut self.held, 1)?;
        self.retired.reserve(self.held.len() + 1)
    }

    /// Lets the pair of a route that is gone wait for the readers, once lookups see the change; reserved.
    fn retire(&mut self, old: Option<NextHop>) {
        if let Some(old) = old
            && S::release(&mut self.pairs, old)
        {
            self.held.push(old);
        }
        if self.held.is_empty() || self.fib.is_stale() {
            return;
        }
        // Refused after many changes at once, they wait here.
        let is_reserved = self.retired.reserve(self.held.len()).is_ok();
        if is_reserved && self.retired.append(&mut self.held) {
            self.collect();
        }
    }

    /// Verifies that the Poptrie is well formed, that each pair is that of its routes and that those are
    /// answered by it; see [`PrefixMap::check`](crate::PrefixMap::check).
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was done to the map.
    pub fn check(&self) -> Result<(), CheckError> {
        self.fib.check()?;
        let is_right =
            |address, expected| self.fib.is_stale() || self.fib.lookup(address) == expected;
        let of_mirror = self.mirrored.iter().flat_map(|mirrored| &mirrored.held);
        let waiting = self.retired.iter().chain(&self.held).chain(of_mirror);
        let waiting: BTreeSet<u32> = waiting.map(|number| number.get()).collect();
        check_pairs(self.fib.rib(), &self.pairs, is_right, |number| {
            waiting.contains(&number)
        })
    }
}

impl<A: Address, V, S: Storage> fmt::Debug for LiveMap<A, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveMap")
            .field("routes", &self.len())
            .field("pairs", &self.pairs.len())
            .finish_non_exhaustive()
    }
}
