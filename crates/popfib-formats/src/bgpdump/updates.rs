//! Updates out of the lines of `bgpdump -m`: those of BGP4MP, and the states of peers. Lines of tables are left out and counted.
//!
//! The attributes of an announcement are packed as those of MRT are, so that whatever takes updates knows one form of them.

use super::line::{BgpdumpLine, BgpdumpType, fill, invalid, is_bgpdump, next_hop, parse, session};
use crate::bgp_path::BgpPath;
use crate::error::ReadError;
use crate::input::Input;
use crate::lines::Lines;
use crate::mrt::pack_path;
use crate::names::note_left_out;
use crate::peers::Peer;
use crate::registry::FormatCapabilities;
use crate::update::{
    Message, PeerGate, Session, UpdateEntry, UpdateHead, UpdateOptions, UpdateSource,
};

pub(crate) const UPDATE_FORMAT: UpdateEntry = UpdateEntry {
    name: "bgpdump",
    description: "text of bgpdump -m",
    can: FormatCapabilities::PEERS,
    detect: is_bgpdump,
    open: |input, options| Ok(Box::new(BgpdumpUpdates::new(input, options))),
};

/// An [`UpdateSource`] of the lines.
#[derive(Debug)]
struct BgpdumpUpdates {
    lines: Lines,
    mask: bool,
    gate: PeerGate,
    head: UpdateHead,
    /// What the line is in place of an update: the state of a peer.
    session: Option<Session>,
    path: BgpPath,
    next_hop: String,
    /// The attributes of the announced path, packed.
    attributes: Vec<u8>,
    table_lines: u64,
}

impl BgpdumpUpdates {
    fn new(input: Input, options: &UpdateOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            gate: PeerGate::new(options.peer),
            head: UpdateHead::default(),
            session: None,
            path: BgpPath::default(),
            next_hop: String::new(),
            attributes: Vec::new(),
            table_lines: 0,
        }
    }
}

impl UpdateSource for BgpdumpUpdates {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.session = None;
        while self.lines.advance()? {
            let text = self.lines.line();
            if text.is_empty() {
                continue;
            }
            let line = match parse(text, self.mask) {
                Ok(Some(line)) => line,
                Ok(None) => {
                    let session = session(text).map_err(|reason| invalid(&self.lines, reason))?;
                    match self.gate.peer(session.peer.0, session.peer.1) {
                        Some((_, true)) => {}
                        Some((_, false)) => continue,
                        None => return Err(self.lines.invalid("too many peers")),
                    }
                    self.session = Some(session);
                    return Ok(true);
                }
                Err(reason) => return Err(invalid(&self.lines, reason)),
            };
            if line.kind == BgpdumpType::Table {
                self.table_lines += 1;
                continue;
            }
            let (address, asn) = line.peer;
            let index = match self.gate.peer(address, asn) {
                Some((index, true)) => index,
                Some((_, false)) => continue,
                None => return Err(self.lines.invalid("too many peers")),
            };
            let BgpdumpLine {
                time,
                peer,
                prefix,
                path_id,
                route,
                ..
            } = line;
            let announced = match route {
                None => Ok(()),
                Some(fields) => next_hop(fields.next_hop).and_then(|text| {
                    self.next_hop.clear();
                    self.next_hop.push_str(text);
                    fill(&mut self.path, fields)?;
                    pack_path(&self.path, &mut self.attributes).map_err(str::to_owned)
                }),
            };
            announced.map_err(|reason| invalid(&self.lines, reason))?;
            self.gate.count(Some(time), Some(index), prefix);
            self.head = UpdateHead {
                time: Some(time),
                peer: Some(peer),
                prefix,
                path_id,
                is_announced: route.is_some(),
            };
            return Ok(true);
        }
        Ok(false)
    }

    fn message(&self) -> Message<'_> {
        match self.session {
            Some(session) => Message::Session(session),
            None => self.head.message(&self.next_hop, Some(&self.attributes)),
        }
    }

    fn out_of_order(&self) -> u64 {
        self.gate.out_of_order()
    }

    fn notes(&self) -> Vec<String> {
        note_left_out(self.table_lines, "line", " of a table")
    }

    fn peers(&self) -> &[Peer] {
        self.gate.peers()
    }
}
