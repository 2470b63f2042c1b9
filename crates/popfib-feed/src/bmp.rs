//! The bytes of a BMP connection in, transactions out. By BMP, routers show a collector the BGP routes that they receive from their peers
//! (RFC 7854), that they send (RFC 8671) and that they use (RFC 9069).
//!
//! A message is a transaction. There is a table for each policy: `pre-policy`, `post-policy`, `rib-out-pre`, `rib-out-post`,
//! `loc-rib`; the name of a VRF's table ends with a slash and the route distinguisher. A stream is one peer in one table,
//! so the best path is chosen from all peers of all routers.
//!
//! Attributes are kept packed, as bytes. All routes of the connection with the same attributes share them.

mod open;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use popfib_formats::bgp::{BgpChange, BgpForm, BgpUpdate};

use self::open::SessionForms;
use crate::memory_budget::{BudgetShare, MemoryBudget};
use crate::received::{DecodeError, MAX_STREAMS, ReceivedMessages};
use crate::target::Target;
use crate::transaction::{PathChange, Stream, StreamEvent, StreamId, Transaction, TransactionPart};

pub(crate) const HEADER: usize = 6;
const PEER_HEADER: usize = 42;
/// The longest message: BGP messages have at most 65,535 bytes, and a PeerUp contains two of them.
const MAX_LENGTH: usize = 1 << 20;

const IS_IPV6: u8 = 0x80;
const IS_POST_POLICY: u8 = 0x40;
const HAS_TWO_BYTE_AS: u8 = 0x20;
const IS_OUT: u8 = 0x10;
/// The peer type of the router's own table.
const LOC_RIB: u8 = 3;

const POLICIES: [&str; 5] = [
    "pre-policy",
    "post-policy",
    "rib-out-pre",
    "rib-out-post",
    "loc-rib",
];

pub(crate) fn length(head: &[u8]) -> Result<usize, DecodeError> {
    let &[version, a, b, c, d, _] = head else {
        unreachable!("a head of 6 bytes");
    };
    if version != 3 {
        return Err(DecodeError(format!("BMP of version {version}, not 3")));
    }
    match u32::from_be_bytes([a, b, c, d]) as usize {
        length @ HEADER..=MAX_LENGTH => Ok(length),
        length => Err(DecodeError(format!("a BMP message of {length} bytes"))),
    }
}

/// A peer of the router: its type, distinguisher and address, or the identifier of a router that shows its own table.
type BmpPeerKey = (u8, [u8; 8], [u8; 16]);

/// What is known about a peer.
#[derive(Debug, Default)]
struct BmpPeer {
    /// What it has negotiated with the router.
    session: SessionForms,
    streams: [Option<StreamId>; POLICIES.len()],
}

/// About the heap bytes of a peer in a hash table.
const PEER_BYTES: usize = 2 * size_of::<(BmpPeerKey, BmpPeerKey, BmpPeer)>();

/// Reads the messages of one connection.
#[derive(Debug, Default)]
pub(crate) struct BmpReader {
    /// As many as streams at most. Those that have no routes leave with their Peer Down.
    peers: HashMap<BmpPeerKey, BmpPeer>,
    /// Those that are up and have not sent routes yet.
    silent: HashSet<BmpPeerKey>,
    /// What peers and streams take.
    share: BudgetShare,
    pub(crate) received: ReceivedMessages,
    changes: Vec<BgpChange>,
    packed: Vec<u8>,
}

impl BmpReader {
    pub(crate) fn new(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            share: BudgetShare::new(budget),
            ..Self::default()
        }
    }

    pub(crate) fn message(
        &mut self,
        message: &[u8],
        to: &mut Transaction,
    ) -> Result<(), DecodeError> {
        self.received.counts.messages += 1;
        let body = &message[HEADER..];
        let kind = message[HEADER - 1];
        match kind {
            // Messages about a peer: routes, peer down, peer up.
            0 | 2 | 3 => {}
            // The names that a router gives itself.
            4 => return Ok(()),
            // Statistics, termination (the connection will end), mirroring; others.
            _ => {
                self.received.counts.other += 1;
                return Ok(());
            }
        }
        let Some((head, rest)) = body.split_first_chunk::<PEER_HEADER>() else {
            let reason = "a BMP message is shorter than its header of a peer";
            self.received.leave_out(reason, String::new, body);
            return Ok(());
        };
        let head = BmpPeerHeader::read(head);
        match kind {
            0 => {
                let done = self.routes(&head, rest, to);
                self.silent(&head.key, false, to);
                done
            }
            2 => {
                let known = self.peers.get(&head.key);
                let streams = known.map_or([None; POLICIES.len()], |peer| peer.streams);
                let policies = if head.kind == LOC_RIB { 4..5 } else { 0..4 };
                for policy in policies {
                    match streams[policy] {
                        Some(stream) => to.event(StreamEvent::Down(stream)),
                        // An earlier connection may have sent routes of it.
                        None => to.other_event(TransactionPart::Lost(head.stream(policy))),
                    }
                }
                if known.is_some() && streams == [None; POLICIES.len()] {
                    self.peers.remove(&head.key);
                    // Less is never refused.
                    let _ = self.share.set(self.share.bytes() - PEER_BYTES);
                }
                self.silent(&head.key, false, to);
                Ok(())
            }
            _ => {
                match open::forms(rest, head.kind == LOC_RIB) {
                    Some(session) => self.peer(&head.key)?.session = session,
                    None => {
                        let about = || head.about();
                        self.received
                            .leave_out("the OPENs of a Peer Up are invalid", about, rest);
                    }
                }
                let peer = self.peers.get(&head.key);
                let streams = peer.iter().flat_map(|peer| peer.streams.iter().flatten());
                streams.for_each(|&stream| to.event(StreamEvent::Up(stream)));
                let is_silent = peer.is_some() && to.is_empty();
                self.silent(&head.key, is_silent, to);
                Ok(())
            }
        }
    }

    /// The peer of this key, old or new.
    fn peer(&mut self, key: &BmpPeerKey) -> Result<&mut BmpPeer, DecodeError> {
        let count = self.peers.len();
        match self.peers.entry(*key) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(_) if count == MAX_STREAMS => {
                Err(DecodeError(format!("more than {MAX_STREAMS} peers")))
            }
            Entry::Vacant(place) => {
                take(&mut self.share, PEER_BYTES)?;
                Ok(place.insert(BmpPeer::default()))
            }
        }
    }

    /// Notes whether a peer is up and has not sent routes yet, if that has changed.
    fn silent(&mut self, key: &BmpPeerKey, is_silent: bool, to: &mut Transaction) {
        let has_changed = match is_silent {
            true => self.silent.insert(*key),
            false => self.silent.remove(key),
        };
        if has_changed {
            to.other_event(TransactionPart::Silent(!self.silent.is_empty()));
        }
    }

    fn routes(
        &mut self,
        head: &BmpPeerHeader,
        message: &[u8],
        to: &mut Transaction,
    ) -> Result<(), DecodeError> {
        let policy = head.policy();
        let peer = self.peer(&head.key)?;
        let known = peer.streams[policy];
        let SessionForms {
            forms,
            may_have_two_byte_as,
        } = peer.session;
        let form = BgpForm {
            has_two_byte_as: head.flags & HAS_TWO_BYTE_AS != 0 && head.kind != LOC_RIB,
            ..forms[usize::from(matches!(policy, 2 | 3))]
        };
        let stream = match known {
            Some(stream) => stream,
            None => {
                let Stream { table, peer } = head.stream(policy);
                let bytes = 2 * size_of::<Stream>() + table.len() + peer.len();
                take(&mut self.share, bytes)?;
                let stream = self.received.streams.add(table, peer)?;
                self.peer(&head.key)?.streams[policy] = Some(stream);
                stream
            }
        };
        let read = self.read(message, form, stream, to);
        let Err(reason) = read else {
            return Ok(());
        };
        // Some routers show the messages of a session with short AS numbers as they are, without the flag for that.
        let short = BgpForm {
            has_two_byte_as: true,
            ..form
        };
        let mut other = Transaction::default();
        if may_have_two_byte_as
            && !form.has_two_byte_as
            && self.read(message, short, stream, &mut other).is_ok()
        {
            *to = other;
        } else {
            self.received.leave_out(reason, || head.about(), message);
        }
        Ok(())
    }

    /// Reads an UPDATE of this form.
    fn read(
        &mut self,
        message: &[u8],
        form: BgpForm,
        stream: StreamId,
        to: &mut Transaction,
    ) -> Result<(), &'static str> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        let result = match BgpUpdate::read(message, form, &mut changes) {
            Ok(Some(update)) => self.apply(&update, stream, &changes, to),
            Ok(None) => {
                self.received.counts.other += 1;
                Ok(())
            }
            Err(reason) => Err(reason),
        };
        self.changes = changes;
        result
    }

    fn apply(
        &mut self,
        update: &BgpUpdate<'_>,
        stream: StreamId,
        changes: &[BgpChange],
        to: &mut Transaction,
    ) -> Result<(), &'static str> {
        let mut result = update.check();
        // A message has one next hop for each family.
        let mut last: Option<(IpAddr, Option<Target>)> = None;
        for change in changes {
            let target = match change.next_hop {
                None => None,
                Some(next_hop) => match &last {
                    Some((same, target)) if *same == next_hop => target.clone(),
                    _ => {
                        // With invalid attributes, it counts as withdrawn (RFC 7606, section 2).
                        let target = match self.target(update, next_hop) {
                            Ok(target) => Some(target),
                            Err(reason) => {
                                result = Err(reason);
                                None
                            }
                        };
                        last = Some((next_hop, target.clone()));
                        target
                    }
                },
            };
            to.change(PathChange {
                stream,
                prefix: change.prefix,
                path: change.id.unwrap_or(0),
                target,
            });
        }
        match update.end_of_rib() {
            Some((1, 1)) => to.event(StreamEvent::EndOfRib {
                stream,
                is_ipv6: false,
            }),
            Some((2, 1)) => to.event(StreamEvent::EndOfRib {
                stream,
                is_ipv6: true,
            }),
            Some(_) => self.received.counts.other += 1,
            // Another family.
            None => self.received.counts.other += u64::from(changes.is_empty()),
        }
        result
    }

    /// The target of an UPDATE's routes with this next hop, or why its attributes are invalid.
    fn target(&mut self, update: &BgpUpdate<'_>, next_hop: IpAddr) -> Result<Target, &'static str> {
        update.pack_path(next_hop, &mut self.packed)?;
        Target::path(&self.packed)
    }
}

/// Takes memory for a peer or a stream.
fn take(share: &mut BudgetShare, bytes: usize) -> Result<(), DecodeError> {
    match share.set(share.bytes() + bytes) {
        true => Ok(()),
        false => Err(DecodeError(
            "no memory is left for another peer: all connections together have too many".to_owned(),
        )),
    }
}

/// The header of every message about a peer.
struct BmpPeerHeader {
    kind: u8,
    flags: u8,
    key: BmpPeerKey,
}

impl BmpPeerHeader {
    fn read(bytes: &[u8; PEER_HEADER]) -> Self {
        let (kind, flags) = (bytes[0], bytes[1]);
        let mut distinguisher = [0; 8];
        distinguisher.copy_from_slice(&bytes[2..10]);
        let mut address = [0; 16];
        match kind {
            // Several daemons of one address may show their tables.
            LOC_RIB => address[12..].copy_from_slice(&bytes[30..34]),
            _ => address.copy_from_slice(&bytes[10..26]),
        }
        Self {
            kind,
            flags,
            key: (kind, distinguisher, address),
        }
    }

    /// The index in [`POLICIES`].
    fn policy(&self) -> usize {
        match self.kind {
            LOC_RIB => 4,
            _ => {
                let out = usize::from(self.flags & IS_OUT != 0);
                out * 2 + usize::from(self.flags & IS_POST_POLICY != 0)
            }
        }
    }

    /// The peer and its table, for messages that are left out.
    fn about(&self) -> String {
        let Stream { table, peer } = self.stream(self.policy());
        match peer.is_empty() {
            true => format!("{table}, "),
            false => format!("peer {peer}, {table}, "),
        }
    }

    /// The names of the table and of the peer.
    fn stream(&self, policy: usize) -> Stream {
        let (_, distinguisher, address) = self.key;
        let mut table = POLICIES[policy].to_owned();
        if distinguisher != [0; 8] {
            let [k0, k1, a, b, c, d, e, f] = distinguisher;
            // Writing to a String cannot fail (RFC 4364, section 4.2).
            let _ = match (self.kind, u16::from_be_bytes([k0, k1])) {
                (1 | LOC_RIB, 0) => {
                    let asn = u16::from_be_bytes([a, b]);
                    write!(table, "/{asn}:{}", u32::from_be_bytes([c, d, e, f]))
                }
                (1 | LOC_RIB, 1) => {
                    let address = Ipv4Addr::new(a, b, c, d);
                    write!(table, "/{address}:{}", u16::from_be_bytes([e, f]))
                }
                (1 | LOC_RIB, 2) => {
                    let asn = u32::from_be_bytes([a, b, c, d]);
                    write!(table, "/{asn}:{}", u16::from_be_bytes([e, f]))
                }
                _ => write!(table, "/{:x}", u64::from_be_bytes(distinguisher)),
            };
        }
        let peer = match (self.kind, self.flags & IS_IPV6) {
            (LOC_RIB, _) if address == [0; 16] => String::new(),
            (LOC_RIB, _) | (_, 0) => {
                let [.., a, b, c, d] = address;
                Ipv4Addr::new(a, b, c, d).to_string()
            }
            _ => Ipv6Addr::from(address).to_string(),
        };
        Stream { table, peer }
    }
}
