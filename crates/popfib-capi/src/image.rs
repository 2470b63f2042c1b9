//! The handle `popfib_image`: a file or memory in; tables, their records and their names out. And tables saved as an image file.

use core::ffi::{c_char, c_int, c_void};
use core::{ptr, slice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use popfib::image::{ImageTable, Keep, Source};
use popfib::{Address, Image, ImageError, ImageWriter, Kernel};

use crate::border::{border, make_handle, put, required, required_mut, string, text};
use crate::config::{self, CConfig, CImageConfig, TableFamily};
use crate::error::{Errno, Result};
use crate::image_table::ImageEngine;
use crate::memory::{CAllocator, CBox, free_on_heap, hand_out, make_on_heap};
use crate::records::CRecords;
use crate::table::CTable;

/// `POPFIB_IMAGE_COPY` and the like.
const COPY: u32 = 0;
const MAP: u32 = 1;
const MAP_TRUSTED: u32 = 2;

/// The alignment of memory that is used in place.
const ALIGNMENT: usize = 64;

/// `POPFIB_IMAGE_NO_ROUTES`.
const NO_ROUTES: u32 = 1;

/// What a `popfib_image` points to.
pub(crate) struct CImage {
    image: Arc<Image>,
    /// The table that functions use: the only one, or that which was selected.
    table: Option<ImageTable>,
}

impl CImage {
    pub(crate) fn hand_out(image: Arc<Image>) -> Result<*mut Self> {
        let table = image.table(None).ok().cloned();
        make_on_heap(Self { image, table })
    }

    /// All of its tables.
    pub(crate) fn tables(&self) -> &[ImageTable] {
        self.image.tables()
    }

    /// The table that functions use.
    pub(crate) fn table(&self) -> Result<&ImageTable> {
        self.table.as_ref().ok_or(Errno::NO_ENTRY)
    }
}

/// The path of a file; -EINVAL for null.
///
/// # Safety
/// `path` is null or a string.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path> {
    // SAFETY: it asks for the same.
    let path = unsafe { string(path)? };
    Ok(Path::new(OsStr::from_bytes(path.to_bytes())))
}

/// One of the ways to open a file.
pub(crate) fn check_mode(mode: u32) -> Result<u32> {
    [COPY, MAP, MAP_TRUSTED]
        .contains(&mode)
        .then_some(mode)
        .ok_or_else(|| Errno::INVALID.saying(format_args!("mode {mode}: they go to {MAP_TRUSTED}")))
}

/// Opens a file in a way that was checked.
///
/// # Safety
/// Unless the mode copies the file, nobody writes to it until the image and all that is made of it are dropped; if the mode trusts
/// it, popfib has written it.
pub(crate) unsafe fn open(path: &Path, mode: u32) -> core::result::Result<Image, ImageError> {
    match mode {
        COPY => verified(Image::open(path)?),
        // SAFETY: nobody writes to a file that is mapped, as the caller promises.
        MAP => verified(unsafe { Image::map(path)? }),
        // SAFETY: nobody writes to it, and popfib has written it, as the caller promises.
        _ => unsafe { Image::map_trusted(path) },
    }
}

/// The image, if the records of its tables are sound.
fn verified(image: Image) -> core::result::Result<Image, ImageError> {
    popfib_table::check_records(&image).map(|()| image)
}

/// # Safety
/// `file` is null or a string. `config` is null or a structure of the size that it says, with a `source` that is null or a string
/// and `names` that are null or an array of `name_count` pointers, each null or a string, and `records` that are null, or live and not
/// changed meanwhile. `ipv4` and `ipv6` are null, or live
/// and not changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_save(
    file: *const c_char,
    config: *const CImageConfig,
    ipv4: *const CTable,
    ipv6: *const CTable,
) -> c_int {
    // SAFETY: as the caller promises of each argument.
    border(|| unsafe {
        let path = path(file)?;
        let config = match config.is_null() {
            true => None,
            false => Some(config::read(config)?),
        };
        let image = writer(config, [(4, ipv4), (6, ipv6)])?;
        Ok(popfib_table::save_image(&image, path)?)
    })
}

/// What makes an image of tables, each with its family.
///
/// # Safety
/// `config` is a copy of one as for `popfib_image_save`; each table is null, or live and not changed meanwhile.
unsafe fn writer(
    config: Option<CImageConfig>,
    tables: [(u32, *const CTable); 2],
) -> Result<ImageWriter> {
    let flags = config.map_or(0, |config| config.flags);
    if flags & !NO_ROUTES != 0 || tables.iter().all(|(_, table)| table.is_null()) {
        return Err(Errno::INVALID);
    }
    let source = match config {
        // SAFETY: not null, hence a string.
        Some(config) if !config.source.is_null() => unsafe { text(config.source)? },
        _ => "",
    };
    let mut image = ImageWriter::new(config.map_or(0, |config| config.created));
    let sources = (!source.is_empty()).then(|| Source::named(source));
    image.table("", sources.as_slice())?;
    let records = config.map_or(ptr::null(), |config| config.records);
    // SAFETY: null or live, and not changed meanwhile.
    if let Some(records) = unsafe { records.as_ref() } {
        if config.is_some_and(|config| !config.names.is_null()) {
            return Err(Errno::INVALID.saying("names and records: an image has one of both"));
        }
        records.0.clone().build().records.write(&mut image)?;
    } else if let Some(config) = config
        && !config.names.is_null()
    {
        // SAFETY: not null, hence an array of so many strings.
        let names = unsafe { slice::from_raw_parts(config.names, config.name_count as usize) };
        // SAFETY: each is null or a string.
        let names: Result<Vec<_>> = names.iter().map(|name| unsafe { text(*name) }).collect();
        image.names(names?)?;
    }
    for (family, table) in tables {
        // SAFETY: null or live, as the caller promises.
        let Some(table) = (unsafe { table.as_ref() }) else {
            continue;
        };
        if table.family != family {
            return Err(Errno::INVALID);
        }
        // SAFETY: the table is not changed meanwhile, as the caller promises.
        let engine = unsafe { table.routes()? };
        let keep = match flags & NO_ROUTES {
            0 => Keep::Routes,
            _ => Keep::Values,
        };
        engine.save(&mut image, keep)?;
    }
    Ok(image)
}

/// The table that an image of these tables would have: so what is loaded for programs has one form, wherever it is from.
///
/// # Safety
/// Each table is null, or live and not changed meanwhile.
#[cfg(all(feature = "xdp", target_os = "linux"))]
pub(crate) unsafe fn table_of(tables: [(u32, *const CTable); 2]) -> Result<popfib_table::Table> {
    // SAFETY: it asks for the same.
    let image = Image::from_bytes(&unsafe { writer(None, tables)? }.to_bytes())?;
    Ok(popfib_table::Table::of_image(image.table(None)?)?)
}

/// # Safety
/// `file` is null or a string; `image` is null or a place for a pointer. Unless the mode copies the file, nobody writes to it until
/// the image and all that was made of it are freed; if the mode trusts it, popfib has written it.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_open(
    file: *const c_char,
    mode: u32,
    image: *mut *mut CImage,
) -> c_int {
    let make = || {
        // SAFETY: null or a string, as the caller promises.
        let path = unsafe { path(file)? };
        // SAFETY: as the caller promises.
        let image = unsafe { open(path, check_mode(mode)?)? };
        CImage::hand_out(Arc::new(image))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(image, make) }
}

/// # Safety
/// `memory` is null or an array of `len` bytes; `image` is null or a place for a pointer. Unless the mode copies the bytes, they stay
/// and do not change until the image and all that was made of it are freed; if the mode trusts them, popfib has written them.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_memory(
    memory: *const c_void,
    len: usize,
    mode: u32,
    image: *mut *mut CImage,
) -> c_int {
    let make = || {
        if memory.is_null() || isize::try_from(len).is_err() {
            return Err(Errno::INVALID);
        }
        // SAFETY: not null, hence an array of `len` bytes. It is `'static` only in name: the caller keeps it until the image
        // and all that was made of it are freed, and a copy is made before this returns.
        let bytes: &'static [u8] = unsafe { slice::from_raw_parts(memory.cast(), len) };
        if mode != COPY && !memory.addr().is_multiple_of(ALIGNMENT) {
            return Err(Errno::INVALID);
        }
        let image = match check_mode(mode)? {
            COPY => verified(Image::from_bytes(bytes)?)?,
            MAP => verified(Image::from_static(bytes)?)?,
            // SAFETY: the mode trusts them, so popfib has written these bytes, as the caller promises.
            _ => unsafe { Image::from_static_trusted(bytes)? },
        };
        CImage::hand_out(Arc::new(image))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(image, make) }
}

/// # Safety
/// `image` is null, or live and used by no other thread meanwhile, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_free(image: *mut CImage) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(image) }
}

/// # Safety
/// `image` is null, or live and used by no other thread meanwhile; `name` is null or a string.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_select(image: *mut CImage, name: *const c_char) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone; null or a string.
        let (image, name) = unsafe { (required_mut(image)?, text(name)?) };
        image.table = Some(image.image.table(Some(name))?.clone());
        Ok(())
    })
}

/// The table of one family of an image.
fn image_table<A: Address>(
    image: &ImageTable,
    config: &CConfig,
    kernel: Kernel,
) -> Result<CBox<CTable>> {
    let engine = ImageEngine::<A>::new(image, kernel, config.table_size()?)?;
    let readers = engine.clone();
    CTable::new(engine, readers, CAllocator::Heap)
}

/// # Safety
/// `image` is null or live, and no other table of it is selected meanwhile. `config` is null or a structure of the
/// size that it says, whose `kernel` is null or a string. `table` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_table(
    image: *const CImage,
    config: *const CConfig,
    table: *mut *mut CTable,
) -> c_int {
    let make = || {
        // SAFETY: null or live, and nobody selects another table meanwhile; null or such a structure.
        let (image, config) = unsafe { (required(image)?.table()?, config::read(config)?) };
        // The compiled table is in the image, as it is.
        if config.direct_bits != 0 || !matches!(config.allocator()?, CAllocator::Heap) {
            return Err(Errno::INVALID);
        }
        let family = config.table_family()?;
        // SAFETY: copied from a structure whose `kernel` is null or a string.
        let kernel = unsafe { config.kernel()? };
        let table_of = match family {
            TableFamily::Ipv4 => image_table::<u32>,
            TableFamily::Ipv6 => image_table::<u128>,
        };
        Ok(hand_out(table_of(image, &config, kernel)?))
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(table, make) }
}

/// # Safety
/// `image` is null or live, and no other table of it is selected meanwhile; `name` and `len` are null or places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_table_name(
    image: *const CImage,
    index: usize,
    name: *mut *const c_char,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: null or live, and no table is selected meanwhile, as the caller promises.
        let image = unsafe { required(image)? };
        let table = image.tables().get(index).ok_or(Errno::NO_ENTRY)?;
        let text = table.name();
        // SAFETY: null or places, as the caller promises.
        unsafe {
            put(name, text.as_ptr().cast());
            put(len, text.len());
        }
        Ok(())
    })
}

/// # Safety
/// `image` is null or live, and no other table of it is selected meanwhile; `records` is null or a place for a
/// pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_records(
    image: *const CImage,
    records: *mut *mut CRecords,
) -> c_int {
    let make = || {
        // SAFETY: null or live, and nobody selects another table meanwhile, as the caller promises.
        let table = unsafe { required(image)?.table()? };
        CRecords::hand_out(popfib_table::Table::of_image(table)?)
    };
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(records, make) }
}
