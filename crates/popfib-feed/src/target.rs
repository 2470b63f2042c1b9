//! [`Target`]: what a route leads to, from any protocol, as a small value that routes share: a name, next hops or a BGP path in, its
//! text, its parts and its preference out.
//!
//! Several routes can name one next-hop object by its number. If the object changes later, the targets of all these routes change
//! without a message for any of them. Targets are compared by content, those that name an object by its number.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

use popfib_formats::Escaped;
use popfib_formats::bgp::{BgpPath, PathRank, unpack_path};
use serde::{Serialize, Serializer};

use crate::netlink_hops::NetlinkHops;
use crate::next_hop_objects::NextHopObjects;
use crate::target_book::TargetKind;
pub use crate::target_book::{ReservedTarget, Target};

/// Seeded at random, since the hashed data comes from others.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// The maximum length of packed attributes. As text they take three times as much at most, which is less than
/// [`MAX_NEXT_HOP_LENGTH`](popfib_formats::text::MAX_NEXT_HOP_LENGTH).
const MAX_PATH: usize = 19_000;
/// The rank of what is no BGP path: its last byte is none of the three origins.
const NO_RANK: [u64; 2] = [u64::MAX; 2];

impl Target {
    /// A target that consists of a name only.
    pub fn name(name: &str) -> Self {
        let hash = Self::hash_of(name);
        let is_same =
            |known: &TargetKind| matches!(known, TargetKind::Name(known) if **known == *name);
        Self::find(hash, is_same)
            .unwrap_or_else(|| Self::of(hash, TargetKind::Name(name.into()), NO_RANK))
    }

    /// Next hops that the route itself contains.
    pub fn hops(hops: NetlinkHops) -> Self {
        let hash = Self::hash_of(&hops);
        Self::of(hash, TargetKind::Hops(hops), NO_RANK)
    }

    /// The next-hop object of this number, which may change.
    pub(crate) fn object(id: u32, objects: &Arc<NextHopObjects>) -> Self {
        let hash = Self::hash_of((id, Arc::as_ptr(objects)));
        let kind = TargetKind::Object(id, objects.clone());
        Self::of(hash, kind, NO_RANK)
    }

    /// The BGP attributes of a route, as written by [`pack_path`](popfib_formats::bgp::pack_path).
    /// This form takes a third of the memory of a [`BgpPath`].
    ///
    /// # Errors
    /// The reason why the attributes are invalid.
    pub fn path(bytes: &[u8]) -> Result<Self, &'static str> {
        let hash = Self::hash_of(bytes);
        let is_same =
            |known: &TargetKind| matches!(known, TargetKind::Path(known) if **known == *bytes);
        if let Some(known) = Self::find(hash, is_same) {
            return Ok(known);
        }
        if bytes.len() > MAX_PATH {
            return Err("attributes of more than 19000 bytes");
        }
        let mut path = BgpPath::default();
        unpack_path(bytes, &mut path)?;
        let rank = PathRank::of(&path).words();
        let kind = TargetKind::Path(bytes.into());
        Ok(Self::of(hash, kind, rank))
    }

    /// The hash of a content; its lowest bit is that of [`is_restored`](Self::is_restored).
    fn hash_of(content: impl Hash) -> u32 {
        HASHER.hash_one(content) as u32 & !1
    }

    /// The same, marked as read from a snapshot and not confirmed: it is not equal to any target of another origin.
    pub(crate) fn restored(self) -> Self {
        Self::of(self.content_hash() | 1, self.kind(), self.rank())
    }

    /// Whether it was read from a snapshot, and its feed has not announced the route since.
    pub fn is_restored(&self) -> bool {
        self.content_hash() & 1 != 0
    }

    /// Its name, if it consists of a name only.
    pub fn as_name(&self) -> Option<Box<str>> {
        match self.kind() {
            TargetKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Its BGP attributes, if it is from BGP.
    /// The prefix, time and peer of the returned path have no meaning.
    pub fn as_path(&self) -> Option<BgpPath> {
        match self.kind() {
            TargetKind::Path(bytes) => Some(unpacked(&bytes)),
            _ => None,
        }
    }

    /// Whether its content may change, as that of a next-hop object may.
    pub fn can_change(&self) -> bool {
        matches!(self.kind(), TargetKind::Object(..))
    }

    /// `Greater` if this is the better of two paths to one prefix, by [`PathRank`]. If that does not decide, they are equal.
    pub(crate) fn preference(&self, other: &Self) -> Ordering {
        let (ours, theirs) = (self.rank(), other.rank());
        match ours == NO_RANK || theirs == NO_RANK {
            true => Ordering::Equal,
            false => theirs.cmp(&ours),
        }
    }
}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}

/// The attributes of packed ones, which have been read before.
fn unpacked(bytes: &[u8]) -> BgpPath {
    let mut path = BgpPath::default();
    let _ = unpack_path(bytes, &mut path);
    path
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.kind() {
            TargetKind::Name(name) => return Escaped(&name).fmt(f),
            TargetKind::Hops(hops) => return hops.fmt(f),
            TargetKind::Object(id, objects) => return objects.hops(id).fmt(f),
            TargetKind::Path(bytes) => unpacked(&bytes),
        };
        match path.next_hop {
            Some(next_hop) => write!(f, "{next_hop}")?,
            None => f.write_str("-")?,
        }
        if !path.as_path.is_empty() {
            write!(f, " as-path {}", path.as_path)?;
        }
        if let Some(preference) = path.local_preference {
            write!(f, " local-pref {preference}")?;
        }
        if let Some(med) = path.med {
            write!(f, " med {med}")?;
        }
        if !path.communities.is_empty() {
            write!(f, " communities {}", path.communities)?;
        }
        Ok(())
    }
}

/// As its text.
impl Serialize for Target {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
