//! The paths of one family in a table: announcements and withdrawals of paths in, changes of best paths out, which wait in a list to be
//! published.

use std::cmp::Ordering;

use popfib::family::{Family, PerFamily};
use popfib::{Address, NextHop, Prefix};
use popfib_table::multi_rib::{BestChange, MultiRib, Path, Position};

use crate::table_view::BestPathChangeOf;
use crate::target::Target;

/// One path of one source.
#[derive(Clone, Debug)]
pub(crate) struct StoredPath {
    pub(crate) target: Target,
    pub(crate) source: u16,
    pub(crate) generation: u16,
    pub(crate) id: u32,
}

/// The source and the path identifier.
pub(crate) type StoredPathKey = (u16, u32);

impl Path for StoredPath {
    type Key = StoredPathKey;

    fn key(&self) -> StoredPathKey {
        (self.source, self.id)
    }

    fn next_hop(&self) -> NextHop {
        self.target.number()
    }

    fn preference(&self, other: &Self) -> Ordering {
        self.target.preference(&other.target)
    }
}

/// A position among the paths, at which a walk goes on; `None` is the beginning.
pub(crate) type PathPosition<A> = Option<Position<A, StoredPathKey>>;

/// Every path of one family in a table, and the changes of the best ones that readers do not see yet.
pub(crate) struct FamilyPaths<A: Address> {
    pub(crate) paths: MultiRib<A, StoredPath>,
    pub(crate) waiting: Vec<BestPathChangeOf<A>>,
    /// How many paths are gone, and have to be removed.
    pub(crate) gone: usize,
    /// The last path that the sweep has visited.
    pub(crate) swept: PathPosition<A>,
}

/// Makes [`ByFamily`](popfib::family::ByFamily) the paths of both families.
pub(crate) enum PathsByFamily {}

impl PerFamily for PathsByFamily {
    type Of<A: Family> = FamilyPaths<A>;
}

impl<A: Address> Default for FamilyPaths<A> {
    fn default() -> Self {
        Self {
            paths: MultiRib::new(),
            waiting: Vec::new(),
            gone: 0,
            swept: None,
        }
    }
}

impl<A: Address> FamilyPaths<A> {
    /// The generation of a path, if it is there.
    pub(crate) fn generation(&self, prefix: Prefix<A>, key: &StoredPathKey) -> Option<u16> {
        Some(self.paths.get(prefix, key)?.generation)
    }

    pub(crate) fn announce(&mut self, prefix: Prefix<A>, path: StoredPath) {
        let change = self.paths.announce(prefix, path);
        note(&mut self.waiting, prefix, change);
    }

    /// Returns the generation of the path; `None` if there is no such path.
    pub(crate) fn withdraw(&mut self, prefix: Prefix<A>, key: StoredPathKey) -> Option<u16> {
        let (path, change) = self.paths.withdraw(prefix, &key)?;
        note(&mut self.waiting, prefix, change);
        Some(path.generation)
    }

    /// Visits the next `count` paths and removes those for which `keep` returns false. Returns whether it has reached the last.
    pub(crate) fn sweep(
        &mut self,
        count: usize,
        mut keep: impl FnMut(&StoredPath) -> bool,
    ) -> bool {
        let changed = |prefix, change| note(&mut self.waiting, prefix, change);
        let after = self.swept.take();
        let keep = |_, path: &StoredPath| keep(path);
        self.swept = self.paths.retain_some(after, count, keep, changed);
        self.swept.is_none()
    }
}

/// Adds a change of the best path of a prefix.
fn note<A: Address>(waiting: &mut Vec<BestPathChangeOf<A>>, prefix: Prefix<A>, change: BestChange) {
    match change {
        BestChange::Unchanged => {}
        BestChange::Withdraw => waiting.push((prefix, None)),
        // The path has it.
        BestChange::Announce(number) => waiting.push((prefix, Some(Target::numbered(number)))),
    }
}
