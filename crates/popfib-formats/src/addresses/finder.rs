//! Finds the addresses in the lines of a block, or in the parts of them that were asked for: the text of a batch in, its rows and
//! addresses out.
//!
//! A line that is one dotted IPv4 address and nothing else, as all lines of a list are, is read 16
//! bytes at a time (`ipv4_line`); any other goes the way of [`find_address`]. Threads that work on
//! blocks of one source have clones of one finder, which count into one tally.

use std::net::IpAddr;
use std::sync::Arc;

use memchr::memchr;
use popfib::family::ByFamily;
use popfib_table::Ribs;

use super::batch::AddressBatch;
use super::find::find_address;
use super::ipv4_line::{self, WINDOW};
use super::json_path::{self, PathOutcome};
use super::options::{AddressOptions, AddressPick, ChosenPart, LinePart};
use super::tally::{BlockTally, PartsTally};

/// Finds the addresses in lines, or in parts of them, by the options.
#[derive(Clone, Debug)]
pub struct AddressFinder {
    parts: Vec<LinePart>,
    /// What is chosen in place of all of the line.
    chosen: ChosenPart,
    pick: AddressPick,
    not_in: Option<Arc<ByFamily<Ribs>>>,
    unmap: bool,
    comments: bool,
    /// Whether a cell may have several addresses, or a row several cells.
    has_cells: bool,
    tally: Arc<PartsTally>,
}

impl AddressFinder {
    pub(super) fn new(options: &AddressOptions) -> Self {
        let parts = match &options.parts[..] {
            [] => &[LinePart::Line],
            parts => parts,
        };
        Self {
            parts: parts.to_vec(),
            tally: Arc::new(PartsTally::new(parts.len())),
            ..Self::of_cells(options, parts.len())
        }
    }

    /// For rows of `cells` cells, which are handed to [`AddressFinder::find_cell`] one by one.
    pub(super) fn of_cells(options: &AddressOptions, cells: usize) -> Self {
        Self {
            parts: Vec::new(),
            chosen: ChosenPart::default(),
            pick: options.pick,
            not_in: options.not_in.clone(),
            unmap: options.unmap,
            comments: options.comments,
            has_cells: options.pick == AddressPick::All || cells > 1,
            tally: Arc::new(PartsTally::new(0)),
        }
    }

    /// Where to put the part that is chosen, for all clones.
    pub(super) fn chosen(&self) -> ChosenPart {
        self.chosen.clone()
    }

    /// For each part that was asked for, why no line of any block had it.
    pub(super) fn missing(&self) -> Vec<Option<String>> {
        self.tally.missing(&self.parts)
    }

    /// What lines of all blocks could not be looked at.
    pub(super) fn notes(&self) -> Vec<String> {
        self.tally.notes(&self.parts)
    }

    /// Cuts the text of `batch` into rows, and adds their addresses.
    pub fn find(&self, batch: &mut AddressBatch) {
        // Taken out of the batch, which the loop adds to, and put back at the end.
        let whole = std::mem::take(batch.text());
        let text = whole.bytes();
        // The usual case, for which the loop below has a shorter way: the first address of each line.
        let parts = self
            .chosen
            .get()
            .map_or(&self.parts[..], std::slice::from_ref);
        let is_first =
            parts == [LinePart::Line] && self.pick == AddressPick::Nth(1) && self.not_in.is_none();
        let mut tally = BlockTally::new(self.parts.len());
        let mut at = 0;
        while at < text.len() {
            if is_first
                && let Some(window) = text[at..].first_chunk::<WINDOW>()
                && let Some((bits, len)) = ipv4_line::address(window)
                && let Some(end) = match window[len..] {
                    [b'\n', ..] => Some(len),
                    [b'\r', b'\n', ..] => Some(len + 1),
                    _ => None,
                }
            {
                batch.push(IpAddr::V4(bits.into()));
                batch.push_row_at(at, at + end);
                at += end + 1;
                continue;
            }
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            batch.push_row_at(at, end);
            let line = match &text[at..end] {
                [b'#', ..] if self.comments => b"",
                line => line,
            };
            if is_first {
                batch.push(find_address(line, 0).map(|found| self.meant(found.address)));
            } else {
                self.find_parts(line, parts, batch, &mut tally);
            }
            at = end + 1;
        }
        self.tally.add(&tally);
        *batch.text() = whole;
    }

    /// The addresses of each part of a line, in the order of the parts; each part is a cell.
    fn find_parts(
        &self,
        line: &[u8],
        parts: &[LinePart],
        batch: &mut AddressBatch,
        tally: &mut BlockTally,
    ) {
        let (mut is_unread, mut is_short, mut is_several) = (false, false, false);
        for (index, part) in parts.iter().enumerate() {
            let mut picked = PickedAddresses::default();
            let mut look = |part: &[u8]| self.pick(part, &mut picked, batch);
            tally.has[index] |= match part {
                LinePart::Line => {
                    look(line);
                    true
                }
                LinePart::Field(number, delimiter) => match field(line, *number, *delimiter) {
                    Ok(field) => {
                        look(field);
                        true
                    }
                    Err(fields) => {
                        tally.fields = tally.fields.max(fields);
                        is_short = fields > 0;
                        false
                    }
                },
                LinePart::Path(path) => {
                    let mut count = 0;
                    let mut each = |range| {
                        count += 1;
                        look(&json_path::meant(&line[range]));
                    };
                    let read = json_path::values(line, path, &mut each);
                    is_several |= count > 1 && self.pick != AddressPick::All;
                    match read {
                        PathOutcome::Found => {}
                        PathOutcome::Absent => self.tally.keep(line),
                        // Nobody said that it is JSON.
                        PathOutcome::NotJson if self.chosen.get().is_some() => look(line),
                        PathOutcome::NotJson => is_unread = !line.trim_ascii().is_empty(),
                    }
                    read == PathOutcome::Found
                }
            };
            self.finish(picked, batch);
        }
        tally.unread += u64::from(is_unread);
        tally.short += u64::from(is_short);
        tally.several += u64::from(is_several);
    }

    /// The addresses of a cell, which is all that is looked at.
    pub(super) fn find_cell(&self, cell: &[u8], batch: &mut AddressBatch) {
        let mut picked = PickedAddresses::default();
        self.pick(cell, &mut picked, batch);
        self.finish(picked, batch);
    }

    /// Looks through a part of a line. All addresses go to the batch at once; the nth or the last is kept in `picked`, since a
    /// part may be in several pieces (a path that leads to several values).
    #[inline]
    fn pick(&self, part: &[u8], picked: &mut PickedAddresses, batch: &mut AddressBatch) {
        let mut at = 0;
        while let Some(found) = find_address(part, at) {
            at = found.range.end;
            let address = self.meant(found.address);
            if let Some(not_in) = &self.not_in
                && holds(not_in, address)
            {
                continue;
            }
            picked.seen += 1;
            match self.pick {
                AddressPick::Nth(n) if picked.seen < n => {}
                AddressPick::Nth(n) if picked.seen > n => return,
                AddressPick::Nth(_) | AddressPick::Last => picked.one = Some(address),
                AddressPick::All => {
                    batch.push(address);
                    picked.count += 1;
                }
            }
        }
    }

    /// Ends a cell: it has the address that was kept, those that were added, or none.
    fn finish(&self, mut picked: PickedAddresses, batch: &mut AddressBatch) {
        if let Some(address) = picked.one {
            batch.push(address);
            picked.count = 1;
        }
        if picked.count == 0 {
            batch.push(None);
        }
        if self.has_cells {
            batch.push_cell(picked.count);
        }
    }

    /// The address to look up for one that was found.
    #[inline]
    fn meant(&self, address: IpAddr) -> IpAddr {
        if self.unmap {
            address.to_canonical()
        } else {
            address
        }
    }
}

/// Apart, so that the loop over addresses stays as small as it is without such a list.
#[cold]
#[inline(never)]
fn holds(prefixes: &ByFamily<Ribs>, address: IpAddr) -> bool {
    popfib::by_family!(address, |address: A| A::of(prefixes)
        .lookup(address)
        .is_some())
}

/// What was found in a cell so far.
#[derive(Default)]
struct PickedAddresses {
    /// Addresses that were found, meant or not.
    seen: usize,
    /// Those that went to the batch.
    count: u32,
    /// The one that is meant, if it is one.
    one: Option<IpAddr>,
}

/// The text of the first value that `part` is in `line`, a JSON string with its quotes; for what
/// stands beside an address, such as a number of bytes.
pub fn line_part<'l>(line: &'l [u8], part: &LinePart) -> Option<&'l [u8]> {
    match part {
        LinePart::Line => Some(line),
        LinePart::Field(number, delimiter) => field(line, *number, *delimiter).ok(),
        LinePart::Path(path) => {
            let mut first = None;
            json_path::values(line, path, &mut |range| {
                first.get_or_insert(range);
            });
            first.map(|range| &line[range])
        }
    }
}

/// The field of this number, from 1; how many there are if there are fewer, 0 in a blank line.
fn field(line: &[u8], number: usize, delimiter: Option<u8>) -> Result<&[u8], usize> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Err(0);
    }
    match delimiter {
        Some(delimiter) => nth(line.split(|&byte| byte == delimiter), number),
        None => {
            let fields = line.split(|byte| matches!(byte, b' ' | b'\t'));
            nth(fields.filter(|field| !field.is_empty()), number)
        }
    }
}

/// The item of this number, from 1; how many there are if there are fewer.
fn nth<T>(items: impl Iterator<Item = T>, number: usize) -> Result<T, usize> {
    let mut count = 0;
    for item in items {
        count += 1;
        if count == number {
            return Ok(item);
        }
    }
    Err(count)
}
