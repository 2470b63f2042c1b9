//! Transactions of a decoder in, changes of the tables out: applied in short pieces, so that nobody waits long for the lock of the
//! tables. Decoding needs no lock.

use std::time::Instant;

use popfib_feed::{ConnectionId, Stream, Transaction};

use super::state::FollowState;

/// The number of changes that are collected before they are applied.
const ENOUGH: usize = 1024;

/// Changes of a connection that are not applied yet. Everything is applied by [`Feeding::finish`].
pub(super) struct Feeding<'s> {
    state: &'s FollowState,
    id: ConnectionId,
    pending: Transaction,
}

impl<'s> Feeding<'s> {
    pub(super) fn new(state: &'s FollowState, id: ConnectionId) -> Self {
        Self {
            state,
            id,
            pending: Transaction::default(),
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

    /// Applies what is pending.
    pub(super) fn finish(&mut self, streams: &[Stream]) {
        if self.pending.is_empty() {
            return;
        }
        let take = |pending: &mut Transaction| {
            let now = Instant::now();
            self.state.tables().take(self.id, streams, pending, now)
        };
        while take(&mut self.pending) {}
        // If the connection is no longer current, changes are left; dropping them needs no lock.
        self.pending.clear();
    }
}
