//! Tables for BPF programs, of `include/popfib_xdp.h`: tables and images of C in, pinned maps out, and what is in those.
//!
//! Each function names its map by folder and name, and keeps nothing: a map stays where it is pinned whatever becomes of the
//! process, and finding it takes some microseconds. Rejected: a handle for the map, which would have to say
//! what becomes of it when another process exchanges the table.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use popfib_bpf::{BpfError, FibKind, PinnedMap, ProgramValues, ValueKind};
use popfib_table::Table;

use crate::border::{border, required, string, text};
use crate::config::{self, Versioned};
use crate::engine::address;
use crate::error::{Errno, Result};
use crate::image::{self, CImage};
use crate::table::CTable;

/// `POPFIB_XDP_MATCHES`.
const MATCHES: u32 = 1;

impl From<BpfError> for Errno {
    fn from(error: BpfError) -> Self {
        let line = error.to_string();
        let number = match error {
            BpfError::NoBpffs(_) => Self::NO_FOLDER,
            BpfError::NotPinned(_) | BpfError::NotLoaded(_) => Self::NO_ENTRY,
            BpfError::OtherMap { .. } => Self::EXISTS,
            BpfError::TooLarge => Self::NO_SPACE,
            BpfError::Table(error) => error.into(),
            BpfError::Refused { error, .. } => error.into(),
            _ => Self::IO,
        };
        number.saying(line)
    }
}

/// Where the map is pinned; null stands for what `popfib xdp` takes too.
///
/// # Safety
/// Each is null or a string.
unsafe fn pin(folder: *const c_char, map: *const c_char) -> Result<PathBuf> {
    let or = |given: *const c_char, otherwise: &'static CStr| match given.is_null() {
        true => Ok(otherwise),
        // SAFETY: not null, hence a string, as the caller promises.
        false => unsafe { string(given) },
    };
    let path = |part: &CStr| Path::new(OsStr::from_bytes(part.to_bytes())).to_owned();
    Ok(path(or(folder, c"/sys/fs/bpf")?).join(path(or(map, c"popfib")?)))
}

/// Loads the table that `make` makes; no map is made for arguments of which there is none.
fn load(path: &Path, flags: u32, make: impl FnOnce() -> Result<Table>) -> Result<()> {
    if flags & !MATCHES != 0 {
        return Err(Errno::INVALID.saying(format_args!("flags {flags}: unknown")));
    }
    let table = make()?;
    let map = PinnedMap::open_or_create(path)?;
    Ok(map.load(&table, &ProgramValues::of(&table), flags & MATCHES != 0)?)
}

/// # Safety
/// `folder` and `map` are null or strings; `ipv4` and `ipv6` are null, or live and not changed meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_xdp_load(
    folder: *const c_char,
    map: *const c_char,
    ipv4: *const CTable,
    ipv6: *const CTable,
    flags: u32,
) -> c_int {
    // SAFETY: `pin` and `table_of` ask of strings and tables what the caller promises.
    border(|| unsafe {
        load(&pin(folder, map)?, flags, || {
            image::table_of([(4, ipv4), (6, ipv6)])
        })
    })
}

/// # Safety
/// `folder`, `map` and `column` are null or strings; `image` is null or live, and no other table of it is selected meanwhile.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_xdp_load_image(
    folder: *const c_char,
    map: *const c_char,
    image: *const CImage,
    column: *const c_char,
    flags: u32,
) -> c_int {
    // SAFETY: `column` is a string where it is not null, an image that is not null is live, and `pin` asks for what the caller promises.
    border(|| unsafe {
        let column = match column.is_null() {
            true => None,
            false => Some(text(column)?),
        };
        let image = required(image)?.table()?;
        load(&pin(folder, map)?, flags, || {
            let mut table = Table::of_image(image).map_err(Errno::from)?;
            if let Some(name) = column {
                table.set_value_column(name).map_err(|name| {
                    let name = name.escape_debug();
                    Errno::NO_ENTRY.saying(format_args!("no column '{name}' in the image"))
                })?;
            }
            Ok(table)
        })
    })
}

/// `struct popfib_xdp_info`.
#[derive(Clone, Copy)]
#[repr(C)]
struct CXdpInfo {
    size: usize,
    bytes: u64,
    ipv4_routes: u64,
    ipv6_routes: u64,
    generation: u32,
    values: u32,
    value_kind: u32,
    has_matches: u32,
}

// SAFETY: its layout is C's, `size` is the first field, and 0 is a value of all fields.
unsafe impl Versioned for CXdpInfo {
    const OLDEST: usize = size_of::<Self>();
}

/// # Safety
/// `folder` and `map` are null or strings; `info` is null or a structure of the size that it says, and a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_xdp_show(
    folder: *const c_char,
    map: *const c_char,
    info: *mut CXdpInfo,
) -> c_int {
    // SAFETY: `info` is a structure of the size that it says if `read` returns it, hence a place for what this version knows.
    border(|| unsafe {
        let given = config::read(info.cast_const())?;
        let table = PinnedMap::open(&pin(folder, map)?)?.table()?;
        info.write(CXdpInfo {
            size: given.size,
            bytes: table.bytes() as u64,
            ipv4_routes: table.routes(FibKind::Ipv4) as u64,
            ipv6_routes: table.routes(FibKind::Ipv6) as u64,
            generation: table.generation(),
            values: table.value_count().saturating_sub(1),
            value_kind: match table.value_kind() {
                ValueKind::Numbers => 0,
                ValueKind::Integers => 1,
                ValueKind::Ids => 2,
            },
            has_matches: table.has_matches().into(),
        });
        Ok(())
    })
}

/// `struct popfib_xdp_match`.
#[repr(C)]
struct CXdpMatch {
    number: u32,
    value: u32,
    length: i32,
    reserved: u32,
    text_length: usize,
}

/// # Safety
/// `folder` and `map` are null or strings; `bytes` is null or an address of `family`; `found` is null or a place, and `text` null or
/// as many places for bytes as `size` says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_xdp_lookup(
    folder: *const c_char,
    map: *const c_char,
    family: u32,
    bytes: *const u8,
    found: *mut CXdpMatch,
    text: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: `bytes` and `found` are not null, of an address of `family` all bytes are read, and `text` gets `size` of them at most.
    border(|| unsafe {
        if bytes.is_null() || found.is_null() || text.is_null() && size > 0 {
            return Err(Errno::INVALID);
        }
        let address = match family {
            4 => IpAddr::V4(Ipv4Addr::from_bits(address(bytes))),
            6 => IpAddr::V6(Ipv6Addr::from_bits(address(bytes))),
            other => {
                return Err(Errno::INVALID.saying(format_args!("family {other}: it is 4 or 6")));
            }
        };
        let table = PinnedMap::open(&pin(folder, map)?)?.table()?;
        let number = table.lookup(0, address);
        let matched = table.longest_match(0, address);
        let of_number = table.text(number).unwrap_or_default();
        if size > 0 {
            let len = of_number.len().min(size - 1);
            ptr::copy_nonoverlapping(of_number.as_ptr(), text.cast(), len);
            text.add(len).write(0);
        }
        found.write(CXdpMatch {
            number,
            value: table.value(number),
            length: matched.map_or(-1, |(prefix, _)| prefix.len().into()),
            reserved: 0,
            text_length: of_number.len(),
        });
        Ok(())
    })
}

/// # Safety
/// `folder` and `map` are null or strings.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_xdp_remove(folder: *const c_char, map: *const c_char) -> c_int {
    // SAFETY: `pin` asks for two strings or nulls, as the caller promises.
    border(|| unsafe { Ok(PinnedMap::open(&pin(folder, map)?)?.unpin()?) })
}
