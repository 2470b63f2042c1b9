//! Connections of feeds: which sources they own.

use std::time::Instant;

use super::Tables;
use crate::feeds::{Connection, FeedId};
use crate::freshness::Freshness;
use crate::transaction::{Stream, StreamId};

impl Tables {
    /// Call this when the feed called `name` has connected. If it is already connected, the new connection takes over: the
    /// old one was lost without being noticed.
    pub fn connected(&mut self, name: &str, now: Instant) -> FeedId {
        let feed = self.feed(name, now);
        let had = std::mem::take(&mut self.feeds.at_mut(feed).connections);
        self.totals.connected -= usize::from(!had.is_empty());
        had.iter().for_each(|connection| self.leave(connection));
        self.joined(name, now)
    }

    /// Like [`connected`](Self::connected), but other connections of the feed stay, with the streams that the new one does not send.
    pub fn joined(&mut self, name: &str, now: Instant) -> FeedId {
        let feed = self.feed(name, now);
        self.follow(feed, true);
        self.totals.connections += 1;
        let connection = self.totals.connections;
        let known = self.feeds.at_mut(feed);
        self.totals.connected += usize::from(known.connections.is_empty());
        known.confirmed = now;
        known.connections.push(Connection {
            number: connection,
            began: now,
            heard: now,
            streams: Vec::new(),
        });
        for number in self.sources_of(feed) {
            let owner = self.sources.at(number.into()).owner;
            if self.feeds.at(feed).connection(owner).is_none() {
                self.begin(number, connection, now);
                self.free_source(number);
            }
        }
        FeedId { feed, connection }
    }

    /// Call this when the connection has ended. Its routes stay.
    ///
    /// If a later connection of the feed began after this one was last heard, it is the successor: routes that it does not
    /// announce again will be removed.
    pub fn disconnected(&mut self, id: FeedId, now: Instant) {
        let Some(feed) = self.feeds.get_mut(id.feed) else {
            return;
        };
        let is_it = |connection: &Connection| connection.number == id.connection;
        let Some(place) = feed.connections.iter().position(is_it) else {
            return;
        };
        let ended = feed.connections.remove(place);
        self.totals.connected -= usize::from(feed.connections.is_empty());
        let mut later = feed.connections[place..].iter();
        let successor = later.find(|next| next.began >= ended.heard);
        let successor = successor.map(|next| next.number);
        self.leave(&ended);
        for number in self.sources_of(id.feed) {
            if self.sources.at(number.into()).owner == id.connection {
                match successor {
                    Some(next) => self.begin(number, next, now),
                    None => self.edit_both(number, Freshness::disconnected),
                }
            }
            self.free_source(number);
        }
        self.free_feed(id.feed);
    }

    /// Ends the connections of feeds for whose names `keep` returns false; the next ticks remove their routes.
    pub fn retain_feeds(&mut self, keep: impl Fn(&str) -> bool) {
        for feed in 0..self.feeds.places() {
            let Some(known) = self.feeds.get_mut(feed).filter(|feed| !keep(&feed.name)) else {
                continue;
            };
            let had = std::mem::take(&mut known.connections);
            self.version += u64::from(known.is_followed);
            self.totals.connected -= usize::from(!had.is_empty());
            had.iter().for_each(|connection| self.leave(connection));
            self.follow(feed, false);
            for number in self.sources_of(feed) {
                self.edit_both(number, |side| {
                    side.lost();
                    side.disconnected();
                });
                self.free_source(number);
            }
            self.free_feed(feed);
        }
    }

    /// Whether the connection has not ended and no later connection of the feed has taken over.
    pub fn is_current(&self, id: FeedId) -> bool {
        let feed = self.feeds.get(id.feed);
        feed.is_some_and(|feed| feed.connection(id.connection).is_some())
    }

    /// Finds the sources of streams that the connection has not sent before, and takes them over from older connections. Returns
    /// false if the connection is not current.
    pub(super) fn hear(&mut self, id: FeedId, streams: &[Stream], now: Instant) -> bool {
        let feed = self.feeds.get_mut(id.feed);
        let connection = feed.and_then(|feed| feed.connection_mut(id.connection));
        let Some(connection) = connection else {
            return false;
        };
        connection.heard = now;
        let known = connection.streams.len().min(streams.len());
        for (at, stream) in streams.iter().enumerate().skip(known) {
            let feed = self.feeds.at_mut(id.feed);
            let source = feed.sources.get(stream).copied();
            if let Some(connection) = feed.connection_mut(id.connection) {
                connection.streams.push(None);
            }
            if let Some(number) = source {
                self.attach(id, at, number, now);
            }
        }
        true
    }

    /// Makes a source the stream of a connection, which takes it over from an older one.
    fn attach(&mut self, id: FeedId, at: usize, number: u16, now: Instant) {
        let feed = self.feeds.at_mut(id.feed);
        let source = self.sources.at_mut(number.into());
        source.streams += 1;
        let owner = feed.connection(source.owner);
        let is_older = owner.is_some_and(|owner| owner.number < id.connection);
        if let Some(connection) = feed.connection_mut(id.connection) {
            connection.streams[at] = Some(number);
        }
        if is_older {
            self.begin(number, id.connection, now);
        }
    }

    /// The source of a stream of the connection, if it has one and owns it.
    pub(super) fn owned(&mut self, id: FeedId, stream: StreamId) -> Option<u16> {
        let feed = self.feeds.at(id.feed);
        let connection = feed.connection(id.connection)?;
        let number = connection.streams.get(stream.0 as usize).copied()??;
        let source = self.sources.at_mut(number.into());
        // If the connection that it belonged to has ended, it belongs to this one from now on.
        if source.owner != id.connection && feed.connection(source.owner).is_none() {
            source.owner = id.connection;
        }
        (source.owner == id.connection).then_some(number)
    }

    /// Makes a source for a stream of the connection that has none. Returns false if there are too many.
    pub(super) fn open(
        &mut self,
        id: FeedId,
        streams: &[Stream],
        stream: StreamId,
        now: Instant,
    ) -> bool {
        let at = stream.0 as usize;
        let feed = self.feeds.at(id.feed);
        let connection = feed.connection(id.connection);
        let (Some(None), Some(name)) = (
            connection.and_then(|connection| connection.streams.get(at)),
            streams.get(at),
        ) else {
            return true;
        };
        let source = self.add_source(id.feed, name, id.connection, now);
        if let Some(number) = source {
            self.attach(id, at, number, now);
        }
        source.is_some()
    }

    /// The streams of a connection that has ended are no streams any more.
    fn leave(&mut self, ended: &Connection) {
        for number in ended.streams.iter().flatten() {
            self.sources.at_mut((*number).into()).streams -= 1;
        }
    }

    /// The source belongs to a connection, which will announce its paths again.
    fn begin(&mut self, number: u16, owner: u64, now: Instant) {
        let source = self.sources.at_mut(number.into());
        source.owner = owner;
        source.is_dropped = false;
        self.edit_both(number, |side| side.connected(now));
    }
}
