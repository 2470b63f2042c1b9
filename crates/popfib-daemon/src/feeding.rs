//! Transactions of a decoder in, changes of the tables out: applied in short pieces, so that nobody waits long for the lock of the
//! tables. Decoding needs no lock.
//!
//! Changes are published to readers at once if nothing more can be read from their connection, otherwise together with the next ones,
//! since many together take less time.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use popfib_feed::info::{LeftOutMessages, MessageCounts};
use popfib_feed::{ConnectionId, Stream, Transaction};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::feed_counts::SeenCounts;
use super::state::FollowState;

/// The number of changes that are collected before they are applied.
const ENOUGH: usize = 1024;

/// This many changes are likely to be part of a whole table, so that more is worth waiting for, and for how long.
const MANY: usize = 1000;
const SOON: Duration = Duration::from_millis(10);

/// Changes of a connection that are not applied yet. Everything is applied by [`Feeding::finish`].
pub(super) struct Feeding<'s> {
    state: &'s FollowState,
    /// The name of the feed.
    name: &'s str,
    pub(super) id: ConnectionId,
    pending: Transaction,
    seen: SeenCounts,
}

impl<'s> Feeding<'s> {
    pub(super) fn new(state: &'s FollowState, name: &'s str, id: ConnectionId) -> Self {
        Self {
            state,
            name,
            id,
            pending: Transaction::default(),
            seen: SeenCounts::default(),
        }
    }

    /// Takes over the content of a transaction.
    pub(super) fn add(&mut self, streams: &[Stream], transaction: &mut Transaction) {
        if !self.pending.append(transaction) {
            self.finish(streams);
            self.pending.append(transaction);
        }
        if self.pending.len() >= ENOUGH {
            self.finish(streams);
        }
    }

    /// Applies what is pending. Returns how many changes wait to be published; `None` if the connection is no longer current.
    pub(super) fn finish(&mut self, streams: &[Stream]) -> Option<usize> {
        let (pending, id) = (&mut self.pending, self.id);
        loop {
            let mut tables = self.state.tables();
            if pending.is_empty() || !tables.take(id, streams, pending, Instant::now()) {
                let waiting = tables.is_current(id).then(|| tables.waiting());
                drop(tables);
                // If the connection is no longer current, changes are left; dropping them needs no lock.
                pending.clear();
                return waiting;
            }
        }
    }

    /// Applies what is pending and publishes it, and adds what the connection has sent so far to the counts of its feed. If more can be
    /// read from `source`, or is there already without one, changes may wait for it, but not for long. Returns false if the connection is no longer current.
    pub(super) fn publish(
        &mut self,
        streams: &[Stream],
        source: Option<impl AsFd>,
        (counts, left_out): (MessageCounts, &[LeftOutMessages]),
    ) -> bool {
        let waiting = self.finish(streams);
        if waiting != Some(0) {
            let is_many = waiting.is_some_and(|waiting| waiting >= MANY);
            let patience = if is_many { SOON } else { Duration::ZERO };
            let is_behind = source.is_none_or(|source| has_more(source, patience));
            self.state.publish(Instant::now(), is_behind);
        }
        self.count(counts, left_out);
        waiting.is_some()
    }

    /// Adds what the connection has sent so far to the counts of its feed.
    pub(super) fn count(&mut self, counts: MessageCounts, left_out: &[LeftOutMessages]) {
        let mut feeds = self.state.feeds();
        feeds.add(self.name, &mut self.seen, counts, left_out);
    }
}

/// Whether data or the end of the file can be read within that time.
fn has_more(source: impl AsFd, within: Duration) -> bool {
    let within = Timespec::try_from(within).ok();
    let mut asked = [PollFd::new(&source, PollFlags::IN)];
    poll(&mut asked, within.as_ref()).is_ok_and(|ready| ready > 0)
}
