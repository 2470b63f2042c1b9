//! The updates in MRT files: BGP messages as a collector got them.

use std::fmt::Write;
use std::net::IpAddr;

use popfib::IpPrefix;

use super::bytes::{Bytes, Family, Flaw};
use super::kinds::{BGP4MP, BGP4MP_ET, first_kind};
use super::message::{BgpChange, BgpForm, BgpUpdate};
use super::records::{Record, Records};
use crate::error::ReadError;
use crate::input::Input;
use crate::peers::Peer;
use crate::registry::Capabilities;
use crate::update::{Change, Gate, Update, UpdateEntry, UpdateOptions, UpdateSource};

pub(crate) const FORMAT: UpdateEntry = UpdateEntry {
    name: "mrt",
    description: "MRT updates of route collectors (BGP4MP, BGP4MP_ET)",
    can: Capabilities::PEERS,
    detect: |head| first_kind(head).is_some(),
    open: |input, options| Ok(Box::new(MrtUpdates::new(input, options))),
};

/// An [`UpdateSource`] of MRT updates.
#[derive(Debug)]
struct MrtUpdates {
    records: Records,
    reader: Reader,
    /// How many changes of the record at hand have been handed out.
    next: usize,
}

/// The record at hand, and what is known while records are read.
#[derive(Debug)]
struct Reader {
    gate: Gate,
    time: u64,
    peer: (IpAddr, u32),
    peer_index: usize,
    changes: Vec<BgpChange>,
    /// The next hop that `text` spells.
    spelled: Option<IpAddr>,
    text: String,
    other_records: u64,
}

impl MrtUpdates {
    fn new(input: Input, options: &UpdateOptions) -> Self {
        Self {
            records: Records::new(input),
            reader: Reader {
                gate: Gate::new(options.peer),
                time: 0,
                peer: (IpAddr::from([0; 4]), 0),
                peer_index: 0,
                changes: Vec::new(),
                spelled: None,
                text: String::new(),
                other_records: 0,
            },
            next: 0,
        }
    }
}

impl UpdateSource for MrtUpdates {
    fn next_update(&mut self) -> Result<Option<Update<'_>>, ReadError> {
        while self.next == self.reader.changes.len() {
            self.next = 0;
            self.reader.changes.clear();
            let Some(record) = self.records.next()? else {
                return Ok(None);
            };
            let offset = record.offset;
            if let Err(flaw) = self.reader.read(&record) {
                // All of a message or nothing.
                self.reader.changes.clear();
                return Err(self.records.invalid(offset, flaw));
            }
        }
        let BgpChange {
            prefix, next_hop, ..
        } = self.reader.changes[self.next];
        self.next += 1;
        Ok(Some(self.reader.update(prefix, next_hop)))
    }

    fn out_of_order(&self) -> u64 {
        self.reader.gate.out_of_order()
    }

    fn notes(&self) -> Vec<String> {
        match self.reader.other_records {
            0 => vec![],
            1 => vec!["1 record that holds no BGP message left out".to_owned()],
            n => vec![format!("{n} records that hold no BGP message left out")],
        }
    }

    fn peers(&self) -> &[Peer] {
        self.reader.gate.peers()
    }
}

impl Reader {
    fn update(&mut self, prefix: IpPrefix, next_hop: Option<IpAddr>) -> Update<'_> {
        self.gate
            .count(Some(self.time), Some(self.peer_index), prefix);
        if let Some(next_hop) = next_hop
            && self.spelled != Some(next_hop)
        {
            self.spelled = Some(next_hop);
            self.text.clear();
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{next_hop}");
        }
        Update {
            time: Some(self.time),
            peer: Some(self.peer),
            prefix,
            change: match next_hop {
                Some(_) => Change::Announce(&self.text),
                None => Change::Withdraw,
            },
        }
    }

    /// Takes the changes of a record (RFC 6396, section 4.4; with additional
    /// paths, RFC 8050), if it has any that are wanted.
    fn read(&mut self, record: &Record<'_>) -> Result<(), Flaw> {
        let mut body = Bytes(record.body);
        self.time = u64::from(record.seconds) * 1_000_000;
        match record.kind {
            BGP4MP => {}
            BGP4MP_ET => self.time += u64::from(body.u32()?),
            _ => {
                self.other_records += 1;
                return Ok(());
            }
        }
        let (as_width, additional_paths) = match record.subtype {
            1 | 6 => (2, false),
            4 | 7 => (4, false),
            8 | 10 => (2, true),
            9 | 11 => (4, true),
            _ => {
                self.other_records += 1;
                return Ok(());
            }
        };
        let asn = body.asn(as_width)?;
        body.asn(as_width)?; // the collector's
        body.u16()?; // the interface
        let family = Family::from_afi(body.u16()?).ok_or("peers of an unknown address family")?;
        let address = body.address(family)?;
        body.address(family)?; // the collector's
        let (index, wanted) = self.gate.peer(address, asn).ok_or("too many peers")?;
        if wanted {
            (self.peer, self.peer_index) = ((address, asn), index);
            let form = BgpForm {
                has_two_byte_as: as_width == 2,
                ipv4_path_ids: additional_paths,
                ipv6_path_ids: additional_paths,
            };
            BgpUpdate::read(body.0, form, &mut self.changes)?;
        }
        Ok(())
    }
}
