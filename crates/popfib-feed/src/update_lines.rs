//! Lines of text in, which programs write to a pipe; transactions out.
//!
//! ```text
//! announce PREFIX VALUE
//! withdraw PREFIX
//! announce route PREFIX next-hop ADDRESS [as-path [ 64500 64501 ]] [local-preference 100] [med 0] ...
//! withdraw route PREFIX ...
//! {"type":"ris_message","data":{...}}
//! ```
//!
//! The third and fourth are ExaBGP commands, which may begin with `neighbor ADDRESS`; without that they are for all
//! neighbors. The last is JSON in one of the forms of [`read_json`]. A line is a transaction. Empty lines and lines that begin with
//! `#` are ignored.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use popfib::IpPrefix;
use popfib_formats::text::MAX_NEXT_HOP_LENGTH;
use popfib_formats::updates::{LineUpdates, Session, UpdateKind, note_kinds, read_json};

use crate::exabgp;
use crate::shared_targets::SharedTargets;
use crate::target::Target;
use crate::transaction::{
    Commit, DecodeError, Decoder, MessageCounts, PathChange, Stream, StreamEvent, StreamId,
    Streams, Transaction,
};

/// The maximum length of a line.
const MAX_LINE: usize = 2 << 20;

/// The [`Decoder`] of lines.
#[derive(Debug, Default)]
pub struct UpdateLinesDecoder {
    /// The beginning of a line.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
    reader: UpdateLineReader,
    transaction: Transaction,
}

#[derive(Debug, Default)]
struct UpdateLineReader {
    /// The number of the line at hand, from 1 on; and of the first invalid line, with the reason.
    number: u64,
    invalid: Option<(u64, String)>,
    /// What was left out without being invalid, by its kind.
    left_out: BTreeMap<UpdateKind, u64>,
    peers: HashMap<Option<IpAddr>, StreamId>,
    /// Whether commands have named a neighbor.
    has_neighbors: bool,
    streams: Streams,
    shared: SharedTargets,
    counts: MessageCounts,
    /// The last name, since successive lines of a source often have the same one.
    last: Option<Target>,
}

impl UpdateLinesDecoder {
    /// Makes the decoder of a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a last line that does not end with a newline.
    ///
    /// # Errors
    /// Those of [`Decoder::push`].
    pub fn finish(&mut self, commit: &mut Commit<'_>) -> Result<(), DecodeError> {
        self.push(b"\n", commit)
    }

    /// The number of the first invalid line, from 1 on, and what is wrong with it.
    pub fn first_invalid(&self) -> Option<(u64, &str)> {
        let (number, reason) = self.reader.invalid.as_ref()?;
        Some((*number, reason))
    }

    /// What was left out without being invalid, for the user: a line for each kind.
    pub fn notes(&self) -> Vec<String> {
        note_kinds(&self.reader.left_out)
    }

    fn end_line(&mut self, commit: &mut Commit<'_>) -> Result<(), DecodeError> {
        let line = std::mem::take(&mut self.line);
        self.transaction.clear();
        let result = self.reader.line(&line, &mut self.transaction);
        self.line = line;
        self.line.clear();
        result?;
        if !self.transaction.is_empty() {
            self.transaction.settle();
            commit(&self.reader.streams.0, &mut self.transaction);
        }
        Ok(())
    }
}

impl Decoder for UpdateLinesDecoder {
    fn push(&mut self, mut bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), DecodeError> {
        while let Some(at) = bytes.iter().position(|&byte| byte == b'\n') {
            let (end, rest) = (&bytes[..at], &bytes[at + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.is_skipping) {
                continue;
            }
            if self.line.len() + end.len() > MAX_LINE {
                self.line.clear();
                self.reader.too_long();
                continue;
            }
            self.line.extend_from_slice(end);
            self.end_line(commit)?;
        }
        if self.is_skipping {
            return Ok(());
        }
        if self.line.len() + bytes.len() > MAX_LINE {
            self.line.clear();
            self.is_skipping = true;
            self.reader.too_long();
            return Ok(());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn streams(&self) -> &[Stream] {
        &self.reader.streams.0
    }

    fn counts(&self) -> MessageCounts {
        self.reader.counts
    }
}

/// Why a line has no effect.
enum LineError {
    /// It is invalid.
    Line(String),
    /// The connection has to be closed.
    End(DecodeError),
}

impl From<String> for LineError {
    fn from(reason: String) -> Self {
        Self::Line(reason)
    }
}

impl From<&str> for LineError {
    fn from(reason: &str) -> Self {
        Self::Line(reason.to_owned())
    }
}

impl From<DecodeError> for LineError {
    fn from(error: DecodeError) -> Self {
        Self::End(error)
    }
}

impl UpdateLineReader {
    fn line(&mut self, line: &[u8], to: &mut Transaction) -> Result<(), DecodeError> {
        self.number += 1;
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            return Ok(());
        }
        self.counts.messages += 1;
        let done = match str::from_utf8(line) {
            Err(_) => Err(LineError::from("this is not text: invalid UTF-8")),
            Ok(line) if line.starts_with('{') => self.json(line, to),
            Ok(line) => self.words(line, to),
        };
        match done {
            Ok(()) => Ok(()),
            Err(LineError::End(error)) => Err(error),
            Err(LineError::Line(reason)) => {
                to.clear();
                self.invalid(reason);
                Ok(())
            }
        }
    }

    fn invalid(&mut self, reason: String) {
        self.counts.invalid += 1;
        let number = self.number;
        self.invalid.get_or_insert((number, reason));
    }

    fn too_long(&mut self) {
        self.number += 1;
        self.invalid(format!("the line is longer than {MAX_LINE} bytes"));
    }

    fn json(&mut self, line: &str, to: &mut Transaction) -> Result<(), LineError> {
        let mut found = LineUpdates::default();
        read_json(line, false, &mut found)?;
        if let Some(session) = found.session.filter(Session::is_reset) {
            let stream = self.stream(Some(session.peer.0))?;
            to.event(StreamEvent::Down(stream));
            return Ok(());
        }
        if found.changes.is_empty() {
            self.counts.other += 1;
        }
        for kind in found.left_out {
            self.leave_out(kind);
        }
        let mut last = None;
        let mut room = MAX_LINE;
        for of in found.changes {
            let stream = self.stream(found.peer.map(|(address, _)| address))?;
            if of.next_hop.is_some() && of.next_hop != found.path.next_hop {
                found.path.next_hop = of.next_hop;
                let target = self.shared.path(&found.path)?;
                // A message has one next hop of each family; many of them would multiply a long path.
                let length = target.path_bytes().map_or(0, <[u8]>::len);
                room = room
                    .checked_sub(length)
                    .ok_or("too many next hops for a path as long")?;
                last = Some(target);
            }
            let target = last.clone().filter(|_| of.next_hop.is_some());
            to.change(change(stream, of.prefix, of.id.unwrap_or(0), target));
        }
        Ok(())
    }

    /// Counts an update of other routes than those of unicast.
    fn leave_out(&mut self, kind: UpdateKind) {
        *self.left_out.entry(kind).or_default() += 1;
    }

    fn words(&mut self, line: &str, to: &mut Transaction) -> Result<(), LineError> {
        let mut words = line.split_ascii_whitespace();
        let mut peer = None;
        let mut verb = words.next().unwrap_or_default();
        if verb == "neighbor" {
            let address = words.next().unwrap_or_default();
            peer = Some(
                address
                    .parse()
                    .map_err(|_| format!("{address}: not an address"))?,
            );
            verb = words.next().unwrap_or_default();
        }
        let is_new = match verb {
            "announce" => true,
            "withdraw" => false,
            _ => return Err("neither announce nor withdraw".into()),
        };
        if let Some(kind) = exabgp::kind(&mut words) {
            let command = exabgp::read(kind, &mut words, is_new)?;
            if let Some(kind) = command.left_out {
                self.leave_out(kind);
            }
            if command.left_out.is_some() || command.prefixes.is_empty() {
                self.counts.other += 1;
                return Ok(());
            }
            let exabgp::ExabgpCommand {
                prefixes, id, path, ..
            } = command;
            let target = match is_new {
                true => Some(self.shared.path(&path)?),
                false => None,
            };
            let stream = self.stream(peer)?;
            self.has_neighbors |= peer.is_some();
            for prefix in prefixes {
                to.change(change(stream, prefix, id, target.clone()));
                if peer.is_none() && self.has_neighbors {
                    // It is for all neighbors, and takes the place of what is only for one.
                    to.change(change(StreamId::PEERS, prefix, id, None));
                }
            }
            return Ok(());
        }
        let prefix = words.next().ok_or("no prefix in this line")?;
        let prefix: IpPrefix = prefix.parse().map_err(|e| format!("{prefix}: {e}"))?;
        let target = match (is_new, words.next()) {
            (true, Some(value)) => Some(self.named(value)?),
            (true, None) => return Err("no value in this line".into()),
            (false, None) => None,
            (false, Some(_)) => return Err("a value after withdraw".into()),
        };
        if let Some(more) = words.next() {
            return Err(format!("more than a value: {more}").into());
        }
        let stream = self.stream(peer)?;
        to.change(change(stream, prefix, 0, target));
        Ok(())
    }

    fn named(&mut self, value: &str) -> Result<Target, String> {
        if value.len() > MAX_NEXT_HOP_LENGTH {
            return Err(format!("a value of more than {MAX_NEXT_HOP_LENGTH} bytes"));
        }
        if value.contains(char::is_control) {
            return Err("a value with a control character".to_owned());
        }
        let is_same = |last: &&Target| last.as_name() == Some(value);
        if let Some(last) = self.last.as_ref().filter(is_same) {
            return Ok(last.clone());
        }
        let target = self.shared.named(value);
        self.last = Some(target.clone());
        Ok(target)
    }

    fn stream(&mut self, peer: Option<IpAddr>) -> Result<StreamId, DecodeError> {
        if let Some(&stream) = self.peers.get(&peer) {
            return Ok(stream);
        }
        let name = peer.map(|peer| peer.to_string()).unwrap_or_default();
        let stream = self.streams.add("main".to_owned(), name)?;
        self.peers.insert(peer, stream);
        Ok(stream)
    }
}

fn change(stream: StreamId, prefix: IpPrefix, path: u32, target: Option<Target>) -> PathChange {
    PathChange {
        stream,
        prefix,
        path,
        target,
    }
}
