//! Images: files of compiled tables, which lookups use without unpacking them.
//!
//! An [`ImageWriter`] compiles Ribs and arranges them as sections (`format.rs`). An
//! [`Image`] has the same bytes in memory (`memory.rs`), validates them (`table.rs`),
//! and has Fibs that point into them. docs/image-format.md describes the bytes.

mod error;
mod format;
mod memory;
#[cfg(feature = "std")]
mod save;
mod table;
mod write;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
#[cfg(feature = "std")]
use std::{fs::File, path::Path};

use crate::address::Address;
use crate::next_hop::NextHop;
use format::{
    DICTIONARIES, Entry, NAME_ENDS, NAMES, PROVENANCE, RECORDS, ROWS, SectionId, u32_at, u64_at,
};
use memory::{Array, Memory};
use table::Sections;

pub use error::ImageError;
pub use table::ImageTable;
pub use write::{ImageWriter, Keep};

/// Compiled tables of any families, the names of their next hops, and their source, in one piece of memory.
///
/// Images are made by [`ImageWriter`]. There are several ways to use one:
///
/// | | memory | validated | lookups |
/// |---|---|---|---|
/// | [`Image::open`], [`Image::from_bytes`] | a copy in this process, on huge pages | yes | as fast as a compiled Fib |
/// | [`Image::map`] | the file's own pages, shared by all processes | yes | slower because of TLB misses |
/// | [`Image::map_trusted`] | as `map` | no | as `map` |
/// | [`Image::from_static`] | the caller's | yes | depend on that memory |
/// | [`Image::from_static_trusted`] | as `from_static` | no | as `from_static` |
///
/// Validation reads every byte. It checks the checksums, every index of the Fibs
/// ([`Fib::check`](crate::Fib::check)), that next hops have names, and that routes are in
/// order. So whatever the bytes are, no lookup reads outside the image. Validation
/// does not check whether Fib and routes agree; `popfib verify` does.
///
/// All later readers of this major version can read an image of it:
/// they skip sections that they do not know.
///
/// ```
/// use popfib::{Image, ImageWriter, Keep, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// let mut writer = ImageWriter::new("an example", 0);
/// writer.names(["east"])?;
/// writer.table(&rib, &Options::default(), Keep::Routes)?;
///
/// let image = Image::from_bytes(&writer.to_bytes())?;
/// let table = image.table::<u32>().unwrap();
/// assert_eq!(table.lookup(0x0a01_0203), 1);
/// let (prefix, next_hop) = table.longest_match(0x0a01_0203).unwrap();
/// assert_eq!(prefix.to_string(), "10.0.0.0/8");
/// assert_eq!(image.name(next_hop), Some("east"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Image {
    memory: Arc<Memory>,
    /// One `ImageTable<A>` for each width of keys.
    tables: Vec<Box<dyn Any + Send + Sync>>,
    names: Option<Names>,
    /// The sections of records.
    record_entries: Vec<Entry>,
    source: String,
    writer: String,
    created: u64,
}

impl Image {
    /// The first bytes of every image.
    pub const MAGIC: [u8; 8] = format::MAGIC;

    /// Opens the image in `bytes` after copying them. O(bytes) time and memory.
    ///
    /// # Errors
    /// [`ImageError`] for bytes that an [`ImageWriter`] would not have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ImageError> {
        // SAFETY: it is validated.
        unsafe { Self::new(Memory::copy_of(bytes), true) }
    }

    /// Opens the image in `bytes` without copying them: data that is linked into the program,
    /// or memory that processes share.
    ///
    /// Bytes whose address is not a multiple of 64 are copied.
    ///
    /// # Errors
    /// As [`Image::from_bytes`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, ImageError> {
        // SAFETY: it is validated.
        unsafe { Self::new(Memory::lent(bytes), true) }
    }

    /// Like [`Image::from_static`], but without validation, like [`Image::map_trusted`].
    ///
    /// # Errors
    /// Those of [`Image::from_static`] that come from the header and the places of the sections.
    ///
    /// # Safety
    /// The bytes are those that an [`ImageWriter`] has written. With any other bytes, lookups
    /// may read anywhere in memory.
    pub unsafe fn from_static_trusted(bytes: &'static [u8]) -> Result<Self, ImageError> {
        // SAFETY: the caller's.
        unsafe { Self::new(Memory::lent(bytes), false) }
    }

    /// Reads the image in the file at `path` into memory of this process.
    ///
    /// Needs as much memory as the file is long. Later changes of the file
    /// have no effect on the image.
    ///
    /// # Errors
    /// [`ImageError`] if the file cannot be read, is not an image, or is damaged.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        let memory = Memory::read(File::open(path)?)?;
        // SAFETY: it is validated.
        unsafe { Self::new(memory, true) }
    }

    /// Maps the image in the file at `path`: all processes that map it share one copy
    /// in the system's page cache.
    ///
    /// The image is validated as by [`Image::open`]. [`ImageWriter::save`] never writes to an
    /// existing file, but replaces it with a new one: mapped images
    /// keep the old file.
    ///
    /// # Errors
    /// As [`Image::open`].
    ///
    /// # Safety
    /// Nobody writes to this file while the image, or a clone of one of its Fibs,
    /// lives: otherwise lookups would use bytes that were not validated. (If the file
    /// is truncated, the signal SIGBUS ends the process.)
    #[cfg(feature = "std")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        // SAFETY: the caller's; and it is validated.
        unsafe { Self::new(Memory::map(&File::open(path)?)?, true) }
    }

    /// Like [`Image::map`], but without validation: for images that the caller has made.
    ///
    /// The time does not depend on the size of the tables. Only the header and the
    /// places of the sections are checked.
    ///
    /// # Errors
    /// Those of [`Image::open`] that come from the header and the places of the sections.
    ///
    /// # Safety
    /// The file is unchanged since an [`ImageWriter`] has written it: with any other bytes,
    /// lookups may read anywhere in memory. The conditions of [`Image::map`] apply, too.
    #[cfg(feature = "std")]
    pub unsafe fn map_trusted(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        // SAFETY: the caller's.
        unsafe { Self::new(Memory::map(&File::open(path)?)?, false) }
    }

    /// # Safety
    /// Unless `validate` is true, the memory contains what an `ImageWriter` has written.
    unsafe fn new(memory: Memory, validate: bool) -> Result<Self, ImageError> {
        if cfg!(target_endian = "big") {
            return Err(ImageError::BigEndianHost);
        }
        let memory = Arc::new(memory);
        let entries = format::parse(memory.bytes())?;
        if validate {
            format::verify(memory.bytes(), &entries)?;
        }
        let mut sections = Sections {
            memory: Arc::clone(&memory),
            entries,
            max_next_hop: u32::MAX >> 1,
            validate,
        };
        let names = Names::read(&sections)?;
        let records = record_count(&sections)?;
        if let (Some(_), Some(_)) = (&names, records) {
            let entry = sections
                .get(SectionId {
                    key_bits: 0,
                    kind: RECORDS,
                })?
                .0;
            return Err(entry.broken(0, "there are names, too"));
        }
        if let Some(count) = names.as_ref().map(Names::len).or(records) {
            sections.max_next_hop = count;
        }
        let (created, writer, source) = provenance(&sections)?;
        let is_record = |entry: &&Entry| {
            entry.id.key_bits == 0 && matches!(entry.id.kind, RECORDS | ROWS | DICTIONARIES..)
        };
        let record_entries = sections.entries.iter().filter(is_record).cloned().collect();
        let mut tables = Vec::new();
        // SAFETY: the caller's, or it is validated.
        unsafe {
            add_table::<u32>(&sections, &mut tables)?;
            add_table::<u128>(&sections, &mut tables)?;
            // To WebAssembly, where code is fetched before it runs, other keys than addresses are unknown.
            if !cfg!(target_family = "wasm") {
                add_table::<u8>(&sections, &mut tables)?;
                add_table::<u16>(&sections, &mut tables)?;
                add_table::<u64>(&sections, &mut tables)?;
            }
        }
        Ok(Self {
            memory,
            tables,
            names,
            record_entries,
            source,
            writer,
            created,
        })
    }

    /// The table for keys of type `A` (`u32` is IPv4, `u128` IPv6), if there is one.
    pub fn table<A: Address>(&self) -> Option<&ImageTable<A>> {
        self.tables.iter().find_map(|table| table.downcast_ref())
    }

    /// The name of a next hop; `None` if it has none. Constant time.
    pub fn name(&self, next_hop: NextHop) -> Option<&str> {
        self.names.as_ref()?.get(next_hop)
    }

    /// The number of next hops that have names, which is also the highest of these next
    /// hops; `None` for an image without names.
    pub fn name_count(&self) -> Option<u32> {
        self.names.as_ref().map(Names::len)
    }

    /// How many records there are, which next hops are numbers of; `None` for an image without. Whether they are sound is for
    /// who reads [their sections](Self::record_section) to verify.
    pub fn record_count(&self) -> Option<u32> {
        Some(u32_at(self.record_section(RECORDS)?, 0))
    }

    /// The section of this kind that is about records: 4 their columns, 5 their rows, from 64 on
    /// the columns' dictionaries (docs/image-format.md).
    pub fn record_section(&self, kind: u32) -> Option<&[u8]> {
        let range = self.record_entry(kind)?.range.clone();
        Some(&self.memory.bytes()[range])
    }

    /// The error that something is wrong in [such a section](Self::record_section), `at` bytes after its beginning.
    pub fn broken_record(&self, kind: u32, at: usize, reason: &str) -> ImageError {
        self.record_entry(kind).map_or_else(
            || ImageError::Broken {
                offset: 64,
                section: "section table".into(),
                reason: format!("no {}", SectionId { key_bits: 0, kind }.name()),
            },
            |entry| entry.broken(at, reason),
        )
    }

    fn record_entry(&self, kind: u32) -> Option<&Entry> {
        let entries = &self.record_entries;
        let index = entries.binary_search_by_key(&kind, |entry| entry.id.kind);
        Some(&entries[index.ok()?])
    }

    /// The source of the routes, as it was given to the writer: usually the name of a file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The program that wrote the image, with its version.
    pub fn writer(&self) -> &str {
        &self.writer
    }

    /// The time at which the image was written, in seconds since 1970 (UTC); 0 if it is unknown.
    pub fn created(&self) -> u64 {
        self.created
    }

    /// The length of the image in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes().len()
    }
}

/// Adds the table for keys of type `A`, if there is one.
///
/// # Safety
/// Unless `sections.validate` is true, they are what an `ImageWriter` has written.
unsafe fn add_table<A: Address>(
    sections: &Sections,
    tables: &mut Vec<Box<dyn Any + Send + Sync>>,
) -> Result<(), ImageError> {
    // SAFETY: the caller's.
    if let Some(table) = unsafe { ImageTable::<A>::read(sections)? } {
        tables.push(Box::new(table));
    }
    Ok(())
}

/// How many records next hops are numbers of.
fn record_count(sections: &Sections) -> Result<Option<u32>, ImageError> {
    let id = SectionId {
        key_bits: 0,
        kind: RECORDS,
    };
    if sections.find(id).is_none() {
        return Ok(None);
    }
    let (entry, bytes) = sections.get(id)?;
    match bytes.len() {
        4.. => Ok(Some(u32_at(bytes, 0))),
        _ => Err(entry.broken(0, "it is malformed")),
    }
}

/// The time, the writer and the source of the image.
fn provenance(sections: &Sections) -> Result<(u64, String, String), ImageError> {
    let (entry, bytes) = sections.get(SectionId {
        key_bits: 0,
        kind: PROVENANCE,
    })?;
    let text = |range| {
        let text = core::str::from_utf8(bytes.get(range)?).ok()?;
        Some(String::from(text))
    };
    (bytes.len() >= 16)
        .then(|| {
            let (writer_len, source_len) = (u32_at(bytes, 8) as usize, u32_at(bytes, 12) as usize);
            let source_at = 16usize.checked_add(writer_len)?;
            let end = source_at.checked_add(source_len)?;
            let strings = (text(16..source_at)?, text(source_at..end)?);
            (end == bytes.len()).then_some((u64_at(bytes, 0), strings.0, strings.1))
        })
        .flatten()
        .ok_or_else(|| entry.broken(0, "it is malformed"))
}

/// The names of next hops, one after the other.
#[derive(Debug)]
struct Names {
    /// Where each name ends in `text`.
    ends: Array<u32>,
    text: Array<u8>,
}

impl Names {
    fn read(sections: &Sections) -> Result<Option<Self>, ImageError> {
        let id = |kind| SectionId { key_bits: 0, kind };
        let Some(entry) = sections.find(id(NAME_ENDS)) else {
            return Ok(None);
        };
        let names = Self {
            ends: sections.array(id(NAME_ENDS))?,
            text: sections.array(id(NAMES))?,
        };
        if u32::try_from(names.ends.len()).is_err() {
            return Err(entry.broken(0, "there are too many names"));
        }
        if !sections.validate {
            return Ok(Some(names));
        }
        let Ok(text) = core::str::from_utf8(&names.text) else {
            return Err(entry.broken(0, "the names are not UTF-8"));
        };
        let mut last = 0;
        for (index, end) in names.ends.iter().enumerate() {
            if *end < last || !text.is_char_boundary(*end as usize) {
                return Err(entry.broken(4 * index, "a name does not end after its beginning"));
            }
            last = *end;
        }
        if last as usize != text.len() {
            return Err(entry.broken(0, "text follows after the last name"));
        }
        Ok(Some(names))
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
