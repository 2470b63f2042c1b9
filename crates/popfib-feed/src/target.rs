//! [`Target`]: what a route leads to, from any protocol, as a small value that routes share: a name, next hops or a BGP path in, its
//! text, its parts and its preference out.
//!
//! Several routes can name one next-hop object by its number. If the object changes later, the targets of all these routes change
//! without a message for any of them. Targets are compared by content, those that name an object by its number.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering as Memory};
use std::sync::{Arc, LazyLock, Weak};

use popfib::NextHop;
use popfib_formats::Escaped;
use popfib_formats::bgp::{BgpPath, PathRank, unpack_path};

use crate::memory_budget;
use crate::netlink_hops::{NetlinkHop, NetlinkHops};
use crate::next_hop_objects::NextHopObjects;

/// The target of a route. It is cheap to clone.
///
/// A BGP path is displayed as its next hop, followed by the words `as-path`, `local-pref`, `med` and `communities`
/// with their values, for those attributes that it has.
#[derive(Clone)]
pub struct Target(Arc<TargetInner>);

/// What is left of a target that may be gone: it keeps the target's place in memory from being used by another one, and nothing of its
/// content.
#[derive(Clone)]
pub struct WeakTarget(#[expect(dead_code, reason = "holding it is its use")] Weak<TargetInner>);

struct TargetInner {
    number: NextHop,
    /// The hash of the content, which tables need for every route.
    hash: u64,
    is_restored: bool,
    kind: TargetKind,
}

impl TargetInner {
    /// Heap bytes, the two counts of an `Arc` among them. The next hops of an object are counted with the objects.
    fn bytes(&self) -> usize {
        let content = match &self.kind {
            TargetKind::Name(name) => name.len(),
            TargetKind::Hops(NetlinkHops::Through(hops)) => {
                hops.capacity() * size_of::<NetlinkHop>()
            }
            TargetKind::Hops(_) | TargetKind::Object(..) => 0,
            TargetKind::Path { bytes, .. } => bytes.len(),
        };
        size_of::<Self>() + 2 * size_of::<usize>() + content
    }
}

impl Drop for TargetInner {
    fn drop(&mut self) {
        memory_budget::remove_target(self.bytes());
    }
}

enum TargetKind {
    Name(Box<str>),
    Hops(NetlinkHops),
    Object(u32, Arc<NextHopObjects>),
    Path { rank: PathRank, bytes: Box<[u8]> },
}

/// Each target has its own number. Numbers repeat after 2^31 targets, when the earlier ones are long gone.
static NEXT: AtomicU32 = AtomicU32::new(0);
/// Seeded at random, since the hashed data comes from others.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);
/// The maximum length of packed attributes. As text they take three times as much at most, which is less than
/// [`MAX_NEXT_HOP_LENGTH`](popfib_formats::text::MAX_NEXT_HOP_LENGTH).
const MAX_PATH: usize = 19_000;
const HIGHEST: u32 = u32::MAX >> 1;

impl Target {
    fn new(kind: TargetKind) -> Self {
        let number = NEXT.fetch_add(1, Memory::Relaxed) % HIGHEST + 1;
        let number = NextHop::new(number).expect("between 1 and the highest");
        let is_restored = false;
        let hash = match &kind {
            TargetKind::Name(name) => Self::hash_of_name(name),
            TargetKind::Hops(hops) => HASHER.hash_one(hops),
            TargetKind::Object(id, objects) => HASHER.hash_one((id, Arc::as_ptr(objects))),
            TargetKind::Path { bytes, .. } => Self::hash_of_path(bytes),
        };
        let inner = TargetInner {
            number,
            hash,
            is_restored,
            kind,
        };
        memory_budget::add_target(inner.bytes());
        Self(Arc::new(inner))
    }

    /// A target that consists of a name only.
    pub fn name(name: &str) -> Self {
        Self::new(TargetKind::Name(name.into()))
    }

    /// Next hops that the route itself contains.
    pub fn hops(hops: NetlinkHops) -> Self {
        Self::new(TargetKind::Hops(hops))
    }

    /// The next-hop object of this number, which may change.
    pub(crate) fn object(id: u32, objects: &Arc<NextHopObjects>) -> Self {
        Self::new(TargetKind::Object(id, objects.clone()))
    }

    /// The BGP attributes of a route, as written by [`pack_path`](popfib_formats::bgp::pack_path).
    /// This form takes a third of the memory of a [`BgpPath`].
    ///
    /// # Errors
    /// The reason why the attributes are invalid.
    pub fn path(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.len() > MAX_PATH {
            return Err("attributes of more than 19000 bytes");
        }
        let mut path = BgpPath::default();
        unpack_path(bytes, &mut path)?;
        Ok(Self::new(TargetKind::Path {
            rank: PathRank::of(&path),
            bytes: bytes.into(),
        }))
    }

    /// Marks the target as read from a snapshot and not confirmed: it is not equal to any target of another origin. Must
    /// be called before the target is cloned.
    pub(crate) fn restored(mut self) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.is_restored = true;
        }
        self
    }

    /// Whether it was read from a snapshot, and its feed has not announced the route since.
    pub fn is_restored(&self) -> bool {
        self.0.is_restored
    }

    /// Its name, if it consists of a name only.
    pub fn as_name(&self) -> Option<&str> {
        match &self.0.kind {
            TargetKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Its next hops, if it is from the kernel or FRR.
    pub fn as_hops(&self) -> Option<Arc<NetlinkHops>> {
        match &self.0.kind {
            TargetKind::Hops(hops) => Some(Arc::new(hops.clone())),
            TargetKind::Object(id, objects) => Some(Arc::new(objects.hops(*id))),
            TargetKind::Name(_) | TargetKind::Path { .. } => None,
        }
    }

    /// Its BGP attributes, if it is from BGP.
    /// The prefix, time and peer of the returned path have no meaning.
    pub fn as_path(&self) -> Option<BgpPath> {
        let TargetKind::Path { bytes, .. } = &self.0.kind else {
            return None;
        };
        let mut path = BgpPath::default();
        unpack_path(bytes, &mut path).ok()?;
        Some(path)
    }

    /// The bytes that were passed to [`Target::path`].
    pub(crate) fn path_bytes(&self) -> Option<&[u8]> {
        match &self.0.kind {
            TargetKind::Path { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// The address of the target in memory. Two targets that exist at the same time, or of which a [`WeakTarget`] is kept, have the same
    /// only if one is a clone of the other. Nothing of the target is read.
    pub fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Keeps [`identity`](Self::identity) from being used for another target.
    pub fn downgrade(&self) -> WeakTarget {
        WeakTarget(Arc::downgrade(&self.0))
    }

    /// Whether its content may change, as that of a next-hop object may.
    pub fn can_change(&self) -> bool {
        matches!(self.0.kind, TargetKind::Object(..))
    }

    /// The number of the target. No other target has it now, except clones of this one.
    pub(crate) fn number(&self) -> NextHop {
        self.0.number
    }

    /// The hash of its content: equal targets have the same.
    pub(crate) fn content_hash(&self) -> u64 {
        self.0.hash
    }

    /// The [hash](Self::content_hash) of the target of this name.
    pub(crate) fn hash_of_name(name: &str) -> u64 {
        HASHER.hash_one(name)
    }

    /// The [hash](Self::content_hash) of the target with these packed attributes.
    pub(crate) fn hash_of_path(bytes: &[u8]) -> u64 {
        HASHER.hash_one(bytes)
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Whether there are no clones of it.
    pub(crate) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// `Greater` if this is the better of two paths to one prefix, by [`PathRank`]. If that does not decide, they are equal.
    pub(crate) fn preference(&self, other: &Self) -> Ordering {
        match (&self.0.kind, &other.0.kind) {
            (TargetKind::Path { rank: a, .. }, TargetKind::Path { rank: b, .. }) => b.cmp(a),
            _ => Ordering::Equal,
        }
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        let is_same = || match (&self.0.kind, &other.0.kind) {
            (TargetKind::Name(a), TargetKind::Name(b)) => a == b,
            (TargetKind::Hops(a), TargetKind::Hops(b)) => a == b,
            (TargetKind::Object(a, of), TargetKind::Object(b, other)) => {
                a == b && Arc::ptr_eq(of, other)
            }
            (TargetKind::Path { bytes: a, .. }, TargetKind::Path { bytes: b, .. }) => a == b,
            _ => false,
        };
        Arc::ptr_eq(&self.0, &other.0) || self.0.is_restored == other.0.is_restored && is_same()
    }
}

impl Eq for Target {}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match &self.0.kind {
            TargetKind::Name(name) => return Escaped(name).fmt(f),
            TargetKind::Hops(hops) => return hops.fmt(f),
            TargetKind::Object(id, objects) => return objects.hops(*id).fmt(f),
            TargetKind::Path { .. } => self.as_path().unwrap_or_default(),
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

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
