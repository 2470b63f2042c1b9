//! Longest matches (prefix and next hop) by one lookup of a [`Fib`].
//!
//! The matching prefix is the address truncated to the prefix length. So a leaf combines next hop and length in one
//! number: the next hop times the count of lengths, plus the length. No other lookup is needed to split it. This
//! is for callers that keep their own numbers in a Rib and look up prefixes while routes stay the same. It is separate
//! from the Fib of next hops, whose leaves would otherwise be wider and aggregate less. Rejected: leaves that
//! number (next hop, length) pairs, as in maps. They need fewer bits, but one more cache miss
//! (docs/experiments/doors.md). Rejected: a type around such a Fib: it is looked up in as any other.
//!
//! ```
//! use popfib::{NextHop, Options, Rib, longest};
//!
//! let mut rib = Rib::<u32>::new();
//! rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
//! rib.insert("10.1.0.0/16".parse()?, NextHop::new(2).unwrap());
//! let fib = longest::compile(&rib, &Options::default())?;
//! let found = longest::matched(0x0a01_0203_u32, fib.lookup(0x0a01_0203));
//! assert_eq!(found, Some(("10.1.0.0/16".parse()?, NextHop::new(2).unwrap())));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`LiveFib`](crate::LiveFib) or a [`FibSet`](crate::FibSet) of such numbers finds longest matches, too.

use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::{Fib, Options};
use crate::memory::{Allocator, Global};
use crate::next_hop::{MAX_NEXT_HOP, NextHop};
use crate::prefix::Prefix;
use crate::rib::{Rib, RibBuilder};

/// The count of possible prefix lengths, from 0 to the key width.
pub(crate) const fn lengths<A: Address>() -> u32 {
    A::WIDTH as u32 + 1
}

/// The highest next hop that fits into a leaf together with a length: about 65 million for IPv4, 16 million
/// for IPv6.
pub const fn max_next_hop<A: Address>() -> u32 {
    MAX_NEXT_HOP / lengths::<A>() - 1
}

/// Compiles the routes of `rib` into a Fib whose lookups return the [`number`] of each match: [`compile_in`] with the global allocator.
///
/// # Errors
/// Those of [`compile_in`].
pub fn compile<A: Address>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
) -> Result<Fib<A>, CompileError> {
    compile_in(rib, options, Global)
}

/// Compiles the routes of `rib`, with all memory from `alloc`. This takes twice the time of [`Fib::compile`],
/// and temporarily the memory of another Rib with as many routes.
///
/// # Errors
/// Those of [`Fib::compile`] and [`number`].
pub fn compile_in<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, impl Allocator + Clone>,
    options: &Options,
    alloc: Al,
) -> Result<Fib<A, Al>, CompileError> {
    let mut numbered = RibBuilder::new_in(alloc.clone());
    for (prefix, next_hop) in rib {
        numbered.push(prefix, number(prefix, next_hop)?)?;
    }
    Fib::compile_in(&numbered.finish(), options, alloc)
}

/// The number that combines a next hop and the length of a prefix. O(1).
///
/// # Errors
/// [`CompileError::NextHop`] for next hops above [`max_next_hop`].
pub fn number<A: Address>(prefix: Prefix<A>, next_hop: NextHop) -> Result<NextHop, CompileError> {
    let (next_hop, max) = (next_hop.get(), max_next_hop::<A>());
    let number = (next_hop <= max).then(|| combined::<A>(next_hop, prefix.len()));
    number
        .and_then(NextHop::new)
        .ok_or(CompileError::NextHop { next_hop, max })
}

/// As [`number`], where both are known to fit.
#[inline]
pub(crate) fn combined<A: Address>(next_hop: u32, len: u8) -> u32 {
    next_hop * lengths::<A>() + u32::from(len)
}

/// The match that `number`, the answer for `address`, stands for; `None` for 0. O(1).
#[inline(always)]
pub fn matched<A: Address>(address: A, number: u32) -> Option<(Prefix<A>, NextHop)> {
    let next_hop = NextHop::new(self::next_hop::<A>(number))?;
    let len = (number % lengths::<A>()) as u8;
    Some((Prefix::clamped(address, len), next_hop))
}

/// The next hop of the match that `number` stands for; 0 for 0. O(1).
#[inline(always)]
pub fn next_hop<A: Address>(number: u32) -> u32 {
    number / lengths::<A>()
}

/// Calls `found` with the index and the match of each of `addresses`, in order. The lookups in `fib`, which answers numbers, are
/// made by `kernel`, in bursts of a few.
pub fn matches_with<A: Address, Al: Allocator>(
    fib: &Fib<A, Al>,
    kernel: Kernel,
    addresses: &[A],
    mut found: impl FnMut(usize, Option<(Prefix<A>, NextHop)>),
) {
    fib.lookup_each_with(kernel, addresses, |at, number| {
        found(at, matched(addresses[at], number));
    });
}
