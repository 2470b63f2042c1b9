//! Errors as C knows them: negative numbers of `errno.h`.

use core::ffi::{CStr, c_char, c_int};

use popfib::{CompileError, ImageError, KernelError, OutOfMemory};

/// A positive number of `errno.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errno(c_int);

pub(crate) type Result<T> = core::result::Result<T, Errno>;

impl Errno {
    pub(crate) const INVALID: Self = Self(libc::EINVAL);
    pub(crate) const TOO_BIG: Self = Self(libc::E2BIG);
    pub(crate) const NO_ENTRY: Self = Self(libc::ENOENT);
    pub(crate) const NO_MEMORY: Self = Self(libc::ENOMEM);
    pub(crate) const NO_SPACE: Self = Self(libc::ENOSPC);
    pub(crate) const NO_DATA: Self = Self(libc::ENODATA);
    pub(crate) const RANGE: Self = Self(libc::ERANGE);
    pub(crate) const READ_ONLY: Self = Self(libc::EROFS);
    pub(crate) const BUSY: Self = Self(libc::EBUSY);
    pub(crate) const NOT_SUPPORTED: Self = Self(libc::ENOTSUP);
    pub(crate) const BAD_TEXT: Self = Self(libc::EILSEQ);
    pub(crate) const BAD_IMAGE: Self = Self(libc::EBADMSG);
    pub(crate) const IO: Self = Self(libc::EIO);
    /// A panic: an error in popfib itself.
    pub(crate) const PANIC: Self = Self(libc::ENOTRECOVERABLE);

    /// What functions return.
    pub(crate) fn code(self) -> c_int {
        -self.0
    }
}

impl From<OutOfMemory> for Errno {
    fn from(_: OutOfMemory) -> Self {
        Self::NO_MEMORY
    }
}

impl From<CompileError> for Errno {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::DirectBits { .. } => Self::INVALID,
            CompileError::NextHop { .. } => Self::RANGE,
            CompileError::OutOfMemory(_) => Self::NO_MEMORY,
            // `Nodes`, `Leaves`, `Words`: more than can be numbered.
            _ => Self::NO_SPACE,
        }
    }
}

impl From<KernelError> for Errno {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Unavailable { .. } => Self::NOT_SUPPORTED,
            _ => Self::INVALID,
        }
    }
}

impl From<ImageError> for Errno {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Io(error) => error.into(),
            ImageError::Version { .. } | ImageError::BigEndianHost => Self::NOT_SUPPORTED,
            // `NotAnImage`, `Length`, `Broken`.
            _ => Self::BAD_IMAGE,
        }
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match (error.raw_os_error(), error.kind()) {
            (Some(number), _) => Self(number),
            (_, ErrorKind::InvalidInput) => Self::INVALID,
            (_, ErrorKind::IsADirectory) => Self(libc::EISDIR),
            (_, ErrorKind::FileTooLarge) => Self(libc::EFBIG),
            (_, ErrorKind::OutOfMemory) => Self::NO_MEMORY,
            _ => Self::IO,
        }
    }
}

/// See popfib.h.
///
/// Its own words where those of `strerror` would mislead, for a table is no file; the system has no
/// variant of `strerror` that is at once thread-safe, static and everywhere.
#[unsafe(no_mangle)] // SAFETY: nothing else has the prefix `popfib_`.
extern "C" fn popfib_strerror(error: c_int) -> *const c_char {
    let text: &CStr = match error.unsigned_abs().try_into().map(Errno) {
        Ok(Errno(0)) => c"success",
        Ok(Errno::INVALID) => c"invalid argument",
        Ok(Errno::TOO_BIG) => c"the structure has fields that this version does not know",
        Ok(Errno::NO_ENTRY) => c"no such route or file",
        Ok(Errno::NO_MEMORY) => c"out of memory",
        Ok(Errno::NO_SPACE) => c"the table or the disk is full",
        Ok(Errno::NO_DATA) => c"the image has no routes or no names",
        Ok(Errno::RANGE) => c"the next hop does not fit",
        Ok(Errno::READ_ONLY) => c"the table or the file system is read-only",
        Ok(Errno::BUSY) => c"the table is being walked",
        Ok(Errno::NOT_SUPPORTED) => c"not supported by this CPU or this version",
        Ok(Errno::BAD_TEXT) => c"text that is not UTF-8",
        Ok(Errno::BAD_IMAGE) => c"not an image, or a damaged one",
        Ok(Errno::IO) => c"input or output failed",
        Ok(Errno::PANIC) => c"internal error in popfib; the handle can only be freed",
        Ok(Errno(libc::EACCES | libc::EPERM)) => c"permission denied",
        Ok(Errno(libc::EISDIR)) => c"the file is a directory",
        Ok(Errno(libc::ENOTDIR)) => c"part of the path is not a directory",
        Ok(Errno(libc::EMFILE | libc::ENFILE)) => c"too many open files",
        Ok(Errno(libc::EFBIG | libc::EDQUOT)) => c"the file would be too large",
        _ => c"unknown error, see errno.h",
    };
    text.as_ptr()
}
