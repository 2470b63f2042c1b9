//! Structures of the Arrow C data interface that others made in; their buffers as slices out.
//!
//! All that is believed is what no program could find out: that a pointer which is not null leads to as many bytes as the
//! counts beside it ask for. Whoever takes a structure over (`from_raw`) vouches for that; the functions here are safe to call.
//! A buffer is a slice of the length that its type asks for, and counts may be any.
//!
//! Rejected: the import of `arrow-array` (60.1; docs/experiments/doors.md, 291). It reads buffers before it looks at the counts.

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{self, NonNull};
use std::slice;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;

/// The buffer of that number, which is `len` bytes long by the array's type and counts; `None` if it is missing, or longer than
/// anything in memory.
pub(crate) fn buffer(array: &FFI_ArrowArray, index: usize, len: usize) -> Option<&[u8]> {
    if len == 0 {
        return Some(&[]);
    }
    // SAFETY: in the interface's structure the pointer to the pointers stands behind five numbers of 64 bits.
    let buffers: *const () =
        unsafe { ptr::from_ref(array).byte_add(40).cast::<*const ()>().read() };
    // Where there are none the library would panic.
    let is_there = !buffers.is_null() && index < array.num_buffers();
    let start = NonNull::new(is_there.then(|| array.buffer(index))?.cast_mut())?;
    // A slice is not longer than that, nor goes around the end of memory.
    let end = start.addr().get().checked_add(len);
    if isize::try_from(len).is_err() || end.is_none() {
        return None;
    }
    // SAFETY: so many bytes that nobody changes, by the promise at `from_raw`; they live as long as the array.
    Some(unsafe { slice::from_raw_parts(start.as_ptr(), len) })
}

/// Whether a type has a name, without which the library would panic.
pub(crate) fn has_format(schema: &FFI_ArrowSchema) -> bool {
    // SAFETY: in the interface's structure that is the first member.
    let format = unsafe { ptr::from_ref(schema).cast::<*const c_char>().read() };
    // SAFETY: a string that lives as long as the structure.
    !format.is_null() && unsafe { CStr::from_ptr(format) }.to_str().is_ok()
}

/// What a function of a stream writes in the place of `empty`: its schema, or its next array.
///
/// # Errors
/// The producer's.
pub(crate) fn of_stream<T>(
    stream: &mut FFI_ArrowArrayStream,
    function: Option<unsafe extern "C" fn(*mut FFI_ArrowArrayStream, *mut T) -> c_int>,
    empty: T,
) -> Result<T, String> {
    let function = function.filter(|_| stream.release().is_some());
    let function = function.ok_or("the Arrow stream was taken before")?;
    let mut written = empty;
    // SAFETY: the producer's function for this stream.
    match unsafe { function(stream, &mut written) } {
        0 => Ok(written),
        code => Err(error(stream).unwrap_or_else(|| format!("error {code} of the Arrow stream"))),
    }
}

fn error(stream: &mut FFI_ArrowArrayStream) -> Option<String> {
    // SAFETY: the producer's function for this stream.
    let text = unsafe { stream.get_last_error()?(stream) };
    // SAFETY: a string that lives until the next call.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(text.to_string_lossy().into_owned())
}

/// Bytes as numbers, if they lie so in memory.
pub(crate) fn numbers(bytes: &[u8]) -> Option<&[u32]> {
    // SAFETY: every pattern of bits is a number.
    let (head, numbers, _) = unsafe { bytes.align_to() };
    head.is_empty().then_some(numbers)
}
