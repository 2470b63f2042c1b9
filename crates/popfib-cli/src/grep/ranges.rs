//! Prefixes inside lines: a line in, the places out at which it has a prefix or range that is searched for. What is searched for is
//! kept as ranges of addresses, which are compared with the range of the prefix.

use std::net::IpAddr;
use std::ops::Range;

use popfib::family::Family;
use popfib::{aggregate, algebra};
use popfib_formats::addresses::find_span;
use popfib_program::failure::Failure;

use crate::stream::table::NamedTable;

/// How a prefix or range inside a line has to relate to the addresses that are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanRelation {
    /// All of its addresses are searched for.
    Contained,
    /// At least one of them is.
    Overlapping,
}

/// The addresses that are searched for, as ranges in order that do not touch.
pub(super) struct SearchedRanges {
    relation: SpanRelation,
    ipv4: Vec<(u32, u32)>,
    ipv6: Vec<(u128, u128)>,
}

impl SearchedRanges {
    /// The ranges of all addresses whose match in one of the tables counts; `selected` says which do, by their numbers.
    pub(super) fn new(
        relation: SpanRelation,
        tables: &[NamedTable],
        selected: &[Vec<bool>],
    ) -> Result<Self, Failure> {
        Ok(Self {
            relation,
            ipv4: of_family(tables, selected)?,
            ipv6: of_family(tables, selected)?,
        })
    }

    /// Replaces `hits` by the places of prefixes, ranges and addresses in the line that relate so.
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
        before.is_some_and(|(from, to)| match self.relation {
            SpanRelation::Contained => from <= first && last <= to,
            SpanRelation::Overlapping => first <= to,
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
    prefixes.sort();
    Ok(algebra::ranges(prefixes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with sets of the sixteen addresses of four bits.
    #[test]
    fn ranges_relate_as_their_addresses_do() {
        for set in 0..1u32 << 16 {
            let set = set.wrapping_mul(0x9e37) & 0xffff;
            let has = |address: u32| set >> address & 1 == 1;
            let starts = (0..16).filter(|&at| has(at) && (at == 0 || !has(at - 1)));
            let range = |from: u32| (from, (from..16).take_while(|&at| has(at)).last().unwrap());
            let ranges: Vec<_> = starts.map(range).collect();
            let of = |relation| SearchedRanges {
                relation,
                ipv4: Vec::new(),
                ipv6: Vec::new(),
            };
            let first = set % 16;
            for last in first..16 {
                let mut addresses = first..=last;
                let is_contained = addresses.clone().all(has);
                let contained = of(SpanRelation::Contained).is_hit(&ranges, first, last);
                assert_eq!(contained, is_contained, "{set:x} {first} {last}");
                let overlapping = of(SpanRelation::Overlapping).is_hit(&ranges, first, last);
                assert_eq!(overlapping, addresses.any(has), "{set:x} {first} {last}");
            }
        }
    }
}
