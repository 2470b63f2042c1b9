//! An event of a feed in, the changes that it means for each of the feed's sources out: in pieces, since a feed may have 65,536 sources.
//!
//! The event itself only changes the feed and leaves a walk over the sources. The first piece is done at once. The others follow at each
//! sweep, and before one of the feed's connections changes something. So all sources go through the events of their feed in the order in
//! which these came.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

use super::{PIECE, Tables};
use crate::feeds::{FeedWalk, SourceEvent};
use crate::transaction::Stream;

impl Tables {
    /// Leaves a walk to do.
    pub(super) fn leave(&mut self, feed: usize, walk: FeedWalk) {
        self.feeds.at_mut(feed).walks.push_back(walk);
        self.walking.insert(feed);
    }

    /// Leaves an event to all sources of a feed.
    pub(super) fn leave_event(&mut self, feed: usize, event: SourceEvent) {
        self.leave(feed, FeedWalk::Sources { event, after: None });
    }

    /// Does a piece of what is left to do in a feed; returns whether there is more.
    pub(super) fn walk(&mut self, feed: usize, now: Instant) -> bool {
        let mut left = PIECE;
        while self.walking.contains(&feed) {
            let Some(walk) = self.feeds.at_mut(feed).walks.pop_front() else {
                self.walking.remove(&feed);
                self.free_feed(feed);
                return false;
            };
            if left == 0 {
                self.feeds.at_mut(feed).walks.push_front(walk);
                return true;
            }
            let (rest, visited) = match walk {
                FeedWalk::Leave(streams) => self.walk_left(streams, left),
                FeedWalk::Change { connection, next } => {
                    self.walk_changed(feed, connection, next, left, now)
                }
                FeedWalk::Sources { event, after } => self.walk_sources(feed, event, after, left),
            };
            left = left.saturating_sub(visited.max(1));
            if let Some(rest) = rest {
                self.feeds.at_mut(feed).walks.push_front(rest);
            }
        }
        false
    }

    fn walk_left(
        &mut self,
        mut streams: Vec<Option<u16>>,
        count: usize,
    ) -> (Option<FeedWalk>, usize) {
        let some = streams.split_off(streams.len().saturating_sub(count));
        for number in some.iter().flatten() {
            self.sources.at_mut((*number).into()).streams -= 1;
        }
        let rest = (!streams.is_empty()).then_some(FeedWalk::Leave(streams));
        (rest, some.len())
    }

    fn walk_changed(
        &mut self,
        feed: usize,
        connection: u64,
        next: usize,
        count: usize,
        now: Instant,
    ) -> (Option<FeedWalk>, usize) {
        let known = self.feeds.at(feed).connection(connection);
        let streams = known.and_then(|connection| connection.streams.get(next..));
        let streams = streams.unwrap_or_default();
        let visited = streams.len().min(count);
        let is_end = visited == streams.len();
        for &number in streams[..visited].iter().flatten() {
            let number = self.sources.at(number.into()).table;
            self.waiting.get_or_insert(now);
            let table = self.tables.at_mut(number);
            if !table.is_changed {
                table.is_changed = true;
                self.changed.push_back(number);
            }
        }
        let next = next + visited;
        let rest = (!is_end).then_some(FeedWalk::Change { connection, next });
        (rest, visited)
    }

    fn walk_sources(
        &mut self,
        feed: usize,
        event: SourceEvent,
        after: Option<Arc<Stream>>,
        count: usize,
    ) -> (Option<FeedWalk>, usize) {
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let sources = &self.feeds.at(feed).sources;
        let some = sources.range((begin, Bound::Unbounded)).take(count);
        let some: Vec<_> = some.map(|(name, &number)| (name.clone(), number)).collect();
        for &(_, number) in &some {
            self.reach(number, &event);
            self.free_source(number);
        }
        let visited = some.len();
        let last = some.into_iter().next_back().filter(|_| visited == count);
        let rest = last.map(|(name, _)| FeedWalk::Sources {
            event,
            after: Some(name),
        });
        (rest, visited)
    }

    /// The event reaches a source.
    fn reach(&mut self, number: u16, event: &SourceEvent) {
        self.follow(number);
        let source = self.sources.at(number.into());
        match *event {
            SourceEvent::Joined {
                connection,
                ref others,
                is_right,
                at,
            } if !others.contains(&source.owner) => {
                self.begin(number, connection, at);
                self.edit_both(number, |freshness| freshness.is_right = is_right);
            }
            SourceEvent::Ended {
                connection,
                successor,
                at,
            } if source.owner == connection => match successor {
                Some(next) => self.begin(number, next, at),
                None => self.edit_both(number, |freshness| freshness.disconnected()),
            },
            SourceEvent::Lost => self.edit_both(number, |freshness| {
                freshness.lost();
                freshness.disconnected();
            }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use popfib::IpPrefix;

    use super::*;
    use crate::feeds::ConnectionId;
    use crate::freshness::Freshness;
    use crate::tables::FeedSource;
    use crate::target::Target;
    use crate::transaction::{PathChange, StreamId, Transaction};

    const MANY: usize = 20 * PIECE;

    /// Takes steps until one returns false. None of them may concern more sources or tables than a piece has, and so none takes
    /// longer with more of them.
    fn in_pieces(
        tables: &mut Tables,
        count: impl Fn(&Tables) -> usize,
        mut step: impl FnMut(&mut Tables) -> bool,
    ) {
        let begin = count(tables);
        let mut steps = 0;
        loop {
            let before = count(tables);
            let has_more = step(tables);
            let visited = count(tables).abs_diff(before);
            assert!(visited <= PIECE, "{visited} in step {steps}");
            steps += 1;
            if !has_more {
                break;
            }
        }
        assert_eq!(count(tables).abs_diff(begin), MANY);
        assert!(steps >= MANY / PIECE, "{steps} steps");
    }

    /// Counts sources.
    fn sources(is_one: impl Fn(&FeedSource) -> bool) -> impl Fn(&Tables) -> usize {
        move |tables| {
            let places = 0..tables.sources.places();
            let known = places.filter_map(|number| tables.sources.get(number));
            known.filter(|source| is_one(source)).count()
        }
    }

    fn changed(tables: &Tables) -> usize {
        let places = 0..tables.tables.places();
        let known = places.filter_map(|number| tables.tables.get(number));
        known.filter(|table| table.is_changed).count()
    }

    /// A stream for each of many tables.
    fn streams() -> Vec<Stream> {
        let stream = |number| Stream {
            table: format!("vrf {number}"),
            peer: String::new(),
        };
        (0..MANY).map(stream).collect()
    }

    fn route(stream: usize, value: Option<&str>) -> PathChange {
        PathChange {
            stream: StreamId(stream as u32),
            prefix: "10.0.0.0/8".parse::<IpPrefix>().unwrap(),
            path: 0,
            target: value.map(Target::name),
        }
    }

    /// A connection that has a route in each table.
    fn filled(tables: &mut Tables, now: Instant) -> ConnectionId {
        let id = tables.joined("router", now);
        let mut routes = Transaction::default();
        (0..MANY).for_each(|stream| routes.change(route(stream, Some("a"))));
        let streams = streams();
        let all = |_: &FeedSource| true;
        in_pieces(tables, sources(all), |tables| {
            tables.take(id, &streams, &mut routes, now)
        });
        id
    }

    /// Does an event first, and then the sweeps.
    fn then_sweep(
        now: Instant,
        event: impl FnOnce(&mut Tables),
    ) -> impl FnMut(&mut Tables) -> bool {
        let mut event = Some(event);
        move |tables| match event.take() {
            Some(event) => {
                event(tables);
                true
            }
            None => tables.sweep(now, PIECE).has_more,
        }
    }

    #[test]
    fn no_event_of_a_feed_with_many_streams_reaches_more_than_a_piece_of_them_at_once() {
        let now = Instant::now();
        let mut tables = Tables::default();
        let id = filled(&mut tables, now);
        in_pieces(&mut tables, changed, |tables| {
            let publication = tables.hand_over(now, false);
            assert!(publication.views.len() <= PIECE);
            publication.run()
        });
        assert!(tables.is_published() && tables.waiting() == 0);

        // Its next-hop objects change.
        let streams = streams();
        let mut objects = Transaction::default();
        objects.change_objects();
        in_pieces(&mut tables, changed, |tables| {
            tables.take(id, &streams, &mut objects, now)
        });
        assert_eq!(tables.totals().transactions, 2);
        tables.publish(now, false);

        let is_sending = |freshness: &Freshness| freshness.is_sending();
        let end = then_sweep(now, |tables| tables.disconnected(id, now));
        in_pieces(
            &mut tables,
            sources(move |s| is_sending(&s.freshness.ipv4)),
            end,
        );
        assert_eq!(sources(|source| source.streams > 0)(&tables), 0);

        // What a new connection sends waits until it has reached all of them: then one route is fresh.
        let mut again = None;
        let streams = &streams;
        let mut one = Transaction::default();
        one.change(route(MANY - 1, Some("b")));
        in_pieces(
            &mut tables,
            sources(move |source| is_sending(&source.freshness.ipv4)),
            |tables| match again {
                None => {
                    again = Some(tables.joined("router", now));
                    assert!(!tables.is_fresh() && !tables.is_whole());
                    true
                }
                Some(id) => tables.take(id, streams, &mut one, now),
            },
        );
        assert_eq!(tables.totals().older, MANY - 1);
        tables.publish(now, false);

        // It is no longer wanted.
        let end = then_sweep(now, |tables| {
            assert_eq!(tables.retain_feeds(0, now, |_| false), None);
        });
        in_pieces(&mut tables, sources(|_| true), end);
        assert_eq!((tables.default_table(), tables.totals().paths), (None, 0));
        let names = |tables: &Tables| tables.table_names.len();
        in_pieces(&mut tables, names, |tables| {
            tables.publish(now, false);
            tables.sweep(now, PIECE);
            names(tables) > 0
        });
        assert_eq!((tables.feed_names.len(), tables.away.len()), (0, 0));
        tables.publish(now, false);
        assert_eq!(tables.bytes(), 0);
    }

    /// A connection comes, goes and comes again before anything has reached all sources: they go through all of it in order.
    #[test]
    fn events_that_follow_at_once_reach_all_sources_in_their_order() {
        let now = Instant::now();
        let mut tables = Tables::default();
        let first = filled(&mut tables, now);
        let second = tables.joined("router", now);
        tables.disconnected(first, now);
        tables.disconnected(second, now);
        let third = tables.connected("router", now);
        assert_eq!(tables.retain_feeds(0, now, |_| false), None);
        let last = tables.joined("router", now);
        assert!(!tables.is_current(third) && tables.is_current(last));
        let mut one = Transaction::default();
        one.change(route(0, Some("b")));
        while tables.take(last, &streams(), &mut one, now) {}
        assert_eq!((tables.walking.len(), tables.away.len()), (0, 0));
        assert_eq!(sources(|source| source.valid_paths() > 0)(&tables), 1);
        assert_eq!(tables.followed.len(), MANY);
        while tables.sweep(now, PIECE).has_more {}
        assert_eq!(tables.totals().paths, 1);
        assert_eq!(tables.default_table(), Some("vrf 0"));
    }

    #[test]
    fn many_feeds_are_ended_in_pieces() {
        let now = Instant::now();
        let mut tables = Tables::default();
        for number in 0..MANY {
            tables.joined(&format!("router {number}"), now);
        }
        let mut next = Some(0);
        in_pieces(
            &mut tables,
            |tables| tables.totals().connected,
            |tables| {
                next = tables.retain_feeds(next.unwrap(), now, |_| false);
                next.is_some()
            },
        );
        while tables.sweep(now, 1).has_more {}
        assert_eq!(tables.feed_names.len(), 0);
    }
}
