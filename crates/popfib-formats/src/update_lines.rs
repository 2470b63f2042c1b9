//! Lines of updates in, updates out: what the formats of text and JSON share. A format reads one line into [`LineUpdates`].
//!
//! All changes of a line are read before the first is handed out, so that of an invalid line none is. The attributes are packed as
//! those of MRT are, so that whatever takes updates knows one form of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem;
use std::net::IpAddr;

use crate::bgp_path::BgpPath;
use crate::error::ReadError;
use crate::input::Input;
use crate::lines::Lines;
use crate::mrt::{BgpChange, pack_path};
use crate::names::note_left_out;
use crate::peers::Peer;
use crate::update::{Change, Message, PeerGate, Session, Update, UpdateOptions, UpdateSource};

/// What a line says.
#[derive(Debug, Default)]
pub(crate) struct LineUpdates {
    /// The time, in microseconds since 1970 (UTC), if the line has it.
    pub(crate) time: Option<u64>,
    /// The peer, its AS being 0 if that is not named.
    pub(crate) peer: Option<(IpAddr, u32)>,
    /// The changes, in their order.
    pub(crate) changes: Vec<BgpChange>,
    /// What the announced paths share: all but the next hop.
    pub(crate) path: BgpPath,
    /// What stands for the next hop of an announcement that has nothing else.
    pub(crate) name: Option<String>,
    /// The state of a peer's session, in place of changes.
    pub(crate) session: Option<Session>,
    /// What is left out without being invalid.
    pub(crate) left_out: Vec<UpdateKind>,
}

impl LineUpdates {
    /// Forgets what a line said.
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        *self = Self {
            changes: mem::take(&mut self.changes),
            ..Self::default()
        };
    }
}

/// A noun and what comes after it: `update`, ` of other families`.
pub(crate) type UpdateKind = (&'static str, &'static str);

/// The maximum length of a line: a message of 65,535 bytes may have a prefix a byte, and each takes a dozen as text.
const MAX_LINE: usize = 2 << 20;

/// Whether a line is empty or begins with one of these.
pub(crate) fn is_comment(line: &[u8], marks: &[u8]) -> bool {
    line.trim_ascii()
        .first()
        .is_none_or(|first| marks.contains(first))
}

/// Reads a line, which is neither empty nor a comment; host bits are cleared if the flag says so.
type ReadLine = fn(&[u8], bool, &mut LineUpdates) -> Result<(), String>;

/// The [`UpdateSource`] of a format.
pub(crate) struct UpdatesOfLines {
    lines: Lines,
    comments: &'static [u8],
    read: ReadLine,
    mask: bool,
    gate: PeerGate,
    /// What the line at hand says, how many of its changes were handed out, and the place of its peer among all.
    line: LineUpdates,
    next: usize,
    peer: Option<usize>,
    /// The change that was handed out last: its next hop, and with that the attributes of the path, packed.
    head: Update<'static>,
    next_hop: String,
    attributes: Vec<u8>,
    left_out: BTreeMap<UpdateKind, u64>,
}

impl UpdatesOfLines {
    /// Makes the source of a format, whose comments begin with one of these bytes.
    pub(crate) fn open(
        input: Input,
        options: &UpdateOptions,
        comments: &'static [u8],
        read: ReadLine,
    ) -> Result<Box<dyn UpdateSource>, ReadError> {
        Ok(Box::new(Self {
            lines: Lines::up_to(MAX_LINE, input),
            comments,
            read,
            mask: options.mask,
            gate: PeerGate::new(options),
            line: LineUpdates::default(),
            next: 0,
            peer: None,
            head: Update::EMPTY,
            next_hop: String::new(),
            attributes: Vec::new(),
            left_out: BTreeMap::new(),
        }))
    }

    /// Takes a line, whose changes wait to be handed out then.
    fn take(&mut self) -> Result<(), String> {
        let line = &mut self.line;
        (self.read)(self.lines.line(), self.mask, line)?;
        for kind in line.left_out.drain(..) {
            *self.left_out.entry(kind).or_default() += 1;
        }
        if line.changes.is_empty() && line.session.is_none() {
            return Ok(());
        }
        let is_admitted = match line.peer {
            Some(peer) => {
                let (peer, is_admitted) = self.gate.peer(peer)?;
                self.peer = Some(peer);
                is_admitted
            }
            None if self.gate.admits_anonymous() => true,
            None => return Err("this update names no peer to choose by".to_owned()),
        };
        if !is_admitted {
            (line.session, self.next) = (None, line.changes.len());
            return Ok(());
        }
        line.path.next_hop = None;
        let hops = line
            .changes
            .chunk_by(|a, b| a.next_hop == b.next_hop)
            .count();
        if hops > 1 {
            // What is wrong with the path is so with any next hop. A message has one of each family; many would multiply a long path.
            pack_path(&line.path, &mut self.attributes)?;
            if hops * self.attributes.len() > MAX_LINE {
                return Err("too many next hops for a path as long".to_owned());
            }
        }
        Ok(())
    }

    /// Makes a change of the line at hand the one that is handed out.
    fn hand_out(&mut self, change: BgpChange) -> Result<(), &'static str> {
        let line = &mut self.line;
        if let Some(next_hop) = change.next_hop
            && line.path.next_hop.replace(next_hop) != Some(next_hop)
        {
            pack_path(&line.path, &mut self.attributes)?;
            self.next_hop.clear();
            // Writing to a String cannot fail.
            let _ = write!(self.next_hop, "{next_hop}");
        }
        self.gate.count(line.time, self.peer, change.prefix);
        self.head = Update {
            time: line.time,
            peer: line.peer,
            prefix: change.prefix,
            path_id: change.id,
            attributes: None,
            change: match change.next_hop.is_some() || line.name.is_some() {
                true => Change::Announce(""),
                false => Change::Withdraw,
            },
        };
        Ok(())
    }
}

impl UpdateSource for UpdatesOfLines {
    fn advance(&mut self) -> Result<bool, ReadError> {
        self.line.session = None;
        loop {
            if let Some(&change) = self.line.changes.get(self.next) {
                self.next += 1;
                if let Err(reason) = self.hand_out(change) {
                    // It is the first, and the last of its line.
                    self.line.changes.clear();
                    self.gate.end();
                    return Err(self.lines.invalid(reason));
                }
                return Ok(true);
            }
            self.line.changes.clear();
            self.next = 0;
            if self.gate.end() {
                return Ok(true);
            }
            if !self.lines.advance()? {
                return Ok(false);
            }
            if is_comment(self.lines.line(), self.comments) {
                self.gate.begin();
                continue;
            }
            if let Err(reason) = self.take() {
                self.line.changes.clear();
                self.line.session = None;
                return Err(self.lines.not_text_or(reason));
            }
            self.gate.begin();
            if self.line.session.is_some() {
                return Ok(true);
            }
        }
    }

    fn message(&self) -> Message<'_> {
        if self.gate.is_end() {
            let may_wait = !self.lines.has_next();
            return Message::End { may_wait };
        }
        let LineUpdates { session, name, .. } = &self.line;
        match (session, name) {
            (Some(session), _) => Message::Session(*session),
            (None, Some(name)) => self.head.message(name, None),
            (None, None) => self.head.message(&self.next_hop, Some(&self.attributes)),
        }
    }

    fn out_of_order(&self) -> u64 {
        self.gate.out_of_order()
    }

    fn notes(&self) -> Vec<String> {
        let left_out = self.left_out.iter();
        left_out
            .flat_map(|(&(noun, which), &count)| note_left_out(count, noun, which))
            .collect()
    }

    fn peers(&self) -> &[Peer] {
        self.gate.peers()
    }
}
