//! Structures of the Arrow C data interface that others made in; their fields and buffers as slices out.
//!
//! All that is believed is what no program could find out: that a pointer which is not null leads to as many bytes as the
//! counts beside it ask for. Whoever takes a structure over ([`OwnedArrow::take`]) vouches for that; all other functions are
//! safe to call. A buffer is a slice of the length that its type asks for, and counts may be any.
//!
//! Rejected: the import of `arrow-array` (60.1). It computes lengths of buffers from counts and the last offset, and reads there,
//! before anything validates them: a negative count wraps around, and a missing buffer panics. Its validation names no row, and takes
//! 1.7 ms for a million texts as bytes, 5.9 as UTF-8, also for a call that needs a few rows. Its streams are of tables, not of columns.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::{mem, slice};

/// `ArrowSchema` of the interface.
#[repr(C)]
pub(crate) struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `ArrowArray` of the interface.
#[repr(C)]
pub(crate) struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `ArrowArrayStream` of the interface.
#[repr(C)]
pub(crate) struct ArrowStream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// One of the three structures.
///
/// # Safety
/// All zeros are a value: one that has been released.
pub(crate) unsafe trait ArrowStructure: Sized {
    /// The function that releases it; `None` if that has happened.
    fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
}

macro_rules! structure {
    ($type:ty) => {
        // SAFETY: zeros in its fields are numbers, null pointers and no functions; without `release` it has been released.
        unsafe impl ArrowStructure for $type {
            fn release(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
                self.release
            }
        }
    };
}
structure!(ArrowSchema);
structure!(ArrowArray);
structure!(ArrowStream);

/// A structure that was taken over, which is released when it is dropped. It follows the interface, as [`OwnedArrow::take`] asks.
pub(crate) struct OwnedArrow<T: ArrowStructure>(T);

impl<T: ArrowStructure> OwnedArrow<T> {
    fn released() -> Self {
        // SAFETY: `ArrowStructure` promises that zeros are a value.
        Self(unsafe { mem::zeroed() })
    }

    /// Takes the structure that `from` points to, and marks that one as released.
    ///
    /// # Safety
    /// `from` points to an aligned structure, which nobody else uses meanwhile. The structure follows the interface: pointers
    /// are null or lead to what they are for, to as many as the counts say, and to buffers as long as the type asks for.
    /// Nobody changes any of that before it is released.
    pub(crate) unsafe fn take(from: NonNull<T>) -> Self {
        // SAFETY: aligned and nobody else's, as the caller promises; zeros are a value, as `ArrowStructure` promises.
        Self(unsafe { ptr::replace(from.as_ptr(), mem::zeroed()) })
    }

    pub(crate) fn is_released(&self) -> bool {
        self.0.release().is_none()
    }
}

impl<T: ArrowStructure> Deref for OwnedArrow<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ArrowStructure> Drop for OwnedArrow<T> {
    fn drop(&mut self) {
        if let Some(release) = self.0.release() {
            // SAFETY: the producer's function for this structure, called once.
            unsafe { release(&mut self.0) }
        }
    }
}

impl ArrowSchema {
    /// The text that names the type.
    pub(crate) fn format(&self) -> &[u8] {
        if self.format.is_null() {
            return b"";
        }
        // SAFETY: a string, by the promise at `Owned::take`.
        unsafe { CStr::from_ptr(self.format) }.to_bytes()
    }

    /// The type of the words of a dictionary.
    pub(crate) fn dictionary(&self) -> Option<&Self> {
        // SAFETY: a schema, by the promise at `Owned::take`.
        unsafe { self.dictionary.as_ref() }
    }
}

impl ArrowArray {
    pub(crate) fn len(&self) -> i64 {
        self.length
    }

    pub(crate) fn offset(&self) -> i64 {
        self.offset
    }

    /// How many cells are null; negative if nobody counted.
    pub(crate) fn null_count(&self) -> i64 {
        self.null_count
    }

    pub(crate) fn buffer_count(&self) -> i64 {
        self.n_buffers
    }

    /// The words of a dictionary.
    pub(crate) fn dictionary(&self) -> Option<&Self> {
        // SAFETY: an array, by the promise at `Owned::take`.
        unsafe { self.dictionary.as_ref() }
    }

    fn start(&self, index: usize) -> Option<NonNull<u8>> {
        let is_there = i64::try_from(index).is_ok_and(|index| index < self.n_buffers);
        if !is_there || self.buffers.is_null() {
            return None;
        }
        // SAFETY: one of the array's pointers, which are not sure to be aligned.
        let start = unsafe { self.buffers.add(index).read_unaligned() };
        NonNull::new(start.cast_mut().cast())
    }

    pub(crate) fn has_buffer(&self, index: usize) -> bool {
        self.start(index).is_some()
    }

    /// The buffer of that number, which is `len` bytes long by the array's type and counts; `None` if it is
    /// missing, or longer than anything in memory.
    pub(crate) fn buffer(&self, index: usize, len: usize) -> Option<&[u8]> {
        if len == 0 {
            return Some(&[]);
        }
        let start = self.start(index)?;
        // A slice is not longer than that, nor goes around the end of memory.
        let end = start.addr().get().checked_add(len);
        if isize::try_from(len).is_err() || end.is_none() {
            return None;
        }
        // SAFETY: so many bytes that nobody changes, by the promise at `Owned::take`; they live as long as the array.
        Some(unsafe { slice::from_raw_parts(start.as_ptr(), len) })
    }
}

impl OwnedArrow<ArrowStream> {
    /// The type of all arrays.
    ///
    /// # Errors
    /// The producer's.
    pub(crate) fn schema(&mut self) -> Result<OwnedArrow<ArrowSchema>, String> {
        let get_schema = self.0.get_schema.filter(|_| !self.is_released());
        let get_schema = get_schema.ok_or("the Arrow stream was taken before")?;
        let mut schema = OwnedArrow::<ArrowSchema>::released();
        // SAFETY: the producer's function for this stream.
        match unsafe { get_schema(&mut self.0, &mut schema.0) } {
            0 => Ok(schema),
            code => Err(self.error(code)),
        }
    }

    /// The next array; `None` at the end.
    ///
    /// # Errors
    /// The producer's.
    pub(crate) fn array(&mut self) -> Result<Option<OwnedArrow<ArrowArray>>, String> {
        let get_next = self.0.get_next.filter(|_| !self.is_released());
        let get_next = get_next.ok_or("the Arrow stream was taken before")?;
        let mut array = OwnedArrow::<ArrowArray>::released();
        // SAFETY: the producer's function for this stream.
        match unsafe { get_next(&mut self.0, &mut array.0) } {
            0 => Ok(Some(array).filter(|array| !array.is_released())),
            code => Err(self.error(code)),
        }
    }

    fn error(&mut self, code: c_int) -> String {
        let Some(get_last_error) = self.0.get_last_error else {
            return format!("error {code} of the Arrow stream");
        };
        // SAFETY: the producer's function for this stream.
        let text = unsafe { get_last_error(&mut self.0) };
        if text.is_null() {
            return format!("error {code} of the Arrow stream");
        }
        // SAFETY: a string that lives until the next call.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }
}

/// Bytes as numbers, if they lie so in memory.
pub(crate) fn numbers(bytes: &[u8]) -> Option<&[u32]> {
    // SAFETY: every pattern of bits is a number.
    let (head, numbers, _) = unsafe { bytes.align_to() };
    head.is_empty().then_some(numbers)
}
