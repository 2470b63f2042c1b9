//! The answers of a Rib as intervals: ranges of addresses with the same longest match.
//!
//! Routes come in prefix order, a covering prefix before what it covers. A
//! stack holds the prefixes open at the current address, the longest on top.
//! An interval ends where the top of the stack ends or where the next route
//! begins, whichever is first. Linear in the number of routes, at most two
//! intervals a route and one more, so asking for all addresses costs no search
//! per address.

use alloc::vec::Vec;
use core::iter::{FusedIterator, Peekable};

use crate::address::Address;
use crate::next_hop::NextHop;
use crate::rib::{Iter, Rib};

/// Addresses `first..=last`, which all have the same longest match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval<A> {
    /// The lowest of the addresses.
    pub first: A,
    /// The highest of the addresses.
    pub last: A,
    /// Their next hop; `None` where no route matches.
    pub next_hop: Option<NextHop>,
}

/// The intervals of all addresses of a [`Rib`], in order and without a gap.
///
/// Neighbouring intervals belong to different routes, but may have the same
/// next hop. O(routes) for all of them; memory O(key width).
#[derive(Clone, Debug)]
pub struct Intervals<'r, A: Address> {
    routes: Peekable<Iter<'r, A>>,
    /// Last address and next hop of the prefixes that are open.
    open: Vec<(A, NextHop)>,
    /// First address of the next interval, `None` after the last address.
    first: Option<A>,
}

impl<'r, A: Address> Intervals<'r, A> {
    /// The intervals of `rib`.
    pub fn new(rib: &'r Rib<A>) -> Self {
        Self {
            routes: rib.iter().peekable(),
            open: Vec::new(),
            first: Some(A::MIN),
        }
    }
}

impl<A: Address> Iterator for Intervals<'_, A> {
    type Item = Interval<A>;

    fn next(&mut self) -> Option<Interval<A>> {
        let first = self.first?;
        while self.open.last().is_some_and(|&(last, _)| last < first) {
            self.open.pop();
        }
        while let Some((prefix, next_hop)) = self.routes.next_if(|(p, _)| p.first() == first) {
            self.open.push((prefix.last(), next_hop));
        }
        let (mut last, next_hop) = match self.open.last() {
            Some(&(last, next_hop)) => (last, Some(next_hop)),
            None => (A::MAX, None),
        };
        if let Some((next, _)) = self.routes.peek() {
            // It begins after `first`, so there is an address before it.
            last = last.min(next.first().checked_previous().unwrap_or(last));
        }
        self.first = last.checked_next();
        Some(Interval {
            first,
            last,
            next_hop,
        })
    }
}

impl<A: Address> FusedIterator for Intervals<'_, A> {}
