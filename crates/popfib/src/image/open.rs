//! An image that is opened: bytes in, tables out.
//!
//! The bytes lie in one piece of memory (`memory.rs`). They are split into sections (`format.rs`) and validated
//! (`table.rs`, `family.rs`); the Fibs of the tables point into them.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::{fs::File, path::Path};

use super::format::{self, METADATA, SectionId};
use super::memory::{ImageArray, ImageMemory};
use super::sections::{CommonChecks, Sections};
#[cfg(doc)]
use super::write::ImageWriter;
use super::{ImageError, ImageTable, metadata};

/// Compiled tables, each of any families, with what their next hops stand for and where they come from, in one piece of memory.
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
/// use popfib::image::Keep;
/// use popfib::{Image, ImageWriter, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// let mut writer = ImageWriter::new(0);
/// writer.table("an example", &[])?;
/// writer.names(["east"])?;
/// writer.family(&rib, &Options::default(), Keep::Routes)?;
///
/// let image = Image::from_bytes(&writer.to_bytes())?;
/// let table = image.table(None)?;
/// let ipv4 = table.family::<u32>().unwrap();
/// assert_eq!(ipv4.lookup(0x0a01_0203), 1);
/// let (prefix, next_hop) = ipv4.longest_match(0x0a01_0203).unwrap();
/// assert_eq!(prefix.to_string(), "10.0.0.0/8");
/// assert_eq!(table.next_hop_name(next_hop), Some("east"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Image {
    memory: Arc<ImageMemory>,
    tables: Vec<ImageTable>,
    metadata: ImageArray<u8>,
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
        unsafe { Self::new(ImageMemory::copy_of(bytes), true) }
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
        unsafe { Self::new(ImageMemory::lent(bytes), true) }
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
        unsafe { Self::new(ImageMemory::lent(bytes), false) }
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
        let memory = ImageMemory::read(File::open(path)?)?;
        // SAFETY: it is validated.
        unsafe { Self::new(memory, true) }
    }

    /// Maps the image in the file at `path`: all processes that map it share one copy
    /// in the system's page cache.
    ///
    /// The image is validated as by [`Image::open`]. `save_image` of the crate `popfib-table` never writes
    /// to an existing file, but replaces it with a new one: mapped images keep the old file.
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
        unsafe { Self::new(ImageMemory::map(&File::open(path)?)?, true) }
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
        unsafe { Self::new(ImageMemory::map(&File::open(path)?)?, false) }
    }

    /// # Safety
    /// Unless `validate` is true, the memory contains what an `ImageWriter` has written.
    unsafe fn new(memory: ImageMemory, validate: bool) -> Result<Self, ImageError> {
        if cfg!(target_endian = "big") {
            return Err(ImageError::BigEndianHost);
        }
        let memory = Arc::new(memory);
        let entries = format::parse(memory.bytes())?;
        if validate {
            format::verify(memory.bytes(), &entries)?;
        }
        let (mut metadata, mut tables) = (None, Vec::new());
        let of_image = entries.partition_point(|entry| entry.id.table == 0);
        let common: Arc<[_]> = entries[..of_image].into();
        let mut checks = CommonChecks::default();
        for entries in entries.chunk_by(|a, b| a.id.table == b.id.table) {
            let sections = Sections {
                memory: Arc::clone(&memory),
                table: tables.len() as u32 + u32::from(metadata.is_some()),
                entries: entries.to_vec(),
                common: Arc::clone(&common),
                max_next_hop: u32::MAX >> 1,
                validate,
            };
            // Numbers have no gaps.
            if entries[0].id.table != sections.table {
                return Err(sections.missing((0, METADATA)));
            }
            if metadata.is_none() {
                metadata::check(&sections)?;
                metadata = Some(sections.array((0, METADATA))?);
            } else {
                // SAFETY: the caller's, or it is validated.
                tables.push(unsafe { ImageTable::read(sections, &mut checks)? });
            }
        }
        if metadata.is_some() && tables.is_empty() {
            let (wanted, there) = (None, Vec::new());
            return Err(ImageError::Tables { wanted, there });
        }
        let id = SectionId {
            table: 0,
            key_bits: 0,
            kind: METADATA,
        };
        Ok(Self {
            metadata: metadata.ok_or_else(|| id.missing())?,
            memory,
            tables,
        })
    }

    /// Its tables, in the order in which they were written.
    pub fn tables(&self) -> &[ImageTable] {
        &self.tables
    }

    /// The table of this name; without a name, the only one.
    ///
    /// # Errors
    /// [`ImageError::Tables`]: no table has the name, or none was given and there are several or none.
    pub fn table(&self, name: Option<&str>) -> Result<&ImageTable, ImageError> {
        let found = match (name, &*self.tables) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), tables) => tables.iter().find(|table| table.name() == name),
        };
        found.ok_or_else(|| ImageError::Tables {
            wanted: name.map(String::from),
            there: self
                .tables
                .iter()
                .map(|table| table.name().into())
                .collect(),
        })
    }

    /// The program that wrote the image, with its version.
    pub fn writer(&self) -> &str {
        metadata::writer(&self.metadata)
    }

    /// The time at which the image was written, in seconds since 1970 (UTC); 0 if it is unknown.
    pub fn created(&self) -> u64 {
        metadata::created(&self.metadata)
    }

    /// The length of the image in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes().len()
    }
}
