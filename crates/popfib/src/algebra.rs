//! Set algebra of prefixes, taken as the set of addresses that they cover.
//!
//! Prefixes that come in their order are joined to *spans*: ranges of addresses of which none
//! touches the next. An operation walks the spans of both sides in step, from one end of a span to
//! the next. The stretches for which it holds are joined again and cut into prefixes, each as
//! large as its first address and the rest of its span allow. No fewer prefixes have these
//! addresses: no prefix can reach from one span into another, and inside a span a larger prefix would have to begin
//! at another address. Everything is lazy: O(prefixes of both sides and of the result) in all, O(1) memory.
//!
//! The functions take prefixes **in their order**, as sets, maps and Ribs give them
//! ([`PrefixSet::iter`](crate::PrefixSet::iter), [`PrefixMap::keys`](crate::PrefixMap::keys),
//! [`Rib::iter`](crate::Rib::iter)); which those are makes no difference, only which addresses they
//! cover. In any other order the result is meaningless. [`PrefixSet`](crate::PrefixSet) and
//! [`IpSet`](crate::IpSet) have the same operations as methods.
//!
//! ```
//! use popfib::{PrefixMap, PrefixSet, algebra};
//!
//! let routes: PrefixMap<u32, &str> =
//!     PrefixMap::from_text([("10.0.0.0/8", "east"), ("10.1.0.0/16", "west"), ("11.0.0.0/8", "east")])?;
//! let blocked: PrefixSet<u32> = ["10.0.0.0/9".parse().unwrap()].into();
//! let rest = algebra::difference(routes.keys(), &blocked);
//! assert_eq!(
//!     rest.map(|prefix| prefix.to_string()).collect::<Vec<_>>(),
//!     ["10.128.0.0/9", "11.0.0.0/8"]
//! );
//! # Ok::<(), popfib::map::ListTextError>(())
//! ```

mod overlaps;

use core::iter::{Empty, FusedIterator, Peekable, empty, from_fn};

use crate::address::Address;
use crate::prefix::Prefix;

pub use overlaps::{Overlaps, overlaps};

/// How much of a prefix a set of addresses holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// Every address of it, by one prefix or by several together.
    Whole,
    /// Some of its addresses, and not all.
    Part,
    /// None of its addresses.
    None,
}

/// The fewest prefixes with the addresses of `prefixes`, in order.
pub fn fewest<A: Address>(
    prefixes: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    union(prefixes, empty())
}

/// The addresses of `one` or of `other`, as the fewest prefixes, in order.
pub fn union<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    combine(one, other, |one, other| one || other)
}

/// The addresses of both `one` and `other`, as the fewest prefixes, in order.
pub fn intersection<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    combine(one, other, |one, other| one && other)
}

/// The addresses of `one` that are not in `other`, as the fewest prefixes, in order.
pub fn difference<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    combine(one, other, |one, other| one && !other)
}

/// The addresses of `one` or of `other` and not of both, as the fewest prefixes, in order.
pub fn symmetric_difference<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    combine(one, other, |one, other| one != other)
}

/// All addresses that are not in `prefixes`, as the fewest prefixes, in order.
pub fn complement<A: Address>(
    prefixes: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = Prefix<A>> {
    let nothing: Empty<Prefix<A>> = empty();
    combine(prefixes, nothing, |one, _| !one)
}

/// Whether every address of `one` is in `other`. O(prefixes of both).
pub fn is_subset<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> bool {
    difference(one, other).next().is_none()
}

/// Whether no address is in both `one` and `other`. O(prefixes of both).
pub fn is_disjoint<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
) -> bool {
    intersection(one, other).next().is_none()
}

/// Each prefix of `prefixes` as it is, with how much of it `set` holds.
///
/// O(prefixes of both) in all.
///
/// ```
/// use popfib::algebra::Coverage;
/// use popfib::{Prefix, PrefixSet, algebra};
///
/// let prefix = |text: &str| -> Prefix<u32> { text.parse().unwrap() };
/// let routes = [prefix("10.0.0.0/8"), prefix("10.0.0.0/16"), prefix("11.0.0.0/8")];
/// let set: PrefixSet<u32> = [prefix("10.0.0.0/17"), prefix("10.0.128.0/17")].into();
/// let how: Vec<_> = algebra::compare(routes, &set).map(|(_, how)| how).collect();
/// assert_eq!(how, [Coverage::Part, Coverage::Whole, Coverage::None]);
/// ```
pub fn compare<A: Address>(
    prefixes: impl IntoIterator<Item = Prefix<A>>,
    set: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = (Prefix<A>, Coverage)> {
    let mut prefixes = prefixes.into_iter();
    let mut set = Operand::new(set);
    from_fn(move || {
        let prefix = prefixes.next()?;
        // Spans do not touch, so one that holds the whole is one that goes on to its end.
        let how = match set.at(prefix.first()) {
            (true, last) if last >= prefix.last() => Coverage::Whole,
            (false, last) if last >= prefix.last() => Coverage::None,
            _ => Coverage::Part,
        };
        Some((prefix, how))
    })
}

/// The first and last address of each range that `prefixes` cover, in order; no range touches the next.
///
/// ```
/// use popfib::{PrefixSet, algebra};
///
/// let set: PrefixSet<u32> = ["10.0.0.0/8".parse()?, "11.0.0.0/9".parse()?].into();
/// assert!(algebra::ranges(&set).eq([(0x0a00_0000, 0x0b7f_ffff)]));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub fn ranges<A: Address>(
    prefixes: impl IntoIterator<Item = Prefix<A>>,
) -> impl Iterator<Item = (A, A)> {
    let prefixes = prefixes.into_iter().peekable();
    JoinedSpans { prefixes }.map(|JoinedSpan { first, last }| (first, last))
}

/// How many addresses `prefixes` cover. Of all 2^128 of IPv6 it says one less, which is the most that there is a number for.
/// O(prefixes).
pub fn address_count<A: Address>(prefixes: impl IntoIterator<Item = Prefix<A>>) -> u128 {
    let prefixes = prefixes.into_iter().peekable();
    let count =
        |span: JoinedSpan<A>| (span.last.to_u128() - span.first.to_u128()).saturating_add(1);
    // They have no address in common, so only all of IPv6 is too much.
    JoinedSpans { prefixes }
        .map(count)
        .fold(0, u128::saturating_add)
}

/// Addresses `first..=last`.
#[derive(Clone, Copy, Debug)]
struct JoinedSpan<A> {
    first: A,
    last: A,
}

/// The spans of prefixes that come in their order.
struct JoinedSpans<I: Iterator> {
    prefixes: Peekable<I>,
}

impl<A: Address, I: Iterator<Item = Prefix<A>>> Iterator for JoinedSpans<I> {
    type Item = JoinedSpan<A>;

    fn next(&mut self) -> Option<JoinedSpan<A>> {
        let prefix = self.prefixes.next()?;
        let (first, mut last) = (prefix.first(), prefix.last());
        while let Some(more) = self
            .prefixes
            .next_if(|next| next.first() <= last || Some(next.first()) == last.checked_next())
        {
            last = last.max(more.last());
        }
        Some(JoinedSpan { first, last })
    }
}

/// One side of an operation, asked in ascending order.
struct Operand<A: Address, I: Iterator<Item = Prefix<A>>> {
    spans: Peekable<JoinedSpans<I>>,
}

impl<A: Address, I: Iterator<Item = Prefix<A>>> Operand<A, I> {
    fn new(prefixes: impl IntoIterator<IntoIter = I>) -> Self {
        let prefixes = prefixes.into_iter().peekable();
        Self {
            spans: JoinedSpans { prefixes }.peekable(),
        }
    }

    /// Whether `address` is in the set, and the last address up to which that stays so.
    fn at(&mut self, address: A) -> (bool, A) {
        while self.spans.next_if(|span| span.last < address).is_some() {}
        match self.spans.peek() {
            None => (false, A::MAX),
            Some(span) if span.first <= address => (true, span.last),
            // It begins after `address`, so there is an address before it.
            Some(span) => (false, span.first.checked_previous().unwrap_or(A::MIN)),
        }
    }
}

/// The addresses for which `holds` says so of being in `one` and in `other`, as the fewest prefixes.
fn combine<A: Address>(
    one: impl IntoIterator<Item = Prefix<A>>,
    other: impl IntoIterator<Item = Prefix<A>>,
    holds: fn(bool, bool) -> bool,
) -> impl Iterator<Item = Prefix<A>> {
    let (mut one, mut other) = (Operand::new(one), Operand::new(other));
    let mut next = Some(A::MIN);
    let mut prefixes = RangePrefixes { rest: None };
    // Not by `flat_map`, which brings ten times the code for each pair of iterators.
    from_fn(move || {
        if prefixes.rest.is_none() {
            prefixes.rest = next_span(&mut next, holds, &mut |first| {
                (one.at(first), other.at(first))
            });
        }
        prefixes.next()
    })
}

/// The next addresses for which `holds`, from `next` on. `at` says of both sides whether they have an address, and up to which last one
/// that stays so.
fn next_span<A: Address>(
    next: &mut Option<A>,
    holds: fn(bool, bool) -> bool,
    at: &mut dyn FnMut(A) -> ((bool, A), (bool, A)),
) -> Option<JoinedSpan<A>> {
    let mut found: Option<JoinedSpan<A>> = None;
    while let Some(first) = *next {
        let ((in_one, one_last), (in_other, other_last)) = at(first);
        let last = one_last.min(other_last);
        let is_in = holds(in_one, in_other);
        if found.is_some() && !is_in {
            break;
        }
        *next = last.checked_next();
        if is_in {
            let first = found.map_or(first, |span| span.first);
            found = Some(JoinedSpan { first, last });
        }
    }
    found
}

/// The fewest prefixes of the addresses `first..=last`, in order; none if `last` is before `first`.
///
/// At most two for each bit of the address, O(1) each.
///
/// ```
/// use popfib::algebra;
///
/// let prefixes = algebra::range(0x0a00_0001_u32, 0x0a00_0006);
/// assert_eq!(
///     prefixes.map(|prefix| prefix.to_string()).collect::<Vec<_>>(),
///     ["10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"]
/// );
/// ```
pub fn range<A: Address>(first: A, last: A) -> RangePrefixes<A> {
    RangePrefixes {
        rest: (first <= last).then_some(JoinedSpan { first, last }),
    }
}

/// The fewest prefixes of a range of addresses, in order; by [`range`].
#[derive(Clone, Debug)]
pub struct RangePrefixes<A> {
    rest: Option<JoinedSpan<A>>,
}

impl<A: Address> Iterator for RangePrefixes<A> {
    type Item = Prefix<A>;

    #[inline]
    fn next(&mut self) -> Option<Prefix<A>> {
        let JoinedSpan { first, last } = self.rest?;
        let (first_number, last_number) = (first.to_u128(), last.to_u128());
        let width = u32::from(A::WIDTH);
        let aligned = first_number.trailing_zeros().min(width);
        // 2^128 addresses are more than a number holds.
        let fits = (last_number - first_number)
            .checked_add(1)
            .map_or(width, u128::ilog2);
        // As large as the alignment of its start and the length of the rest allow.
        let prefix = Prefix::clamped(first, (width - aligned.min(fits)) as u8);
        let next = prefix.last().checked_next();
        let next = next.filter(|&first| first <= last);
        self.rest = next.map(|first| JoinedSpan { first, last });
        Some(prefix)
    }
}

impl<A: Address> FusedIterator for RangePrefixes<A> {}
