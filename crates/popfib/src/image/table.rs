//! A table in an image: its name and sources, the families of its routes, and what their next hops stand for.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;

use super::error::ImageError;
use super::family::ImageFamily;
use super::format::{DICTIONARIES, METADATA, RECORDS, TEXT_ENDS, u32_at};
use super::memory::ImageArray;
use super::metadata::{self, Source};
use super::sections::{CommonChecks, Sections};
use crate::address::Address;
use crate::next_hop::{MAX_NEXT_HOP, NextHop};

/// A table in an [`Image`](crate::Image), whose memory it keeps: clones are cheap, and outlive the image.
#[derive(Clone, Debug)]
pub struct ImageTable(Arc<TableParts>);

#[derive(Debug)]
struct TableParts {
    sections: Sections,
    /// One `ImageFamily<A>` for each width of keys.
    families: Vec<Box<dyn Any + Send + Sync>>,
    metadata: ImageArray<u8>,
    names: Option<ImageNextHopNames>,
}

impl ImageTable {
    /// The table of these sections.
    ///
    /// # Safety
    /// Unless `sections.validate` is true, they are what an `ImageWriter` has written.
    pub(super) unsafe fn read(
        mut sections: Sections,
        checks: &mut CommonChecks,
    ) -> Result<Self, ImageError> {
        let names = match sections.find((0, RECORDS)) {
            None => None,
            Some(_) => {
                let (entry, head) = sections.get((0, RECORDS))?;
                if head.len() < 4 {
                    return Err(entry.broken(0, "it is malformed"));
                }
                let (count, are_names) = (u32_at(head, 0), ImageNextHopNames::are_there(head));
                let is_common = entry.id.table == 0;
                let is_verified = is_common && core::mem::replace(&mut checks.names, true);
                sections.max_next_hop = count.min(MAX_NEXT_HOP);
                are_names
                    .then(|| ImageNextHopNames::read(&sections, is_verified))
                    .transpose()?
            }
        };
        metadata::check(&sections)?;
        let metadata = sections.array((0, METADATA))?;
        let mut families = Vec::new();
        // SAFETY: the caller's, or it is validated.
        unsafe {
            add_family::<u32>(&sections, checks, &mut families)?;
            add_family::<u128>(&sections, checks, &mut families)?;
            // Readers of addresses skip other keys, and so does WebAssembly, where code is fetched before it runs. All are to take
            // the same images, so damaged routes of such keys are none.
            if !cfg!(target_family = "wasm") {
                add_family::<u8>(&sections, checks, &mut families).ok();
                add_family::<u16>(&sections, checks, &mut families).ok();
                add_family::<u64>(&sections, checks, &mut families).ok();
            }
        }
        Ok(Self(Arc::new(TableParts {
            sections,
            families,
            metadata,
            names,
        })))
    }

    /// The name of the table, by which it is found in the image.
    pub fn name(&self) -> &str {
        metadata::name(&self.0.metadata)
    }

    /// Where its routes and records come from.
    pub fn sources(&self) -> Vec<Source> {
        metadata::sources(&self.0.metadata)
    }

    /// The routes for keys of type `A` (`u32` is IPv4, `u128` IPv6), if there are any. Damaged ones of other keys than addresses
    /// are none.
    pub fn family<A: Address>(&self) -> Option<&ImageFamily<A>> {
        self.0
            .families
            .iter()
            .find_map(|family| family.downcast_ref())
    }

    /// The name of a next hop, which is its record if that is one text; `None` if it has none. Constant time.
    pub fn next_hop_name(&self, next_hop: NextHop) -> Option<&str> {
        self.0.names.as_ref()?.get(next_hop)
    }

    /// The number of next hops that have names, which is also the highest of these next
    /// hops; `None` for a table without names.
    pub fn name_count(&self) -> Option<u32> {
        self.0.names.as_ref().map(ImageNextHopNames::len)
    }

    /// How many records there are, which next hops are numbers of; `None` for a table without. Whether they are sound is for
    /// whoever reads [their sections](Self::record_section) to verify.
    pub fn record_count(&self) -> Option<u32> {
        Some(u32_at(self.record_section(RECORDS)?, 0))
    }

    /// Whether it has its records in common with other tables of the image: a next hop is the same record in all of these.
    pub fn has_common_records(&self) -> bool {
        let entry = self.0.sections.find((0, RECORDS));
        entry.is_some_and(|entry| entry.id.table == 0)
    }

    /// The section of this kind that is about records: 4 their columns, 5 their rows, from 64 on
    /// the columns' dictionaries (docs/image-format.md).
    pub fn record_section(&self, kind: u16) -> Option<&[u8]> {
        Some(self.0.sections.get((0, kind)).ok()?.1)
    }

    /// The error that something is wrong in [such a section](Self::record_section), `at` bytes after its beginning.
    pub fn broken_record(&self, kind: u16, at: usize, reason: &str) -> ImageError {
        match self.0.sections.expect((0, kind)) {
            Ok(entry) => entry.broken(at, reason),
            Err(error) => error,
        }
    }

    /// The length in bytes of the image that the table keeps.
    pub fn image_bytes(&self) -> usize {
        self.0.sections.memory.bytes().len()
    }
}

/// Adds the routes for keys of type `A`, if there are any.
///
/// # Safety
/// Unless `sections.validate` is true, they are what an `ImageWriter` has written.
unsafe fn add_family<A: Address>(
    sections: &Sections,
    checks: &mut CommonChecks,
    families: &mut Vec<Box<dyn Any + Send + Sync>>,
) -> Result<(), ImageError> {
    // SAFETY: the caller's.
    if let Some(family) = unsafe { ImageFamily::<A>::read(sections, checks)? } {
        families.push(Box::new(family));
    }
    Ok(())
}

/// The names of next hops, one after the other: the texts of the only column of records without rows.
#[derive(Debug)]
struct ImageNextHopNames {
    /// Where each name ends in `text`.
    ends: ImageArray<u32>,
    text: ImageArray<u8>,
}

impl ImageNextHopNames {
    /// Whether records are names, by the description of their columns: one column, no rows; of texts, without lists.
    fn are_there(head: &[u8]) -> bool {
        head.len() >= 32
            && (u32_at(head, 4), u32_at(head, 8)) == (1, 0)
            && (head[16], head[17]) == (1, 0)
    }

    fn read(sections: &Sections, is_verified: bool) -> Result<Self, ImageError> {
        let names = Self {
            ends: sections.array((0, TEXT_ENDS))?,
            text: sections.array((0, DICTIONARIES))?,
        };
        let entry = sections.expect((0, TEXT_ENDS))?;
        if names.ends.len() as u64 != u64::from(sections.max_next_hop) {
            return Err(entry.broken(0, "it has another length than its column says"));
        }
        if !sections.validate || is_verified {
            return Ok(names);
        }
        let Ok(text) = core::str::from_utf8(&names.text) else {
            return Err(entry.broken(0, "the texts are not UTF-8"));
        };
        let mut last = 0;
        for (index, end) in names.ends.iter().enumerate() {
            if *end < last || !text.is_char_boundary(*end as usize) {
                return Err(entry.broken(4 * index, "a text does not end after its beginning"));
            }
            last = *end;
        }
        if last as usize != text.len() {
            return Err(entry.broken(0, "text follows after the last one"));
        }
        Ok(names)
    }

    fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    fn get(&self, next_hop: NextHop) -> Option<&str> {
        let index = next_hop.get() as usize - 1;
        let end = *self.ends.get(index)? as usize;
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        // Checked each time, since a trusted image was not validated; names are short.
        core::str::from_utf8(self.text.get(start..end)?).ok()
    }
}
