//! Connections of feeds: which sources they own.

use std::time::Instant;

use super::{Source, Tables};
use crate::feeds::{Connection, Feed, FeedId};
use crate::transaction::Stream;

impl Tables {
    /// Call this when the feed called `name` has connected. If it is already connected, the new connection takes over: the
    /// old one was lost without being noticed.
    pub fn connected(&mut self, name: &str, now: Instant) -> FeedId {
        let feed = self.feed(name, now);
        let had = std::mem::take(&mut self.feeds[feed].connections);
        self.totals.connected -= usize::from(!had.is_empty());
        self.joined(name, now)
    }

    /// Like [`connected`](Self::connected), but other connections of the feed stay, with the streams that the new one does not send.
    pub fn joined(&mut self, name: &str, now: Instant) -> FeedId {
        let feed = self.feed(name, now);
        let known = &mut self.feeds[feed];
        self.totals.connections += 1;
        self.totals.connected += usize::from(known.connections.is_empty());
        known.is_followed = true;
        known.confirmed = now;
        let connection = self.totals.connections;
        known.connections.push(Connection {
            number: connection,
            began: now,
            heard: now,
            sources: Vec::new(),
        });
        for source in self.sources.iter_mut().filter(|s| s.feed == feed) {
            if self.feeds[feed].connection(source.owner).is_none() {
                source.begin(connection, now);
            }
        }
        FeedId { feed, connection }
    }

    /// The feed of this name.
    pub(crate) fn feed(&mut self, name: &str, now: Instant) -> usize {
        if let Some(&feed) = self.feed_names.get(name) {
            return feed;
        }
        let feed = self.feeds.len();
        self.feeds.push(Feed::new(name, now));
        self.feed_names.insert(name.to_owned(), feed);
        feed
    }

    /// Call this when the connection has ended. Its routes stay.
    ///
    /// If a later connection of the feed began after this one was last heard, it is the successor: routes that it does not
    /// announce again will be removed.
    pub fn disconnected(&mut self, id: FeedId, now: Instant) {
        let feed = &mut self.feeds[id.feed];
        let place = feed
            .connections
            .iter()
            .position(|c| c.number == id.connection);
        let Some(place) = place else {
            return;
        };
        let ended = feed.connections.remove(place);
        self.totals.connected -= usize::from(feed.connections.is_empty());
        let mut later = feed.connections[place..].iter();
        let successor = later.find(|next| next.began >= ended.heard);
        let successor = successor.map(|next| next.number);
        let owned = self.sources.iter_mut();
        for source in owned.filter(|s| s.feed == id.feed && s.owner == id.connection) {
            match successor {
                Some(next) => source.begin(next, now),
                None => {
                    source.ipv4.freshness.disconnected();
                    source.ipv6.freshness.disconnected();
                }
            }
        }
    }

    /// Ends the connections of feeds for whose names `keep` returns false; the next ticks remove their routes.
    pub fn retain_feeds(&mut self, keep: impl Fn(&str) -> bool) {
        for feed in 0..self.feeds.len() {
            let known = &mut self.feeds[feed];
            if keep(&known.name) {
                continue;
            }
            self.totals.connected -= usize::from(!known.connections.is_empty());
            self.version += u64::from(known.is_followed);
            known.connections.clear();
            known.is_followed = false;
            let sources = self.sources.iter_mut().filter(|s| s.feed == feed);
            sources.for_each(Source::lose);
        }
    }

    /// Whether the connection has not ended and no later connection of the feed has taken over.
    pub fn is_current(&self, id: FeedId) -> bool {
        self.feeds[id.feed].connection(id.connection).is_some()
    }

    /// Finds the sources of streams that the connection has not sent before, and takes them over from older connections. Returns
    /// false if the connection is not current.
    pub(crate) fn hear(&mut self, id: FeedId, streams: &[Stream], now: Instant) -> bool {
        let Some(connection) = self.feeds[id.feed].connection_mut(id.connection) else {
            return false;
        };
        connection.heard = now;
        let known = connection.sources.len().min(streams.len());
        for stream in &streams[known..] {
            let number = self.source(id.feed, stream, id.connection, now);
            if let Some(number) = number {
                let source = &mut self.sources[usize::from(number)];
                let is_other = source.owner != id.connection;
                if is_other
                    && self.feeds[id.feed]
                        .connection(source.owner)
                        .is_some_and(|owner| owner.number < id.connection)
                {
                    source.begin(id.connection, now);
                }
            }
            let connection = self.feeds[id.feed].connection_mut(id.connection);
            connection.expect("it is current").sources.push(number);
        }
        true
    }

    /// Whether the source belongs to this connection. If the connection that it belonged to has ended, it does from now on.
    pub(crate) fn owns(&mut self, id: FeedId, source: u16) -> bool {
        let source = &mut self.sources[usize::from(source)];
        if source.owner != id.connection && self.feeds[id.feed].connection(source.owner).is_none() {
            source.owner = id.connection;
        }
        source.owner == id.connection
    }
}
