//! Which kernels there are, and the version.

use core::ffi::{CStr, c_char};
use core::ptr;

use popfib::Kernel;

use crate::border::border_or;

/// The name as C wants it; null for one that this list lacks.
pub(crate) fn c_name(kernel: Kernel) -> *const c_char {
    const NAMES: [&CStr; 5] = [c"scalar", c"portable", c"avx2", c"avx512bw", c"avx512"];
    NAMES
        .iter()
        .find(|name| name.to_bytes() == kernel.name().as_bytes())
        .map_or(ptr::null(), |name| name.as_ptr())
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

    #[test]
    fn every_kernel_has_a_name_for_c() {
        for kernel in Kernel::list() {
            // SAFETY: a static string.
            let name = unsafe { CStr::from_ptr(c_name(kernel)) };
            assert_eq!(name.to_str(), Ok(kernel.name()));
        }
        assert_eq!(Kernel::ALL_NAMES.len(), 5, "`c_name` names them all");
    }
}
