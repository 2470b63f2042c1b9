//! The bytes of an image: header, section table, kinds of sections.
//!
//! docs/image-format.md describes the same in words. Nothing here reads beyond the
//! given slice, whatever the bytes are.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::error::{ImageError, MAJOR};

/// The first bytes of an image: a byte that no text contains, a name, and a line end, which
/// a transfer as text would change.
pub(super) const MAGIC: [u8; 8] = *b"\x89POPFIB\n";

/// Increased when kinds of sections are added, which older readers skip.
pub(super) const MINOR: u16 = 0;

/// Sections begin at multiples of this: a cache line, and enough for any key.
pub(super) const ALIGNMENT: usize = 64;

const HEADER_LEN: usize = 64;
const ENTRY_LEN: usize = 32;

/// Identifies a section: the table that it belongs to (0: the whole image), the width of its keys (0: all of the table), and
/// its kind. Sections are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SectionId {
    pub(super) table: u32,
    pub(super) key_bits: u16,
    pub(super) kind: u16,
}

/// What the image is, or where a table comes from (`metadata.rs`).
pub(super) const METADATA: u16 = 1;
/// How many records there are, which next hops are numbers of, in its first word, and their columns.
pub(super) const RECORDS: u16 = 4;
/// Rows of records, and from here on the dictionaries of columns. What they hold is the business of whoever reads records.
pub(super) const ROWS: u16 = 5;
pub(super) const DICTIONARIES: u16 = 64;
/// Of the first column: where each text ends.
pub(super) const TEXT_ENDS: u16 = 65;
/// The Fib that returns next hops.
pub(super) const FIB: FibKinds = FibKinds {
    description: 16,
    root: 17,
    arena: 18,
};
pub(super) const ROUTE_ADDRESSES: u16 = 32;
pub(super) const ROUTE_LENGTHS: u16 = 33;
pub(super) const ROUTE_NEXT_HOPS: u16 = 34;
/// The Fib of [longest matches](crate::longest), which returns next hops and lengths.
pub(super) const LONGEST_FIB: FibKinds = FibKinds {
    description: 48,
    root: 49,
    arena: 50,
};

/// The kinds of the three sections of a Fib.
#[derive(Clone, Copy)]
pub(super) struct FibKinds {
    pub(super) description: u16,
    pub(super) root: u16,
    pub(super) arena: u16,
}

impl SectionId {
    /// The name of the section in messages.
    pub(super) fn name(self) -> String {
        const PARTS: [&str; 4] = [
            "values",
            "ends of texts",
            "ends of lists",
            "elements of lists",
        ];
        let kind = match self.kind {
            METADATA => "metadata",
            RECORDS => "columns of the records",
            ROWS => "rows of the records",
            16 => "FIB description",
            17 => "FIB root table",
            18 => "FIB arena",
            ROUTE_ADDRESSES => "route addresses",
            ROUTE_LENGTHS => "route lengths",
            ROUTE_NEXT_HOPS => "route next hops",
            48 => "longest-match FIB description",
            49 => "longest-match FIB root table",
            50 => "longest-match FIB arena",
            _ => "",
        };
        let section = match (self.key_bits, self.kind) {
            (0, kind @ DICTIONARIES..) => {
                let (column, part) = ((kind - DICTIONARIES) / 4 + 1, (kind - DICTIONARIES) % 4);
                format!("{} of column {column}", PARTS[usize::from(part)])
            }
            (bits, number) if kind.is_empty() => {
                format!("section of kind {number}, {bits} bits")
            }
            (0, _) => kind.into(),
            (32, _) => format!("IPv4 {kind}"),
            (128, _) => format!("IPv6 {kind}"),
            (bits, _) => format!("{bits}-bit {kind}"),
        };
        // Most images have one table.
        match self.table {
            0 | 1 => section,
            table => format!("{section} of table {table}"),
        }
    }

    /// The error that there is no such section.
    pub(super) fn missing(self) -> ImageError {
        ImageError::Broken {
            offset: HEADER_LEN as u64,
            section: "section table".into(),
            reason: format!("no {}", self.name()),
        }
    }
}

/// An entry of the section table.
#[derive(Clone, Debug)]
pub(super) struct SectionEntry {
    pub(super) id: SectionId,
    pub(super) range: Range<usize>,
    checksum: u32,
}

impl SectionEntry {
    /// The error that something is wrong in this section, `at` bytes after its beginning.
    pub(super) fn broken(&self, at: usize, reason: impl Into<String>) -> ImageError {
        ImageError::Broken {
            offset: (self.range.start + at) as u64,
            section: self.id.name(),
            reason: reason.into(),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The header and section table of an image, and the place of each section.
pub(super) fn head(sections: &[(SectionId, &[u8])]) -> (Vec<u8>, Vec<Range<usize>>) {
    let mut table = Vec::with_capacity(sections.len() * ENTRY_LEN);
    let mut ranges = Vec::with_capacity(sections.len());
    let mut end = HEADER_LEN + sections.len() * ENTRY_LEN;
    for (id, content) in sections {
        let start = end.next_multiple_of(ALIGNMENT);
        end = start + content.len();
        ranges.push(start..end);
        table.extend(id.table.to_le_bytes());
        table.extend(id.key_bits.to_le_bytes());
        table.extend(id.kind.to_le_bytes());
        table.extend((start as u64).to_le_bytes());
        table.extend((content.len() as u64).to_le_bytes());
        table.extend(crc32fast::hash(content).to_le_bytes());
        table.extend([0; 4]);
    }
    let mut head = Vec::with_capacity(HEADER_LEN + table.len());
    head.extend(MAGIC);
    head.extend(MAJOR.to_le_bytes());
    head.extend(MINOR.to_le_bytes());
    head.extend((sections.len() as u32).to_le_bytes());
    head.extend((end as u64).to_le_bytes());
    head.extend(crc32fast::hash(&table).to_le_bytes());
    head.resize(HEADER_LEN - 4, 0);
    head.extend(crc32fast::hash(&head).to_le_bytes());
    head.extend(table);
    (head, ranges)
}

/// The section table of the image `bytes`; every section is inside the image.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<SectionEntry>, ImageError> {
    let broken = |offset, reason: &str| ImageError::Broken {
        offset,
        section: "header".into(),
        reason: reason.into(),
    };
    let given = bytes.len() as u64;
    if !bytes.starts_with(&MAGIC) {
        return Err(ImageError::NotAnImage);
    }
    if bytes.len() < HEADER_LEN {
        return Err(ImageError::Length {
            expected: HEADER_LEN as u64,
            given,
        });
    }
    // Before the checksum: another version may have another header.
    let (major, minor) = (u16_at(bytes, 8), u16_at(bytes, 10));
    if major != MAJOR {
        return Err(ImageError::Version { major, minor });
    }
    if crc32fast::hash(&bytes[..HEADER_LEN - 4]) != u32_at(bytes, HEADER_LEN - 4) {
        return Err(broken(0, "the checksum does not match"));
    }
    let expected = u64_at(bytes, 16);
    if expected != given {
        return Err(ImageError::Length { expected, given });
    }
    if bytes[28..HEADER_LEN - 4].iter().any(|byte| *byte != 0) {
        return Err(broken(28, "a reserved byte is not 0"));
    }
    let count = u32_at(bytes, 12) as usize;
    let table = count
        .checked_mul(ENTRY_LEN)
        .and_then(|len| bytes[HEADER_LEN..].get(..len))
        .ok_or_else(|| broken(12, "the section table is longer than the image"))?;
    if crc32fast::hash(table) != u32_at(bytes, 24) {
        return Err(broken(
            64,
            "the checksum of the section table does not match",
        ));
    }
    let mut entries: Vec<SectionEntry> = Vec::with_capacity(count);
    let mut end = HEADER_LEN + table.len();
    for (index, line) in table.chunks_exact(ENTRY_LEN).enumerate() {
        let id = SectionId {
            table: u32_at(line, 0),
            key_bits: u16_at(line, 4),
            kind: u16_at(line, 6),
        };
        let at = (HEADER_LEN + index * ENTRY_LEN) as u64;
        let broken = |reason: &str| ImageError::Broken {
            offset: at,
            section: format!("section table: {}", id.name()),
            reason: reason.into(),
        };
        let start = end.next_multiple_of(ALIGNMENT);
        if u64_at(line, 8) != start as u64 {
            return Err(broken("it does not begin where the section before it ends"));
        }
        end = usize::try_from(u64_at(line, 16))
            .ok()
            .and_then(|len| start.checked_add(len))
            .filter(|end| *end <= bytes.len())
            .ok_or_else(|| broken("it ends beyond the image"))?;
        if entries.last().is_some_and(|before| before.id >= id) {
            return Err(broken("sections are not in order"));
        }
        if u32_at(line, 28) != 0 {
            return Err(broken("a reserved byte is not 0"));
        }
        entries.push(SectionEntry {
            id,
            range: start..end,
            checksum: u32_at(line, 24),
        });
    }
    if end != bytes.len() {
        return Err(broken(16, "the image is longer than its sections"));
    }
    Ok(entries)
}

/// Verifies every byte after the section table: checksums, and zeros between sections.
pub(super) fn verify(bytes: &[u8], entries: &[SectionEntry]) -> Result<(), ImageError> {
    let mut end = HEADER_LEN + entries.len() * ENTRY_LEN;
    for entry in entries {
        if bytes[end..entry.range.start].iter().any(|byte| *byte != 0) {
            return Err(ImageError::Broken {
                offset: end as u64,
                section: format!("before {}", entry.id.name()),
                reason: "a byte between sections is not 0".into(),
            });
        }
        if crc32fast::hash(&bytes[entry.range.clone()]) != entry.checksum {
            return Err(entry.broken(0, "the checksum does not match"));
        }
        end = entry.range.end;
    }
    Ok(())
}

/// The description of a Fib: everything except its arrays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FibDescription {
    pub(super) root_bits: u8,
    pub(super) page_bits: u8,
    pub(super) value_bits: u8,
    /// 16 or 32: the bits that are enough for every answer.
    pub(super) answer_bits: u8,
    /// The direct bits that were requested; `None` if they were chosen by the number of routes.
    pub(super) asked_direct_bits: Option<u8>,
    pub(super) aggregation: bool,
    /// Whether the blocks that the root leads to, or of longer keys all, are flat.
    pub(super) is_flat: bool,
    pub(super) nodes: u64,
    pub(super) leaves: u64,
    pub(super) routes: u64,
    /// Different next hops of these routes.
    pub(super) next_hops: u64,
}

/// Means that no direct bits were requested.
const NONE: u8 = u8::MAX;

impl FibDescription {
    const LEN: usize = 40;

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::LEN);
        bytes.extend([
            self.root_bits,
            self.page_bits,
            self.value_bits,
            self.answer_bits,
            self.asked_direct_bits.unwrap_or(NONE),
            u8::from(self.aggregation),
            u8::from(self.is_flat),
            0,
        ]);
        for count in [self.nodes, self.leaves, self.routes, self.next_hops] {
            bytes.extend(count.to_le_bytes());
        }
        bytes
    }

    /// `None` if these bytes are not a description.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [
            root_bits,
            page_bits,
            value_bits,
            answer_bits,
            asked,
            aggregation @ (0 | 1),
            is_flat @ (0 | 1),
            0,
        ] = *bytes.first_chunk()?
        else {
            return None;
        };
        (bytes.len() == Self::LEN && matches!(answer_bits, 16 | 32)).then(|| Self {
            root_bits,
            page_bits,
            value_bits,
            answer_bits,
            asked_direct_bits: (asked != NONE).then_some(asked),
            aggregation: aggregation == 1,
            is_flat: is_flat == 1,
            nodes: u64_at(bytes, 8),
            leaves: u64_at(bytes, 16),
            routes: u64_at(bytes, 24),
            next_hops: u64_at(bytes, 32),
        })
    }
}
