//! The map of one family: exact matches, lookups and single changes.
//!
//! A map holds its routes in a Rib, whose next hops are numbers of pairs: a pair is a value and a prefix length (`pairs.rs`).
//! A Fib follows the Rib at every change (`follow.rs`), so its answers are numbers of pairs too. A lookup asks the Fib and
//! reads the pair: the value is there, and the matched prefix is the address cut to the pair's length. Exact matches,
//! and walks in prefix order, ask the Rib.
//!
//! `storage.rs` and `stores.rs` decide whether routes with equal values share a pair. The map of both families
//! (`ip_map.rs`) is two of these maps; a set (`set.rs`) is one without values. A [`NextHopMap`](crate::NextHopMap) has no
//! pairs: its Fib answers next hop and prefix length in one number.

use super::follow::FollowedRib;
use super::lazy::LazyFib;
use super::pairs::{Pair, Pairs};
use super::value_mut::Renumber;
use super::{Own, Shared, Storage, Stores};
use crate::address::Address;
use crate::fib::Options;
use crate::memory::OutOfMemory;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;

/// A map from prefixes of one family to values, with lookups by longest match.
///
/// Always ready for lookups, without a call that compiles: [`lookup`](Self::lookup) and
/// [`longest_match`](Self::longest_match) use a Poptrie that changes patch in place.
/// `A` is the key: `u32` for IPv4, `u128` for IPv6, or any other [`Address`];
/// [`IpMap`](crate::IpMap) is the map of both families. Addresses are `A`, or a type that converts into it,
/// such as [`Ipv4Addr`](core::net::Ipv4Addr).
///
/// [`shared`](PrefixMap::shared) makes a map that stores equal values once, as next hops, origin AS or countries are;
/// they have to be `Clone + Eq + Hash`. In one by [`new`](PrefixMap::new) each route has a value of its own, of any type,
/// at a third to two thirds of the lookup rate and up to twice the memory.
///
/// ```
/// use popfib::PrefixMap;
/// use popfib::map::Shared;
/// use std::net::Ipv4Addr;
///
/// let mut map: PrefixMap<u32, &str, Shared> = PrefixMap::shared();
/// map.insert("10.0.0.0/8".parse()?, "inside");
/// map.insert("10.1.0.0/16".parse()?, "lab");
/// let address = Ipv4Addr::new(10, 1, 2, 3);
/// assert_eq!(map.lookup(address), Some(&"lab"));
/// let (prefix, value) = map.longest_match(address).unwrap();
/// assert_eq!((prefix.to_string().as_str(), *value), ("10.1.0.0/16", "lab"));
/// map.remove("10.1.0.0/16".parse()?);
/// assert_eq!(map.lookup(address), Some(&"inside"));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
///
/// A change takes O(key width / 6) steps, mostly well below a microsecond. A change of a short prefix takes
/// longer the more answers it changes. Now and then, amortised over many changes, the table is compiled again.
/// Many changes without a lookup between them, as by a loop that fills a map, [`extend`](Extend::extend) or
/// [`retain`](Self::retain), change the routes alone: the next lookup compiles, some 15 ms for a million IPv4 routes, while
/// other threads look up in the routes, correctly but more slowly. A map that is collected is compiled at once.
///
/// Memory comes from the global allocator; as with the collections of the standard library, the program aborts
/// if it is exhausted, except in [`try_insert`](Self::try_insert). If there is memory for a route but not for
/// the Poptrie, the map looks up in its Rib until there is.
pub struct PrefixMap<A: Address, V, S: Storage = Own> {
    /// The numbers of pairs.
    pub(super) routes: FollowedRib<A>,
    pub(super) pairs: Pairs<V, S>,
}

impl<A: Address, V> PrefixMap<A, V> {
    /// A map in which each route has a value of its own; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<A: Address, V> PrefixMap<A, V, Shared> {
    /// A map in which routes with equal values share one; allocates nothing.
    ///
    /// ```
    /// use popfib::PrefixMap;
    /// use popfib::map::Shared;
    ///
    /// let mut origins = PrefixMap::shared();
    /// origins.insert("192.0.2.0/24".parse()?, 64500);
    /// origins.insert("198.51.100.0/24".parse()?, 64500);
    /// // The type says so where it is written out.
    /// let origins: PrefixMap<u32, i32, Shared> = origins;
    /// assert_eq!(origins.lookup(0xc000_0201_u32), Some(&64500));
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn shared() -> Self {
        Self::default()
    }
}

impl<A: Address, V, S: Storage> PrefixMap<A, V, S> {
    /// A map whose Poptrie is compiled with `options`; without routes, and allocates nothing.
    ///
    /// ```
    /// use popfib::{Options, PrefixMap};
    ///
    /// let options = Options::default().direct_bits(Some(16));
    /// let mut map: PrefixMap<u32, u8> = PrefixMap::with_options(options);
    /// map.insert("10.0.0.0/8".parse()?, 1);
    /// map.check().unwrap();
    /// # Ok::<(), popfib::PrefixError>(())
    /// ```
    pub fn with_options(options: Options) -> Self {
        Self {
            routes: FollowedRib::new(options),
            pairs: Pairs::new(),
        }
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.routes.rib.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes.rib.is_empty()
    }

    /// Removes every route and frees the memory.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// assert_eq!(map.len(), 3);
    /// map.clear();
    /// assert!(map.is_empty());
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn clear(&mut self) {
        // Not by assignment: a value whose drop panics must leave an empty map.
        drop(self.take());
    }

    /// What is here, and an empty map in its place.
    pub(super) fn take(&mut self) -> Self {
        core::mem::replace(self, Self::with_options(self.routes.options.clone()))
    }

    /// Heap bytes of the routes, the Poptrie and the array of values, spare capacity
    /// included, without what the values themselves own.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// assert!(map.bytes() > 0);
    /// assert_eq!(map.pair_count(), 3);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn bytes(&self) -> usize {
        self.routes.bytes() + self.pairs.bytes()
    }

    /// The number of different pairs of value and prefix length: what the leaves of the
    /// Poptrie number. With values of their own it is the number of routes.
    pub fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The value of exactly `prefix`.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let ten = "10.0.0.0/8".parse().unwrap();
    /// assert_eq!(map.get(ten), Some(&1));
    /// assert!(map.contains_key(ten));
    /// assert_eq!(map.get("10.0.0.0/9".parse().unwrap()), None);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn get(&self, prefix: Prefix<A>) -> Option<&V> {
        Some(self.value(self.routes.rib.get(prefix)?))
    }

    /// Whether there is a route of exactly `prefix`.
    pub fn contains_key(&self, prefix: Prefix<A>) -> bool {
        self.routes.rib.contains_key(prefix)
    }

    /// The first route in prefix order. O(key width / 6).
    pub fn first(&self) -> Option<(Prefix<A>, &V)> {
        let (prefix, number) = self.routes.rib.first()?;
        Some((prefix, self.value(number)))
    }

    /// The last route in prefix order. O(key width / 6).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// assert_eq!(map.first().map(|(_, value)| value), Some(&1));
    /// assert_eq!(map.last().map(|(_, value)| value), Some(&3));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn last(&self) -> Option<(Prefix<A>, &V)> {
        let (prefix, number) = self.routes.rib.last()?;
        Some((prefix, self.value(number)))
    }

    /// The value of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: impl Into<A>) -> Option<&V> {
        Some(&self.find(address.into())?.value)
    }

    /// The longest prefix that contains `address`, and its value.
    ///
    /// As fast as [`lookup`](Self::lookup), apart from making the prefix.
    #[inline]
    pub fn longest_match(&self, address: impl Into<A>) -> Option<(Prefix<A>, &V)> {
        let address = address.into();
        Some(self.find(address)?.matched(address))
    }

    /// The shortest prefix that contains `address`, and its value. O(key width / 6).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let address = std::net::Ipv4Addr::new(10, 1, 2, 3);
    /// assert_eq!(map.shortest_match(address).unwrap().0.to_string(), "10.0.0.0/8");
    /// assert_eq!(map.longest_match(address).unwrap().0.to_string(), "10.1.0.0/16");
    /// assert_eq!(map.lookup(address), Some(&2));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn shortest_match(&self, address: impl Into<A>) -> Option<(Prefix<A>, &V)> {
        self.supernets(Prefix::host(address.into())).next()
    }

    /// The pair that answers for `address`.
    #[inline]
    fn find(&self, address: A) -> Option<&Pair<V>> {
        self.pairs.get(self.routes.answer(address))
    }

    fn value(&self, number: NextHop) -> &V {
        let pair = self.pairs.get(number.get());
        &pair.expect("a route has a pair").value
    }
}

impl<A: Address, V, S: Stores<V>> PrefixMap<A, V, S> {
    /// Sets the value of `prefix`; returns the value it replaces.
    ///
    /// # Panics
    /// If the map would have more than 2^31 - 2 pairs of value and length.
    ///
    /// Aborts the program if memory is exhausted; see [`try_insert`](Self::try_insert).
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let ten = "10.0.0.0/8".parse().unwrap();
    /// assert_eq!(map.insert(ten, 9), Some(1));
    /// assert_eq!(map.remove(ten), Some(9));
    /// assert_eq!(map.remove(ten), None);
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn insert(&mut self, prefix: Prefix<A>, value: V) -> Option<V> {
        match self.try_insert(prefix, value) {
            Ok(replaced) => replaced,
            Err(error) => error.abort(),
        }
    }

    /// As [`insert`](Self::insert); if memory is exhausted, the map is unchanged and the value is dropped.
    ///
    /// # Errors
    /// [`OutOfMemory`], also for more than 2^31 - 2 pairs of value and length.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let replaced = map.try_insert("10.2.0.0/16".parse().unwrap(), 4);
    /// assert_eq!(replaced, Ok(None));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn try_insert(&mut self, prefix: Prefix<A>, value: V) -> Result<Option<V>, OutOfMemory> {
        let (old, new) = match self.insert_route(prefix, value)? {
            InsertOutcome::InPlace(value) => return Ok(Some(value)),
            InsertOutcome::Route { old, new } => (old, new),
        };
        self.routes.follow(prefix, old, Some(new));
        Ok(old.map(|old| S::remove(&mut self.pairs, old)))
    }

    /// Removes the route of exactly `prefix`; returns its value. Never fails for lack of memory.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<V> {
        self.routes.fetch(prefix);
        let number = self.routes.rib.remove(prefix)?;
        self.routes.follow(prefix, Some(number), None);
        let value = S::remove(&mut self.pairs, number);
        self.tidy();
        Some(value)
    }

    /// The value of exactly `prefix`, to change it in place: `&mut V`, or a [`ValueMut`](crate::map::ValueMut) where
    /// values are shared.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// if let Some(value) = map.get_mut("10.0.0.0/8".parse().unwrap()) {
    ///     *value += 10;
    /// }
    /// assert!(map.values().eq(&[11, 2, 3]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn get_mut(&mut self, prefix: Prefix<A>) -> Option<S::Mut<'_>> {
        let number = self.routes.rib.get(prefix)?;
        Some(S::lend(self, prefix.address().to_u128(), number))
    }

    /// The longest prefix that contains `address`, and its value, to change it in place.
    ///
    /// ```
    /// use popfib::PrefixMap;
    ///
    /// let mut map: PrefixMap<u32, u8> =
    ///     PrefixMap::from_text([("10.0.0.0/8", 1), ("10.1.0.0/16", 2), ("192.0.2.0/24", 3)])?;
    /// let address = std::net::Ipv4Addr::new(10, 1, 2, 3);
    /// let (prefix, value) = map.longest_match_mut(address).unwrap();
    /// *value += 10;
    /// assert_eq!(prefix.len(), 16);
    /// assert!(map.values().eq(&[1, 12, 3]));
    /// # Ok::<(), popfib::map::ListTextError>(())
    /// ```
    pub fn longest_match_mut(&mut self, address: impl Into<A>) -> Option<(Prefix<A>, S::Mut<'_>)> {
        let address = address.into();
        let number = NextHop::new(self.routes.answer(address))?;
        let prefix = Prefix::clamped(address, self.pairs.get(number.get())?.len());
        Some((prefix, S::lend(self, prefix.address().to_u128(), number)))
    }

    /// Puts the route into Rib and pairs; the Fib does not follow yet.
    pub(super) fn insert_route(
        &mut self,
        prefix: Prefix<A>,
        value: V,
    ) -> Result<InsertOutcome<V>, OutOfMemory> {
        self.routes.fetch(prefix);
        let new = S::add(&mut self.pairs, value, prefix.len())?;
        let old = match self.routes.rib.try_insert_new(prefix, new) {
            Ok(None) => return Ok(InsertOutcome::Route { old: None, new }),
            Ok(Some(old)) => old,
            Err(error) => {
                drop(S::remove(&mut self.pairs, new));
                return Err(error);
            }
        };
        if let Some(replaced) = S::replace(&mut self.pairs, old, new) {
            return Ok(InsertOutcome::InPlace(replaced));
        }
        // There is a route, so no memory is needed.
        self.routes.rib.insert(prefix, new);
        let old = Some(old);
        Ok(InsertOutcome::Route { old, new })
    }

    /// The prefix of these bits whose route has pair `number`.
    pub(super) fn prefix_of(&self, bits: u128, number: NextHop) -> Option<Prefix<A>> {
        let pair = self.pairs.get(number.get())?;
        Some(Prefix::clamped(A::truncate(bits), pair.len()))
    }

    /// Numbers the pairs of a map that lost most of them again, from 1 on.
    pub(super) fn tidy(&mut self) {
        if self.routes.rib.is_empty() {
            self.pairs = Pairs::new();
        }
        if self.pairs.is_sparse()
            && let Some(numbers) = self.pairs.renumber()
        {
            self.routes
                .rib
                .renumber(|_, number| numbers[number as usize]);
            self.routes.fib = LazyFib::new();
        }
    }
}

impl<A: Address, V, S: Stores<V>> Renumber<V, S> for PrefixMap<A, V, S> {
    fn pairs(&self) -> &Pairs<V, S> {
        &self.pairs
    }

    fn pairs_mut(&mut self) -> &mut Pairs<V, S> {
        &mut self.pairs
    }

    fn set(&mut self, bits: u128, number: NextHop, value: V) {
        if let Some(prefix) = self.prefix_of(bits, number) {
            self.insert(prefix, value);
        }
    }
}

/// What a route more has changed.
pub(super) enum InsertOutcome<V> {
    /// A value, where it is.
    InPlace(V),
    /// The number of the route's pair.
    Route { old: Option<NextHop>, new: NextHop },
}
