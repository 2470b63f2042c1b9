//! Structures of the header by which C says what table or image it wants: copied out of C's memory, and read as options,
//! allocator, kernel and types of Rust.
//!
//! They may grow. The first field of each is its size. Fields that are added later come after the others, and 0 in them
//! means what there was before: a shorter structure is filled up with zeros, and a longer one is accepted if all that
//! this version does not know of it is 0.

use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use popfib::{Kernel, Options, Size};

use crate::error::{Errno, Result};
use crate::memory::{AllocateFn, CAllocator, ReleaseFn};
use crate::record_builder::CRecordBuilder;

/// A structure of the header, of numbers and pointers only.
///
/// # Safety
/// It is `#[repr(C)]`, its first field is the size as a `usize`, and zeros in all fields are a value.
pub(crate) unsafe trait Versioned: Copy {
    /// The length of the oldest version.
    const OLDEST: usize;
}

/// `struct popfib_config`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CConfig {
    pub(crate) size: usize,
    pub(crate) family: u32,
    pub(crate) direct_bits: u32,
    pub(crate) flags: u32,
    pub(crate) kernel: *const c_char,
    pub(crate) allocate: Option<AllocateFn>,
    pub(crate) release: Option<ReleaseFn>,
    pub(crate) user: *mut c_void,
}

// SAFETY: its layout is C's, `size` is the first field, and 0, null and `None` are values of all fields.
unsafe impl Versioned for CConfig {
    const OLDEST: usize = size_of::<Self>();
}

/// `struct popfib_image_config`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CImageConfig {
    pub(crate) size: usize,
    pub(crate) created: u64,
    pub(crate) source: *const c_char,
    pub(crate) names: *const *const c_char,
    pub(crate) name_count: u32,
    pub(crate) flags: u32,
    pub(crate) records: *const CRecordBuilder,
}

// SAFETY: its layout is C's, `size` is the first field, and 0, null and `None` are values of all fields.
unsafe impl Versioned for CImageConfig {
    const OLDEST: usize = size_of::<Self>();
}

/// A copy of the structure at `config`, as this version knows it; -EINVAL for null.
///
/// # Safety
/// `config` is null, or its first field says how many bytes can be read from there on. They do not change meanwhile.
pub(crate) unsafe fn read<T: Versioned>(config: *const T) -> Result<T> {
    if config.is_null() || !config.is_aligned() {
        return Err(Errno::INVALID);
    }
    // SAFETY: neither null nor misaligned, and there is at least the first field, the size.
    let size = unsafe { config.cast::<usize>().read() };
    if size < T::OLDEST {
        let line = format_args!("a structure of {size} bytes, not {} or more", T::OLDEST);
        return Err(Errno::INVALID.saying(line));
    }
    let known = size.min(size_of::<T>());
    for at in known..size {
        // SAFETY: one of the `size` bytes.
        if unsafe { config.cast::<u8>().add(at).read() } != 0 {
            let line = format_args!(
                "byte {at} of a structure of {size} is set; this version knows {known}"
            );
            return Err(Errno::TOO_BIG.saying(line));
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have at least `known` bytes; the rest of `value` is zeros, which are a value of the fields there.
    unsafe {
        ptr::copy_nonoverlapping(config.cast::<u8>(), value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// `POPFIB_KEEP_PREFIXES`.
const KEEP_PREFIXES: u32 = 1;

/// `POPFIB_BALANCED`.
const BALANCED: u32 = 2;

/// What is generic about a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFamily {
    Ipv4,
    Ipv6,
}

impl CConfig {
    /// Whether the compiled table keeps prefix lengths, so that readers can return longest matches.
    pub(crate) fn keeps_prefixes(&self) -> bool {
        self.flags & KEEP_PREFIXES != 0
    }

    /// The size of the compiled table: how much memory it may take for fewer steps of a lookup.
    pub(crate) fn table_size(&self) -> Result<Size> {
        match self.flags & !KEEP_PREFIXES {
            0 => Ok(Size::Smallest),
            BALANCED => Ok(Size::Balanced),
            _ => Err(Errno::INVALID.saying(format_args!("flags {}: unknown", self.flags))),
        }
    }

    pub(crate) fn table_family(&self) -> Result<TableFamily> {
        match self.family {
            4 => Ok(TableFamily::Ipv4),
            6 => Ok(TableFamily::Ipv6),
            other => Err(Errno::INVALID.saying(format_args!("family {other}: it is 4 or 6"))),
        }
    }

    pub(crate) fn options(&self) -> Result<Options> {
        let direct_bits = match self.direct_bits {
            0 => None,
            bits => Some(u8::try_from(bits).map_err(|_| {
                Errno::INVALID.saying(format_args!("direct_bits {bits}: they are 1 to 24"))
            })?),
        };
        Ok(Options::default()
            .direct_bits(direct_bits)
            .size(self.table_size()?))
    }

    /// Where memory comes from and goes back to.
    pub(crate) fn allocator(&self) -> Result<CAllocator> {
        match (self.allocate, self.release) {
            (None, None) => Ok(CAllocator::Heap),
            (Some(allocate), Some(release)) => Ok(CAllocator::Caller {
                allocate,
                release,
                user: self.user,
            }),
            _ => Err(Errno::INVALID),
        }
    }

    /// The kernel that the structure names; if it names none, the one that the environment names, else the best.
    ///
    /// # Safety
    /// The structure is a copy of one of C's, whose `kernel` is null or a string.
    pub(crate) unsafe fn kernel(&self) -> Result<Kernel> {
        if !self.kernel.is_null() {
            // SAFETY: not null, hence a string.
            let name = unsafe { CStr::from_ptr(self.kernel) };
            return Ok(Kernel::by_name(&name.to_string_lossy())?);
        }
        match Kernel::from_env()? {
            Some(kernel) => Ok(kernel),
            None => Ok(Kernel::best()),
        }
    }
}
