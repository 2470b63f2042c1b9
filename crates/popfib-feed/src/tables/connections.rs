//! Connections of feeds: which sources they own.

use std::time::Instant;

use super::Tables;
use crate::feeds::{Connection, FeedId};
use crate::freshness::Freshness;
use crate::transaction::{Stream, StreamId};

/// There is no place for another source.
pub(super) struct TooMany;

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
        known.last = connection;
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

    /// Notes that a connection was heard, and which streams it has. Returns false if it is not current.
    pub(super) fn hear(&mut self, id: FeedId, streams: &[Stream], now: Instant) -> bool {
        let feed = self.feeds.get_mut(id.feed);
        let connection = feed.and_then(|feed| feed.connection_mut(id.connection));
        let Some(connection) = connection else {
            return false;
        };
        connection.heard = now;
        let count = connection.streams.len().max(streams.len());
        connection.streams.resize(count, None);
        true
    }

    /// The source of a stream that the connection fills, which is made if there is none, and taken over from an older connection.
    /// An error if there are too many; `None` if it belongs to another connection.
    pub(super) fn open(
        &mut self,
        id: FeedId,
        streams: &[Stream],
        stream: StreamId,
        now: Instant,
    ) -> Result<Option<u16>, TooMany> {
        let at = stream.0 as usize;
        let connection = self.feeds.at(id.feed).connection(id.connection);
        let known = connection.and_then(|connection| connection.streams.get(at));
        let number = match (known, streams.get(at)) {
            (Some(&Some(number)), _) => number,
            (Some(None), Some(name)) => {
                let source = self.add_source(id.feed, name, id.connection, now);
                let number = source.ok_or(TooMany)?;
                self.attach(id, at, number, now);
                number
            }
            _ => return Ok(None),
        };
        if !self.may_change(id, number) {
            return Ok(None);
        }
        let source = self.sources.at_mut(number.into());
        (source.owner, source.is_claimed) = (id.connection, true);
        Ok(Some(number))
    }

    /// Makes a source the stream of a connection, which sends it for the first time. A later connection that sends it, too, keeps it.
    fn attach(&mut self, id: FeedId, at: usize, number: u16, now: Instant) {
        let may_change = self.may_change(id, number);
        let source = self.sources.at_mut(number.into());
        source.streams += 1;
        let is_older = source.owner < id.connection;
        let is_begun = source.owner == id.connection;
        let feed = self.feeds.at_mut(id.feed);
        if let Some(connection) = feed.connection_mut(id.connection) {
            connection.streams[at] = Some(number);
        }
        if !is_begun && (is_older || may_change) {
            self.begin(number, id.connection, now);
        }
    }

    /// Whether what the connection says of a source counts: no other connection that lives sends it.
    fn may_change(&self, id: FeedId, number: u16) -> bool {
        let source = self.sources.at(number.into());
        let is_other = source.owner != id.connection && source.is_claimed;
        let feed = self.feeds.at(id.feed);
        !(is_other && feed.connection(source.owner).is_some())
    }

    /// The source of a stream of which the connection only says what is no more, if there is one and it counts.
    pub(super) fn find(&self, id: FeedId, streams: &[Stream], stream: StreamId) -> Option<u16> {
        let at = stream.0 as usize;
        let feed = self.feeds.at(id.feed);
        let connection = feed.connection(id.connection)?;
        let number = match connection.streams.get(at)? {
            Some(number) => *number,
            None => *feed.sources.get(streams.get(at)?)?,
        };
        self.may_change(id, number).then_some(number)
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
        source.is_claimed = false;
        source.is_dropped = false;
        self.edit_both(number, |side| side.connected(now));
    }
}
