//! Tables as one caller alone changes and asks them: all that a call leaves to others is done at once.

use std::time::Instant;

use popfib::IpPrefix;
use popfib_feed::info::{PathInfo, PathsQuery};
use popfib_feed::{BestRoutes, ConnectionId, Stream, Tables, Transaction};

pub(crate) trait AtOnce {
    /// Applies a transaction and publishes it.
    fn apply(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        transaction: &mut Transaction,
        now: Instant,
    );

    /// A step of the sweep, whose changes are published if they are not left to others.
    fn tick(&mut self, now: Instant, count: usize) -> bool;

    fn paths(&self, table: &str, prefix: IpPrefix) -> Vec<PathInfo>;

    fn routes(&self, table: &str) -> (BestRoutes<u32>, BestRoutes<u128>);
}

impl AtOnce for Tables {
    fn apply(
        &mut self,
        id: ConnectionId,
        streams: &[Stream],
        transaction: &mut Transaction,
        now: Instant,
    ) {
        while self.take(id, streams, transaction, now) {}
        transaction.clear();
        self.publish(now, false);
    }

    fn tick(&mut self, now: Instant, count: usize) -> bool {
        let result = self.sweep(now, count);
        self.publish(now, result.is_behind);
        result.has_more
    }

    fn paths(&self, table: &str, prefix: IpPrefix) -> Vec<PathInfo> {
        let mut query = PathsQuery::new(table, prefix);
        let mut paths = Vec::new();
        while query.next(self, &mut paths) {}
        paths
    }

    fn routes(&self, table: &str) -> (BestRoutes<u32>, BestRoutes<u128>) {
        let routes = self.view(table).map(|view| view.routes());
        let (_, ipv4, ipv6) = routes.unwrap_or_default();
        (ipv4, ipv6)
    }
}
