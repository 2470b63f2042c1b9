//! BGP paths that many routes share: one target for equal attributes.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use popfib_formats::{BgpPath, pack_path};

use crate::target::Target;

/// Unused targets are looked for when all have this many bytes.
const SWEEP_AT: usize = 4 << 20;

/// The bytes of a target beside its attributes, roughly.
const A_TARGET: usize = 128;

/// The paths of a connection or a file.
#[derive(Debug, Default)]
pub(crate) struct SharedPaths {
    targets: HashSet<Shared>,
    bytes: usize,
    sweep_at: usize,
    packed: Vec<u8>,
}

/// A BGP target, which a hash table finds by its bytes.
#[derive(Debug)]
struct Shared(Target);

impl Borrow<[u8]> for Shared {
    fn borrow(&self) -> &[u8] {
        self.0.path_bytes().unwrap_or_default()
    }
}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Borrow::<[u8]>::borrow(self).hash(state);
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Borrow::<[u8]>::borrow(self) == Borrow::<[u8]>::borrow(other)
    }
}

impl Eq for Shared {}

impl SharedPaths {
    /// The target of packed attributes.
    ///
    /// # Errors
    /// The reason why the attributes are invalid.
    pub(crate) fn target(&mut self, packed: &[u8]) -> Result<Target, &'static str> {
        if let Some(Shared(target)) = self.targets.get(packed) {
            return Ok(target.clone());
        }
        if self.bytes >= self.sweep_at {
            self.targets.retain(|Shared(target)| !target.is_unused());
            let bytes =
                |Shared(target): &Shared| A_TARGET + target.path_bytes().map_or(0, <[u8]>::len);
            self.bytes = self.targets.iter().map(bytes).sum();
            self.sweep_at = (self.bytes * 2).max(SWEEP_AT);
        }
        let target = Target::path(packed)?;
        self.bytes += A_TARGET + packed.len();
        self.targets.insert(Shared(target.clone()));
        Ok(target)
    }

    /// The target of a path that was read from text.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub(crate) fn of(&mut self, path: &BgpPath) -> Result<Target, &'static str> {
        if path.next_hop.is_none() {
            return Err("no next hop");
        }
        let mut packed = std::mem::take(&mut self.packed);
        let target = pack_path(path, &mut packed).and_then(|()| self.target(&packed));
        self.packed = packed;
        target
    }
}
