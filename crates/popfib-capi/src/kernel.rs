//! Names of kernels and the version, as strings of C that are there for good.

use core::ffi::c_char;
use core::ptr;

use popfib::Kernel;

use crate::border::border_or;

/// Bytes of the longest name that fits, with the zero at its end; a longer one does not compile.
const NAME_LEN: usize = 16;

/// The names of all kernels as strings of C, with a zero at the end.
static NAMES: [[u8; NAME_LEN]; Kernel::ALL_NAMES.len()] = {
    let mut names = [[0; NAME_LEN]; Kernel::ALL_NAMES.len()];
    let mut index = 0;
    while index < names.len() {
        let name = Kernel::ALL_NAMES[index].as_bytes();
        assert!(name.len() < NAME_LEN);
        names[index]
            .split_at_mut(name.len())
            .0
            .copy_from_slice(name);
        index += 1;
    }
    names
};

/// The name of a kernel as a string of C.
pub(crate) fn c_name(kernel: Kernel) -> *const c_char {
    let mut names = Kernel::ALL_NAMES.iter().zip(&NAMES);
    names
        .find(|(name, _)| **name == kernel.name())
        .map_or(ptr::null(), |(_, c_name)| c_name.as_ptr().cast())
}

/// See popfib.h.
#[unsafe(no_mangle)] // SAFETY: nothing else has the prefix `popfib_`.
extern "C" fn popfib_kernel_list(index: usize) -> *const c_char {
    border_or(ptr::null(), || {
        Kernel::list().nth(index).map_or(ptr::null(), c_name)
    })
}

/// See popfib.h.
#[unsafe(no_mangle)] // SAFETY: nothing else has the prefix `popfib_`.
extern "C" fn popfib_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;

    #[test]
    fn every_kernel_has_a_name_for_c() {
        for kernel in Kernel::list() {
            // SAFETY: a static string.
            let name = unsafe { CStr::from_ptr(c_name(kernel)) };
            assert_eq!(name.to_str(), Ok(kernel.name()));
        }
    }
}
