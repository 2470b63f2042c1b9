//! The addresses that are searched for as ranges, for prefixes inside lines.

use std::net::IpAddr;
use std::ops::Range;

use popfib::family::Family;
use popfib::{aggregate, algebra};
use popfib_formats::addresses::find_span;

use crate::failure::Failure;
use crate::stream::table::NamedTable;

/// How a prefix inside a line has to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// All of its addresses are searched for.
    Contained,
    /// One of them is.
    Overlapping,
}

/// The ranges of addresses that are searched for, in order, apart from each other.
pub(super) struct Ranges {
    lies: Lies,
    ipv4: Vec<(u32, u32)>,
    ipv6: Vec<(u128, u128)>,
}

impl Ranges {
    /// Those whose answer in one of the tables is selected by its number.
    pub(super) fn new(
        lies: Lies,
        tables: &[NamedTable],
        selected: &[Vec<bool>],
    ) -> Result<Self, Failure> {
        Ok(Self {
            lies,
            ipv4: of_family(tables, selected)?,
            ipv6: of_family(tables, selected)?,
        })
    }

    /// Where the line has prefixes, ranges or addresses that lie so.
    pub(super) fn hits(&self, line: &[u8], hits: &mut Vec<Range<usize>>) {
        hits.clear();
        let mut from = 0;
        while let Some(span) = find_span(line, from) {
            from = span.range.end;
            let is_hit = match (span.first, span.last) {
                (IpAddr::V4(first), IpAddr::V4(last)) => {
                    self.is_hit(&self.ipv4, first.into(), last.into())
                }
                (IpAddr::V6(first), IpAddr::V6(last)) => {
                    self.is_hit(&self.ipv6, first.into(), last.into())
                }
                _ => false,
            };
            if is_hit {
                hits.push(span.range);
            }
        }
    }

    fn is_hit<A: Ord + Copy>(&self, ranges: &[(A, A)], first: A, last: A) -> bool {
        let after = ranges.partition_point(|range| range.0 <= last);
        let before = after.checked_sub(1).map(|at| ranges[at]);
        before.is_some_and(|(from, to)| match self.lies {
            Lies::Contained => from <= first && last <= to,
            Lies::Overlapping => first <= to,
        })
    }
}

fn of_family<A: Family>(
    tables: &[NamedTable],
    selected: &[Vec<bool>],
) -> Result<Vec<(A, A)>, Failure> {
    let mut prefixes = Vec::new();
    for (table, selected) in tables.iter().zip(selected) {
        let rib = table.table.family::<A>().rib()?;
        prefixes.extend(aggregate::answered(&rib, |number| {
            selected[number.get() as usize]
        }));
    }
    prefixes.sort_unstable();
    Ok(algebra::ranges(prefixes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside a set of all addresses of four bits.
    #[test]
    fn ranges_lie_as_their_addresses_do() {
        for set in 0..1u32 << 16 {
            let set = set.wrapping_mul(0x9e37) & 0xffff;
            let has = |address: u32| set >> address & 1 == 1;
            let starts = (0..16).filter(|&at| has(at) && (at == 0 || !has(at - 1)));
            let range = |from: u32| (from, (from..16).take_while(|&at| has(at)).last().unwrap());
            let ranges: Vec<_> = starts.map(range).collect();
            let of = |lies| Ranges {
                lies,
                ipv4: Vec::new(),
                ipv6: Vec::new(),
            };
            let first = set % 16;
            for last in first..16 {
                let mut addresses = first..=last;
                let is_contained = addresses.clone().all(has);
                let contained = of(Lies::Contained).is_hit(&ranges, first, last);
                assert_eq!(contained, is_contained, "{set:x} {first} {last}");
                let overlapping = of(Lies::Overlapping).is_hit(&ranges, first, last);
                assert_eq!(overlapping, addresses.any(has), "{set:x} {first} {last}");
            }
        }
    }
}
