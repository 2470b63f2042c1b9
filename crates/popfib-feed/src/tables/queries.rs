//! Questions to tables in, plain values out: names, sizes, counts, the paths of a prefix, the routes that readers see.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, Prefix};

use super::Tables;
use crate::family_paths::StoredPath;
use crate::freshness::PathStatus;
use crate::table_info::{PathInfo, TableInfo, Totals};
use crate::table_view::TableView;

/// The number of paths that a [`PathsQuery`] returns at a time.
const PATHS: usize = 256;

/// A query for the paths of one prefix. It returns some at a time, since a prefix may have many.
#[derive(Debug)]
pub struct PathsQuery {
    table: String,
    prefix: IpPrefix,
    last: Option<StoredPath>,
}

impl PathsQuery {
    /// For the paths of exactly this prefix in the table `table`.
    pub fn new(table: &str, prefix: IpPrefix) -> Self {
        Self {
            table: table.to_owned(),
            prefix,
            last: None,
        }
    }

    /// Appends the next paths, better ones first; returns whether there may be more. Paths of a lost peer are left out, even if
    /// they have not been removed yet.
    pub fn next(&mut self, tables: &Tables, to: &mut Vec<PathInfo>) -> bool {
        let Some(&table) = tables.table_names.get(&self.table) else {
            return false;
        };
        popfib::by_family!(self.prefix, |prefix| self.of(tables, table, prefix, to))
    }

    fn of<A: Family>(
        &mut self,
        tables: &Tables,
        table: usize,
        prefix: Prefix<A>,
        to: &mut Vec<PathInfo>,
    ) -> bool {
        let paths = &A::of(&tables.tables.at(table).families).paths;
        let last = self.last.take();
        let found: Vec<StoredPath> = match &last {
            None => paths.paths(prefix).take(PATHS).cloned().collect(),
            Some(last) => paths
                .paths_after(prefix, last)
                .take(PATHS)
                .cloned()
                .collect(),
        };
        let has_more = found.len() == PATHS;
        for path in &found {
            let source = tables.sources.at(path.source.into());
            let status = A::of(&source.freshness).status(path.generation);
            if status != PathStatus::Gone {
                to.push(PathInfo {
                    feed: tables.feeds.at(source.feed).name.clone(),
                    peer: source.name.peer.clone(),
                    id: path.id,
                    is_older: status == PathStatus::Stale,
                    target: path.target.clone(),
                });
            }
        }
        self.last = found.into_iter().next_back();
        has_more
    }
}

/// Names of live tables, for queries that name none: the first of them that a feed has.
pub const DEFAULT_TABLES: [&str; 4] = ["main", "loc-rib", "post-policy", "pre-policy"];

impl Tables {
    /// What readers see of the table `name`; `None` if there is no such table.
    pub fn view(&self, name: &str) -> Option<Arc<TableView>> {
        let &table = self.table_names.get(name)?;
        Some(self.tables.at(table).view.clone())
    }

    /// The name of the table for queries that name none: the first of [`DEFAULT_TABLES`] that a feed has, otherwise the first by name. Tables whose feeds are no longer followed do not count.
    pub fn default_table(&self) -> Option<&str> {
        let mut order = DEFAULT_TABLES.into_iter();
        let preferred = order.find(|&name| self.followed.contains(name));
        preferred.or_else(|| self.followed.first().map(String::as_str))
    }

    /// The tables after that of this name, or all, ordered by name: to list them in parts.
    pub fn tables_after(&self, name: Option<&str>) -> impl Iterator<Item = TableInfo> {
        let begin = name.map_or(Bound::Unbounded, Bound::Excluded);
        let names = self.table_names.range::<str, _>((begin, Bound::Unbounded));
        names.map(|(name, &table)| {
            let table = self.tables.at(table);
            let ByFamily { ipv4, ipv6 } = &table.families;
            TableInfo {
                name: name.clone(),
                prefixes: table.view.prefixes(),
                paths: [ipv4.paths.path_count(), ipv6.paths.path_count()],
            }
        })
    }

    /// Counts of all tables.
    pub fn totals(&self) -> Totals {
        Totals {
            failed: self.published.failed.load(Ordering::Relaxed),
            refused: self.totals.refused + self.budget.refused(),
            ..self.totals
        }
    }

    /// Heap bytes of paths, lookup structures and sources, without targets.
    pub fn bytes(&self) -> usize {
        self.budget.counted()
    }

    /// Whether there is a table, and no stream is still sending its routes for the first time, as far as is known. Connections and
    /// peers that are up and have sent nothing yet are waited for until five seconds after the others.
    pub fn is_whole(&self) -> bool {
        self.is_published()
            && self.walking.is_empty()
            && self.sources.len() > 0
            && self.sums.loading == 0
            && self.silent.is_empty()
    }

    /// Whether every known stream is connected and has sent all its routes, as far as is known.
    pub fn is_fresh(&self) -> bool {
        self.sums.unfresh == 0 && self.walking.is_empty()
    }
}
