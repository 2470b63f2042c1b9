//! The ranges of a file, in an order in which the narrowest one answers: ranges with values in, prefixes out once all are there.
//!
//! ```text
//! 10.0.0.0-10.0.0.255   A    10.0.0.0/24
//! 10.0.0.16-10.0.0.31   B    10.0.0.16/28, inside of the other, and longer, so it answers
//! 10.0.0.24-10.0.0.40   C    an error: it begins inside of B and ends after it
//! ```
//! A range inside of another becomes prefixes that are longer or the same, so of
//! ranges that nest the wider has to come first. Sorted by their first address and,
//! of equals, by descending last one, a range comes after all that it lies in, and
//! those are a stack. A range that begins inside of the top of the stack and ends
//! after it has no answer that both lines agree to: an error names them.
//!
//! Ranges are kept until the file has ended, each once. Most files are in order:
//! their ranges are just appended, and only those that are late need a search. A prefix that comes after a range is kept as one.
//! Those before the first range are handed out by then, and come back for it from whoever has them ([`RangeRoutes::begin`]).

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::mem;
use std::net::IpAddr;
use std::vec::IntoIter;

use popfib::NextHop;

use crate::ranges::{AddressSpan, IpRangePrefixes};
use crate::route::Route;

/// The ranges of a file until all are there, and then their routes.
#[derive(Debug, Default)]
pub(crate) struct RangeRoutes {
    all: bool,
    in_order: Vec<ValueRange>,
    late: BTreeMap<RangeKey, ValueRange>,
    replaced: u64,
    /// In their order, once all are there.
    sorted: Option<IntoIter<ValueRange>>,
    is_begun: bool,
    /// The ranges that the last one lies in, and itself.
    around: Vec<ValueRange>,
    /// What is left of the range that is handed out, and its value.
    range: Option<IpRangePrefixes>,
    value: Option<NextHop>,
}

/// What ranges are sorted by; the value where equal ranges of several are kept.
type RangeKey = (IpAddr, Reverse<IpAddr>, Option<Option<NextHop>>);

/// A range, where it stands in the file, and the number of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ValueRange {
    first: IpAddr,
    last: IpAddr,
    /// 0 if it stands before all ranges.
    line: u64,
    value: Option<NextHop>,
}

impl ValueRange {
    fn key(&self, all: bool) -> RangeKey {
        (self.first, Reverse(self.last), all.then_some(self.value))
    }
}

impl RangeRoutes {
    /// No ranges. Of two with the same ends the last one will count, or, with `all`, each that has another value.
    pub(crate) fn new(all: bool) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }

    /// Whether there are any: if so, a prefix goes to them, too.
    pub(crate) fn is_any(&self) -> bool {
        !self.in_order.is_empty()
    }

    /// Adds a range, or a prefix as one, of this line.
    pub(crate) fn add(&mut self, span: AddressSpan, line: u64, value: Option<NextHop>) {
        let (first, last) = span.ends();
        let range = ValueRange {
            first,
            last,
            line,
            value,
        };
        let key = range.key(self.all);
        let top = self.in_order.last_mut();
        let is_replaced = match top.map(|top| (top.key(self.all).cmp(&key), top)) {
            Some((Ordering::Equal, top)) => {
                *top = range;
                true
            }
            Some((Ordering::Greater, _)) => self.late.insert(key, range).is_some(),
            _ => {
                self.in_order.push(range);
                false
            }
        };
        self.replaced += u64::from(is_replaced && !self.all);
    }

    /// Whether the first route of the ranges was just handed out; says so once.
    #[inline]
    pub(crate) fn is_at_begin(&mut self) -> bool {
        self.sorted.is_some() && !mem::replace(&mut self.is_begun, true)
    }

    /// Begins again, with the routes `before` the ranges among them.
    pub(crate) fn begin(&mut self, before: Vec<Route>) {
        self.range = None;
        self.in_order = mem::take(&mut self.around);
        self.in_order
            .extend(self.sorted.take().into_iter().flatten());
        self.in_order.extend(before.into_iter().map(|route| {
            let (first, last) = AddressSpan::Prefix(route.prefix).ends();
            ValueRange {
                first,
                last,
                line: 0,
                value: route.value,
            }
        }));
    }

    /// The next route of the ranges, once all are there; or the line of a range that has no answer, and why.
    pub(crate) fn next(&mut self) -> Option<Result<Route, (u64, String)>> {
        let prefix = loop {
            if let Some(prefix) = self.range.as_mut().and_then(Iterator::next) {
                break prefix;
            }
            match self.next_range()? {
                Ok(range) => {
                    self.value = range.value;
                    self.range = IpRangePrefixes::new(range.first, range.last).ok();
                }
                Err([around, range]) => {
                    let (range, other) = match range.line {
                        0 => (around, range),
                        _ => (range, around),
                    };
                    let place = match other.line {
                        0 => "before all ranges".to_owned(),
                        line => format!("of line {line}"),
                    };
                    let reason = format!(
                        "the range {} to {} overlaps {} to {} {place}, and neither lies in the other",
                        range.first, range.last, other.first, other.last
                    );
                    return Some(Err((range.line, reason)));
                }
            }
        };
        let value = self.value;
        Some(Ok(Route { prefix, value }))
    }

    /// The next range, wider ones before those in them; or two of different values that overlap without one being in the
    /// other: the first of them was handed out, the second is not.
    fn next_range(&mut self) -> Option<Result<ValueRange, [ValueRange; 2]>> {
        let sorted = self.sorted.get_or_insert_with(|| {
            let mut sorted = mem::take(&mut self.in_order);
            sorted.extend(mem::take(&mut self.late).into_values());
            // Two runs, which sorting merges; of equals the later line comes last.
            sorted.sort_by_key(|range| (range.key(self.all), range.line));
            sorted.into_iter()
        });
        let range = sorted.next()?;
        // IPv4 comes before IPv6, so this also leaves the other family.
        while self.around.pop_if(|top| top.last < range.first).is_some() {}
        while let Some(top) = self.around.pop_if(|top| top.last < range.last) {
            if top.value != range.value {
                self.around.push(top);
                return Some(Err([top, range]));
            }
        }
        self.around.push(range);
        Some(Ok(range))
    }

    /// What was replaced, for the user.
    pub(crate) fn note(&self) -> Option<String> {
        match self.replaced {
            0 => None,
            1 => Some("1 range replaced by another with the same ends".to_owned()),
            n => Some(format!("{n} ranges replaced by others with the same ends")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lines of the ranges in their order, and the lines of those that overlap.
    fn order(ranges: &[(u8, u8)]) -> (Vec<u64>, Vec<[u64; 2]>) {
        let address = |n| IpAddr::from([10, 0, 0, n]);
        let mut all = RangeRoutes::default();
        for (&(first, last), line) in ranges.iter().zip(1..) {
            let span = AddressSpan::Range(address(first), address(last));
            all.add(span, line, NextHop::new(line as u32));
        }
        let (mut lines, mut overlaps) = (Vec::new(), Vec::new());
        while let Some(next) = all.next_range() {
            match next {
                Ok(range) => lines.push(range.line),
                Err(two) => overlaps.push(two.map(|range| range.line)),
            }
        }
        (lines, overlaps)
    }

    #[test]
    fn wider_ranges_come_first() {
        assert_eq!(order(&[(0, 9), (10, 19)]), (vec![1, 2], vec![]));
        assert_eq!(order(&[(10, 19), (0, 9)]), (vec![2, 1], vec![]));
        assert_eq!(order(&[(5, 6), (0, 9), (5, 9)]), (vec![2, 3, 1], vec![]));
        assert_eq!(order(&[(0, 9), (0, 9)]), (vec![2], vec![]));
        assert_eq!(order(&[(1, 1), (0, 9), (0, 9), (0, 0)]).0.last(), Some(&1));
    }

    #[test]
    fn ranges_that_overlap_are_told() {
        assert_eq!(order(&[(0, 5), (5, 9)]), (vec![1], vec![[1, 2]]));
        assert_eq!(order(&[(5, 9), (0, 5)]), (vec![2], vec![[2, 1]]));
        assert_eq!(
            order(&[(0, 5), (6, 9), (7, 10)]),
            (vec![1, 2], vec![[2, 3]])
        );
    }

    proptest! {
        /// Against all pairs: an overlap is found exactly where there is one, and
        /// the last range to name an address is the narrowest that holds it.
        #[test]
        fn agrees_with_all_pairs(ends in prop::collection::vec((0u8..40, 0u8..40), 1..12)) {
            let ranges: Vec<_> = ends.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
            let crosses = |&(a, b): &(u8, u8), &(c, d): &(u8, u8)| a < c && c <= b && b < d;
            let any = ranges.iter().any(|x| ranges.iter().any(|y| crosses(x, y)));
            let (lines, overlaps) = order(&ranges);
            prop_assert_eq!(!overlaps.is_empty(), any);
            if !any {
                for address in 0..40 {
                    let holds = |&line: &u64| {
                        let (first, last) = ranges[line as usize - 1];
                        (first..=last).contains(&address)
                    };
                    let width = |line: u64| { let (a, b) = ranges[line as usize - 1]; b - a };
                    let last = lines.iter().copied().rfind(holds);
                    let narrowest = (1..=ranges.len() as u64).filter(holds).map(width).min();
                    prop_assert_eq!(last.map(width), narrowest);
                }
            }
        }
    }
}
