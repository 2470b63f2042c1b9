//! The handle `popfib_image`, and how tables become one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::{ptr, slice};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use popfib::image::{ImageTable, Keep, Source};
use popfib::{Address, Image, ImageWriter};

use crate::border::{border, border_or, put, required, required_mut};
use crate::config::{self, Config, Form, ImageConfig};
use crate::error::{Errno, Result};
use crate::image_table::{Frozen, ImageLeaf};
use crate::memory::{Memory, Own, hand_out};
use crate::records::RecordsHandle;
use crate::table::Table;

/// `POPFIB_IMAGE_COPY` and the like.
const COPY: u32 = 0;
const MAP: u32 = 1;
const MAP_TRUSTED: u32 = 2;

/// Of memory that is used where it is.
const ALIGNMENT: usize = 64;

/// `POPFIB_IMAGE_NO_ROUTES`.
const NO_ROUTES: u32 = 1;

/// What a `popfib_image` points to.
struct ImageHandle {
    image: Image,
    /// The table that is asked: the only one, or that which was selected.
    table: Option<ImageTable>,
}

impl ImageHandle {
    fn hand_out(image: Image) -> *mut Self {
        let table = image.table(None).ok().cloned();
        Box::into_raw(Box::new(Self { image, table }))
    }

    fn table(&self) -> Result<&ImageTable> {
        self.table.as_ref().ok_or(Errno::NO_ENTRY)
    }
}

/// The file of that name.
///
/// # Safety
/// Null or a string.
unsafe fn path<'a>(path: *const c_char) -> Result<&'a Path> {
    if path.is_null() {
        return Err(Errno::INVALID);
    }
    // SAFETY: the caller's.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    Ok(Path::new(OsStr::from_bytes(bytes)))
}

/// Text that the image is to hold.
///
/// # Safety
/// Null or a string.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(Errno::INVALID);
    }
    // SAFETY: the caller's.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Errno::BAD_TEXT)
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_save(
    file: *const c_char,
    config: *const ImageConfig,
    ipv4: *const Table,
    ipv6: *const Table,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        unsafe { save(path(file)?, config, [(4, ipv4), (6, ipv6)])? };
        Ok(0)
    })
}

/// # Safety
/// As for `popfib_image_save`.
unsafe fn save(
    path: &Path,
    config: *const ImageConfig,
    tables: [(u32, *const Table); 2],
) -> Result<()> {
    let config = if config.is_null() {
        None
    } else {
        // SAFETY: the caller's.
        Some(unsafe { config::read(config)? })
    };
    let flags = config.map_or(0, |config| config.flags);
    if flags & !NO_ROUTES != 0 || tables.iter().all(|(_, table)| table.is_null()) {
        return Err(Errno::INVALID);
    }
    let source = match config {
        // SAFETY: the caller's.
        Some(config) if !config.source.is_null() => unsafe { text(config.source)? },
        _ => "",
    };
    let mut image = ImageWriter::new(config.map_or(0, |config| config.created));
    let sources = (!source.is_empty()).then(|| Source::named(source));
    image.table("", sources.as_slice())?;
    if let Some(config) = config
        && !config.names.is_null()
    {
        // SAFETY: the caller's: that many pointers to strings.
        let names = unsafe { slice::from_raw_parts(config.names, config.name_count as usize) };
        // SAFETY: as above.
        let names: Result<Vec<_>> = names.iter().map(|name| unsafe { text(*name) }).collect();
        image.names(names?)?;
    }
    for (family, table) in tables {
        // SAFETY: the caller's.
        let Some(table) = (unsafe { table.as_ref() }) else {
            continue;
        };
        if table.family != family {
            return Err(Errno::INVALID);
        }
        // SAFETY: the caller's.
        let engine = unsafe { table.routes()? };
        let keep = match flags & NO_ROUTES {
            0 => Keep::Routes,
            _ => Keep::Values,
        };
        engine.save(&mut image, keep)?;
    }
    Ok(image.save(path)?)
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_open(
    file: *const c_char,
    mode: u32,
    image: *mut *mut ImageHandle,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(image)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's.
        let path = unsafe { path(file)? };
        let image = match mode {
            COPY => Image::open(path)?,
            // SAFETY: the header asks the caller for what `Image::map` asks for.
            MAP => unsafe { Image::map(path)? },
            // SAFETY: as above, for `Image::map_trusted`.
            MAP_TRUSTED => unsafe { Image::map_trusted(path)? },
            _ => return Err(Errno::INVALID),
        };
        *place = ImageHandle::hand_out(image);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_memory(
    memory: *const c_void,
    len: usize,
    mode: u32,
    image: *mut *mut ImageHandle,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(image)? };
        *place = ptr::null_mut();
        if memory.is_null() || isize::try_from(len).is_err() {
            return Err(Errno::INVALID);
        }
        // SAFETY: the caller's, who keeps it as long as the image and its tables where it is not copied.
        let bytes: &'static [u8] = unsafe { slice::from_raw_parts(memory.cast(), len) };
        if mode != COPY && !memory.addr().is_multiple_of(ALIGNMENT) {
            return Err(Errno::INVALID);
        }
        let image = match mode {
            COPY => Image::from_bytes(bytes)?,
            MAP => Image::from_static(bytes)?,
            // SAFETY: the header asks the caller for what `Image::from_static_trusted` asks for.
            MAP_TRUSTED => unsafe { Image::from_static_trusted(bytes)? },
            _ => return Err(Errno::INVALID),
        };
        *place = ImageHandle::hand_out(image);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_free(image: *mut ImageHandle) {
    border_or((), || {
        if !image.is_null() {
            // SAFETY: from `Box::into_raw`, and the caller gives it up.
            drop(unsafe { Box::from_raw(image) });
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_select(image: *mut ImageHandle, name: *const c_char) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let (image, name) = unsafe { (required_mut(image)?, text(name)?) };
        image.table = Some(image.image.table(Some(name))?.clone());
        Ok(0)
    })
}

fn frozen<A: Address, L: ImageLeaf>(image: &ImageTable, config: &Config) -> Result<Own<Table>> {
    // SAFETY: the caller of `popfib_image_table` promises that the name is one.
    let kernel = unsafe { config.kernel()? };
    let engine = Frozen::<A, L>::new(image, kernel, config.table_size()?)?;
    let readers = engine.clone();
    Table::new(engine, readers, Memory::Heap)
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_table(
    image: *const ImageHandle,
    config: *const Config,
    table: *mut *mut Table,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(table)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's.
        let (image, config) = unsafe { (required(image)?.table()?, config::read(config)?) };
        // The compiled table is what it is, and where it is.
        if config.direct_bits != 0 || !matches!(config.memory()?, Memory::Heap) {
            return Err(Errno::INVALID);
        }
        // With prefixes or without: an image has them.
        config.keeps_prefixes()?;
        let table = match config.form()? {
            Form::Ipv4Narrow => frozen::<u32, u16>(image, &config)?,
            Form::Ipv4Wide => frozen::<u32, u32>(image, &config)?,
            Form::Ipv6Narrow => frozen::<u128, u16>(image, &config)?,
            Form::Ipv6Wide => frozen::<u128, u32>(image, &config)?,
        };
        *place = hand_out(table);
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_table_name(
    image: *const ImageHandle,
    index: usize,
    name: *mut *const c_char,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let image = unsafe { required(image)? };
        let table = image.image.tables().get(index).ok_or(Errno::NO_ENTRY)?;
        let text = table.name();
        // SAFETY: the caller's.
        unsafe {
            put(name, text.as_ptr().cast());
            put(len, text.len());
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_image_records(
    image: *const ImageHandle,
    records: *mut *mut RecordsHandle,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let place = unsafe { required_mut(records)? };
        *place = ptr::null_mut();
        // SAFETY: the caller's.
        let table = unsafe { required(image)?.table()? };
        *place = RecordsHandle::hand_out(popfib_table::Table::of_image(table)?)?;
        Ok(0)
    })
}
