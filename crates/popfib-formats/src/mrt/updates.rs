//! The updates in MRT files: records of BGP messages in, as a collector got them, their changes out one by one, with time
//! and peer.
//!
//! A message changes many prefixes. All of its changes are read before the first is handed out, so that of a message with a
//! fault none is: half of one would leave the table in a state that the router never had. The attributes
//! are packed once for all changes of a message.

use std::fmt::Write;
use std::net::IpAddr;

use super::bytes::{Afi, WireBytes, WireFlaw};
use super::kinds::{BGP4MP, BGP4MP_ET, HEADER, UnreadRecords, first_kind, is_old};
use super::message::{BgpChange, BgpForm, BgpUpdate};
use super::records::{MrtRecord, MrtRecords};
use crate::error::ReadError;
use crate::input::Input;
use crate::peers::Peer;
use crate::registry::Capability::Peers;
use crate::update::{
    Change, Message, PeerGate, Session, Update, UpdateEntry, UpdateOptions, UpdateSource,
};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "mrt",
    description: "MRT updates of route collectors (BGP4MP, BGP4MP_ET)",
    can: &[Peers],
    // By the first header alone: a second record may come much later, and a file is the same in pieces.
    detect: |head| first_kind(&head[..head.len().min(HEADER)]).is_some() || is_old(head),
    open: |input, options| Ok(Box::new(MrtUpdates::new(input, options))),
};

/// An [`UpdateSource`] of MRT updates.
#[derive(Debug)]
struct MrtUpdates {
    records: MrtRecords,
    reader: MrtUpdateReader,
    /// How many changes of the record at hand have been handed out.
    next: usize,
}

/// The record at hand, and what is known while records are read.
#[derive(Debug)]
struct MrtUpdateReader {
    gate: PeerGate,
    /// Of the record at hand: its time in microseconds since 1970, its peer, and that peer's place among all.
    time: u64,
    peer: (IpAddr, u32),
    peer_index: usize,
    /// The record at hand, if it is no message but a change of a state.
    session: Option<Session>,
    /// The changes of the record at hand.
    changes: Vec<BgpChange>,
    /// The change that was handed out last, and which of the next hops it has.
    head: Update<'static>,
    hop: usize,
    /// The next hops of the message at hand: one for each family.
    hops: [MessageNextHop; 2],
    others: UnreadRecords,
}

/// A next hop of a message, its text, and the attributes packed with it.
#[derive(Debug, Default)]
struct MessageNextHop {
    address: Option<IpAddr>,
    text: String,
    attributes: Vec<u8>,
}

impl MrtUpdates {
    fn new(input: Input, options: &UpdateOptions) -> Self {
        Self {
            records: MrtRecords::new(input),
            reader: MrtUpdateReader {
                gate: PeerGate::new(options),
                time: 0,
                peer: (IpAddr::from([0; 4]), 0),
                peer_index: 0,
                session: None,
                changes: Vec::new(),
                head: Update::EMPTY,
                hop: 0,
                hops: Default::default(),
                others: UnreadRecords::default(),
            },
            next: 0,
        }
    }
}

impl UpdateSource for MrtUpdates {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.reader.session = None;
        while self.next == self.reader.changes.len() {
            self.next = 0;
            self.reader.changes.clear();
            if self.reader.gate.end() {
                return Ok(true);
            }
            let Some(record) = self.records.next()? else {
                return Ok(false);
            };
            let offset = record.offset;
            if let Err(flaw) = self.reader.read(&record) {
                // All of a message or nothing.
                self.reader.changes.clear();
                return Err(self.records.invalid(offset, flaw));
            }
            self.reader.gate.begin();
            if self.reader.session.is_some() {
                return Ok(true);
            }
        }
        let change = self.reader.changes[self.next];
        self.next += 1;
        self.reader.take(change);
        Ok(true)
    }

    fn message(&self) -> Message<'_> {
        match self.reader.session {
            _ if self.reader.gate.is_end() => Message::End { may_wait: true },
            Some(session) => Message::Session(session),
            None => {
                let hop = &self.reader.hops[self.reader.hop];
                self.reader.head.message(&hop.text, Some(&hop.attributes))
            }
        }
    }

    fn out_of_order(&self) -> u64 {
        self.reader.gate.out_of_order()
    }

    fn notes(&self) -> Vec<String> {
        self.reader.others.notes("BGP message")
    }

    fn peers(&self) -> &[Peer] {
        self.reader.gate.peers()
    }
}

impl MrtUpdateReader {
    /// Makes a change of the record at hand the one that is handed out, and counts it for its peer.
    fn take(&mut self, change: BgpChange) {
        let BgpChange {
            prefix,
            id,
            next_hop,
        } = change;
        self.gate
            .count(Some(self.time), Some(self.peer_index), prefix);
        // Without a next hop it is a withdrawal.
        let is_its = |hop: &MessageNextHop| next_hop.is_some() && hop.address == next_hop;
        let hop = self.hops.iter().position(is_its);
        self.hop = hop.unwrap_or_default();
        self.head = Update {
            time: Some(self.time),
            peer: Some(self.peer),
            prefix,
            path_id: id,
            attributes: None,
            change: hop.map_or(Change::Withdraw, |_| Change::Announce("")),
        };
    }

    /// Packs the attributes with each next hop of the changes of a message: IPv4's in NEXT_HOP, IPv6's in MP_REACH_NLRI.
    fn pack(
        hops: &mut [MessageNextHop],
        update: &BgpUpdate<'_>,
        changes: &[BgpChange],
    ) -> Result<(), WireFlaw> {
        let mut last = None;
        let mut free = hops.iter_mut();
        for next_hop in changes.iter().filter_map(|change| change.next_hop) {
            if last.replace(next_hop) == Some(next_hop) {
                continue;
            }
            let hop = free.next().ok_or("more next hops than families")?;
            // Messages of one peer have the same next hop again and again, whose text is there then.
            if hop.address != Some(next_hop) {
                hop.address = Some(next_hop);
                hop.text.clear();
                // Writing to a String cannot fail.
                let _ = write!(hop.text, "{next_hop}");
            }
            update.pack_path(next_hop, &mut hop.attributes)?;
        }
        Ok(())
    }

    /// Takes the changes of a record (RFC 6396, section 4.4; with additional
    /// paths, RFC 8050), if it has any that are wanted.
    fn read(&mut self, record: &MrtRecord<'_>) -> Result<(), WireFlaw> {
        let mut body = WireBytes(record.body);
        self.time = u64::from(record.seconds) * 1_000_000;
        match record.kind {
            BGP4MP => {}
            BGP4MP_ET => self.time += u64::from(body.u32()?),
            _ => {
                self.others.add(record.kind);
                return Ok(());
            }
        }
        // Messages and changes of states (0, 5), of sessions with AS numbers of 2 bytes or 4; sent by the
        // collector itself (6, 7, 10, 11); with path identifiers (8 to 11).
        let (as_width, additional_paths) = match record.subtype {
            0 | 1 | 6 => (2, false),
            4 | 5 | 7 => (4, false),
            8 | 10 => (2, true),
            9 | 11 => (4, true),
            _ => {
                self.others.add(record.kind);
                return Ok(());
            }
        };
        let asn = body.asn(as_width)?;
        body.asn(as_width)?; // the collector's
        body.u16()?; // the interface
        let family = Afi::from_afi(body.u16()?).ok_or("peers of an unknown address family")?;
        let address = body.address(family)?;
        body.address(family)?; // the collector's
        let (index, wanted) = self.gate.peer((address, asn))?;
        if wanted {
            // What is left are two states, or a message.
            (self.peer, self.peer_index) = ((address, asn), index);
            if matches!(record.subtype, 0 | 5) {
                self.session = Some(Session {
                    time: self.time,
                    peer: self.peer,
                    old: body.u16()?,
                    new: body.u16()?,
                });
                return Ok(());
            }
            let form = BgpForm {
                has_two_byte_as: as_width == 2,
                ipv4_path_ids: additional_paths,
                ipv6_path_ids: additional_paths,
            };
            if let Some(update) = BgpUpdate::read(body.0, form, &mut self.changes)? {
                update.check()?;
                Self::pack(&mut self.hops, &update, &self.changes)?;
            }
        }
        Ok(())
    }
}
