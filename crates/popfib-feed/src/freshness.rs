//! Which routes of a stream are still valid after a lost connection (mark and sweep).
//!
//! Each route has the *generation* in which it was last announced. A new connection after a lost one
//! begins a generation. Routes of older generations stay in use until they are announced again, or until it is
//! known that they will not be: if the protocol has a mark after all routes, at that mark; otherwise when
//! no older route has been announced again for an *idle time*. Changes of other routes do not count; otherwise a busy
//! router's stale routes would stay forever. While there is no connection, nothing is removed: losing contact with
//! a router does not mean that its routes are gone. When a peer is lost, its routes are removed at once.

use std::time::{Duration, Instant};

/// The state of one stream and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freshness {
    generation: u16,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All routes are of this generation, or all older ones were confirmed.
    Fresh,
    /// Older routes are expected again; the last one was announced at that time.
    Refreshing(Instant),
    /// Older routes are being removed.
    Sweeping,
    /// There is no connection.
    Disconnected,
}

impl Freshness {
    /// The state of a stream that has no routes yet.
    pub(crate) fn new() -> Self {
        Self {
            generation: 0,
            state: State::Fresh,
        }
    }

    /// The generation of routes that are announced now.
    pub(crate) fn generation(&self) -> u16 {
        self.generation
    }

    /// A connection has begun. After 65,536 connections in a row without a sweep, the oldest routes are taken for new
    /// ones, until the next connection.
    pub(crate) fn connected(&mut self, now: Instant) {
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Refreshing(now);
    }

    /// The connection has ended.
    pub(crate) fn disconnected(&mut self) {
        self.state = State::Disconnected;
    }

    /// A route of an older generation was announced again.
    pub(crate) fn confirmed(&mut self, now: Instant) {
        if let State::Refreshing(last) = &mut self.state {
            *last = now.max(*last);
        }
    }

    /// All routes have been sent.
    pub(crate) fn all_sent(&mut self) {
        if let State::Refreshing(_) = self.state {
            self.state = State::Sweeping;
        }
    }

    /// The peer is lost.
    pub(crate) fn lost(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Sweeping;
    }

    /// No older route is left.
    pub(crate) fn swept(&mut self) {
        if self.state == State::Sweeping {
            self.state = State::Fresh;
        }
    }

    /// Whether older routes are expected to be announced again.
    pub(crate) fn is_refreshing(&self) -> bool {
        matches!(self.state, State::Refreshing(_))
    }

    /// Whether a route of this generation is known to be gone, although the sweep may not have removed it yet.
    pub(crate) fn is_gone(&self, generation: u16) -> bool {
        self.state == State::Sweeping && generation != self.generation
    }

    /// Whether all routes are those of the other side, as far as is known.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state == State::Fresh
    }

    /// Whether older routes are to be removed now, if the idle time is `idle`.
    pub(crate) fn is_sweeping(&mut self, now: Instant, idle: Duration) -> bool {
        if let State::Refreshing(last) = self.state
            && now.saturating_duration_since(last) >= idle
        {
            self.state = State::Sweeping;
        }
        self.state == State::Sweeping
    }
}

impl Default for Freshness {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(10);

    #[test]
    fn stale_routes_leave_once_none_is_confirmed_for_the_idle_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut state = Freshness::new();
        assert!(!state.is_sweeping(at(1000), IDLE));
        state.disconnected();
        assert!(!state.is_sweeping(at(100_000), IDLE));
        let before = state.generation();
        state.connected(at(100_000));
        assert_ne!(state.generation(), before);
        state.confirmed(at(100_009));
        assert!(!state.is_sweeping(at(100_018), IDLE));
        assert!(state.is_sweeping(at(100_019), IDLE));
        state.swept();
        assert!(state.is_fresh() && !state.is_sweeping(at(200_000), IDLE));
    }

    #[test]
    fn a_break_ends_a_sweep() {
        let now = Instant::now();
        let mut state = Freshness::new();
        state.connected(now);
        state.all_sent();
        assert!(state.is_sweeping(now, IDLE));
        state.disconnected();
        state.swept();
        assert!(!state.is_sweeping(now + IDLE * 9, IDLE) && !state.is_fresh());
    }

    #[test]
    fn a_lost_peer_takes_its_routes_along_at_once() {
        let now = Instant::now();
        let mut state = Freshness::new();
        state.lost();
        assert!(state.is_sweeping(now, IDLE));
        // The clock may stand still or jump back.
        state.connected(now + IDLE);
        assert!(!state.is_sweeping(now, IDLE));
    }
}
