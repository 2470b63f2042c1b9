//! Longest matches, prefix and next hop, by one lookup of a Fib.
//!
//! The matched prefix is the address cut to its length. So a leaf here is one number of both: the next hop times the
//! count of lengths, plus the length; nothing is looked up to take it apart. For callers that keep their own
//! numbers in a Rib and look up prefixes while routes stay the same: it stands beside the Fib of next hops,
//! whose leaves it would make
//! wider and aggregate less. Rejected: leaves that number (next hop, length) pairs, as maps have them. They take fewer
//! bits, and a miss of the cache more (docs/experiments.md).

use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::{Fib, Options};
use crate::memory::{Allocator, Global};
use crate::next_hop::{Leaf, NextHop};
use crate::prefix::Prefix;
use crate::rib::Rib;

/// A compiled Poptrie that returns the matching prefix and its next hop.
///
/// ```
/// use popfib::{LongestFib, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// rib.insert("10.1.0.0/16".parse()?, NextHop::new(2).unwrap());
/// let fib = LongestFib::compile(&rib, &Options::default())?;
/// let found = fib.longest_match(0x0a01_0203);
/// assert_eq!(found, Some(("10.1.0.0/16".parse()?, NextHop::new(2).unwrap())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LongestFib<A: Address, Al: Allocator = Global>(Fib<A, u32, Al>);

impl<A: Address> LongestFib<A> {
    /// Compiles the routes of `rib`: [`LongestFib::compile_in`] with the global allocator.
    ///
    /// # Errors
    /// As [`LongestFib::compile_in`].
    pub fn compile(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
    ) -> Result<Self, CompileError> {
        Self::compile_in(rib, options, Global)
    }
}

impl<A: Address, Al: Allocator + Clone> LongestFib<A, Al> {
    /// Compiles the routes of `rib`, with all memory from `alloc`. It takes twice the time of [`Fib::compile`],
    /// and temporarily the memory of a copy of the Rib with other numbers.
    ///
    /// # Errors
    /// As [`Fib::compile`], and [`CompileError::NextHop`] for next hops beyond
    /// [`LongestFib::MAX_NEXT_HOP`].
    pub fn compile_in(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
        alloc: Al,
    ) -> Result<Self, CompileError> {
        let mut numbered = Rib::new_in(alloc.clone());
        for (prefix, next_hop) in rib {
            numbered.try_insert(prefix, Self::number(prefix, next_hop)?)?;
        }
        Fib::compile_in(&numbered, options, alloc).map(Self)
    }
}

impl<A: Address, Al: Allocator> LongestFib<A, Al> {
    /// How many lengths prefixes may have, from 0 to the key width: a number divided by it is the next hop.
    pub const LENGTHS: u32 = A::WIDTH as u32 + 1;

    /// The highest next hop that fits into a leaf together with a length: about 65 million for IPv4, 16 million
    /// for IPv6.
    pub const MAX_NEXT_HOP: u32 = <u32 as Leaf>::MAX / Self::LENGTHS - 1;

    /// The number that combines a next hop and the length of a prefix. O(1).
    ///
    /// A [`LiveFib`](crate::LiveFib) with such numbers as next hops lets its readers find longest matches;
    /// [`matched`](Self::matched) splits the numbers again:
    ///
    /// ```
    /// use popfib::{LiveFib, LongestFib, NextHop, Options, Prefix};
    ///
    /// let mut table: LiveFib<u32, u32> = LiveFib::new(Options::default())?;
    /// let mut reader = table.reader();
    /// let prefix: Prefix<u32> = "10.0.0.0/8".parse()?;
    /// let next_hop = NextHop::new(7).unwrap();
    /// table.announce(prefix, LongestFib::<u32>::number(prefix, next_hop)?)?;
    /// let number = reader.lookup(0x0a01_0203);
    /// assert_eq!(LongestFib::<u32>::matched(0x0a01_0203, number), Some((prefix, next_hop)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`CompileError::NextHop`] for next hops beyond [`LongestFib::MAX_NEXT_HOP`].
    pub fn number(prefix: Prefix<A>, next_hop: NextHop) -> Result<NextHop, CompileError> {
        let next_hop = next_hop.get();
        let number = (next_hop <= Self::MAX_NEXT_HOP)
            .then(|| next_hop * Self::LENGTHS + u32::from(prefix.len()));
        number.and_then(NextHop::new).ok_or(CompileError::NextHop {
            next_hop,
            max: Self::MAX_NEXT_HOP,
        })
    }

    /// The Fib that answers the [number](Self::number) of each match in place of a next hop.
    pub fn fib(&self) -> &Fib<A, u32, Al> {
        &self.0
    }

    /// As [`LongestFib::fib`].
    pub fn into_fib(self) -> Fib<A, u32, Al> {
        self.0
    }

    /// Of a Fib whose answers are numbers as [`LongestFib::number`] makes them. With others the matches are wrong.
    pub(crate) fn from_fib(fib: Fib<A, u32, Al>) -> Self {
        Self(fib)
    }

    /// The longest prefix that contains `address`, and its next hop.
    #[inline]
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        Self::matched(address, self.0.lookup(address))
    }

    /// Calls back with the match of each of `addresses` and its place, in order. The lookups are made by
    /// `kernel`, as
    /// by [`Fib::lookup_each_with`].
    pub fn longest_matches_with(
        &self,
        kernel: Kernel,
        addresses: &[A],
        mut found: impl FnMut(usize, Option<(Prefix<A>, NextHop)>),
    ) {
        self.0.lookup_each_with(kernel, addresses, |at, leaf| {
            found(at, Self::matched(addresses[at], leaf));
        });
    }

    /// Bytes of the root table and of the pages and blocks.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The match that a [number](Self::number), the answer for `address`, stands for; `None` for 0. O(1).
    #[inline(always)]
    pub fn matched(address: A, number: u32) -> Option<(Prefix<A>, NextHop)> {
        let next_hop = NextHop::new(number / Self::LENGTHS)?;
        let len = (number % Self::LENGTHS) as u8;
        Some((Prefix::clamped(address, len), next_hop))
    }
}
