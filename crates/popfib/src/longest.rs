//! Longest matches (prefix and next hop) by one lookup of a Fib.
//!
//! The matching prefix is the address truncated to the prefix length. So a leaf combines next hop and length in one
//! number: the next hop times the count of lengths, plus the length. No other lookup is needed to split it. This
//! is for callers that keep their own numbers in a Rib and look up prefixes while routes stay the same. It is separate
//! from the Fib of next hops, whose leaves would otherwise be wider and aggregate less. Rejected: leaves that
//! number (next hop, length) pairs, as in maps. They need fewer bits, but one more cache miss
//! (docs/experiments/doors.md).

use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::{Fib, Options};
use crate::memory::{Allocator, Global};
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::prefix::Prefix;
use crate::rib::{Rib, RibBuilder};

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
pub struct LongestFib<A: Address, Al: Allocator = Global>(Fib<A, Al>);

impl<A: Address> LongestFib<A> {
    /// Compiles the routes of `rib`: [`LongestFib::compile_in`] with the global allocator.
    ///
    /// # Errors
    /// Those of [`LongestFib::compile_in`].
    pub fn compile(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
    ) -> Result<Self, CompileError> {
        Self::compile_in(rib, options, Global)
    }
}

impl<A: Address, Al: Allocator + Clone> LongestFib<A, Al> {
    /// Compiles the routes of `rib`, with all memory from `alloc`. This takes twice the time of [`Fib::compile`],
    /// and temporarily the memory of another Rib with as many routes.
    ///
    /// # Errors
    /// Those of [`Fib::compile`], and [`CompileError::NextHop`] for next hops above
    /// [`LongestFib::MAX_NEXT_HOP`].
    pub fn compile_in(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
        alloc: Al,
    ) -> Result<Self, CompileError> {
        let mut numbered = RibBuilder::new_in(alloc.clone());
        for (prefix, next_hop) in rib {
            numbered.push(prefix, Self::number(prefix, next_hop)?)?;
        }
        Fib::compile_in(&numbered.finish(), options, alloc).map(Self)
    }
}

impl<A: Address, Al: Allocator> LongestFib<A, Al> {
    /// The count of possible prefix lengths, from 0 to the key width: a number divided by it is the next hop.
    pub const LENGTHS: u32 = A::WIDTH as u32 + 1;

    /// The highest next hop that fits into a leaf together with a length: about 65 million for IPv4, 16 million
    /// for IPv6.
    pub const MAX_NEXT_HOP: u32 = MAX_NEXT_HOP / Self::LENGTHS - 1;

    /// The number that combines a next hop and the length of a prefix. O(1).
    ///
    /// A [`LiveFib`](crate::LiveFib) with such numbers as next hops lets its readers find longest matches;
    /// [`matched`](Self::matched) splits the numbers again:
    ///
    /// ```
    /// use popfib::{LiveFib, LongestFib, NextHop, Options, Prefix};
    ///
    /// let mut table: LiveFib<u32> = LiveFib::new(Options::default())?;
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
    /// [`CompileError::NextHop`] for next hops above [`LongestFib::MAX_NEXT_HOP`].
    pub fn number(prefix: Prefix<A>, next_hop: NextHop) -> Result<NextHop, CompileError> {
        let next_hop = next_hop.get();
        let number = (next_hop <= Self::MAX_NEXT_HOP)
            .then(|| next_hop * Self::LENGTHS + u32::from(prefix.len()));
        number.and_then(NextHop::new).ok_or(CompileError::NextHop {
            next_hop,
            max: Self::MAX_NEXT_HOP,
        })
    }

    /// The Fib, whose lookups return the [number](Self::number) of each match instead of a next hop.
    pub fn fib(&self) -> &Fib<A, Al> {
        &self.0
    }

    /// From a Fib whose answers are numbers made by [`LongestFib::number`]. With other answers, the matches are wrong.
    pub(crate) fn from_fib(fib: Fib<A, Al>) -> Self {
        Self(fib)
    }

    /// The longest prefix that contains `address`, and its next hop.
    #[inline]
    pub fn longest_match(&self, address: A) -> Option<(Prefix<A>, NextHop)> {
        Self::matched(address, self.0.lookup(address))
    }

    /// Calls `found` with the index and the match of each of `addresses`, in order. The lookups are made by
    /// `kernel`, in bursts of a few.
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

    /// The number of bytes of the root table, the pages and the blocks.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The match that `number`, the answer for `address`, stands for; `None` for 0. O(1). See [`number`](Self::number).
    #[inline(always)]
    pub fn matched(address: A, number: u32) -> Option<(Prefix<A>, NextHop)> {
        let next_hop = NextHop::new(number / Self::LENGTHS)?;
        let len = (number % Self::LENGTHS) as u8;
        Some((Prefix::clamped(address, len), next_hop))
    }
}
