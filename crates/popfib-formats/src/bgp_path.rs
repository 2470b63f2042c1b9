//! A path of a collector's dump with its attributes ([`BgpPath`]), and what reads one after the other ([`PathSource`]).
//!
//! Readers fill one path again and again, so a dump of millions of paths takes no memory for each. The attributes are texts as
//! `bgpdump -m` writes them, so that MRT and bgpdump's lines give the same.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};

use popfib::{IpPrefix, Prefix};

use crate::as_path::{self, SegmentKind};
use crate::error::ReadError;
use crate::peers::{Peer, RouteValue};

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
    /// Whether its record is of the type TABLE_DUMP, which the collectors of before 2008 wrote.
    pub is_table_dump: bool,
    /// The AS path: numbers between blanks, a set as `{64500,64501}`, those of confederations as `(64500 64501)`
    /// and `[64500,64501]`.
    pub as_path: String,
    /// `IGP`, `EGP` or `INCOMPLETE`.
    pub origin: String,
    /// The address of the next hop, if it has one.
    pub next_hop: Option<IpAddr>,
    /// The local preference, if it was sent.
    pub local_preference: Option<u32>,
    /// The multi-exit discriminator, if it was sent.
    pub med: Option<u32>,
    /// Communities (RFC 1997) as `64500:1` or by the names that bgpdump has for some, as `no-export`; then large ones
    /// (RFC 8092) as `64500:1:2`; between blanks.
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
            is_table_dump: false,
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
    /// The origin AS: the last of its AS path; a set as `{64500,64501}`, with its members in order, once each, of
    /// which nobody knows which it was (RFC 6811 takes it for none); the peer's own AS if the path is empty. Confederations do
    /// not count. Empty if the AS path is not valid.
    pub fn origin_as(&self) -> String {
        let mut origin = String::new();
        // An error leaves it empty.
        let _ = as_path::write_origin_of(&self.as_path, self.peer_as, &mut origin);
        origin
    }

    /// Sets `text` to what stands for it in a table; to nothing if it lacks that.
    pub(crate) fn write_value(&self, value: RouteValue, text: &mut String) {
        text.clear();
        // Writing to a String cannot fail.
        let _ = match (value, self.next_hop) {
            (RouteValue::NextHop, Some(next_hop)) => write!(text, "{next_hop}"),
            (RouteValue::NextHop, None) => Ok(()),
            (RouteValue::OriginAs | RouteValue::OriginOrValue, _) => {
                text.write_str(&self.origin_as())
            }
            (RouteValue::Peer, _) => write!(text, "{}", self.peer),
        };
    }

    /// The length of its AS path as routers compare it: a set counts as one, a confederation not at all.
    pub(crate) fn path_length(&self) -> u32 {
        as_path::length(&self.as_path).unwrap_or_default()
    }

    /// The neighbour: the first AS of its AS path outside of confederations; `None` if that is a set or empty.
    pub(crate) fn neighbour(&self) -> Option<u32> {
        let outside = |&(kind, _): &(SegmentKind, &str)| kind.is_outside();
        let mut segments = as_path::segments(&self.as_path).map_while(Result::ok);
        match segments.find(outside)? {
            (SegmentKind::Sequence, numbers) => as_path::numbers(numbers).ok()?.first().copied(),
            _ => None,
        }
    }
}

/// Selects the prefixes whose paths are wanted: those of others are not decoded any further.
pub type PrefixFilter = Box<dyn Fn(IpPrefix) -> bool + Send>;

/// The paths of a dump, one at a time, in the order of the file.
pub trait PathSource: Send {
    /// Writes the next path to `path`; false at the end.
    ///
    /// # Errors
    /// A line or record that is invalid, after which the next can be asked for
    /// ([`ReadError::is_invalid_line`]); a file that cannot be read on.
    fn next_path(&mut self, path: &mut BgpPath) -> Result<bool, ReadError>;

    /// The peers met so far; the index of each counts as that of its routes.
    fn peers(&self) -> &[Peer];
}
