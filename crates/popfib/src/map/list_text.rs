//! Sets from the text of a list: what blocklists and lists of clouds are.

use alloc::vec::Vec;
use core::str::FromStr;

use super::ListTextError;
use super::set::{IpSet, PrefixSet};
use crate::address::Address;
use crate::algebra;
use crate::prefix::IpPrefix::{self, V4, V6};
use crate::prefix::{Prefix, PrefixError};

/// The prefixes of a list; `range` has those from one address to another, if there are such.
fn prefixes<P: FromStr<Err = PrefixError>>(
    text: &str,
    range: impl Fn(P, P, &mut Vec<P>) -> Option<()>,
) -> Result<Vec<P>, ListTextError> {
    let mut prefixes = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, entry) in (1..).zip(text.lines()) {
        let entry = entry.split(['#', ';']).next().unwrap_or_default().trim();
        if entry.is_empty() {
            continue;
        }
        let is_read = match entry.split_once('-') {
            None => entry
                .parse()
                .map(|prefix| prefixes.push(prefix))
                .map_err(Some),
            Some((first, last)) => {
                let ends = first.trim_end().parse().and_then(|first| {
                    let last = last.trim_start().parse()?;
                    Ok((first, last))
                });
                let range = |(first, last)| range(first, last, &mut prefixes).ok_or(None);
                ends.map_err(Some).and_then(range)
            }
        };
        is_read.map_err(|error| ListTextError::new(line, entry, error))?;
    }
    Ok(prefixes)
}

/// The fewest prefixes of a range whose ends are addresses, as `prefix` makes them.
fn range<A: Address, P>(
    first: Prefix<A>,
    last: Prefix<A>,
    prefix: impl Fn(Prefix<A>) -> P,
    to: &mut Vec<P>,
) -> Option<()> {
    let are_addresses = first.len() == A::WIDTH && last.len() == A::WIDTH;
    let is_range = are_addresses && first.first() <= last.first();
    is_range.then(|| to.extend(algebra::range(first.first(), last.first()).map(prefix)))
}

/// A set from the text of a list: a prefix, an address or a range `FIRST-LAST` a line. `#` and `;` begin a comment, and lines
/// without anything else are passed over. A range becomes the fewest prefixes. O(text) time and memory.
///
/// # Errors
/// [`ListTextError`] for the first line that is nothing of this, or of another family.
///
/// ```
/// use popfib::PrefixSet;
///
/// let set: PrefixSet<u32> = "# ours\n10.0.0.0/8 ; inside\n192.0.2.1\n192.0.2.4-192.0.2.9\n".parse()?;
/// assert_eq!(set.iter().map(|prefix| prefix.to_string()).collect::<Vec<_>>(),
///     ["10.0.0.0/8", "192.0.2.1/32", "192.0.2.4/30", "192.0.2.8/31"]);
/// # Ok::<(), popfib::map::ListTextError>(())
/// ```
impl<A: Address> FromStr for PrefixSet<A> {
    type Err = ListTextError;

    fn from_str(text: &str) -> Result<Self, ListTextError> {
        let found = prefixes(text, |first, last, to| {
            range(first, last, |prefix| prefix, to)
        })?;
        Ok(found.into_iter().collect())
    }
}

/// The same of both families.
impl FromStr for IpSet {
    type Err = ListTextError;

    fn from_str(text: &str) -> Result<Self, ListTextError> {
        let found = prefixes::<IpPrefix>(text, |first, last, to| match (first, last) {
            (V4(first), V4(last)) => range(first, last, V4, to),
            (V6(first), V6(last)) => range(first, last, V6, to),
            (V4(_), V6(_)) | (V6(_), V4(_)) => None,
        })?;
        Ok(found.into_iter().collect())
    }
}
