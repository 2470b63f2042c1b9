//! Updates of a file in; after each of them, the prefix and its best path out, as changes of a table in which a prefix has one route.

use popfib::family::Family;
use popfib::{Address, IpPrefix, Prefix};
use popfib_formats::{Input, ReadError, UpdateOptions};
use popfib_table::multi_rib::{BestChange, MultiRib, Path};

use crate::family_paths::StoredPath;
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
    ipv4: MultiRib<u32, StoredPath>,
    ipv6: MultiRib<u128, StoredPath>,
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
            ipv4: MultiRib::new(),
            ipv6: MultiRib::new(),
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
                let best = match change.prefix {
                    IpPrefix::V4(prefix) => apply(&mut self.ipv4, prefix, change, is_for_all),
                    IpPrefix::V6(prefix) => apply(&mut self.ipv6, prefix, change, is_for_all),
                };
                return Ok(Some((change.prefix, best)));
            }
            self.applied = 0;
            if !self.updates.next(&mut self.transaction)? {
                return Ok(None);
            }
            for event in self.transaction.events() {
                if let TransactionPart::Event(StreamEvent::Down(stream)) = *event {
                    lose(&mut self.ipv4, stream, &mut self.lost);
                    lose(&mut self.ipv6, stream, &mut self.lost);
                }
            }
        }
    }
}

/// Withdraws the paths of a stream. Adds each prefix whose best path this changes, with the new one, to `lost`.
fn lose<A: Family>(
    paths: &mut MultiRib<A, StoredPath>,
    stream: StreamId,
    lost: &mut Vec<(IpPrefix, Option<Target>)>,
) {
    let best = |change| match change {
        BestChange::Announce(number) => Some(Target::numbered(number)),
        BestChange::Withdraw | BestChange::Unchanged => None,
    };
    paths.retain(
        |_, path| u32::from(path.source) != stream.0,
        |prefix, change| lost.push((A::ip_prefix(prefix), best(change))),
    );
}

/// Applies a change, which may take the place of the paths of all other peers, and returns the best path of its prefix after it.
fn apply<A: Address>(
    paths: &mut MultiRib<A, StoredPath>,
    prefix: Prefix<A>,
    change: &PathChange,
    is_for_all: bool,
) -> Option<Target> {
    // There are fewer streams. Of equally good paths, that of the peer seen first is used, as in a live table.
    let key = (change.stream.0 as u16, change.path);
    match change.target.clone() {
        Some(target) => drop(paths.announce(
            prefix,
            StoredPath {
                target,
                source: key.0,
                generation: 0,
                id: key.1,
            },
        )),
        None => drop(paths.withdraw(prefix, &key)),
    }
    if is_for_all {
        let others = paths.paths(prefix).map(Path::key);
        let others: Vec<_> = others
            .filter(|other| other.1 == key.1 && *other != key)
            .collect();
        for other in others {
            drop(paths.withdraw(prefix, &other));
        }
    }
    Some(paths.best(prefix)?.target.clone())
}
