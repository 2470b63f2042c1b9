//! The judge of tables too long for a linear scan: the sorted list of all places
//! where the answer changes, made by one sweep over the sorted routes with a
//! stack of those that are open. The oracle judges it in turn.

use crate::oracle::Route;

/// The first address of every stretch with one answer, and that answer.
pub(crate) struct Segments(Vec<(u128, Option<Route>)>);

impl Segments {
    /// `routes` sorted, no prefix twice.
    pub(crate) fn new(routes: &[Route]) -> Self {
        let mut segments = Self(vec![(0, None)]);
        let mut open: Vec<Route> = Vec::new();
        for &route in routes {
            segments.close(&mut open, |top| top.last() < route.bits);
            open.push(route);
            segments.start(route.bits, Some(route));
        }
        segments.close(&mut open, |_| true);
        segments
    }

    fn close(&mut self, open: &mut Vec<Route>, ends: impl Fn(&Route) -> bool) {
        while let Some(top) = open.pop_if(|top| ends(top)) {
            if let Some(next) = top.last().checked_add(1) {
                self.start(next, open.last().copied());
            }
        }
    }

    fn start(&mut self, address: u128, answer: Option<Route>) {
        // Of two that start at one address the later is the longer match, or
        // what is left once all that ended there is gone.
        self.0.pop_if(|last| last.0 == address);
        self.0.push((address, answer));
    }

    pub(crate) fn longest_match(&self, address: u128) -> Option<Route> {
        self.0[self.0.partition_point(|s| s.0 <= address) - 1].1
    }

    /// The next hop of `address` (0 for none), and the last address after it
    /// that surely has the same.
    pub(crate) fn stretch(&self, address: u128) -> (u32, u128) {
        let behind = self.0.partition_point(|s| s.0 <= address);
        let end = self.0.get(behind).map_or(u128::MAX, |next| next.0 - 1);
        (self.0[behind - 1].1.map_or(0, |r| r.next_hop), end)
    }
}

#[test]
fn segments_answer_as_the_scan_does() {
    use crate::{oracle::Oracle, probes, tables};
    let mut random = tables::Random::new(1);
    for count in 0..crate::cases(200) {
        let routes = tables::mixed(&mut random, 128, count as usize);
        let mut oracle = Oracle::default();
        for &route in &routes {
            oracle.insert(route);
        }
        let segments = Segments::new(&oracle.sorted());
        for probe in probes::mixed::<u128>(&mut random, &routes, 100) {
            let expected = oracle.longest_match(probe);
            assert_eq!(segments.longest_match(probe), expected, "{probe:032x}");
            let (next_hop, end) = segments.stretch(probe);
            assert_eq!(next_hop, expected.map_or(0, |r| r.next_hop));
            assert!(end >= probe);
            assert_eq!(segments.longest_match(end), expected);
        }
    }
}
