//! The addresses whose answer is one of several, as prefixes.

use core::iter::from_fn;

use crate::address::Address;
use crate::algebra;
use crate::intervals::Intervals;
use crate::next_hop::NextHop;
use crate::prefix::Prefix;
use crate::rib::Rib;

/// The fewest prefixes of the addresses whose longest match has a next hop that is `wanted`, in order: what a list of the routes
/// with these next hops is too much for, where longer prefixes lead elsewhere. O(routes and prefixes).
///
/// ```
/// use popfib::{NextHop, Rib, aggregate};
///
/// let (one, other) = (NextHop::new(1).unwrap(), NextHop::new(2).unwrap());
/// let mut rib = Rib::<u32>::new();
/// rib.insert("5.0.0.0/8".parse()?, one);
/// rib.insert("5.128.0.0/9".parse()?, other);
/// let prefixes = aggregate::answered(&rib, |next_hop| next_hop == one);
/// assert!(prefixes.eq(["5.0.0.0/9".parse()?]));
/// # Ok::<(), popfib::PrefixError>(())
/// ```
pub fn answered<'r, A: Address>(
    rib: &'r Rib<A>,
    wanted: impl Fn(NextHop) -> bool + 'r,
) -> impl Iterator<Item = Prefix<A>> + 'r {
    let mut intervals = Intervals::new(rib);
    let ranges = from_fn(move || {
        let mut range: Option<(A, A)> = None;
        for interval in intervals.by_ref() {
            match (interval.next_hop.is_some_and(&wanted), range) {
                (true, None) => range = Some((interval.first, interval.last)),
                (true, Some((first, _))) => range = Some((first, interval.last)),
                // There is no gap between intervals.
                (false, Some(_)) => break,
                (false, None) => {}
            }
        }
        range
    });
    ranges.flat_map(|(first, last)| algebra::range(first, last))
}
