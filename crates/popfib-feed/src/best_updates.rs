//! The updates of a file as changes of one table, in which a prefix has one route.

use std::collections::HashMap;

use popfib::IpPrefix;
use popfib_formats::UpdateSource;

use crate::files::{FileUpdates, UpdateError};
use crate::target::Target;
use crate::transaction::{StreamId, Transaction};

/// Applies updates to the paths of all peers. After each, the prefix has its best path: a withdrawal by one peer, or of one path
/// identifier, leaves the paths of the others.
///
/// Takes memory for every path that is announced and not withdrawn.
#[derive(Debug, Default)]
pub struct BestUpdates {
    updates: FileUpdates,
    transaction: Transaction,
    paths: HashMap<IpPrefix, Vec<Path>>,
}

#[derive(Debug)]
struct Path {
    /// The peer and the path identifier.
    key: (StreamId, u32),
    target: Target,
}

impl BestUpdates {
    /// Begins without paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next update. Returns its prefix with the best path that it has now, if any; `None` at the end. Expected
    /// O(paths of the prefix).
    ///
    /// # Errors
    /// [`UpdateError`]. After an invalid line or record the next call continues after it.
    pub fn next(
        &mut self,
        source: &mut dyn UpdateSource,
    ) -> Result<Option<(IpPrefix, Option<Target>)>, UpdateError> {
        if !self.updates.next(source, &mut self.transaction)? {
            return Ok(None);
        }
        let [change] = self.transaction.changes() else {
            unreachable!("an update is one change");
        };
        let paths = self.paths.entry(change.prefix).or_default();
        let key = (change.stream, change.path);
        let at = paths.iter().position(|path| path.key == key);
        match (&change.target, at) {
            (None, None) => {}
            (None, Some(at)) => {
                paths.remove(at);
            }
            (Some(target), Some(at)) => paths[at].target = target.clone(),
            (Some(target), None) => paths.push(Path {
                key,
                target: target.clone(),
            }),
        }
        let prefix = change.prefix;
        // Of equal paths that of the peer seen first, then of the lowest identifier, as in a live table.
        let better = |a: &&Path, b: &&Path| {
            let by_key = b.key.cmp(&a.key);
            a.target.preference(&b.target).then(by_key)
        };
        let best = paths.iter().max_by(better);
        let best = best.map(|path| path.target.clone());
        if best.is_none() {
            self.paths.remove(&prefix);
        }
        Ok(Some((prefix, best)))
    }
}
