//! Errors of the library in, negative numbers of `errno.h` out, and a line of text for each.

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_char, c_int};
use core::fmt::Display;
use core::num::NonZero;
use std::ffi::CString;

use popfib::kernel::KernelError;
use popfib::memory::OutOfMemory;
use popfib::{CompileError, ImageError};
use popfib_table::TableError;

/// A number of `errno.h`, negative, so that C gets a `Result<(), Errno>` as it stands in a register; less [`WITH_LINE`] if a line says
/// more than the number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errno(NonZero<c_int>);

/// Higher than all numbers of `errno.h`.
const WITH_LINE: c_int = 1 << 16;

pub(crate) type Result<T> = core::result::Result<T, Errno>;

thread_local! {
    /// This thread's last error that was returned; 0 before the first. Errors are asked for often, as "no value", so those without
    /// more to say make no line.
    static LAST: Cell<c_int> = const { Cell::new(0) };
    /// The line of the last error that has one.
    static LINE: RefCell<CString> = RefCell::default();
}

impl Errno {
    pub(crate) const INVALID: Self = Self::new(libc::EINVAL);
    pub(crate) const TOO_BIG: Self = Self::new(libc::E2BIG);
    pub(crate) const NO_ENTRY: Self = Self::new(libc::ENOENT);
    pub(crate) const NO_MEMORY: Self = Self::new(libc::ENOMEM);
    pub(crate) const NO_SPACE: Self = Self::new(libc::ENOSPC);
    pub(crate) const NO_DATA: Self = Self::new(libc::ENODATA);
    pub(crate) const OTHER_TYPE: Self = Self::new(libc::EDOM);
    pub(crate) const RANGE: Self = Self::new(libc::ERANGE);
    pub(crate) const READ_ONLY: Self = Self::new(libc::EROFS);
    pub(crate) const BUSY: Self = Self::new(libc::EBUSY);
    pub(crate) const NOT_SUPPORTED: Self = Self::new(libc::ENOTSUP);
    pub(crate) const BAD_TEXT: Self = Self::new(libc::EILSEQ);
    pub(crate) const BAD_IMAGE: Self = Self::new(libc::EBADMSG);
    #[cfg(feature = "xdp")]
    pub(crate) const EXISTS: Self = Self::new(libc::EEXIST);
    #[cfg(feature = "xdp")]
    pub(crate) const NO_FOLDER: Self = Self::new(libc::ENOTDIR);
    pub(crate) const IO: Self = Self::new(libc::EIO);
    /// A panic: an error in popfib itself.
    pub(crate) const PANIC: Self = Self::new(libc::ENOTRECOVERABLE);

    /// The error of a number above 0.
    const fn new(number: c_int) -> Self {
        assert!(number > 0);
        Self(NonZero::new(-number).unwrap())
    }

    /// What functions return.
    #[inline(always)]
    pub(crate) fn code(self) -> c_int {
        match self.0.get() {
            with_line if with_line <= -WITH_LINE => with_line + WITH_LINE,
            code => code,
        }
    }

    /// The error, about which this line says more than its number.
    #[cold]
    pub(crate) fn saying(self, line: impl Display) -> Self {
        let line = CString::new(line.to_string().replace('\0', "?")).unwrap_or_default();
        // A thread that ends may have none any more.
        let with_line = NonZero::new(self.code() - WITH_LINE);
        match (LINE.try_with(|to| to.replace(line)), with_line) {
            (Ok(_), Some(error)) => Self(error),
            _ => self,
        }
    }

    /// What functions return, as the last error of this thread.
    pub(crate) fn report(self) -> c_int {
        LAST.set(self.0.get());
        self.code()
    }
}

impl PartialEq for Errno {
    fn eq(&self, other: &Self) -> bool {
        self.code() == other.code()
    }
}

/// See popfib.h.
#[unsafe(no_mangle)] // SAFETY: nothing else has the prefix `popfib_`.
extern "C" fn popfib_error() -> *const c_char {
    match LAST.get() {
        0 => c"".as_ptr(),
        with_line if with_line <= -WITH_LINE => LINE
            .try_with(|line| line.borrow().as_ptr())
            .unwrap_or(c"".as_ptr()),
        error => popfib_strerror(error),
    }
}

impl From<OutOfMemory> for Errno {
    fn from(_: OutOfMemory) -> Self {
        Self::NO_MEMORY
    }
}

impl From<CompileError> for Errno {
    fn from(error: CompileError) -> Self {
        let number = match error {
            CompileError::DirectBits { .. } => Self::INVALID,
            CompileError::NextHop { .. } => Self::RANGE,
            CompileError::OutOfMemory(_) => return Self::NO_MEMORY,
            // `Nodes`, `Leaves`, `Words`: more than can be numbered.
            _ => Self::NO_SPACE,
        };
        number.saying(error)
    }
}

impl From<KernelError> for Errno {
    fn from(error: KernelError) -> Self {
        let number = match error {
            KernelError::Unavailable { .. } => Self::NOT_SUPPORTED,
            _ => Self::INVALID,
        };
        number.saying(error)
    }
}

impl From<ImageError> for Errno {
    fn from(error: ImageError) -> Self {
        let number = match error {
            ImageError::Io(error) => return error.into(),
            ImageError::Version { .. } | ImageError::BigEndianHost => Self::NOT_SUPPORTED,
            ImageError::Tables { .. } => Self::NO_ENTRY,
            // What it is and what makes an image of it is for the caller to read, too.
            ImageError::NotAnImage => return Self::BAD_IMAGE,
            // `Length`, `Broken`.
            _ => Self::BAD_IMAGE,
        };
        number.saying(error)
    }
}

impl From<TableError> for Errno {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Image(error) => error.into(),
            TableError::TooManyColumns | TableError::TooLarge => Self::NO_SPACE.saying(error),
            // No other is possible when a table is opened.
            _ => Self::NO_DATA,
        }
    }
}

impl From<std::io::Error> for Errno {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match (error.raw_os_error(), error.kind()) {
            (Some(number @ 1..), _) => Self::new(number),
            (_, ErrorKind::InvalidInput) => Self::INVALID,
            (_, ErrorKind::IsADirectory) => Self::new(libc::EISDIR),
            (_, ErrorKind::FileTooLarge) => Self::new(libc::EFBIG),
            (_, ErrorKind::OutOfMemory) => Self::NO_MEMORY,
            _ => Self::IO,
        }
    }
}

/// See popfib.h.
///
/// The words are the library's own: those of `strerror` would mislead, since a table is no file, and no variant of it that all
/// systems have is thread-safe and returns static text.
#[unsafe(no_mangle)] // SAFETY: nothing else has the prefix `popfib_`.
pub(crate) extern "C" fn popfib_strerror(error: c_int) -> *const c_char {
    let text: &CStr = match error.checked_abs().unwrap_or(c_int::MAX) {
        0 => c"success",
        libc::EINVAL => c"invalid argument",
        libc::E2BIG => c"the structure has fields that this version does not know",
        libc::ENOENT => c"no such route, value, column, table or file",
        libc::ENOMEM => c"out of memory",
        libc::ENOSPC => c"the table or the disk is full",
        libc::ENODATA => c"the image has no routes or no records",
        libc::ERANGE => c"a number is too high: next hops go to 2147483647, records to their count",
        libc::EDOM => c"the column has values of another type",
        libc::EROFS => c"the table or the file system is read-only",
        libc::EBUSY => c"the table is being walked",
        libc::ENOTSUP => c"not supported by this CPU or this version",
        libc::EILSEQ => c"text that is not UTF-8",
        libc::EBADMSG => {
            c"not an image, or a damaged one; `popfib compile FILE --columns '*' -o IMAGE` makes one of a MaxMind database, CSV or another table"
        }
        libc::EEXIST => c"something else is there",
        libc::EIO => c"input or output failed",
        libc::ENOTRECOVERABLE => c"internal error in popfib; the handle can only be freed",
        libc::EACCES | libc::EPERM => c"permission denied",
        libc::EISDIR => c"the file is a directory",
        libc::ENOTDIR => c"part of the path is not a directory",
        libc::EMFILE | libc::ENFILE => c"too many open files",
        libc::EFBIG | libc::EDQUOT => c"the file would be too large",
        _ => c"unknown error, see errno.h",
    };
    text.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors for which tests in C would need tables of gigabytes or broken hardware.
    #[test]
    fn errors_have_the_numbers_that_the_header_gives() {
        let cases: [(Errno, c_int); 7] = [
            (CompileError::Words { max: 1 }.into(), libc::ENOSPC),
            (CompileError::Nodes { max: 1 }.into(), libc::ENOSPC),
            (ImageError::BigEndianHost.into(), libc::ENOTSUP),
            (
                std::io::Error::from_raw_os_error(libc::ENOSPC).into(),
                libc::ENOSPC,
            ),
            (
                std::io::Error::from_raw_os_error(libc::EDQUOT).into(),
                libc::EDQUOT,
            ),
            (std::io::Error::other("odd").into(), libc::EIO),
            (
                ImageError::Io(std::io::ErrorKind::IsADirectory.into()).into(),
                libc::EISDIR,
            ),
        ];
        for (error, number) in cases {
            assert_eq!(error.code(), -number);
        }
    }

    /// Where an error is not returned, or another is in its place.
    #[test]
    fn a_line_is_that_of_its_error_alone() {
        // SAFETY: a string, which is there until the next error of this thread.
        let said = || unsafe { CStr::from_ptr(popfib_error()) };
        let line = Errno::RANGE.saying("nobody gets this");
        assert_eq!(line, Errno::RANGE);
        Errno::INVALID.report();
        assert_eq!(said(), c"invalid argument");
        assert_eq!(
            Errno::RANGE.saying("7\0").saying("8\0").report(),
            -libc::ERANGE
        );
        assert_eq!(said(), c"8?");
    }
}
