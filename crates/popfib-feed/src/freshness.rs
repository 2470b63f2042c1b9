//! Which routes of a stream are still true after a break (mark and sweep).
//!
//! Routes carry the *generation* in which they were last announced. A connection that begins after a break
//! begins a generation; routes of an older one stay in use until they are announced again, or until it is
//! known that they will not be: at the mark that all have been sent, where the protocol has one, else once
//! no older route has been announced again for an *idle time*. Changes of other routes do not count, or a busy router's
//! stale routes would stay forever. While there is no connection nothing leaves: that a router
//! cannot be heard says nothing of its routes. A peer that is lost takes its routes along at once.

use std::time::{Duration, Instant};

/// The state of one stream and family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freshness {
    generation: u16,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All routes are of this generation, or all that came before were confirmed.
    Fresh,
    /// Older routes are expected again; the last one came at that time.
    Refreshing(Instant),
    /// Older routes leave.
    Sweeping,
    /// There is no connection.
    Disconnected,
}

impl Freshness {
    /// Of a stream that has no routes yet.
    pub(crate) fn new() -> Self {
        Self {
            generation: 0,
            state: State::Fresh,
        }
    }

    /// The generation of what is announced now.
    pub(crate) fn generation(&self) -> u16 {
        self.generation
    }

    /// A connection has begun. After 65,536 of them in a row without a sweep the oldest routes pass for new
    /// ones, until the next.
    pub(crate) fn connected(&mut self, now: Instant) {
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Refreshing(now);
    }

    /// The connection is gone.
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

    /// Whether a route of this generation is known to be gone, though the sweep may not have met it yet.
    pub(crate) fn is_gone(&self, generation: u16) -> bool {
        self.state == State::Sweeping && generation != self.generation
    }

    /// Whether all routes are as the other side has them, as far as is known.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state == State::Fresh
    }

    /// Whether older routes are to leave now, if the idle time is `idle`.
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
