//! The differences between two Ribs, in routes or in answers.
//!
//! [`routes`] merges the two walks in prefix order and compares the next hops of the prefixes that
//! both have. [`answers`] walks the [`Intervals`] of both in step and
//! compares what the addresses get: tables with different routes but the same answers are equal.
//! [`prefixes`] compares lists without next hops, as sets have them.
//!
//! Each table numbers its next hops itself, so the caller says which are equal: `|a, b| a == b` if both use the
//! same numbers.
//!
//! ```
//! use popfib::{NextHop, Rib, diff};
//!
//! let (east, west) = (NextHop::new(1).unwrap(), NextHop::new(2).unwrap());
//! let old = Rib::<u32>::from_iter([("10.0.0.0/8".parse()?, east)]);
//! let mut new = old.clone();
//! new.insert("10.1.0.0/16".parse()?, west);
//! new.insert("10.2.0.0/16".parse()?, east);
//! assert_eq!(diff::routes(&old, &new, |a, b| a == b).count(), 2);
//! // 10.2.0.0/16 changes no answer.
//! let change = diff::answers(&old, &new, |a, b| a == b).next().unwrap();
//! assert_eq!(change.first, u32::from_be_bytes([10, 1, 0, 0]));
//! assert_eq!(change.last, u32::from_be_bytes([10, 1, 255, 255]));
//! assert_eq!((change.old, change.new), (Some(east), Some(west)));
//! # Ok::<(), popfib::PrefixError>(())
//! ```

use core::cmp::Ordering;
use core::iter::from_fn;

use crate::address::Address;
use crate::intervals::{Interval, Intervals};
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// A prefix whose route differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange<A: Address> {
    /// The prefix of the route.
    pub prefix: Prefix<A>,
    /// The next hop in the old Rib; `None` if the route was added.
    pub old: Option<NextHop>,
    /// The next hop in the new Rib; `None` if the route was removed.
    pub new: Option<NextHop>,
}

/// Addresses `first..=last`, whose answer differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerChange<A> {
    /// The lowest of the addresses.
    pub first: A,
    /// The highest of the addresses.
    pub last: A,
    /// The answer of the old Rib; `None` where no route matched.
    pub old: Option<NextHop>,
    /// The answer of the new Rib; `None` where no route matches.
    pub new: Option<NextHop>,
}

/// The routes that were added, removed or changed from `old` to `new`, in prefix order.
///
/// `same` says whether a next hop of `old` and one of `new` are the same.
/// O(routes of both); allocates O(key width).
pub fn routes<'r, A: Address>(
    old: &'r Rib<A>,
    new: &'r Rib<A>,
    same: impl Fn(NextHop, NextHop) -> bool + 'r,
) -> impl Iterator<Item = RouteChange<A>> + 'r {
    let mut olds = old.iter().peekable();
    let mut news = new.iter().peekable();
    from_fn(move || {
        loop {
            let prefix = match (olds.peek(), news.peek()) {
                (Some((a, _)), Some((b, _))) => *a.min(b),
                (Some((prefix, _)), None) | (None, Some((prefix, _))) => *prefix,
                (None, None) => return None,
            };
            let old = olds.next_if(|(p, _)| *p == prefix).map(|(_, n)| n);
            let new = news.next_if(|(p, _)| *p == prefix).map(|(_, n)| n);
            if !is_same(old, new, &same) {
                return Some(RouteChange { prefix, old, new });
            }
        }
    })
}

/// A prefix that is in one of two lists alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrefixChange<P> {
    /// It is only in the new one.
    Added(P),
    /// It is only in the old one.
    Removed(P),
}

/// The prefixes that were added to `old` or removed from it on the way to `new`, in order, both of which have them in order,
/// each once. Lazy: O(prefixes of both) in all, O(1) memory.
pub fn prefixes<P: Ord>(
    old: impl IntoIterator<Item = P>,
    new: impl IntoIterator<Item = P>,
) -> impl Iterator<Item = PrefixChange<P>> {
    let mut olds = old.into_iter().peekable();
    let mut news = new.into_iter().peekable();
    from_fn(move || {
        loop {
            let order = match (olds.peek(), news.peek()) {
                (Some(old), Some(new)) => old.cmp(new),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            match order {
                Ordering::Less => return olds.next().map(PrefixChange::Removed),
                Ordering::Greater => return news.next().map(PrefixChange::Added),
                Ordering::Equal => {
                    olds.next();
                    news.next();
                }
            }
        }
    })
}

/// The addresses whose answer differs between `old` and `new`, in order.
///
/// Neighbouring addresses with the same old and the same new next hop are in
/// one item. `same` says whether a next hop of `old` and one of `new` are the
/// same. O(routes of both); allocates O(key width).
pub fn answers<'r, A: Address>(
    old: &'r Rib<A>,
    new: &'r Rib<A>,
    same: impl Fn(NextHop, NextHop) -> bool + 'r,
) -> impl Iterator<Item = AnswerChange<A>> + 'r {
    let mut segments = segments(old, new)
        .filter(move |segment| !is_same(segment.old, segment.new, &same))
        .peekable();
    from_fn(move || {
        let mut change = segments.next()?;
        while let Some(more) = segments.next_if(|next| {
            change.last.checked_next() == Some(next.first)
                && (change.old, change.new) == (next.old, next.new)
        }) {
            change.last = more.last;
        }
        Some(change)
    })
}

/// All addresses, cut where an interval of either Rib ends, with both answers.
fn segments<'r, A: Address>(
    old: &'r Rib<A>,
    new: &'r Rib<A>,
) -> impl Iterator<Item = AnswerChange<A>> + 'r {
    let mut olds = Intervals::new(old).peekable();
    let mut news = Intervals::new(new).peekable();
    let mut first = A::MIN;
    from_fn(move || {
        let (a, b) = (*olds.peek()?, *news.peek()?);
        let segment = AnswerChange {
            first,
            last: a.last.min(b.last),
            old: a.next_hop,
            new: b.next_hop,
        };
        let is_over = |interval: &Interval<A>| interval.last == segment.last;
        olds.next_if(is_over);
        news.next_if(is_over);
        // Behind the last address both are at their end.
        first = segment.last.checked_next().unwrap_or(A::MAX);
        Some(segment)
    })
}

fn is_same(
    old: Option<NextHop>,
    new: Option<NextHop>,
    same: impl Fn(NextHop, NextHop) -> bool,
) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => same(old, new),
        (None, None) => true,
        _ => false,
    }
}
