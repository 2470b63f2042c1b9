//! The sections of one table.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::error::ImageError;
use super::format::{DICTIONARIES, FIB, LONGEST_FIB, RECORDS, ROWS, SectionEntry, SectionId};
use super::memory::{ImageArray, ImageMemory};
use crate::fib::arrays::FibWord;
use crate::fib::check::SharedArena;

/// The sections of a table, or those of the image itself.
#[derive(Debug)]
pub(super) struct Sections {
    pub(super) memory: Arc<ImageMemory>,
    /// The number of the table; 0 is the image.
    pub(super) table: u32,
    /// In ascending order.
    pub(super) entries: Vec<SectionEntry>,
    /// Those of the image itself, of which tables may have some in common.
    pub(super) common: Arc<[SectionEntry]>,
    /// The highest allowed next hop.
    pub(super) max_next_hop: u32,
    /// Whether to verify more than the places of the sections.
    pub(super) validate: bool,
}

impl Sections {
    /// The place of the section for keys of this width (0: of the whole table) and of this kind.
    pub(super) fn find(&self, id @ (key_bits, kind): (u16, u16)) -> Option<&SectionEntry> {
        let has = |kind| find_in(&self.entries, kind).is_some();
        let own = find_in(&self.entries, id);
        // What a table may have in common with others: its records, and arenas of its Fibs.
        let is_common = !has((0, RECORDS))
            && match (key_bits, kind) {
                (0, RECORDS | ROWS | DICTIONARIES..) => true,
                _ if own.is_some() => false,
                _ if kind == FIB.arena => has((key_bits, FIB.description)),
                _ if kind == LONGEST_FIB.arena => has((key_bits, LONGEST_FIB.description)),
                _ => false,
            };
        match is_common {
            true => find_in(&self.common, id),
            false => own,
        }
    }

    /// Whether there is any section of these kinds: of kinds that belong together all are then needed.
    pub(super) fn any(&self, key_bits: u16, kinds: [u16; 3]) -> bool {
        (kinds.iter()).any(|&kind| self.find((key_bits, kind)).is_some())
    }

    pub(super) fn expect(&self, id: (u16, u16)) -> Result<&SectionEntry, ImageError> {
        self.find(id).ok_or_else(|| self.missing(id))
    }

    /// The error that there is no such section.
    pub(super) fn missing(&self, (key_bits, kind): (u16, u16)) -> ImageError {
        let table = self.table;
        let id = SectionId {
            table,
            key_bits,
            kind,
        };
        id.missing()
    }

    pub(super) fn get(&self, id: (u16, u16)) -> Result<(&SectionEntry, &[u8]), ImageError> {
        let entry = self.expect(id)?;
        Ok((entry, &self.memory.bytes()[entry.range.clone()]))
    }

    /// The array of integers of a section.
    pub(super) fn array<T: Integer>(&self, id: (u16, u16)) -> Result<ImageArray<T>, ImageError> {
        let entry = self.expect(id)?;
        // SAFETY: every pattern of bits is an integer.
        unsafe { ImageArray::new(&self.memory, entry.range.clone()) }
            .ok_or_else(|| entry.broken(0, "its length is no multiple of an element's"))
    }
}

fn find_in(entries: &[SectionEntry], id: (u16, u16)) -> Option<&SectionEntry> {
    let index = entries.binary_search_by_key(&id, |entry| (entry.id.key_bits, entry.id.kind));
    Some(&entries[index.ok()?])
}

/// What was verified of the sections that tables have in common.
#[derive(Debug, Default)]
pub(super) struct CommonChecks {
    pub(super) names: bool,
    /// By key width and kind: two of each at most.
    pub(super) arenas: Vec<((u16, u16), SharedArena)>,
}

impl CommonChecks {
    pub(super) fn arena(&mut self, id: (u16, u16)) -> &mut SharedArena {
        let known = self.arenas.iter().position(|(other, _)| *other == id);
        let at = known.unwrap_or_else(|| {
            self.arenas.push((id, SharedArena::default()));
            self.arenas.len() - 1
        });
        &mut self.arenas[at].1
    }
}

/// The element types of the arrays of an image.
pub(super) trait Integer {}
impl Integer for u8 {}
impl Integer for u32 {}
impl Integer for FibWord {}
