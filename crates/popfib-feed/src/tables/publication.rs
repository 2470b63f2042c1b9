//! Waiting changes of tables in, readers that see them out: tables are handed over in pieces, and published without the lock of the
//! tables.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use popfib::family::ByFamily;

use super::{FeedTable, PIECE, Tables, WAITING};
use crate::table_view::{ChangeBatch, TableView};

/// How long changes wait to be published, if they arrive faster than they can be published one by one.
const LATE: Duration = Duration::from_millis(500);

/// Changes that are in the queues of their views. [Run](Self::run) it without any lock of the tables.
#[must_use = "readers do not see the changes before"]
pub struct Publication {
    pub(super) views: Vec<Arc<TableView>>,
    /// Tables that were removed: they are dropped without the lock of the tables.
    old: Vec<FeedTable>,
    /// Whether other tables have waiting changes.
    has_more: bool,
}

impl Publication {
    /// Publishes the changes to readers, which see them when it returns. Returns whether other tables have waiting changes. Time as
    /// for a compilation of the tables, or less.
    pub fn run(self) -> bool {
        self.views.iter().for_each(|view| view.publish());
        drop(self.old);
        self.has_more
    }
}

impl Tables {
    /// Publishes all waiting changes to readers. If more changes have already arrived (`is_behind`), this does nothing until the
    /// first waiting change is half a second old.
    ///
    /// It is [`hand_over`](Self::hand_over), run at once, as often as needed.
    pub fn publish(&mut self, now: Instant, is_behind: bool) {
        while self.hand_over(now, is_behind).run() {}
    }

    /// Hands over waiting changes of some tables, which readers see after [`Publication::run`]; that returns whether other tables
    /// have some, too. If more changes have already arrived (`is_behind`), it hands over none until the first waiting change is
    /// half a second old.
    pub fn hand_over(&mut self, now: Instant, is_behind: bool) -> Publication {
        let is_early = |since| is_behind && now.saturating_duration_since(since) < LATE;
        let mut publication = Publication {
            views: Vec::new(),
            old: std::mem::take(&mut self.old),
            has_more: false,
        };
        // Near the limit of memory none wait for others.
        let is_near = self.budget.is_full(2 * WAITING * self.waiting_count);
        if self.waiting.is_none_or(|since| is_early(since) && !is_near) {
            return publication;
        }
        for _ in 0..PIECE {
            let Some(number) = self.changed.pop_front() else {
                break;
            };
            let table = self.tables.at_mut(number);
            table.is_changed = false;
            let ByFamily { ipv4, ipv6 } = &mut table.families;
            self.version += 1;
            self.waiting_count -= ipv4.waiting.len() + ipv6.waiting.len();
            table.view.push(ChangeBatch {
                ipv4: std::mem::take(&mut ipv4.waiting),
                ipv6: std::mem::take(&mut ipv6.waiting),
                version: self.version,
            });
            publication.views.push(table.view.clone());
        }
        publication.has_more = !self.changed.is_empty();
        if self.changed.is_empty() {
            self.waiting = None;
        }
        publication
    }

    /// Whether all changes so far have been published.
    pub(super) fn is_published(&self) -> bool {
        self.waiting.is_none() && self.published.queued.load(Ordering::Relaxed) == 0
    }
}
