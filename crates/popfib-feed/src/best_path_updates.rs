//! Updates of a file in; after each of them, the prefix and its best path out, as changes of a table in which a prefix has one route.

use popfib::family::{ByFamily, Family};
use popfib::{IpPrefix, Prefix};
use popfib_formats::{Input, ReadError, UpdateOptions};
use popfib_table::multi_rib::Path;

use crate::family_paths::{FamilyPaths, PathsByFamily, StoredPath};
use crate::file_updates::{FileUpdates, UpdateError};
use crate::target::Target;
use crate::transaction::{PathChange, StreamEvent, StreamId, Transaction, TransactionPart};

/// Applies updates to the paths of all peers. After each, the prefix has its best path: a withdrawal by one peer, or of one path
/// identifier, leaves the paths of the others.
///
/// Takes memory for every path that is announced and not withdrawn.
pub struct BestPathUpdates {
    updates: FileUpdates,
    transaction: Transaction,
    /// How many of its changes were applied.
    applied: usize,
    paths: ByFamily<PathsByFamily>,
    /// What the end of a session has changed and was not returned yet.
    lost: Vec<(IpPrefix, Option<Target>)>,
}

impl BestPathUpdates {
    /// Opens the updates of a file, without paths at the beginning.
    ///
    /// # Errors
    /// Those of [`FileUpdates::open`].
    pub fn open(input: Input, options: &UpdateOptions) -> Result<Self, ReadError> {
        Ok(Self {
            updates: FileUpdates::open(input, options)?,
            transaction: Transaction::default(),
            applied: 0,
            paths: ByFamily::default(),
            lost: Vec::new(),
        })
    }

    /// Reads the next update. Returns its prefix with the best path that it has now, if any; `None` at the end.
    /// O(key width / 6 + log(paths of the prefix)). A session that ends withdraws all paths of its peer: that takes O(paths) once, and
    /// then each call returns one prefix.
    ///
    /// # Errors
    /// [`UpdateError`]. After an invalid line or record the next call continues after it.
    pub fn next_best(&mut self) -> Result<Option<(IpPrefix, Option<Target>)>, UpdateError> {
        loop {
            if let Some(lost) = self.lost.pop() {
                return Ok(Some(lost));
            }
            if let Some((change, rest)) = self.transaction.changes()[self.applied..].split_first() {
                let is_for_all = (rest.first()).is_some_and(|next| next.stream == StreamId::PEERS);
                self.applied += 1 + usize::from(is_for_all);
                let paths = &mut self.paths;
                let best = popfib::by_family!(change.prefix, |prefix| apply(
                    paths, prefix, change, is_for_all
                ));
                return Ok(Some((change.prefix, best)));
            }
            self.applied = 0;
            if !self.updates.next(&mut self.transaction)? {
                return Ok(None);
            }
            for event in self.transaction.events() {
                if let TransactionPart::Event(StreamEvent::Down(stream)) = *event {
                    lose(&mut self.paths.ipv4, stream, &mut self.lost);
                    lose(&mut self.paths.ipv6, stream, &mut self.lost);
                }
            }
        }
    }
}

/// Withdraws the paths of a stream. Adds each prefix whose best path this changes, with the new one, to `lost`.
fn lose<A: Family>(
    family: &mut FamilyPaths<A>,
    stream: StreamId,
    lost: &mut Vec<(IpPrefix, Option<Target>)>,
) {
    family.sweep(usize::MAX, |path| u32::from(path.source) != stream.0);
    let changes = family.waiting.drain(..);
    lost.extend(changes.map(|(prefix, best)| (A::ip_prefix(prefix), best)));
}

/// Applies a change, which may take the place of the paths of all other peers, and returns the best path of its prefix after it.
fn apply<A: Family>(
    paths: &mut ByFamily<PathsByFamily>,
    prefix: Prefix<A>,
    change: &PathChange,
    is_for_all: bool,
) -> Option<Target> {
    let family = A::of_mut(paths);
    // There are fewer streams. Of equally good paths, that of the peer seen first is used, as in a live table.
    let key = (change.stream.0 as u16, change.path);
    match change.target.clone() {
        Some(target) => family.announce(
            prefix,
            StoredPath {
                target,
                source: key.0,
                generation: 0,
                id: key.1,
            },
        ),
        None => drop(family.withdraw(prefix, key)),
    }
    if is_for_all {
        let others = family.paths.paths(prefix).map(Path::key);
        let others: Vec<_> = others
            .filter(|other| other.1 == key.1 && *other != key)
            .collect();
        for other in others {
            family.withdraw(prefix, other);
        }
    }
    // The best one after all of it is what counts.
    family.waiting.clear();
    Some(family.paths.best(prefix)?.target.clone())
}
