//! What can go wrong with maps: the call that failed and its error in, one line with what helps out.

use std::io;
use std::path::PathBuf;

use popfib_table::TableError;
use thiserror::Error;

/// Why a map could not be made, found or filled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BpfError {
    /// The folder is in no BPF file system, or is not there.
    #[error(
        "{0}: no folder of a BPF file system; `mount -t bpf bpf /sys/fs/bpf` makes one, and mkdir folders in it"
    )]
    NoBpffs(PathBuf),
    /// Nothing is pinned there.
    #[error("{0}: no map is pinned there")]
    NotPinned(PathBuf),
    /// There is a map, and no table in it.
    #[error("{0}: no table is loaded; `popfib xdp load` loads one")]
    NotLoaded(PathBuf),
    /// What is pinned there is something else, or of another version.
    #[error("{path}: {reason}")]
    OtherMap {
        /// The pin.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// The table lacks what programs are to find, or could not be compiled.
    #[error("{0}")]
    Table(TableError),
    /// The table is larger than a map can be.
    #[error("the table is larger than 16 GiB, the most that a map can hold")]
    TooLarge,
    /// The kernel refused something.
    #[error("{path}: cannot {what}: {error}{}", remedy(.error))]
    Refused {
        /// What was to be done, as in "cannot ...".
        what: &'static str,
        /// The pin.
        path: PathBuf,
        /// Its error.
        error: io::Error,
    },
}

/// What helps where the kernel refused something.
fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM) => {
            "; it takes the capabilities CAP_BPF and, to find what is loaded, CAP_SYS_ADMIN"
        }
        Some(libc::ENOSYS | libc::EINVAL) => {
            "; it takes Linux 5.11 or later with CONFIG_BPF_SYSCALL"
        }
        _ => "",
    }
}
