//! How many addresses of each of several lists are in each other.
//!
//! A sweep goes over the ends of all ranges, in order of their addresses. Let `covered(j)` be how many addresses of list
//! j come before the place of the sweep: a number, plus the place itself while j has a range open. A range of list i
//! from s to e shares `covered(j) at e - covered(j) at s` addresses with j. So each end adds one row of numbers or takes
//! one off, without a look at which ranges are open. Numbers wrap; only a count of 2^128 becomes 0 by that, that of
//! all of IPv6, which is recognised at the end.

use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::num::Wrapping;
use core::ops::{Add, AddAssign, BitAnd, Not, Sub, SubAssign};

use super::ranges;
use crate::address::Address;
use crate::prefix::Prefix;

/// What several lists have in common, by [`overlaps`].
#[derive(Debug)]
pub struct Overlaps {
    /// By list and other list.
    shared: Vec<u128>,
    unique: Vec<u128>,
}

impl Overlaps {
    /// How many addresses both lists have; of a list and itself, how many it has. Of all 2^128 of IPv6 it says one less.
    pub fn shared(&self, one: usize, other: usize) -> u128 {
        self.shared[one * self.unique.len() + other]
    }

    /// How many addresses no other list has.
    pub fn unique(&self, list: usize) -> u128 {
        self.unique[list]
    }
}

/// How many addresses of each list are in each other, and in no other. The prefixes of a list are in their order.
///
/// O(prefixes of all × lists); memory O(lists²).
///
/// ```
/// use popfib::{Prefix, algebra};
///
/// let list = |texts: &[&str]| -> Vec<Prefix<u32>> { texts.iter().map(|text| text.parse().unwrap()).collect() };
/// let lists = [list(&["10.0.0.0/24", "10.0.2.0/24"]), list(&["10.0.0.0/25", "10.0.3.0/24"])];
/// let overlaps = algebra::overlaps(lists);
/// assert_eq!((overlaps.shared(0, 0), overlaps.shared(0, 1), overlaps.unique(1)), (512, 128, 256));
/// ```
pub fn overlaps<A: Address, L: IntoIterator<Item = Prefix<A>>>(
    lists: impl IntoIterator<Item = L>,
) -> Overlaps {
    // Half the width is four times the speed, where it is enough.
    if A::WIDTH < 64 {
        sweep(
            lists,
            |number| Wrapping(number as u64),
            |number| number.0.into(),
        )
    } else {
        sweep(lists, Wrapping, |number: Wrapping<u128>| number.0)
    }
}

/// Numbers that wrap.
trait WrappingNumber:
    Copy
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + Not<Output = Self>
    + AddAssign
    + SubAssign
{
}

impl WrappingNumber for Wrapping<u64> {}
impl WrappingNumber for Wrapping<u128> {}

fn sweep<A: Address, L: IntoIterator<Item = Prefix<A>>, N: WrappingNumber>(
    lists: impl IntoIterator<Item = L>,
    number: impl Fn(u128) -> N,
    told: impl Fn(N) -> u128,
) -> Overlaps {
    let mut ends: Vec<_> = lists.into_iter().map(|list| ends(ranges(list))).collect();
    let count = ends.len();
    let one = number(1);
    let mut shared = vec![N::default(); count * count];
    let mut unique = vec![N::default(); count];
    // Of each list, what is covered before the place, or what the place is to be added to, with all bits set beside it.
    let mut base = vec![N::default(); count];
    let mut is_open = vec![N::default(); count];
    // How many are open, and which one if it is one.
    let (mut open, mut which) = (0, 0);
    let mut before = N::default();
    let first = ends.iter_mut().enumerate();
    let first = first.filter_map(|(list, ends)| Some(Reverse((ends.next()?, list))));
    let mut next: BinaryHeap<_> = first.collect();
    let mut has_any = vec![false; count];
    next.iter()
        .for_each(|Reverse((_, list))| has_any[*list] = true);
    while let Some(mut top) = next.peek_mut() {
        let Reverse(((address, is_end), list)) = *top;
        match ends[list].next() {
            Some(end) => top.0.0 = end,
            None => drop(PeekMut::pop(top)),
        }
        // An end is after its last address.
        let place = number(address.to_u128()) + if is_end { one } else { N::default() };
        if open == 1 {
            unique[which] += place - before;
        }
        before = place;
        which ^= list;
        let row = &mut shared[list * count..][..count];
        let covered = base.iter().zip(&is_open);
        let covered = row.iter_mut().zip(covered);
        if is_end {
            open -= 1;
            covered.for_each(|(shared, (&base, &is_open))| *shared += base + (is_open & place));
            base[list] += place;
            is_open[list] = N::default();
        } else {
            open += 1;
            covered.for_each(|(shared, (&base, &is_open))| *shared -= base + (is_open & place));
            base[list] -= place;
            is_open[list] = !N::default();
        }
    }
    let mut shared: Vec<_> = shared.into_iter().map(&told).collect();
    let mut unique: Vec<_> = unique.into_iter().map(told).collect();
    let is_all = |list: &usize| has_any[*list] && shared[list * count + list] == 0;
    let all: Vec<usize> = (0..count).filter(is_all).collect();
    for (one, other) in all
        .iter()
        .flat_map(|one| all.iter().map(move |other| (one, other)))
    {
        shared[one * count + other] = u128::MAX;
    }
    if let [list] = all[..]
        && has_any.iter().filter(|has_any| **has_any).count() == 1
    {
        unique[list] = u128::MAX;
    }
    Overlaps { shared, unique }
}

/// The first and the last address of each range, one after the other, with whether it is the last. Of several ends at one
/// address, first ones come first.
fn ends<A: Address>(ranges: impl Iterator<Item = (A, A)>) -> impl Iterator<Item = (A, bool)> {
    ranges.flat_map(|(first, last)| [(first, false), (last, true)])
}
