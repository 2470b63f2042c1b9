//! A path of a collector's dump with its attributes, and what reads one after the other.

use std::net::{IpAddr, Ipv4Addr};

use popfib::{IpPrefix, Prefix};

use crate::error::ReadError;

/// One path of one peer to a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BgpPath {
    /// The prefix.
    pub prefix: IpPrefix,
    /// When it was recorded, in seconds since 1970.
    pub seconds: u64,
    /// The address of the peer that has it.
    pub peer: IpAddr,
    /// The AS of that peer.
    pub peer_as: u32,
    /// Its identifier, if the peer sends several paths for a prefix (RFC 7911).
    pub id: Option<u32>,
    /// The AS path: numbers between blanks, a set as `{64500,64501}`, a confederation as `(64500 64501)`.
    pub as_path: String,
    /// `IGP`, `EGP` or `INCOMPLETE`.
    pub origin: String,
    /// The address of the next hop, if it has one.
    pub next_hop: Option<IpAddr>,
    /// The local preference, if it was sent.
    pub local_preference: Option<u32>,
    /// The multi-exit discriminator, if it was sent.
    pub med: Option<u32>,
    /// Communities (RFC 1997) as `64500:1`, then large ones (RFC 8092) as `64500:1:2`, between blanks.
    pub communities: String,
    /// Whether the path is an aggregate from which more specific ones were left out (ATOMIC_AGGREGATE).
    pub is_atomic: bool,
    /// The aggregator: AS and address separated by a blank; empty if there is none.
    pub aggregator: String,
}

impl Default for BgpPath {
    /// No path yet: the prefix is 0.0.0.0/0, the rest zero or empty.
    fn default() -> Self {
        let unspecified = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self {
            prefix: IpPrefix::V4(Prefix::default()),
            seconds: 0,
            peer: unspecified,
            peer_as: 0,
            id: None,
            as_path: String::new(),
            origin: String::new(),
            next_hop: None,
            local_preference: None,
            med: None,
            communities: String::new(),
            is_atomic: false,
            aggregator: String::new(),
        }
    }
}

impl BgpPath {
    /// The origin AS: the last of its AS path, a set of several as `{64500,64501}`; `None` if
    /// the path is empty, so that it comes from the peer's own AS.
    pub fn origin_as(&self) -> Option<&str> {
        let is_outside = |part: &&str| !part.starts_with(['(', '[']) && !part.ends_with([')', ']']);
        let last = self.as_path.split(' ').rfind(is_outside)?;
        let set = last.strip_prefix('{').and_then(|set| set.strip_suffix('}'));
        let one = set.filter(|set| !set.contains(',')).unwrap_or(last);
        (!one.is_empty()).then_some(one)
    }
}

/// Selects the prefixes whose paths are wanted.
pub type Wanted = Box<dyn Fn(IpPrefix) -> bool>;

/// The paths of a dump, one at a time, in the order of the file.
pub trait PathSource {
    /// Writes the next path to `path`; false at the end.
    ///
    /// # Errors
    /// A line or record that is invalid, after which the next can be asked for
    /// ([`ReadError::is_invalid_line`]); a file that cannot be read on.
    fn next_path(&mut self, path: &mut BgpPath) -> Result<bool, ReadError>;
}
