//! Structures by which C says what it wants, and how they may grow.
//!
//! The first member of each is its size. Fields that are added later come after the others, and
//! 0 in them means what there was before: a shorter structure is filled up with zeros, a longer one is
//! accepted if what this version does not know is 0.

use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use popfib::{Kernel, Options, Size};

use crate::error::{Errno, Result};
use crate::memory::{Allocate, Memory, Release};

/// A structure of the header, of numbers and pointers only.
///
/// # Safety
/// `#[repr(C)]`, the first field is the size as a `usize`, and all zeros are a value.
pub(crate) unsafe trait Versioned: Copy {
    /// The length of the oldest version.
    const OLDEST: usize;
}

/// `struct popfib_config`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Config {
    pub(crate) size: usize,
    pub(crate) family: u32,
    pub(crate) next_hop_bits: u32,
    pub(crate) direct_bits: u32,
    pub(crate) flags: u32,
    pub(crate) kernel: *const c_char,
    pub(crate) allocate: Option<Allocate>,
    pub(crate) release: Option<Release>,
    pub(crate) user: *mut c_void,
}

// SAFETY: see its fields.
unsafe impl Versioned for Config {
    const OLDEST: usize = size_of::<Self>();
}

/// `struct popfib_image_config`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ImageConfig {
    pub(crate) size: usize,
    pub(crate) created: u64,
    pub(crate) source: *const c_char,
    pub(crate) names: *const *const c_char,
    pub(crate) name_count: u32,
    pub(crate) flags: u32,
}

// SAFETY: see its fields.
unsafe impl Versioned for ImageConfig {
    const OLDEST: usize = size_of::<Self>();
}

/// The structure at `config`.
///
/// # Safety
/// Null, or a structure as long as its first member says.
pub(crate) unsafe fn read<T: Versioned>(config: *const T) -> Result<T> {
    if config.is_null() || !config.is_aligned() {
        return Err(Errno::INVALID);
    }
    // SAFETY: the first field is the size.
    let size = unsafe { config.cast::<usize>().read() };
    if size < T::OLDEST {
        return Err(Errno::INVALID);
    }
    let known = size.min(size_of::<T>());
    for at in known..size {
        // SAFETY: within the structure.
        if unsafe { config.cast::<u8>().add(at).read() } != 0 {
            return Err(Errno::TOO_BIG);
        }
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both are at least `known` long; the rest is zeros, which make a value.
    unsafe {
        ptr::copy_nonoverlapping(config.cast::<u8>(), value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// `POPFIB_KEEP_PREFIXES`.
const KEEP_PREFIXES: u32 = 1;

/// `POPFIB_BALANCED`.
const BALANCED: u32 = 2;

/// `POPFIB_FASTEST`.
const FASTEST: u32 = 4;

/// Family and width of next hops of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Ipv4Narrow,
    Ipv4Wide,
    Ipv6Narrow,
    Ipv6Wide,
}

impl Config {
    /// Whether readers are asked for longest matches.
    pub(crate) fn keeps_prefixes(&self) -> Result<bool> {
        match (self.flags & KEEP_PREFIXES, self.next_hop_bits) {
            (0, _) => Ok(false),
            (_, 0 | 32) => Ok(true),
            _ => Err(Errno::INVALID),
        }
    }

    /// What the compiled table trades memory for.
    pub(crate) fn table_size(&self) -> Result<Size> {
        match self.flags & !KEEP_PREFIXES {
            0 => Ok(Size::Smallest),
            BALANCED => Ok(Size::Balanced),
            FASTEST => Ok(Size::Fastest),
            _ => Err(Errno::INVALID),
        }
    }

    pub(crate) fn form(&self) -> Result<Form> {
        match (self.family, self.next_hop_bits) {
            (4, 16) => Ok(Form::Ipv4Narrow),
            (4, 0 | 32) => Ok(Form::Ipv4Wide),
            (6, 16) => Ok(Form::Ipv6Narrow),
            (6, 0 | 32) => Ok(Form::Ipv6Wide),
            _ => Err(Errno::INVALID),
        }
    }

    pub(crate) fn options(&self) -> Result<Options> {
        let direct_bits = match self.direct_bits {
            0 => None,
            bits => Some(u8::try_from(bits).map_err(|_| Errno::INVALID)?),
        };
        Ok(Options::default()
            .direct_bits(direct_bits)
            .size(self.table_size()?))
    }

    /// Where memory comes from.
    pub(crate) fn memory(&self) -> Result<Memory> {
        match (self.allocate, self.release) {
            (None, None) => Ok(Memory::Heap),
            (Some(allocate), Some(release)) => Ok(Memory::Caller {
                allocate,
                release,
                user: self.user,
            }),
            _ => Err(Errno::INVALID),
        }
    }

    /// The kernel of that name; for none the one that the environment names, else the best.
    ///
    /// # Safety
    /// The name is null or a string.
    pub(crate) unsafe fn kernel(&self) -> Result<Kernel> {
        if !self.kernel.is_null() {
            // SAFETY: the caller's.
            let name = unsafe { CStr::from_ptr(self.kernel) };
            return Ok(Kernel::by_name(&name.to_string_lossy())?);
        }
        match Kernel::from_env()? {
            Some(kernel) => Ok(kernel),
            None => Ok(Kernel::best()),
        }
    }
}
