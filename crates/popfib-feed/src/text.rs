//! Updates as lines of text, which programs write to a pipe.
//!
//! ```text
//! announce PREFIX VALUE
//! withdraw PREFIX
//! announce route PREFIX next-hop ADDRESS [as-path [ 64500 64501 ]] [local-preference 100] [med 0] ...
//! withdraw route PREFIX ...
//! {"type":"ris_message","data":{...}}
//! ```
//!
//! The third and fourth are ExaBGP commands, which may begin with `neighbor ADDRESS`; the last is a RIS
//! Live message. A line is a transaction. Empty lines and lines that begin with `#` are ignored.

use std::collections::HashMap;
use std::net::IpAddr;
use std::str::SplitAsciiWhitespace;

use popfib::IpPrefix;

use crate::pack::{Attributes, Segment};
use crate::ris::{self, Said};
use crate::target::Target;
use crate::transaction::{
    Change, Commit, Counts, Decoder, Flaw, Mark, Stream, StreamId, Streams, Transaction,
};

/// The maximum length of a line and of a value, as in tables.
const MAX_LINE: usize = 1 << 20;
const MAX_VALUE: usize = 4096;

/// The [`Decoder`] of lines.
#[derive(Debug, Default)]
pub struct Updates {
    /// The beginning of a line.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
    reader: Reader,
    transaction: Transaction,
}

#[derive(Debug, Default)]
struct Reader {
    peers: HashMap<Option<IpAddr>, StreamId>,
    streams: Streams,
    counts: Counts,
    /// The last target, since successive lines of a source often have the same one.
    last: Option<(String, Target)>,
}

impl Updates {
    /// Makes the decoder of a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a last line that does not end with a newline.
    ///
    /// # Errors
    /// Those of [`Decoder::push`].
    pub fn finish(&mut self, commit: &mut Commit<'_>) -> Result<(), Flaw> {
        self.push(b"\n", commit)
    }

    fn end_line(&mut self, commit: &mut Commit<'_>) -> Result<(), Flaw> {
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

impl Decoder for Updates {
    fn push(&mut self, mut bytes: &[u8], commit: &mut Commit<'_>) -> Result<(), Flaw> {
        while let Some(at) = bytes.iter().position(|&byte| byte == b'\n') {
            let (end, rest) = (&bytes[..at], &bytes[at + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.is_skipping) {
                continue;
            }
            if self.line.len() + end.len() > MAX_LINE {
                self.line.clear();
                self.reader.counts.invalid += 1;
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
            self.reader.counts.invalid += 1;
            return Ok(());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn streams(&self) -> &[Stream] {
        &self.reader.streams.0
    }

    fn counts(&self) -> Counts {
        self.reader.counts
    }
}

impl Reader {
    fn line(&mut self, line: &[u8], to: &mut Transaction) -> Result<(), Flaw> {
        let line = line.trim_ascii();
        if line.is_empty() || line[0] == b'#' {
            return Ok(());
        }
        self.counts.messages += 1;
        let done = match str::from_utf8(line) {
            Err(_) => None,
            Ok(line) if line.starts_with('{') => self.json(line, to),
            Ok(line) => self.words(line, to),
        };
        done.unwrap_or_else(|| {
            to.clear();
            self.counts.invalid += 1;
            Ok(())
        })
    }

    /// `None` if the line is invalid.
    fn json(&mut self, line: &str, to: &mut Transaction) -> Option<Result<(), Flaw>> {
        match ris::read(line)? {
            Said::Other => self.counts.other += 1,
            Said::Down(peer) => match self.stream(Some(peer)) {
                Ok(stream) => to.mark(Mark::Down(stream)),
                Err(flaw) => return Some(Err(flaw)),
            },
            Said::Update {
                peer,
                withdrawn,
                mut attributes,
                announced,
            } => {
                let stream = match self.stream(Some(peer)) {
                    Ok(stream) => stream,
                    Err(flaw) => return Some(Err(flaw)),
                };
                withdrawn
                    .into_iter()
                    .for_each(|prefix| to.change(change(stream, prefix, None)));
                // A message has one next hop of each family; many of them would multiply a long path.
                let mut last: Option<(IpAddr, Target)> = None;
                let mut room = MAX_LINE;
                for (next_hop, prefixes) in announced {
                    let target = match last.take() {
                        Some((same, target)) if same == next_hop => target,
                        _ => {
                            attributes.next_hop = Some(next_hop);
                            let (target, length) = attributes.target()?;
                            room = room.checked_sub(length)?;
                            target
                        }
                    };
                    let announce = |prefix| change(stream, prefix, Some(target.clone()));
                    prefixes.into_iter().for_each(|p| to.change(announce(p)));
                    last = Some((next_hop, target));
                }
            }
        }
        Some(Ok(()))
    }

    /// `None` if the line is invalid.
    fn words(&mut self, line: &str, to: &mut Transaction) -> Option<Result<(), Flaw>> {
        let mut words = line.split_ascii_whitespace();
        let mut peer = None;
        let mut verb = words.next()?;
        if verb == "neighbor" {
            peer = Some(words.next()?.parse().ok()?);
            verb = words.next()?;
        }
        let is_new = match verb {
            "announce" => true,
            "withdraw" => false,
            _ => return None,
        };
        let mut prefix = words.next()?;
        let is_exabgp = prefix == "route";
        if is_exabgp {
            prefix = words.next()?;
        }
        let prefix = prefix.parse::<IpPrefix>().ok()?;
        let target = match (is_new, is_exabgp) {
            (false, true) => None,
            (true, true) => Some(attributes(words)?.target()?.0),
            (is_new, false) => {
                let value = words.next();
                if words.next().is_some() || value.is_some() != is_new {
                    return None;
                }
                match value {
                    Some(value) => Some(self.named(value)?),
                    None => None,
                }
            }
        };
        Some(self.stream(peer).map(|stream| {
            to.change(change(stream, prefix, target));
        }))
    }

    fn named(&mut self, value: &str) -> Option<Target> {
        if value.len() > MAX_VALUE || value.contains(char::is_control) {
            return None;
        }
        if let Some((name, target)) = &self.last
            && name == value
        {
            return Some(target.clone());
        }
        let target = Target::name(value);
        self.last = Some((value.to_owned(), target.clone()));
        Some(target)
    }

    fn stream(&mut self, peer: Option<IpAddr>) -> Result<StreamId, Flaw> {
        if let Some(&stream) = self.peers.get(&peer) {
            return Ok(stream);
        }
        let name = peer.map(|peer| peer.to_string()).unwrap_or_default();
        let stream = self.streams.add("main".to_owned(), name)?;
        self.peers.insert(peer, stream);
        Ok(stream)
    }
}

fn change(stream: StreamId, prefix: IpPrefix, target: Option<Target>) -> Change {
    Change {
        stream,
        prefix,
        path: 0,
        target,
    }
}

/// The attributes of an ExaBGP command: names, each followed by a word or by words in brackets. Unknown attributes
/// are ignored.
fn attributes(mut words: SplitAsciiWhitespace<'_>) -> Option<Attributes> {
    let mut all = Attributes::default();
    while let Some(name) = words.next() {
        match name {
            "next-hop" => all.next_hop = Some(words.next()?.parse().ok()?),
            "origin" => all.origin = Some(ris::origin(words.next()?)),
            "med" => all.med = Some(words.next()?.parse().ok()?),
            "local-preference" => all.local_preference = Some(words.next()?.parse().ok()?),
            "as-path" => {
                let numbers = list(&mut words)?.into_iter().map(|word| word.parse().ok());
                all.as_path = vec![Segment::Sequence(numbers.collect::<Option<_>>()?)];
            }
            "community" => {
                let pair = |word: &str| {
                    let (a, b) = word.split_once(':')?;
                    Some([a.parse().ok()?, b.parse().ok()?])
                };
                let pairs = list(&mut words)?.into_iter().map(pair);
                all.communities = pairs.collect::<Option<_>>()?;
            }
            _ => {
                list(&mut words)?;
            }
        }
    }
    Some(all)
}

/// A word, or several in brackets. A bracket need not be separated from a word by a blank.
fn list<'a>(words: &mut SplitAsciiWhitespace<'a>) -> Option<Vec<&'a str>> {
    let first = words.next()?;
    let Some(mut word) = first.strip_prefix('[') else {
        return Some(vec![first]);
    };
    let mut list = Vec::new();
    loop {
        let (inner, is_end) = match word.strip_suffix(']') {
            Some(inner) => (inner, true),
            None => (word, false),
        };
        list.extend(inner.split(',').filter(|part| !part.is_empty()));
        if is_end {
            return Some(list);
        }
        word = words.next()?;
    }
}
