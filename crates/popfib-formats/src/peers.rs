//! The peers of a route collector: which there are, whose routes to take, and what of a route is its value.
//!
//! A dump names its peers by an index (MRT) or in each line (bgpdump). Two peers with one address and different AS numbers are two.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hashbrown::HashMap;

/// A router whose routes are in a collector's dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Its AS number.
    pub asn: u32,
    /// How many of its IPv4 routes have been read.
    pub ipv4_routes: u64,
    /// How many of its IPv6 routes have been read.
    pub ipv6_routes: u64,
}

impl Peer {
    pub(crate) fn new(address: IpAddr, asn: u32) -> Self {
        Self {
            address,
            asn,
            ipv4_routes: 0,
            ipv6_routes: 0,
        }
    }
}

/// Which peers' routes to take.
///
/// As text: an index (`3`), an address (`192.0.2.1`), or an AS (`AS64500`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerFilter {
    /// The peer with this index in the file's table of peers; in files without
    /// one, in the order of first appearance. Counts from 0.
    Index(usize),
    /// The peer with this address.
    Address(IpAddr),
    /// All peers of this AS.
    As(u32),
}

impl PeerFilter {
    /// Whether the routes of the peer with this index, address and AS are taken.
    pub(crate) fn admits(&self, index: usize, address: IpAddr, asn: u32) -> bool {
        match *self {
            Self::Index(i) => i == index,
            Self::Address(a) => a == address,
            Self::As(n) => n == asn,
        }
    }
}

impl fmt::Display for PeerFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Address(address) => write!(f, "{address}"),
            Self::As(asn) => write!(f, "AS{asn}"),
        }
    }
}

impl FromStr for PeerFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let asn = text.strip_prefix("AS").or(text.strip_prefix("as"));
        let parsed = if let Some(asn) = asn {
            asn.parse().ok().map(Self::As)
        } else if let Ok(address) = text.parse() {
            Some(Self::Address(address))
        } else {
            text.parse().ok().map(Self::Index)
        };
        parsed.ok_or_else(|| "a peer is an index, an address or AS and a number".to_owned())
    }
}

/// What is used as the next hop of a route that has several candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteValue {
    /// Its next hop's address; in formats that have none, the value that the file has.
    #[default]
    NextHop,
    /// The origin AS: the last of its path outside of confederations; a set as `{64500,64501}`, in order and without repetitions;
    /// the peer's own where the path is empty. An error for formats without AS paths.
    OriginAs,
    /// [`RouteValue::OriginAs`] in formats with AS paths, [`RouteValue::NextHop`] in others, whose values may be
    /// origins: for the validation of origins.
    OriginOrValue,
    /// The address of the peer that has it. An error for formats without peers.
    Peer,
}

impl FromStr for RouteValue {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "next-hop" => Ok(Self::NextHop),
            "origin-as" => Ok(Self::OriginAs),
            "peer" => Ok(Self::Peer),
            _ => Err("there are: next-hop, origin-as, peer".to_owned()),
        }
    }
}

/// Peers numbered in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct PeerList {
    peers: Vec<Peer>,
    index: HashMap<(IpAddr, u32), usize>,
}

/// So many peers that no file of routes can mean it.
const MAX_PEERS: usize = 1 << 20;

impl PeerList {
    /// The index of a peer, old or new, and whether its routes are taken.
    pub(crate) fn admit(
        &mut self,
        peer @ (address, asn): (IpAddr, u32),
        filter: Option<PeerFilter>,
    ) -> Result<(usize, bool), &'static str> {
        let new = self.peers.len();
        let index = self.index.get(&peer).copied().unwrap_or(new);
        if index == MAX_PEERS {
            return Err("too many peers");
        }
        if index == new {
            self.peers.push(Peer::new(address, asn));
            self.index.insert(peer, index);
        }
        Ok((
            index,
            filter.is_none_or(|of| of.admits(index, address, asn)),
        ))
    }

    /// The peer with this index of a file's own table of peers, old or new.
    /// Another one takes a place of its own: files joined have several tables.
    /// `None` if there are far too many.
    pub(crate) fn add(&mut self, index: usize, address: IpAddr, asn: u32) -> Option<usize> {
        let is_same = |peer: &&Peer| peer.address == address && peer.asn == asn;
        if self.peers.get(index).filter(is_same).is_some() {
            return Some(index);
        }
        let place = self.peers.len();
        if place == MAX_PEERS {
            return None;
        }
        self.peers.push(Peer::new(address, asn));
        Some(place)
    }

    /// Counts a route of the peer at `index`.
    #[inline]
    pub(crate) fn count(&mut self, index: usize, is_ipv4: bool) {
        let peer = &mut self.peers[index];
        if is_ipv4 {
            peer.ipv4_routes += 1;
        } else {
            peer.ipv6_routes += 1;
        }
    }

    pub(crate) fn all(&self) -> &[Peer] {
        &self.peers
    }
}
