//! The places of feeds, sources and tables: a name in, a number out, which is used again when nothing is left of what had it.

use std::sync::Arc;
use std::time::Instant;

use popfib::family::ByFamily;

use super::{FeedSource, FeedTable, FreshnessSums, Tables};
use crate::feeds::{Feed, SourceEvent};
use crate::freshness::{Freshness, PathStatus};
use crate::received::MAX_STREAMS;
use crate::table_info::DroppedPaths;
use crate::table_view::TableView;
use crate::transaction::Stream;

/// The maximum number of sources: their numbers have 16 bits.
const MAX_SOURCES: usize = 1 << 16;

/// Places that are kept free, if feeds that are away have others: as many as one connection may need.
const SPARE_SOURCES: usize = MAX_STREAMS;

/// The number of tables that are removed at a time.
const TABLES: usize = 128;

impl FeedSource {
    /// The number of its paths that are not gone.
    pub(super) fn valid_paths(&self) -> usize {
        let of = |freshness: &Freshness| freshness.paths() - freshness.count(PathStatus::Gone);
        of(&self.freshness.ipv4) + of(&self.freshness.ipv6)
    }

    /// Its part in the sums over all, by family.
    fn sums(&self) -> [FreshnessSums; 2] {
        [&self.freshness.ipv4, &self.freshness.ipv6].map(FreshnessSums::of)
    }

    fn is_empty(&self) -> bool {
        self.freshness.ipv4.paths() + self.freshness.ipv6.paths() == 0
    }

    /// About the heap bytes that it takes.
    fn bytes(&self) -> usize {
        let names = self.name.table.len() + self.name.peer.len();
        size_of::<Self>() + size_of::<Stream>() + names + 64
    }
}

impl Tables {
    /// The feed of this name.
    pub(super) fn feed(&mut self, name: &str, now: Instant) -> usize {
        if let Some(&feed) = self.feed_names.get(name) {
            return feed;
        }
        let feed = self.feeds.add(Feed::new(name, now));
        self.feed_names.insert(name.to_owned(), feed);
        self.away.insert((0, feed));
        feed
    }

    /// Makes the table of a source count it if its feed is followed, and not if it isn't.
    pub(super) fn follow(&mut self, number: u16) {
        let source = self.sources.at_mut(number.into());
        let is_followed = self.feeds.at(source.feed).is_followed;
        if source.is_followed != is_followed {
            source.is_followed = is_followed;
            let table = source.table;
            self.count_followed(table, is_followed);
        }
    }

    /// Counts one source more, or less, whose feed is followed, in its table.
    fn count_followed(&mut self, table: usize, is_more: bool) {
        let table = self.tables.at_mut(table);
        let before = table.followed;
        table.followed = before + usize::from(is_more) - usize::from(!is_more);
        match (before, table.followed) {
            (0, _) => drop(self.followed.insert(table.view.name().to_owned())),
            (_, 0) => drop(self.followed.remove(table.view.name())),
            _ => {}
        }
    }

    /// The source of this name. If there is none, it is made and belongs to the connection `owner`. `None` if there are too many sources,
    /// or no memory is left for its table.
    pub(super) fn add_source(
        &mut self,
        feed: usize,
        name: &Stream,
        owner: u64,
        now: Instant,
    ) -> Option<u16> {
        let known = self.feeds.at(feed);
        if let Some(&number) = known.sources.get(name) {
            return Some(number);
        }
        if self.sources.len() == MAX_SOURCES {
            return None;
        }
        let number = self.add_table(&name.table)?;
        let table = self.tables.at_mut(number);
        table.sources += 1;
        self.serial += 1;
        let name = Arc::new(name.clone());
        let source = FeedSource {
            serial: self.serial,
            feed,
            owner,
            is_claimed: false,
            table: number,
            name: name.clone(),
            streams: 0,
            is_followed: false,
            is_dropped: false,
            freshness: ByFamily {
                ipv4: Freshness::new(now),
                ipv6: Freshness::new(now),
            },
        };
        self.budget.change(0, source.bytes());
        for sums in source.sums() {
            self.count(FreshnessSums::default(), sums);
        }
        let number = self.sources.add(source) as u16;
        self.feeds.at_mut(feed).sources.insert(name, number);
        self.follow(number);
        Some(number)
    }

    fn add_table(&mut self, name: &str) -> Option<usize> {
        if let Some(&table) = self.table_names.get(name) {
            return Some(table);
        }
        if self.budget.is_full(0) {
            return None;
        }
        // Without routes it is another version than with its first ones.
        self.version += 1;
        let view = TableView::new(name, self.version, &self.budget, &self.published);
        let table = self.tables.add(FeedTable {
            families: ByFamily::default(),
            view: Arc::new(view),
            sources: 0,
            followed: 0,
            is_changed: false,
        });
        self.table_names.insert(name.to_owned(), table);
        Some(table)
    }

    /// Removes a source that has no path and is no stream of a connection; with the last source also its feed, if that is not connected.
    pub(super) fn free_source(&mut self, number: u16) {
        let is_needed = |source: &FeedSource| source.streams > 0 || !source.is_empty();
        if self.sources.get(number.into()).is_none_or(is_needed) {
            return;
        }
        let Some(source) = self.sources.remove(number.into()) else {
            return;
        };
        self.budget.change(source.bytes(), 0);
        for sums in source.sums() {
            self.count(sums, FreshnessSums::default());
        }
        let feed = self.feeds.at_mut(source.feed);
        feed.sources.remove(&source.name);
        if source.is_followed {
            self.count_followed(source.table, false);
        }
        let table = self.tables.at_mut(source.table);
        table.sources -= 1;
        if table.sources == 0 {
            self.unused.push_back(source.table);
        }
        self.free_feed(source.feed);
    }

    pub(super) fn free_feed(&mut self, feed: usize) {
        let is_free = |feed: &Feed| feed.connections.is_empty() && feed.sources.is_empty();
        if !self.walking.contains(&feed)
            && self.feeds.get(feed).is_some_and(is_free)
            && let Some(known) = self.feeds.remove(feed)
        {
            self.feed_names.remove(&known.name);
            self.away.remove(&(known.last, feed));
        }
    }

    /// Makes places for sources before the last is taken: the feed that has been away for the longest time loses all of its paths.
    /// Routes of a router that is there come before those of one that may never return.
    pub(super) fn make_places(&mut self) {
        let has_places = self.sources.len() <= MAX_SOURCES - SPARE_SOURCES;
        if has_places || self.sums.gone > 0 || !self.walking.is_empty() {
            return;
        }
        let Some(&(_, feed)) = self.away.first() else {
            return;
        };
        let name = self.feeds.at(feed).name.clone();
        self.dropped.push(DroppedPaths::Feed(name));
        self.leave_event(feed, SourceEvent::Lost);
    }

    /// Removes tables without sources, unless changes wait or a client uses them: its reader would see nothing of a later table of
    /// this name.
    pub(super) fn free_tables(&mut self) {
        for _ in 0..self.unused.len().min(TABLES) {
            let Some(number) = self.unused.pop_front() else {
                return;
            };
            let Some(table) = self.tables.get(number).filter(|table| table.sources == 0) else {
                continue;
            };
            if table.is_changed || Arc::strong_count(&table.view) > 1 {
                // Others come first the next time.
                self.unused.push_back(number);
            } else if let Some(table) = self.tables.remove(number) {
                self.table_names.remove(table.view.name());
                self.old.push(table);
            }
        }
    }
}
