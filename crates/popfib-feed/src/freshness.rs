//! Events of a stream in, which of its paths are still valid out (mark and sweep).
//!
//! Each path has the *generation* in which it was last announced. A new connection begins a generation. Paths of older generations are
//! *stale*: they stay in use until they are announced again, or until it is known that they will not be. If the protocol says when all
//! routes have been sent, that is then; otherwise it is when no stale path has been announced again for an *idle time*. Changes of other
//! paths do not count: a busy router's stale paths would stay forever. While there is no connection, nothing becomes invalid: losing
//! contact with a router does not mean that its routes are gone. When a peer is lost, all its paths are *gone* at once.
//!
//! What is gone is removed by a sweep, some time later. Until then only its generation tells: all those before `valid` are gone.
//! This bound only moves forward, whatever follows, so no later event makes a path valid again, other than its own announcement.

use std::time::{Duration, Instant};

/// The paths of one stream and family: how many there are, and which of them are valid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freshness {
    phase: StreamPhase,
    /// The generation of paths that are announced now.
    generation: u16,
    /// Paths of older generations than this are gone.
    valid: u16,
    /// No path is of an older generation than this.
    oldest: u16,
    /// Whether the paths that are expected again are right as far as is known, so that they count as fresh.
    pub(crate) is_right: bool,
    /// There is no further generation: all paths are gone, and none is accepted until they are removed.
    is_exhausted: bool,
    /// The number of paths by status.
    counts: [usize; 3],
    /// How many paths there were when their number last grew clearly.
    grown: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamPhase {
    /// There is no connection.
    Away,
    /// The other side is sending its routes; a stale path was last announced again at that time.
    Sending(Instant),
    /// It has sent all.
    Complete,
}

/// What a path of some generation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStatus {
    /// Announced by the current connection.
    Fresh,
    /// Announced before, and expected again.
    Stale,
    /// To be removed.
    Gone,
}

impl Freshness {
    /// The state of a stream of a new connection.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            phase: StreamPhase::Sending(now),
            generation: 0,
            valid: 0,
            oldest: 0,
            is_right: false,
            is_exhausted: false,
            counts: [0; 3],
            grown: 0,
        }
    }

    /// The generation of a path that is announced now; `None` if it cannot be accepted.
    pub(crate) fn current(&self) -> Option<u16> {
        (!self.is_exhausted).then_some(self.generation)
    }

    /// Counts a path of the current generation, in place of one of the generation `before`.
    pub(crate) fn announced(&mut self, before: Option<u16>) {
        self.counts[PathStatus::Fresh as usize] += 1;
        if let Some(before) = before {
            self.removed(before);
        }
    }

    /// Counts a path of this generation as removed.
    pub(crate) fn removed(&mut self, generation: u16) {
        self.counts[self.status(generation) as usize] -= 1;
        self.forget();
    }

    /// What a path of this generation is.
    pub(crate) fn status(&self, generation: u16) -> PathStatus {
        let age = self.generation.wrapping_sub(generation);
        match age {
            _ if self.is_exhausted => PathStatus::Gone,
            0 => PathStatus::Fresh,
            _ if age <= self.generation.wrapping_sub(self.valid) => PathStatus::Stale,
            _ => PathStatus::Gone,
        }
    }

    /// The number of paths, those that are gone among them.
    pub(crate) fn paths(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The number of paths of this status.
    pub(crate) fn count(&self, status: PathStatus) -> usize {
        self.counts[status as usize]
    }

    /// A connection has begun.
    pub(crate) fn connected(&mut self, now: Instant) {
        self.begin();
        self.grown = 0;
        self.is_right = false;
        self.phase = StreamPhase::Sending(now);
    }

    /// The connection has ended.
    pub(crate) fn disconnected(&mut self) {
        self.phase = StreamPhase::Away;
    }

    /// A stale path was announced again.
    pub(crate) fn confirmed(&mut self, now: Instant) {
        if let StreamPhase::Sending(last) = &mut self.phase {
            *last = now.max(*last);
        }
    }

    /// A path was announced, and there are no stale ones. A table that is being sent grows; a few more paths, or others in their
    /// place, are ordinary changes, which never end.
    pub(crate) fn grew(&mut self, now: Instant) {
        let paths = self.paths();
        if paths > self.grown + self.grown / 256 {
            self.grown = paths;
            self.confirmed(now);
        }
    }

    /// All routes have been sent.
    pub(crate) fn all_sent(&mut self) {
        if self.is_sending() {
            self.end();
        }
    }

    /// The peer is lost.
    pub(crate) fn lost(&mut self) {
        self.begin();
        self.end();
    }

    /// Ends the wait for stale paths if none was announced again for the idle time.
    pub(crate) fn wait(&mut self, now: Instant, idle: Duration) {
        if let StreamPhase::Sending(last) = self.phase
            && now.saturating_duration_since(last) >= idle
        {
            self.end();
        }
    }

    /// Whether the other side is still sending its routes, as far as is known.
    pub(crate) fn is_sending(&self) -> bool {
        matches!(self.phase, StreamPhase::Sending(_))
    }

    /// Whether all paths are those of the other side, as far as is known.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_known = self.phase == StreamPhase::Complete || self.is_sending() && self.is_right;
        is_known && self.count(PathStatus::Gone) == 0
    }

    /// Begins a generation: all valid paths are stale. If no path is of the current one, it is the next one, too: so generations
    /// do not run out, however often a connection without routes begins.
    fn begin(&mut self) {
        let [fresh, stale, gone] = self.counts;
        if fresh == 0 {
            return;
        }
        if self.generation.wrapping_sub(self.oldest) == u16::MAX {
            self.is_exhausted = true;
            self.counts = [0, 0, fresh + stale + gone];
            return;
        }
        self.generation = self.generation.wrapping_add(1);
        self.counts = [0, fresh + stale, gone];
    }

    /// All stale paths are gone.
    fn end(&mut self) {
        let [fresh, stale, gone] = self.counts;
        self.counts = [fresh, 0, stale + gone];
        self.phase = StreamPhase::Complete;
        self.forget();
    }

    /// Forgets the generations of which there is no path.
    fn forget(&mut self) {
        let [fresh, stale, gone] = self.counts;
        if stale == 0 {
            self.valid = self.generation;
        }
        if gone == 0 {
            self.oldest = self.valid;
        }
        self.is_exhausted &= fresh + stale + gone > 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Counts a path; returns its generation.
    fn announce(state: &mut Freshness, before: Option<u16>) -> Option<u16> {
        let generation = state.current()?;
        state.announced(before);
        Some(generation)
    }

    const IDLE: Duration = Duration::from_secs(10);

    #[test]
    fn stale_paths_leave_once_none_is_confirmed_for_the_idle_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut state = Freshness::new(at(0));
        let first = announce(&mut state, None).unwrap();
        announce(&mut state, None).unwrap();
        state.wait(at(1000), IDLE);
        assert!(state.is_fresh());
        state.disconnected();
        state.wait(at(100_000), IDLE);
        assert_eq!(
            (state.status(first), state.is_fresh()),
            (PathStatus::Fresh, false)
        );
        state.connected(at(100_000));
        assert_eq!(state.status(first), PathStatus::Stale);
        let again = announce(&mut state, Some(first)).unwrap();
        state.confirmed(at(100_009));
        // The clock may jump back.
        state.confirmed(at(100_001));
        state.wait(at(100_018), IDLE);
        assert_eq!(state.status(first), PathStatus::Stale);
        state.wait(at(100_019), IDLE);
        assert_eq!(
            (state.status(first), state.status(again)),
            (PathStatus::Gone, PathStatus::Fresh)
        );
        assert!(!state.is_fresh());
        state.removed(first);
        assert!(state.is_fresh());
    }

    #[test]
    fn ordinary_changes_do_not_keep_a_table_from_being_complete() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut state = Freshness::new(at(0));
        for second in 0..20 {
            for _ in 0..100 {
                announce(&mut state, None).unwrap();
                state.grew(at(second));
            }
            state.wait(at(second), IDLE);
            assert!(state.is_sending());
        }
        for second in 20..40 {
            // One in the place of another, and hardly any new one.
            let generation = announce(&mut state, None).unwrap();
            if second % 5 > 0 {
                state.removed(generation);
            }
            state.grew(at(second));
            state.wait(at(second), IDLE);
        }
        assert!(state.is_fresh());
    }

    /// Each path of the model is fresh, stale or gone.
    #[derive(Clone)]
    struct Model {
        state: Freshness,
        generations: [Option<u16>; 2],
        expected: [Option<PathStatus>; 2],
    }

    impl Model {
        fn all(&mut self, change: impl Fn(PathStatus) -> PathStatus) {
            self.expected = self.expected.map(|status| status.map(&change));
        }

        fn check(&self, events: &[u8]) {
            let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
            for (generation, &expected) in self.generations.iter().zip(&self.expected) {
                let status = generation.map(|generation| self.state.status(generation));
                assert_eq!(status, expected, "{events:?} {:?}", self.state);
                if let Some(status) = expected {
                    *counts.entry(status as u8).or_default() += 1;
                }
            }
            for status in [PathStatus::Fresh, PathStatus::Stale, PathStatus::Gone] {
                let count = counts.get(&(status as u8)).copied().unwrap_or_default();
                assert_eq!(self.state.count(status), count, "{events:?}");
            }
        }
    }

    /// All orders of seven events, each tried on a copy of the state.
    #[test]
    fn no_order_of_events_makes_a_path_valid_that_was_gone() {
        const DEPTH: usize = 7;
        let start = Instant::now();
        let mut tried = 0u64;
        let mut open = vec![(
            Model {
                state: Freshness::new(start),
                generations: [None; 2],
                expected: [None; 2],
            },
            Vec::new(),
        )];
        while let Some((model, events)) = open.pop() {
            tried += 1;
            if events.len() == DEPTH {
                continue;
            }
            for event in 0..9u8 {
                let mut model = model.clone();
                let state = &mut model.state;
                let aged = |status| match status {
                    PathStatus::Fresh => PathStatus::Stale,
                    other => other,
                };
                let ended = |status| match status {
                    PathStatus::Stale => PathStatus::Gone,
                    other => other,
                };
                let is_sending = state.is_sending();
                match event {
                    0 | 1 => {
                        let at = usize::from(event);
                        model.generations[at] = announce(state, model.generations[at]);
                        model.expected[at] = Some(PathStatus::Fresh);
                    }
                    // A withdrawal, or the sweep of what is gone.
                    2 => match model.generations[0].take() {
                        None => continue,
                        Some(generation) => {
                            state.removed(generation);
                            model.expected[0] = None;
                        }
                    },
                    3 => match model.generations[1] {
                        Some(generation) if state.status(generation) == PathStatus::Gone => {
                            state.removed(generation);
                            model.generations[1] = None;
                            model.expected[1] = None;
                        }
                        _ => continue,
                    },
                    4 => {
                        state.connected(start);
                        model.all(aged);
                    }
                    5 => state.disconnected(),
                    6 => {
                        state.lost();
                        model.all(|_| PathStatus::Gone);
                    }
                    7 => {
                        state.all_sent();
                        if is_sending {
                            model.all(ended);
                        }
                    }
                    _ => {
                        state.wait(start + IDLE, IDLE);
                        if is_sending {
                            model.all(ended);
                        }
                    }
                }
                let mut events = events.clone();
                events.push(event);
                model.check(&events);
                open.push((model, events));
            }
        }
        assert!(tried > 1_000_000, "{tried}");
    }

    #[test]
    fn when_generations_run_out_all_paths_are_gone_until_they_are_removed() {
        let now = Instant::now();
        let mut state = Freshness::new(now);
        let mut held = Vec::new();
        // Each time one path more that is gone and not yet removed.
        while let Some(generation) = announce(&mut state, None) {
            held.push(generation);
            state.lost();
            assert!(held.len() <= 1 << 16);
            if held.len().is_multiple_of(1000) || held.len() >= 1 << 16 {
                assert!(
                    held.iter()
                        .all(|&held| state.status(held) == PathStatus::Gone)
                );
            }
        }
        assert_eq!(held.len(), 1 << 16);
        for generation in held.drain(..) {
            assert_eq!(announce(&mut state, None), None);
            state.removed(generation);
        }
        assert_eq!(state.paths(), 0);
        let generation = announce(&mut state, None).unwrap();
        assert_eq!(state.status(generation), PathStatus::Fresh);
        // Connections without routes need no generation.
        for _ in 0..1 << 17 {
            state.connected(now);
            state.lost();
        }
        assert_eq!(state.status(generation), PathStatus::Gone);
        let again = announce(&mut state, Some(generation)).unwrap();
        assert_eq!((state.status(again), state.paths()), (PathStatus::Fresh, 1));
    }
}
