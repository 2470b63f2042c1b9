//! The time in; paths that are gone leave the tables, those of all sources in one walk over each table. A walk for each source that is
//! lost would take as many walks over a table as it has sources.

use std::time::{Duration, Instant};

use popfib::family::Family;

use super::{FeedSource, FreshnessSums, Tables};
use crate::freshness::PathStatus;

/// How long a stream without stale paths has to be silent to be complete, if its protocol does not say when all routes have been sent.
const SETTLED: Duration = Duration::from_secs(5);

/// The number of sources whose waits are checked by a step.
const WAITS: usize = 2048;

/// The result of a step of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepResult {
    /// Whether there are more paths to remove, or events of feeds that have not reached all of their sources.
    pub has_more: bool,
    /// Whether a round over all tables has ended. Paths lost meanwhile may be at places that the round had passed: the next one removes
    /// them. A caller that begins rounds at intervals limits what a peer that comes and goes can cost.
    pub is_round: bool,
    /// Whether to leave the publication of changes to others, unless they are late, as in
    /// [`Tables::hand_over`].
    pub is_behind: bool,
}

impl Tables {
    /// A step of the sweep, which goes over all tables in rounds and removes paths that are gone: their peer was lost, or they were not
    /// announced again. It visits about `count` paths. It has to be called regularly.
    pub fn sweep(&mut self, now: Instant, count: usize) -> SweepResult {
        let swept = self.totals.swept;
        if let Some(&feed) = self.walking.first() {
            self.walk(feed, now);
        }
        self.wait(now);
        self.make_places();
        let is_round = self.remove(count);
        self.free_tables();
        let has_swept = self.totals.swept > swept;
        if has_swept {
            self.waiting.get_or_insert(now);
        }
        let has_more = self.sums.gone > 0 || !self.walking.is_empty();
        SweepResult {
            has_more,
            is_round,
            // The feeds' threads publish what they have received.
            is_behind: has_more || !has_swept,
        }
    }

    /// Ends the waits of sources that are over, of some sources at a time.
    fn wait(&mut self, now: Instant) {
        let is_loading = self.sums.loading > 0;
        let mut silent = std::mem::take(&mut self.silent);
        silent.retain_mut(|(id, since)| {
            if is_loading {
                *since = now;
            }
            self.is_current(*id) && now.saturating_duration_since(*since) < SETTLED
        });
        self.silent = silent;
        let places = self.sources.places();
        if self.sums.sending == 0 {
            return;
        }
        for _ in 0..places.min(WAITS) {
            self.round.source = (self.round.source + 1) % places;
            let number = self.round.source as u16;
            self.wait_for::<u32>(number, now);
            self.wait_for::<u128>(number, now);
        }
    }

    fn wait_for<A: Family>(&mut self, number: u16, now: Instant) {
        let Some(source) = self.sources.get(number.into()) else {
            return;
        };
        let freshness = A::of(&source.freshness);
        if !freshness.is_sending() {
            return;
        }
        let confirmed = self.feeds.at(source.feed).confirmed;
        let idle = self.limits.idle;
        let is_first = freshness.count(PathStatus::Stale) == 0;
        self.edit::<A>(number, |freshness| {
            if is_first {
                freshness.wait(now, idle.min(SETTLED));
            } else {
                freshness.confirmed(confirmed);
                freshness.wait(now, idle);
            }
        });
    }

    /// Removes what is gone; returns whether the round has ended.
    fn remove(&mut self, count: usize) -> bool {
        let mut left = count.max(1);
        while self.sums.gone > 0 && left > 0 {
            let (seen, is_end) = match self.round.is_ipv6 {
                false => self.remove_from::<u32>(left),
                true => self.remove_from::<u128>(left),
            };
            left = left.saturating_sub(seen.max(1));
            if is_end {
                self.round.table += usize::from(self.round.is_ipv6);
                self.round.is_ipv6 = !self.round.is_ipv6;
            }
            if self.round.table >= self.tables.places() {
                self.round.table = 0;
                return true;
            }
        }
        false
    }

    /// Returns how many paths it visited, and whether the round is through with this table and family.
    fn remove_from<A: Family>(&mut self, count: usize) -> (usize, bool) {
        let number = self.round.table;
        let Some(table) = self.tables.get_mut(number) else {
            return (0, true);
        };
        let family = A::of_mut(&mut table.families);
        if family.gone == 0 {
            family.swept = None;
            return (0, true);
        }
        let (bytes, waiting, gone) = (family.paths.bytes(), family.waiting.len(), family.gone);
        let (mut seen, mut removed) = (0, 0);
        let mut emptied = Vec::new();
        let sources = &mut self.sources;
        let sums = &mut self.sums;
        let is_end = family.sweep(count, |path| {
            seen += 1;
            let source: &mut FeedSource = sources.at_mut(path.source.into());
            let freshness = A::of_mut(&mut source.freshness);
            if freshness.status(path.generation) != PathStatus::Gone {
                return true;
            }
            let before = FreshnessSums::of(freshness);
            freshness.removed(path.generation);
            sums.replace(before, FreshnessSums::of(freshness));
            removed += 1;
            if freshness.paths() == 0 {
                emptied.push(path.source);
            }
            false
        });
        family.gone -= removed;
        if family.gone == 0 {
            family.swept = None;
        }
        let is_end = is_end || family.gone == 0;
        self.budget.change(bytes, family.paths.bytes());
        debug_assert!(gone >= removed);
        let more = family.waiting.len() - waiting;
        self.waiting_count += more;
        if more > 0 && !table.is_changed {
            table.is_changed = true;
            self.changed.push_back(number);
        }
        self.totals.swept += removed as u64;
        self.count(FreshnessSums::default(), FreshnessSums::default());
        for source in emptied {
            self.free_source(source);
        }
        (seen, is_end)
    }
}
