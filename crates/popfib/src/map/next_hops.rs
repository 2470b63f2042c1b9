//! A map from prefixes to numbers that the caller keeps: next hops.
//!
//! A leaf is next hop and prefix length in one number, as in a Fib of [`longest`] matches: nothing is looked up to take it apart,
//! and no pairs are kept. So what each answer of a map costs beside the Fib, a read of its pair, this does without;
//! with many different values that is most of a lookup.

use core::fmt;

use super::check::are_right_around;
use super::follow::FollowedRib;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::{CheckError, Options};
use crate::longest;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// Addresses that are looked up at a time.
const PART: usize = 1 << 12;

/// A map from prefixes of one family to next hops, with lookups by longest match, for callers that number their
/// values themselves.
///
/// Like a [`PrefixMap`](crate::PrefixMap) it is always ready for lookups, without a call that compiles. Instead
/// of values it stores the caller's numbers, up to [`MAX`](Self::MAX), and its batches are several times as
/// fast if there are many.
///
/// ```
/// use popfib::{NextHop, NextHopMap};
///
/// let mut map = NextHopMap::<u32>::new();
/// let (east, west) = (NextHop::new(1).unwrap(), NextHop::new(2).unwrap());
/// map.insert("10.0.0.0/8".parse()?, east)?;
/// map.insert("10.1.0.0/16".parse()?, west)?;
/// assert_eq!(map.longest_match(0x0a01_0203), Some(("10.1.0.0/16".parse()?, west)));
/// assert_eq!(map.remove("10.1.0.0/16".parse()?), Some(west));
/// let mut next_hops = [0; 2];
/// map.lookup_batch(&[0x0a01_0203, 0x7f00_0001], &mut next_hops);
/// assert_eq!(next_hops, [1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct NextHopMap<A: Address>(FollowedRib<A>);

impl<A: Address> Default for NextHopMap<A> {
    fn default() -> Self {
        Self(FollowedRib::new(Options::default()))
    }
}

impl<A: Address> fmt::Debug for NextHopMap<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<A: Address> NextHopMap<A> {
    /// The highest next hop: about 65 million for IPv4, 16 million for IPv6.
    pub const MAX: u32 = longest::max_next_hop::<A>();

    /// A map without routes; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A map of the routes of `rib`. O(routes).
    ///
    /// # Errors
    /// [`CompileError::NextHop`] for a next hop beyond [`MAX`](Self::MAX).
    pub fn from_rib(mut rib: Rib<A>) -> Result<Self, CompileError> {
        if rib.next_hop_bound() > Self::MAX {
            for (prefix, next_hop) in &rib {
                longest::number(prefix, next_hop)?;
            }
        }
        rib.renumber(|len, next_hop| longest::combined::<A>(next_hop, len));
        let mut map = Self::new();
        map.0.rib = rib;
        map.0.compile();
        Ok(map)
    }

    /// The number of routes.
    pub fn len(&self) -> usize {
        self.0.rib.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.0.rib.is_empty()
    }

    /// Heap bytes of the routes and the Poptrie, spare capacity included.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The next hop of exactly `prefix`. O(key width / 6).
    pub fn get(&self, prefix: Prefix<A>) -> Option<NextHop> {
        Some(route((prefix, self.0.rib.get(prefix)?)).1)
    }

    /// The next hop of the longest prefix that contains `address`.
    #[inline]
    pub fn lookup(&self, address: A) -> Option<NextHop> {
        Some(self.longest_match(address)?.1)
    }

    /// The longest prefix that contains `address`, and its next hop.
    #[inline]
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        longest::matched(address, self.0.answer(address))
    }

    /// Looks up each of `addresses` and writes its next hop to the same place of `next_hops`; 0 if there is
    /// none. Nothing is allocated.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`](crate::Kernel::best) panics.
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        assert_eq!(addresses.len(), next_hops.len());
        // Numbers are taken apart while they are in the cache: a long column would come by two times more.
        for (addresses, numbers) in addresses.chunks(PART).zip(next_hops.chunks_mut(PART)) {
            self.0.answer_batch(addresses, numbers);
            for number in numbers {
                *number = longest::next_hop::<A>(*number);
            }
        }
    }

    /// Calls back with the longest match of each of `addresses` and its place, in order. Nothing is allocated.
    ///
    /// # Panics
    /// Where [`Kernel::best`](crate::Kernel::best) panics.
    ///
    /// ```
    /// use popfib::{NextHop, NextHopMap};
    ///
    /// let mut map = NextHopMap::<u32>::new();
    /// map.insert("10.0.0.0/8".parse()?, NextHop::MIN)?;
    /// let mut lengths = [None; 2];
    /// map.longest_match_each(&[0x0a01_0203, 0x7f00_0001], |at, found| {
    ///     lengths[at] = found.map(|(prefix, _)| prefix.len());
    /// });
    /// assert_eq!(lengths, [Some(8), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn longest_match_each(
        &self,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<(Prefix<A>, NextHop)>),
    ) {
        let mut numbers = [0; 256];
        for (chunk, addresses) in addresses.chunks(numbers.len()).enumerate() {
            let first = chunk * numbers.len();
            let numbers = &mut numbers[..addresses.len()];
            self.0.answer_batch(addresses, numbers);
            for (at, (address, number)) in addresses.iter().zip(numbers).enumerate() {
                found(first + at, longest::matched(*address, *number));
            }
        }
    }

    /// Sets the next hop of `prefix`; returns the one it replaces. Takes the time of a change of a
    /// [`PrefixMap`](crate::PrefixMap).
    ///
    /// # Errors
    /// [`CompileError::NextHop`] for one beyond [`MAX`](Self::MAX), and [`CompileError::OutOfMemory`]: nothing has
    /// changed.
    pub fn insert(
        &mut self,
        prefix: Prefix<A>,
        next_hop: NextHop,
    ) -> Result<Option<NextHop>, CompileError> {
        let new = longest::number(prefix, next_hop)?;
        let old = self.0.rib.try_insert(prefix, new)?;
        self.0.follow(prefix, old, Some(new));
        Ok(old.map(|old| route((prefix, old)).1))
    }

    /// Removes the route of exactly `prefix`; returns its next hop. Never fails for lack of memory.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<NextHop> {
        let old = self.0.rib.remove(prefix)?;
        self.0.follow(prefix, Some(old), None);
        Some(route((prefix, old)).1)
    }

    /// Inserts many routes, of two next hops for one prefix the last to stay; compiles once where that is less work.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), for the first route that is not inserted; those before it are.
    pub fn extend(
        &mut self,
        routes: impl IntoIterator<Item = (Prefix<A>, NextHop)>,
    ) -> Result<(), CompileError> {
        let is_first = self.is_empty();
        let mut insert = |(prefix, next_hop)| self.insert(prefix, next_hop).map(|_| ());
        let inserted = routes.into_iter().try_for_each(&mut insert);
        if is_first {
            self.0.compile();
        }
        inserted
    }

    /// The routes in prefix order.
    pub fn iter(&self) -> impl Iterator<Item = (Prefix<A>, NextHop)> + Clone {
        self.0.rib.iter().map(route)
    }

    /// The first route in prefix order. O(key width / 6).
    pub fn first(&self) -> Option<(Prefix<A>, NextHop)> {
        self.0.rib.first().map(route)
    }

    /// The first route after `prefix` in prefix order, whether or not that has one. O(key width / 6).
    pub fn next(&self, prefix: Prefix<A>) -> Option<(Prefix<A>, NextHop)> {
        self.0.rib.next(prefix).map(route)
    }

    /// The routes that cover `prefix`, including `prefix` itself, the shortest first.
    pub fn supernets(
        &self,
        prefix: Prefix<A>,
    ) -> impl Iterator<Item = (Prefix<A>, NextHop)> + Clone {
        self.0.rib.supernets(prefix).map(route)
    }

    /// The routes inside `prefix`, including `prefix` itself, in prefix order.
    pub fn subnets(&self, prefix: Prefix<A>) -> impl Iterator<Item = (Prefix<A>, NextHop)> + Clone {
        self.0.rib.subnets(prefix).map(route)
    }

    /// Verifies that the Poptrie is well formed, that each route has a number of its length, and that the first and
    /// last addresses of all routes and their neighbours are answered as the Rib does. O(routes * key width / 6).
    ///
    /// # Errors
    /// The first that does not hold; never, whatever was done to the map.
    pub fn check(&self) -> Result<(), CheckError> {
        self.0.check()?;
        for (prefix, number) in &self.0.rib {
            let matched = longest::matched(prefix.address(), number.get());
            if matched.is_none_or(|(known, _)| known != prefix)
                || !are_right_around(&self.0.rib, prefix, |a, n| self.0.is_right(a, n))
            {
                let number = number.get();
                return Err(CheckError::Pair { number });
            }
        }
        Ok(())
    }
}

/// A route whose number is taken apart.
#[inline]
fn route<A: Address>((prefix, number): (Prefix<A>, NextHop)) -> (Prefix<A>, NextHop) {
    let matched = longest::matched(prefix.address(), number.get());
    matched.expect("it is a number of next hop and length")
}
