//! A target, or what it is made of, in; the one target of equal content out: most routes of a router have
//! the path of many others, and share one target with them.

use crate::target::Target;
use hashbrown::HashTable;

/// Unused targets are looked for when all have this many bytes more than the last time, and a quarter more.
const SWEEP_AT: usize = 256 << 10;

/// The targets of a connection or a file.
#[derive(Debug, Default)]
pub(crate) struct SharedTargets {
    targets: HashTable<Target>,
    bytes: usize,
    sweep_at: usize,
    /// The last one that was asked for, since successive routes of a source often have the same.
    last: Option<Target>,
}

impl SharedTargets {
    /// The target that is equal to this one.
    pub(crate) fn share(&mut self, target: Target) -> Target {
        let known = self
            .targets
            .find(target.content_hash(), |known| *known == target);
        match known {
            Some(known) => known.clone(),
            None => self.add(target),
        }
    }

    /// The target of this name.
    pub(crate) fn named(&mut self, name: &str) -> Target {
        let is_same = |known: &Target| known.as_name() == Some(name);
        self.find(|| Target::hash_of_name(name), is_same)
            .unwrap_or_else(|| self.add(Target::name(name)))
    }

    /// The target of packed attributes of BGP.
    ///
    /// # Errors
    /// The reason why the attributes are invalid.
    pub(crate) fn packed(&mut self, packed: &[u8]) -> Result<Target, &'static str> {
        let is_same = |known: &Target| known.path_bytes() == Some(packed);
        match self.find(|| Target::hash_of_path(packed), is_same) {
            Some(known) => Ok(known),
            None => Ok(self.add(Target::path(packed)?)),
        }
    }

    fn find(
        &mut self,
        hash: impl FnOnce() -> u64,
        is_same: impl Fn(&Target) -> bool,
    ) -> Option<Target> {
        if self.last.as_ref().is_none_or(|last| !is_same(last)) {
            self.last = self.targets.find(hash(), is_same).cloned();
        }
        self.last.clone()
    }

    fn add(&mut self, target: Target) -> Target {
        if self.bytes >= self.sweep_at {
            self.targets.retain(|known| !known.is_unused());
            self.bytes = self.targets.iter().map(Target::bytes).sum();
            self.sweep_at = self.bytes + (self.bytes / 4).max(SWEEP_AT);
        }
        self.bytes += target.bytes();
        let added = target.clone();
        self.last = Some(target.clone());
        self.targets
            .insert_unique(target.content_hash(), target, Target::content_hash);
        added
    }
}
