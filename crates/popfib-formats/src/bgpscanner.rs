//! The lines of bgpscanner: fields between bars, the prefixes of a message or table entry a line. Out comes the best path of each
//! prefix, as from bgpdump's lines.
//!
//! ```text
//! =|10.0.0.0/8|64501 64510|192.0.2.1|i|||64501:7|192.0.2.1 64501|1779000000|1
//! +|10.0.0.0/8 10.1.0.0/16|64501 64510|192.0.2.1|i|||64501:7|192.0.2.1 64501|1779000000|1
//! -|10.2.0.0/16||||||||192.0.2.1 64501|1779000000|1
//! ```
//! The fields are type, prefixes, AS path, next hop, origin, atomic aggregate, aggregator,
//! communities, peer, time, and whether AS numbers have 32 bits. `=` is an entry of a table and `+`
//! an announcement, of which the last counts, as in the lines of [bgpdump](crate::bgpdump);
//! withdrawals are left out and counted. Other types (`#`, a peer's state) say nothing of routes.
//!
//! Unusual is that a line may have many prefixes: it is kept while they are handed out one by one.

use std::net::IpAddr;

use popfib::IpPrefix;

use crate::best_path::{CandidatePaths, DumpRank, PathCandidate, best_paths};
use crate::bgpdump::{flaw, path_length, write_value};
use crate::date::parse_seconds;
use crate::error::{ReadError, not};
use crate::input::{Input, head_lines};
use crate::lines::Lines;
use crate::names::note_left_out;
use crate::path_rank::PathRank;
use crate::path_record::PathValue;
use crate::peers::{Peer, PeerFilter, PeerList, RouteValue};
use crate::registry::Capability::{Origins, Peers};
use crate::table_format::{LoadOptions, TableEntry};
use crate::update_text::parse_prefix;

pub(crate) const FORMAT: TableEntry = TableEntry {
    name: "bgpscanner",
    description: "text of bgpscanner: the best path of each prefix, or a peer's",
    can: &[Peers, Origins],
    detect,
    open: |input, options| best_paths(Bgpscanner::new(input, options), options),
};

/// What a line begins with.
const TYPES: &[u8] = b"=+-#>!@^";

/// Whether the first line begins with one of the signs and a bar.
fn detect(head: &[u8]) -> bool {
    let first = head_lines(head).find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| matches!(line, [kind, b'|', ..] if TYPES.contains(kind)))
}

/// What reads the lines.
struct Bgpscanner {
    lines: Lines,
    mask: bool,
    value: RouteValue,
    filter: Option<PeerFilter>,
    peers: PeerList,
    withdrawals: u64,
    /// Lines of other types, such as a peer's state.
    others: u64,
    /// The prefixes of the line at hand, where the next begins, and what holds for all of them.
    prefixes: String,
    at: usize,
    rank: DumpRank,
    routed: String,
}

impl Bgpscanner {
    fn new(input: Input, options: &LoadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            mask: options.mask,
            value: options.value,
            filter: options.peer,
            peers: PeerList::default(),
            withdrawals: 0,
            others: 0,
            prefixes: String::new(),
            at: 0,
            rank: Default::default(),
            routed: String::new(),
        }
    }

    /// The next prefix of the line at hand.
    fn next_prefix(&mut self) -> Option<Result<IpPrefix, String>> {
        let rest = self.prefixes.get(self.at..)?.trim_ascii_start();
        let end = rest.find(' ').unwrap_or(rest.len());
        self.at = self.prefixes.len() - rest.len() + end;
        (end > 0).then(|| parse_prefix(&rest[..end], self.mask))
    }

    /// Takes a line; the prefixes of its routes wait to be handed out then.
    fn take(&mut self) -> Result<(), String> {
        let line = std::str::from_utf8(self.lines.line()).map_err(|_| String::new())?;
        let mut fields = line.split('|');
        let kind = fields.next().unwrap_or_default();
        if kind.len() != 1 || !TYPES.contains(&kind.as_bytes()[0]) {
            return Err("not a line of bgpscanner".to_owned());
        }
        if !matches!(kind, "=" | "+" | "-") {
            self.others += 1;
            return Ok(());
        }
        let mut field = |what: &str| fields.next().ok_or(format!("no {what} in this line"));
        let prefixes = field("prefix")?;
        let (as_path, hop) = (field("AS path")?, field("next hop")?);
        // They have to be there, so that the peer is the field after them.
        for what in ["origin", "atomic aggregate", "aggregator", "communities"] {
            field(what)?;
        }
        let peer = field("peer")?;
        let (time, width) = (field("time")?, field("width of AS numbers")?);
        if parse_seconds(time).is_none() || !matches!(width, "0" | "1") || fields.next().is_some() {
            return Err("not TIME|0 or 1 at the end of this line".to_owned());
        }
        if kind == "-" {
            self.withdrawals += prefixes.split_ascii_whitespace().count() as u64;
            return Ok(());
        }
        let mut words = peer.split_ascii_whitespace();
        let mut word = || words.next().unwrap_or_default();
        let address = word().parse().map_err(|_| not(peer, "a peer's address"))?;
        let asn = word()
            .parse()
            .map_err(|_| not(peer, "a peer's AS number"))?;
        let (index, admitted) = self.peers.admit((address, asn), self.filter)?;
        for prefix in prefixes.split_ascii_whitespace() {
            self.peers.count(index, !prefix.contains(':'));
        }
        if !admitted {
            return Ok(());
        }
        if words.next().is_some() {
            return Err(not(peer, "an address and an AS number"));
        }
        // Of IPv6, the address of the link may follow.
        let (hop, local) = hop.split_once(' ').unwrap_or((hop, ""));
        if !local.is_empty() && local.parse::<IpAddr>().is_err() {
            return Err(not(local, "an address"));
        }
        write_value(self.value, as_path, hop, (address, asn), &mut self.routed)?;
        // Of updates, the last announcement counts.
        let (path_length, peer) = match kind {
            "=" => (path_length(as_path)?, index),
            _ => (0, 0),
        };
        self.rank = (PathRank::of_dump(hop.is_empty(), path_length), peer);
        self.prefixes.push_str(prefixes);
        Ok(())
    }
}

impl CandidatePaths for Bgpscanner {
    fn next_path(&mut self, value: &mut PathValue) -> Result<Option<PathCandidate>, ReadError> {
        loop {
            match self.next_prefix() {
                Some(Ok(prefix)) => {
                    value.text.clone_from(&self.routed);
                    return Ok(Some(PathCandidate {
                        prefix,
                        rank: self.rank,
                        flaw: flaw(self.rank.0, self.value, &self.lines),
                    }));
                }
                Some(Err(reason)) => return Err(self.lines.invalid(reason)),
                None => {}
            }
            self.prefixes.clear();
            self.at = 0;
            if !self.lines.advance()? {
                return Ok(None);
            }
            if self.lines.line().trim_ascii().is_empty() {
                continue;
            }
            if let Err(reason) = self.take() {
                return Err(self.lines.not_text_or(reason));
            }
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = note_left_out(self.withdrawals, "withdrawal", "");
        notes.extend(note_left_out(self.others, "line", " of other types"));
        notes
    }

    fn peers(&self) -> &[Peer] {
        self.peers.all()
    }
}
