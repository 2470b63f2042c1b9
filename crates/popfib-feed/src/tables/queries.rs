//! Queries to tables.

use popfib::{IpPrefix, TableReader};

use super::{Source, Table, Tables, best};
use crate::held::Held;
use crate::info::{PathOf, Routes, TableInfo, Totals};
use crate::journal::BestChange;
use crate::target::Target;

impl Tables {
    /// A reader of the best paths of the table `name`, for another thread; `None` if there is no such table.
    pub fn reader(&self, name: &str) -> Option<TableReader<Target>> {
        let &table = self.table_names.get(name)?;
        Some(self.tables[table].view.reader())
    }

    /// Keeps the changes of the table `name` from now on, for a client that watches it. Returns the number of the next change.
    pub fn watch(&mut self, name: &str) -> Option<u64> {
        let &table = self.table_names.get(name)?;
        Some(self.tables[table].view.journal.watch())
    }

    /// Ends a [`Tables::watch`].
    pub fn unwatch(&mut self, name: &str) {
        if let Some(&table) = self.table_names.get(name) {
            self.tables[table].view.journal.unwatch();
        }
    }

    /// Appends up to `most` changes from number `from` on to `to`. Returns the number of the next change, and how many
    /// changes before it were lost because they are no longer kept. O(`most`).
    pub fn changes(
        &self,
        name: &str,
        from: u64,
        most: usize,
        to: &mut Vec<BestChange>,
    ) -> (u64, u64) {
        match self.table_names.get(name) {
            None => (from, 0),
            Some(&table) => self.tables[table].view.journal.from(from, most, to),
        }
    }

    /// The name of the table for queries that name none: the first of `main`, `loc-rib`, `post-policy` and `pre-policy` that
    /// a feed has, otherwise the first by name. Tables whose feeds are no longer followed do not count. O(sources).
    pub fn default_table(&self) -> Option<&str> {
        let order = ["main", "loc-rib", "post-policy", "pre-policy"];
        let names = self.table_names.keys().map(String::as_str);
        let is_followed = |name: &&str| {
            let table = self.table_names.get(*name);
            let of = |source: &Source| Some(&source.table) == table;
            let mut sources = self.sources.iter().filter(|source| of(source));
            sources.any(|source| self.feeds[source.feed].is_followed)
        };
        order.into_iter().chain(names).find(is_followed)
    }

    /// All tables, ordered by name.
    pub fn tables(&self) -> impl Iterator<Item = TableInfo> {
        self.table_names.iter().map(|(name, &table)| {
            let table = &self.tables[table];
            TableInfo {
                name: name.clone(),
                prefixes: table.view.prefixes(),
                paths: [table.ipv4.paths.path_count(), table.ipv6.paths.path_count()],
            }
        })
    }

    /// The paths of exactly this prefix in the table `table`, the best first. Paths of a lost peer are left out, even if they
    /// have not been removed yet. O(paths of the prefix).
    pub fn paths(&self, table: &str, prefix: IpPrefix) -> Vec<PathOf> {
        let Some(&table) = self.table_names.get(table) else {
            return Vec::new();
        };
        let table = &self.tables[table];
        let show = |held: &Held| {
            let source = &self.sources[usize::from(held.source)];
            let freshness = match prefix {
                IpPrefix::V4(_) => source.ipv4.freshness,
                IpPrefix::V6(_) => source.ipv6.freshness,
            };
            (!freshness.is_gone(held.generation)).then(|| PathOf {
                feed: self.feeds[source.feed].name.clone(),
                peer: source.peer.clone(),
                id: held.id,
                is_older: held.generation != freshness.generation(),
                target: held.target.clone(),
            })
        };
        match prefix {
            IpPrefix::V4(prefix) => table.ipv4.paths.paths(prefix).filter_map(show).collect(),
            IpPrefix::V6(prefix) => table.ipv6.paths.paths(prefix).filter_map(show).collect(),
        }
    }

    /// The best paths of the table `table`, those of IPv4 first, in prefix order. O(paths).
    pub fn routes(&self, table: &str) -> (Routes<u32>, Routes<u128>) {
        match self.table_names.get(table) {
            None => (Vec::new(), Vec::new()),
            Some(&table) => {
                let table = &self.tables[table];
                (best(&table.ipv4), best(&table.ipv6))
            }
        }
    }

    /// Counts of all tables.
    pub fn totals(&self) -> Totals {
        Totals {
            failed: self.tables.iter().map(|table| table.view.failed).sum(),
            ..self.totals
        }
    }

    /// Heap bytes of paths and lookup structures, without targets. O(tables).
    pub fn bytes(&self) -> usize {
        let of = |table: &Table| {
            table.ipv4.paths.bytes() + table.ipv6.paths.bytes() + table.view.bytes()
        };
        self.tables.iter().map(of).sum()
    }

    /// A count of changes: while it stays the same, no table has changed.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether there is a table, and no stream is still sending its routes for the first time, as far as is known.
    pub fn is_whole(&self) -> bool {
        let is_loading = |s: &Source| {
            let ipv4 = s.ipv4.older == 0 && s.ipv4.freshness.is_refreshing();
            ipv4 || s.ipv6.older == 0 && s.ipv6.freshness.is_refreshing()
        };
        let is_published = self.waiting.is_none() && !self.sources.is_empty();
        is_published && !self.sources.iter().any(is_loading)
    }

    /// Whether every known stream is connected and has sent all its routes, as far as is known.
    pub fn is_fresh(&self) -> bool {
        let is_fresh = |s: &Source| s.ipv4.freshness.is_fresh() && s.ipv6.freshness.is_fresh();
        self.sources.iter().all(is_fresh)
    }
}
