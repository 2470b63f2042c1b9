//! Images: a compiled table as a file that is used as it lies in memory.
//!
//! An [`ImageWriter`] compiles Ribs and lays out sections (`format.rs`); an
//! [`Image`] is the same bytes in memory (`memory.rs`), validated (`table.rs`),
//! with Fibs that point into it. docs/image-format.md describes the bytes.

mod error;
mod format;
mod memory;
#[cfg(feature = "std")]
mod save;
mod table;
mod write;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
#[cfg(feature = "std")]
use std::{fs::File, path::Path};

use crate::address::Address;
use crate::next_hop::NextHop;
use format::{NAME_ENDS, NAMES, PROVENANCE, SectionId, u32_at, u64_at};
use memory::{Array, Memory};
use table::Sections;

pub use error::ImageError;
pub use table::ImageTable;
pub use write::ImageWriter;

/// Compiled tables of any families, the names of their next hops, and where all
/// of it came from, in one piece of memory.
///
/// Made by [`ImageWriter`]. There are several ways to get at one:
///
/// | | memory | validated | lookups |
/// |---|---|---|---|
/// | [`Image::open`], [`Image::from_bytes`] | a copy of this process, on huge pages | yes | as fast as a compiled Fib |
/// | [`Image::map`] | the file's own pages, shared by all processes | yes | slower by misses of the address translation |
/// | [`Image::map_trusted`] | as `map` | no | as `map` |
/// | [`Image::from_static`] | the caller's | yes | as fast as that memory |
/// | [`Image::from_static_trusted`] | as `from_static` | no | as `from_static` |
///
/// Validation reads every byte: checksums, every index of the Fibs
/// ([`Fib::check`](crate::Fib::check)), next hops that have names, routes in
/// order. So no bytes whatsoever make a lookup read outside the image. What it
/// does not tell is whether Fib and routes say the same; `popfib verify` does.
///
/// Images of this major version can be read by all later readers of it:
/// what they don't know they skip.
///
/// ```
/// use popfib::{Image, ImageWriter, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// let mut writer = ImageWriter::new("an example", 0);
/// writer.names(["east"])?;
/// writer.table(&rib, &Options::default(), true)?;
///
/// let image = Image::from_bytes(&writer.to_bytes())?;
/// let table = image.table::<u32>().unwrap();
/// assert_eq!(table.fib().lookup(0x0a01_0203), 1);
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
    source: String,
    writer: String,
    created: u64,
}

impl Image {
    /// What every image begins with.
    pub const MAGIC: [u8; 8] = format::MAGIC;

    /// The image that is in `bytes`, from a copy of them. O(bytes) time and memory.
    ///
    /// # Errors
    /// [`ImageError`], for anything that an [`ImageWriter`] would not have written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ImageError> {
        // SAFETY: it is validated.
        unsafe { Self::new(Memory::copy_of(bytes), true) }
    }

    /// The image that is in `bytes`, used where it is: what a program was linked
    /// with, or memory that processes share.
    ///
    /// Bytes that do not begin at a multiple of 64 are copied.
    ///
    /// # Errors
    /// As [`Image::from_bytes`].
    pub fn from_static(bytes: &'static [u8]) -> Result<Self, ImageError> {
        // SAFETY: it is validated.
        unsafe { Self::new(Memory::lent(bytes), true) }
    }

    /// As [`Image::from_static`], without validation, as [`Image::map_trusted`].
    ///
    /// # Errors
    /// As [`Image::from_static`], for what is checked.
    ///
    /// # Safety
    /// The bytes are what [`ImageWriter`] has written: on anything else lookups
    /// may read anywhere in memory.
    pub unsafe fn from_static_trusted(bytes: &'static [u8]) -> Result<Self, ImageError> {
        // SAFETY: the caller's.
        unsafe { Self::new(Memory::lent(bytes), false) }
    }

    /// The image in the file at `path`, read into memory of this process.
    ///
    /// Takes the file's length in memory. What happens to the file afterwards
    /// has no effect on the image.
    ///
    /// # Errors
    /// [`ImageError`]: a file that can't be read, is no image, or is damaged.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        let memory = Memory::read(File::open(path)?)?;
        // SAFETY: it is validated.
        unsafe { Self::new(memory, true) }
    }

    /// The image in the file at `path`, used where it is: all processes that map
    /// it share one copy in the system's cache.
    ///
    /// Validated as by [`Image::open`]. [`ImageWriter::save`] never writes to a
    /// file that exists, but puts a new one in its place: images that are mapped
    /// go on with the old file.
    ///
    /// # Errors
    /// As [`Image::open`].
    ///
    /// # Safety
    /// Nobody writes to this file while the image, or a clone of one of its Fibs,
    /// lives: what was validated would no longer be what is looked up. (A file
    /// that gets shorter ends the process with the signal SIGBUS.)
    #[cfg(feature = "std")]
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        // SAFETY: the caller's; and it is validated.
        unsafe { Self::new(Memory::map(&File::open(path)?)?, true) }
    }

    /// As [`Image::map`], without validation: for images one has made oneself.
    ///
    /// Takes a time that does not grow with the tables. Only the header and the
    /// places of the sections are checked.
    ///
    /// # Errors
    /// As [`Image::open`], for what is checked.
    ///
    /// # Safety
    /// The file is what [`ImageWriter`] has written, unchanged: on anything else
    /// lookups may read anywhere in memory. And as for [`Image::map`].
    #[cfg(feature = "std")]
    pub unsafe fn map_trusted(path: impl AsRef<Path>) -> Result<Self, ImageError> {
        // SAFETY: the caller's.
        unsafe { Self::new(Memory::map(&File::open(path)?)?, false) }
    }

    /// # Safety
    /// Unless `validate`: the memory holds what `ImageWriter` has written.
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
        if let Some(names) = &names {
            sections.max_next_hop = names.len();
        }
        let (created, writer, source) = provenance(&sections)?;
        let mut tables = Vec::new();
        // SAFETY: the caller's, or it is validated.
        unsafe {
            add_table::<u8>(&sections, &mut tables)?;
            add_table::<u16>(&sections, &mut tables)?;
            add_table::<u32>(&sections, &mut tables)?;
            add_table::<u64>(&sections, &mut tables)?;
            add_table::<u128>(&sections, &mut tables)?;
        }
        Ok(Self {
            memory,
            tables,
            names,
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

    /// How many next hops have names, which is also the highest of their
    /// numbers; `None` for an image without names.
    pub fn name_count(&self) -> Option<u32> {
        self.names.as_ref().map(Names::len)
    }

    /// Where the routes came from: what the writer was given, a file's name mostly.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The program that wrote the image, with its version.
    pub fn writer(&self) -> &str {
        &self.writer
    }

    /// When the image was written, in seconds since 1970 (UTC); 0 if that was not told.
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
/// Unless `sections.validate`: they are what `ImageWriter` has written.
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

/// When, by what and from what the image was made.
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
        // Names are short; an image that is trusted has not been checked for this.
        core::str::from_utf8(self.text.get(start..end)?).ok()
    }
}
