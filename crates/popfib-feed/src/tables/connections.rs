//! Connections that begin and end come in; which connection owns which source comes out.

use std::time::Instant;

use super::{PIECE, Tables};
use crate::feeds::{Connection, ConnectionId, Feed, FeedWalk, SourceEvent};
use crate::transaction::{Stream, StreamId};

/// There is no place for another source.
pub(super) struct TooManySources;

impl Tables {
    /// Call this when the feed called `name` has connected. If it is already connected, the new connection takes over: the
    /// old one was lost without being noticed.
    pub fn connected(&mut self, name: &str, now: Instant) -> ConnectionId {
        let feed = self.feed(name, now);
        self.end_all(feed);
        self.begin_connection(feed, false, now)
    }

    /// Like [`connected`](Self::connected), when a connection is about to send all routes once more; nothing if it is not
    /// [current](Self::is_current). If the known paths are right as far as is known (`is_right`), they go on to count as fresh.
    pub fn sends_again(&mut self, id: ConnectionId, is_right: bool, now: Instant) -> ConnectionId {
        if !self.is_current(id) {
            return id;
        }
        self.end_all(id.feed);
        self.begin_connection(id.feed, is_right, now)
    }

    /// Like [`connected`](Self::connected), but other connections of the feed stay, with the streams that the new one does not send.
    pub fn joined(&mut self, name: &str, now: Instant) -> ConnectionId {
        let feed = self.feed(name, now);
        self.begin_connection(feed, false, now)
    }

    fn begin_connection(&mut self, feed: usize, is_right: bool, now: Instant) -> ConnectionId {
        self.totals.connections += 1;
        let connection = self.totals.connections;
        let known = self.feeds.at_mut(feed);
        self.away.remove(&(known.last, feed));
        self.totals.connected += usize::from(known.connections.is_empty());
        let others = known.connections.iter().map(|other| other.number);
        let event = SourceEvent::Joined {
            connection,
            others: others.collect(),
            is_right,
            at: now,
        };
        known.is_followed = true;
        known.confirmed = now;
        known.last = connection;
        known.connections.push(Connection {
            number: connection,
            began: now,
            heard: now,
            streams: Vec::new(),
        });
        let is_new = known.sources.is_empty();
        self.leave_event(feed, event);
        self.walk(feed, now);
        let id = ConnectionId { feed, connection };
        self.await_routes(id, is_new, now);
        id
    }

    /// Waits for routes of a connection, or no longer.
    pub(super) fn await_routes(&mut self, id: ConnectionId, is_silent: bool, now: Instant) {
        self.silent.retain(|(known, _)| *known != id);
        if is_silent {
            self.silent.push((id, now));
        }
    }

    /// Call this when the connection has ended. Its routes stay.
    ///
    /// If a later connection of the feed began after this one was last heard, it is the successor: routes that it does not
    /// announce again will be removed.
    pub fn disconnected(&mut self, id: ConnectionId, now: Instant) {
        let Some(feed) = self.feeds.get_mut(id.feed) else {
            return;
        };
        let is_it = |connection: &Connection| connection.number == id.connection;
        let Some(place) = feed.connections.iter().position(is_it) else {
            return;
        };
        let ended = feed.connections.remove(place);
        if feed.connections.is_empty() {
            self.totals.connected -= 1;
            self.away.insert((feed.last, id.feed));
        }
        let mut later = feed.connections[place..].iter();
        let successor = later.find(|next| next.began >= ended.heard);
        let event = SourceEvent::Ended {
            connection: ended.number,
            successor: successor.map(|next| next.number),
            at: now,
        };
        self.leave(id.feed, FeedWalk::Leave(ended.streams));
        self.leave_event(id.feed, event);
        self.walk(id.feed, now);
    }

    /// Ends the connections of feeds for whose names `keep` returns false; the next ticks remove their routes. It visits some feeds, from
    /// a place on that is 0 at first, and returns the place to go on from.
    pub fn retain_feeds(
        &mut self,
        from: usize,
        now: Instant,
        keep: impl Fn(&str) -> bool,
    ) -> Option<usize> {
        let end = self.feeds.places().min(from + PIECE);
        let mut ended = None;
        for feed in from..end {
            let is_ended = |feed: &&mut Feed| feed.is_followed && !keep(&feed.name);
            let Some(known) = self.feeds.get_mut(feed).filter(is_ended) else {
                continue;
            };
            known.is_followed = false;
            self.end_all(feed);
            self.leave_event(feed, SourceEvent::Lost);
            ended.get_or_insert(feed);
        }
        if let Some(feed) = ended {
            self.walk(feed, now);
        }
        (end < self.feeds.places()).then_some(end)
    }

    /// Ends all connections of a feed.
    fn end_all(&mut self, feed: usize) {
        let known = self.feeds.at_mut(feed);
        let ended = std::mem::take(&mut known.connections);
        self.totals.connected -= usize::from(!ended.is_empty());
        self.away.insert((known.last, feed));
        for connection in ended {
            self.leave(feed, FeedWalk::Leave(connection.streams));
        }
    }

    /// Whether the connection has not ended and no later connection of the feed has taken over.
    pub fn is_current(&self, id: ConnectionId) -> bool {
        let feed = self.feeds.get(id.feed);
        feed.is_some_and(|feed| feed.connection(id.connection).is_some())
    }

    /// Notes that a connection was heard, and which streams it has. Returns false if it is not current.
    pub(super) fn hear(&mut self, id: ConnectionId, streams: &[Stream], now: Instant) -> bool {
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

    /// The source of a stream to which the connection adds. It is made if there is none, and taken over from an older connection.
    /// An error if there are too many; `None` if it belongs to another connection.
    pub(super) fn open(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        stream: StreamId,
        now: Instant,
    ) -> Result<Option<u16>, TooManySources> {
        let at = stream.0 as usize;
        let connection = self.feeds.at(id.feed).connection(id.connection);
        let known = connection.and_then(|connection| connection.streams.get(at));
        let number = match (known, streams.get(at)) {
            (Some(&Some(number)), _) => number,
            (Some(None), Some(name)) => {
                let source = self.add_source(id.feed, name, id.connection, now);
                let number = source.ok_or(TooManySources)?;
                self.attach(id, at, number, now);
                self.await_routes(id, false, now);
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

    /// Makes a source the stream of a connection that sends it for the first time. If a later connection sends it, too, that one keeps it.
    fn attach(&mut self, id: ConnectionId, at: usize, number: u16, now: Instant) {
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

    /// Whether what the connection says of a source counts: it does unless another connection that has not ended sends it, too.
    pub(super) fn may_change(&self, id: ConnectionId, number: u16) -> bool {
        let source = self.sources.at(number.into());
        let is_other = source.owner != id.connection && source.is_claimed;
        let feed = self.feeds.at(id.feed);
        !(is_other && feed.connection(source.owner).is_some())
    }

    /// The source of a stream from which the connection takes something away, if there is one and the connection counts.
    pub(super) fn find(
        &self,
        id: ConnectionId,
        streams: &[Stream],
        stream: StreamId,
    ) -> Option<u16> {
        let at = stream.0 as usize;
        let feed = self.feeds.at(id.feed);
        let connection = feed.connection(id.connection)?;
        let number = match connection.streams.get(at)? {
            Some(number) => *number,
            None => *feed.sources.get(streams.get(at)?)?,
        };
        self.may_change(id, number).then_some(number)
    }

    /// From now on the source belongs to a connection, which will announce its paths again.
    pub(super) fn begin(&mut self, number: u16, owner: u64, now: Instant) {
        let source = self.sources.at_mut(number.into());
        source.owner = owner;
        source.is_claimed = false;
        source.is_dropped = false;
        self.edit_both(number, |freshness| freshness.connected(now));
    }
}
