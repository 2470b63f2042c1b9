//! The peers of a dump and of the updates after it: an address and an AS number in, the number under which paths are kept out.
//!
//! A dump of a table that names no peers (`ip route`, a list) is taken for that of one peer, and updates of two are refused.

use std::net::IpAddr;

use hashbrown::HashMap;

use crate::peers::{Peer, PeerFilter};

/// The numbers of peers: their indices in the dump, then those of the updates as they come.
pub(super) struct PeerNumbers {
    filter: Option<PeerFilter>,
    /// Whether the table is of one peer, which is not named, and the one of the updates.
    is_one: bool,
    only: Option<(IpAddr, u32)>,
    /// `None` if it is not wanted.
    numbers: HashMap<(IpAddr, u32), Option<u32>>,
    /// The first of each address: where AS numbers of 2 bytes or none are known, an update has another AS than the table.
    by_address: HashMap<IpAddr, Option<u32>>,
    /// How often the session of each has ended or begun.
    pub(super) generations: Vec<u32>,
}

impl PeerNumbers {
    /// None yet; the dump names them.
    pub(super) fn of_dump(filter: Option<PeerFilter>) -> Self {
        Self {
            filter,
            is_one: false,
            only: None,
            numbers: HashMap::new(),
            by_address: HashMap::new(),
            generations: Vec::new(),
        }
    }

    /// The one peer of a table that names none.
    pub(super) fn one(filter: Option<PeerFilter>) -> Self {
        Self {
            is_one: true,
            generations: vec![0],
            ..Self::of_dump(filter)
        }
    }

    /// Takes up the peers that the dump has by now.
    pub(super) fn know(&mut self, peers: &[Peer]) {
        for peer in &peers[self.generations.len()..] {
            self.add((peer.address, peer.asn));
        }
    }

    /// Numbers one more peer; `None` if it is not wanted.
    fn add(&mut self, peer: (IpAddr, u32)) -> Option<u32> {
        let number = self.generations.len();
        let admits = |filter: PeerFilter| filter.admits(number, peer.0, peer.1);
        let is_wanted = self.filter.is_none_or(admits);
        self.generations.push(0);
        let number = Some(number as u32).filter(|_| is_wanted);
        self.by_address.entry(peer.0).or_insert(number);
        *self.numbers.entry(peer).or_insert(number)
    }

    /// The number of the peer of a path of the dump, all of which are wanted.
    pub(super) fn of_table(&mut self, peer: (IpAddr, u32), peers: &[Peer]) -> u32 {
        if self.generations.len() < peers.len() {
            self.know(peers);
        }
        self.numbers
            .get(&peer)
            .copied()
            .flatten()
            .unwrap_or_default()
    }

    /// The number of the peer of an update; `None` if it is not wanted.
    pub(super) fn of_message(
        &mut self,
        peer: Option<(IpAddr, u32)>,
    ) -> Result<Option<u32>, String> {
        // Updates as text may name no peer; they fit a table of one only.
        let Some(peer) = peer else {
            return match self.is_one {
                true => Ok(Some(0)),
                false => Err("updates that name no peer after the paths of several peers; `popfib convert --peer PEER` makes a table of one of them".to_owned()),
            };
        };
        if self.is_one {
            let count = self.numbers.len();
            let number = *self.numbers.entry(peer).or_insert_with(|| {
                let admits = |filter: PeerFilter| filter.admits(count, peer.0, peer.1);
                Some(0).filter(|_| self.filter.is_none_or(admits))
            });
            let first = match number {
                Some(_) => *self.only.get_or_insert(peer),
                None => return Ok(None),
            };
            return match first == peer {
                true => Ok(number),
                false => Err(format!(
                    "updates of several peers after a table of one: {} and {}; `peer` chooses one",
                    first.0, peer.0
                )),
            };
        }
        if let Some(&number) = self.numbers.get(&peer) {
            return Ok(number);
        }
        // Not known with this AS: the one with this address, or a new peer.
        match self.by_address.get(&peer.0) {
            Some(&number) => {
                self.numbers.insert(peer, number);
                Ok(number)
            }
            None => Ok(self.add(peer)),
        }
    }
}
