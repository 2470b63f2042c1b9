//! All paths of tables in, a file out, and back: after a restart, tables begin with what they had.
//!
//! The file is a text table, which other commands can read, too: each line is a route with its next hop as value, and comments
//! contain the rest.
//!
//! ```text
//! # popfibd snapshot 1
//! #{"source":{"feed":"BMP 192.0.2.1","table":"pre-policy","peer":"192.0.2.9"}}
//! #{"path":"04500300...."}
//! 10.0.0.0/8  192.0.2.9  # 0 0 0
//! #{"end":1}
//! ```
//!
//! Sources and values are written before the first route that uses them, and are numbered in this order, from 0 on. After the
//! `#` of a route are the numbers of its value and source, and the path identifier. The last line has the number of routes, so
//! a truncated file is recognised. Restored paths are stale until their feeds announce them again, as after a lost connection.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::mem;
use std::ops::Bound;
use std::time::Instant;

use popfib::family::{ByFamily, Family, PerFamily};
use popfib::{Address, IpPrefix, Prefix};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Limits, Stream, Tables};
use crate::family_paths::{FamilyPaths, PathPosition, StoredPath};
use crate::freshness::PathStatus;
use crate::netlink_hops::NetlinkHops;
use crate::table_view::BestPathChangeOf;
use crate::target::Target;
use crate::target_book::TargetKind;

const FIRST: &str = "# popfibd snapshot 1";

/// The maximum length of a line: names and paths are much shorter.
const MAX_LINE: u64 = 1 << 20;

/// The content of a comment line.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum SnapshotComment {
    Source {
        feed: String,
        table: String,
        peer: String,
    },
    Name(String),
    /// Packed attributes, in hexadecimal.
    Path(String),
    Hops(NetlinkHops),
    End(u64),
}

/// Writes all paths of [`Tables`] in parts, so that the tables can change in between: each path that is written existed
/// at some time during the writing.
#[derive(Default)]
pub struct Snapshot {
    /// The current position: table, whether it is done, family, path.
    table: Option<String>,
    is_done: bool,
    is_ipv6: bool,
    after: ByFamily<PositionsByFamily>,
    /// The paths that were taken and not yet written.
    taken: Vec<SnapshotPath>,
    sources: Vec<SnapshotComment>,
    /// By the number of a source and its serial number, since numbers are used again.
    source_numbers: BTreeMap<(u16, u64), usize>,
    /// The number of each value, and its word in a text table.
    values: HashMap<Target, (usize, Box<str>)>,
    text: String,
    written: u64,
}

/// Makes [`ByFamily`] the position in each family of a table.
enum PositionsByFamily {}

impl PerFamily for PositionsByFamily {
    type Of<A: Family> = PathPosition<A>;
}

/// A path that was taken, and is to be written.
struct SnapshotPath {
    prefix: IpPrefix,
    source: usize,
    id: u32,
    target: Target,
}

impl Snapshot {
    /// Whether a file that begins like this is a snapshot.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_one(from: &mut impl BufRead) -> io::Result<bool> {
        let mut line = Vec::new();
        io::Read::take(from, FIRST.len() as u64 + 1).read_until(b'\n', &mut line)?;
        Ok(line.strip_suffix(b"\n") == Some(FIRST.as_bytes()))
    }

    /// Begins a snapshot.
    pub fn new() -> Self {
        Self {
            text: format!("{FIRST}\n"),
            ..Self::default()
        }
    }

    /// Takes about `count` paths, the next ones. Returns false after the last. O(paths taken).
    ///
    /// Paths that are gone are left out: after a restart they would be stale, and answer again.
    pub fn take(&mut self, tables: &mut Tables, count: usize) -> bool {
        let begin = match (&self.table, self.is_done) {
            (None, _) => Bound::Unbounded,
            (Some(table), true) => Bound::Excluded(table.as_str()),
            (Some(table), false) => Bound::Included(table.as_str()),
        };
        let mut names = tables
            .table_names
            .range::<str, _>((begin, Bound::Unbounded));
        let Some((name, &number)) = names.next() else {
            return false;
        };
        if self.is_done || self.table.as_ref() != Some(name) {
            self.table = Some(name.clone());
            (self.is_ipv6, self.after) = (false, ByFamily::default());
        }
        let is_end = match self.is_ipv6 {
            false => self.walk::<u32>(tables, number, count),
            true => self.walk::<u128>(tables, number, count),
        };
        self.is_done = is_end && self.is_ipv6;
        self.is_ipv6 |= is_end;
        true
    }

    /// Takes paths of one table and family; returns whether the last is taken.
    fn walk<A: Family>(&mut self, tables: &mut Tables, number: usize, count: usize) -> bool {
        let after = A::of_mut(&mut self.after);
        let paths = &mut A::of_mut(&mut tables.tables.at_mut(number).families).paths;
        let take = |prefix: Prefix<A>, path: &StoredPath| {
            let source = tables.sources.at(path.source.into());
            if A::of(&source.freshness).status(path.generation) != PathStatus::Gone {
                let next = self.source_numbers.len();
                let key = (path.source, source.serial);
                let number = *self.source_numbers.entry(key).or_insert_with(|| {
                    self.sources.push(SnapshotComment::Source {
                        feed: tables.feeds.at(source.feed).name.clone(),
                        table: source.name.table.clone(),
                        peer: source.name.peer.clone(),
                    });
                    next
                });
                self.taken.push(SnapshotPath {
                    prefix: A::ip_prefix(prefix),
                    source: number,
                    id: path.id,
                    target: path.target.clone(),
                });
            }
            true
        };
        // Removes nothing: it is used because this walk can be interrupted.
        *after = paths.retain_some(after.take(), count, take, |_, _| {});
        after.is_none()
    }

    /// Writes the paths that were taken.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write(&mut self, to: &mut impl Write) -> io::Result<()> {
        for source in mem::take(&mut self.sources) {
            self.write_comment(&source);
        }
        for taken in mem::take(&mut self.taken) {
            let SnapshotPath { prefix, target, .. } = &taken;
            if !self.values.contains_key(target) {
                let value = (self.values.len(), first_word(target));
                self.values.insert(target.clone(), value);
                self.write_comment(&comment_of(target));
            }
            let (number, hop) = &self.values[target];
            let source = taken.source;
            // Writing to a String cannot fail.
            let _ = writeln!(
                self.text,
                "{prefix}\t{hop}\t# {number} {source} {}",
                taken.id
            );
            self.written += 1;
            if self.text.len() > 1 << 16 {
                to.write_all(self.text.as_bytes())?;
                self.text.clear();
            }
        }
        to.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Writes the end. Returns the number of paths written.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn finish(mut self, to: &mut impl Write) -> io::Result<u64> {
        self.write_comment(&SnapshotComment::End(self.written));
        self.write(to)?;
        Ok(self.written)
    }

    fn write_comment(&mut self, comment: &SnapshotComment) {
        let json = serde_json::to_string(comment).expect("strings and numbers");
        let _ = writeln!(self.text, "#{json}");
    }
}

/// The comment line that describes a value.
fn comment_of(target: &Target) -> SnapshotComment {
    match target.kind() {
        TargetKind::Path(bytes) => {
            let mut hex = String::with_capacity(bytes.len() * 2);
            for byte in bytes {
                let _ = write!(hex, "{byte:02x}");
            }
            SnapshotComment::Path(hex)
        }
        TargetKind::Name(name) => SnapshotComment::Name(name.into()),
        TargetKind::Object(id, objects) => SnapshotComment::Hops(objects.hops(id)),
        TargetKind::Hops(hops) => SnapshotComment::Hops(hops),
    }
}

/// The value in the text table: the first word of the target.
fn first_word(target: &Target) -> Box<str> {
    let text = target.to_string();
    let is_end = |char: char| char.is_whitespace() || [',', '#', ';'].contains(&char);
    let word = text.split(is_end).next().unwrap_or_default();
    if word.is_empty() { "-" } else { word }.into()
}

/// Why a file cannot be restored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The file is not a snapshot, and should not be overwritten.
    #[error("not a snapshot of popfibd")]
    Other,
    /// The snapshot is damaged.
    #[error("line {line}: {reason}")]
    Damaged {
        /// The number of the line, from 1 on.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
}

/// What has been read of a snapshot so far.
struct SnapshotReader<'k> {
    tables: Tables,
    keeps: &'k dyn Fn(&str) -> bool,
    now: Instant,
    /// `None` for a source that is left out.
    sources: Vec<Option<u16>>,
    values: Vec<Target>,
    routes: u64,
    end: Option<u64>,
}

impl Tables {
    /// Reads tables from a [`Snapshot`], without the feeds for whose names `keeps` returns false. Readers see all of it at
    /// once. Each value is [restored](Target::is_restored) until its feed announces it again; routes that are not
    /// announced again after the feed has connected are removed as after a lost connection. O(size of the snapshot).
    ///
    /// # Errors
    /// [`SnapshotError`].
    pub fn restore(
        limits: Limits,
        from: &mut impl BufRead,
        keeps: &dyn Fn(&str) -> bool,
        now: Instant,
    ) -> Result<Self, SnapshotError> {
        let mut reader = SnapshotReader {
            tables: Self::new(limits),
            keeps,
            now,
            sources: Vec::new(),
            values: Vec::new(),
            routes: 0,
            end: None,
        };
        let mut bytes = Vec::new();
        let mut number = 0;
        loop {
            bytes.clear();
            let read = io::Read::take(&mut *from, MAX_LINE).read_until(b'\n', &mut bytes)?;
            number += 1;
            let line = bytes.strip_suffix(b"\n");
            let line = line.and_then(|line| str::from_utf8(line).ok());
            if number == 1 && line != Some(FIRST) {
                return Err(SnapshotError::Other);
            }
            let done = match line {
                _ if number == 1 => Ok(()),
                _ if read == 0 => break,
                None => Err("not a line of text".to_owned()),
                Some(_) if reader.end.is_some() => Err("text follows after the end".to_owned()),
                Some(line) => match line.strip_prefix('#') {
                    Some(comment) => reader.read_comment(comment),
                    None => reader.route(line),
                },
            };
            done.map_err(|reason| SnapshotError::Damaged {
                line: number,
                reason,
            })?;
        }
        if reader.end != Some(reader.routes) {
            return Err(SnapshotError::Damaged {
                line: number,
                reason: "it was cut off".to_owned(),
            });
        }
        let mut tables = reader.tables;
        for number in 0..tables.sources.places() as u32 {
            let number = number as u16;
            tables.edit_both(number, |freshness| {
                freshness.connected(now);
                freshness.disconnected();
            });
            tables.free_source(number);
        }
        let mut bytes = 0;
        for (number, table) in tables.tables.iter_mut() {
            let ByFamily { ipv4, ipv6 } = &mut table.families;
            bytes += ipv4.paths.bytes() + ipv6.paths.bytes();
            ipv4.waiting = best(ipv4);
            ipv6.waiting = best(ipv6);
            tables.waiting_count += ipv4.waiting.len() + ipv6.waiting.len();
            table.is_changed = true;
            tables.changed.push_back(number);
        }
        tables.budget.change(0, bytes);
        tables.waiting = Some(now);
        tables.publish(now, false);
        Ok(tables)
    }
}

impl SnapshotReader<'_> {
    fn read_comment(&mut self, json: &str) -> Result<(), String> {
        let wrong = |error: serde_json::Error| error.to_string();
        let target = match serde_json::from_str(json).map_err(wrong)? {
            SnapshotComment::End(end) => {
                self.end = Some(end);
                return Ok(());
            }
            SnapshotComment::Source { feed, table, peer } => {
                let source = (self.keeps)(&feed).then(|| {
                    let feed = self.tables.feed(&feed, self.now);
                    self.tables
                        .add_source(feed, &Stream { table, peer }, 0, self.now)
                });
                self.sources.push(source.flatten());
                return Ok(());
            }
            SnapshotComment::Name(name) if name.contains(char::is_control) => {
                return Err("a name with control characters".to_owned());
            }
            SnapshotComment::Name(name) => Target::name(&name),
            SnapshotComment::Path(hex) => Target::path(&bytes(&hex).ok_or("not hexadecimal")?)?,
            SnapshotComment::Hops(hops) => Target::hops(hops),
        };
        self.values.push(target.restored());
        Ok(())
    }

    fn route(&mut self, line: &str) -> Result<(), String> {
        let wrong = || "not a route, as a snapshot has them".to_owned();
        let (route, numbers) = line.split_once("\t# ").ok_or_else(wrong)?;
        let prefix = route.split('\t').next().ok_or_else(wrong)?;
        let prefix = prefix.parse::<IpPrefix>().map_err(|_| wrong())?;
        let mut numbers = numbers.split(' ');
        let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
        let (Some(value), Some(source), Some(id)) = (next(), next(), next()) else {
            return Err(wrong());
        };
        let target = self.values.get(value as usize);
        let target = target.ok_or("there is no such value")?.clone();
        let source = self.sources.get(source as usize);
        let source = *source.ok_or("there is no such source")?;
        self.routes += 1;
        let Some(source) = source else { return Ok(()) };
        popfib::by_family!(prefix, |prefix| self.keep(prefix, source, id, target));
        Ok(())
    }

    fn keep<A: Family>(&mut self, prefix: Prefix<A>, source: u16, id: u32, target: Target) {
        let tables = &mut self.tables;
        if tables.totals.paths >= tables.limits.max_paths {
            tables.totals.refused += 1;
            return;
        }
        let at = tables.sources.at(source.into());
        let Some(generation) = A::of(&at.freshness).current() else {
            return;
        };
        let paths = &mut A::of_mut(&mut tables.tables.at_mut(at.table).families).paths;
        let before = paths.path_count();
        let _ = paths.announce(
            prefix,
            StoredPath {
                target,
                source,
                generation,
                id,
            },
        );
        if paths.path_count() > before {
            tables.edit::<A>(source, |freshness| freshness.announced(None));
        }
    }
}

/// The best paths.
fn best<A: Address>(family: &FamilyPaths<A>) -> Vec<BestPathChangeOf<A>> {
    let mut routes: Vec<BestPathChangeOf<A>> = Vec::with_capacity(family.paths.len());
    for (prefix, path) in family.paths.iter() {
        if routes.last().is_none_or(|(last, _)| *last != prefix) {
            routes.push((prefix, Some(path.target.clone())));
        }
    }
    routes
}

/// The bytes of a hexadecimal number.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    };
    pairs.map(byte).collect()
}
