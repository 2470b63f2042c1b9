//! What can go wrong with maps: the call that failed and its error in, one line with what helps out.

use std::fmt;
use std::io;
use std::path::PathBuf;

use popfib_table::TableError;

/// Why a map could not be made, found or filled.
#[derive(Debug)]
#[non_exhaustive]
pub enum BpfError {
    /// The folder is in no BPF file system, or is not there.
    NoBpffs(PathBuf),
    /// Nothing is pinned there.
    NotPinned(PathBuf),
    /// There is a map, and no table in it.
    NotLoaded(PathBuf),
    /// What is pinned there is something else, or of another version.
    OtherMap {
        /// The pin.
        path: PathBuf,
        /// What it is.
        reason: String,
    },
    /// The table lacks what programs are to find, or could not be compiled.
    Table(TableError),
    /// The table is larger than a map can be.
    TooLarge,
    /// The kernel refused something.
    Refused {
        /// What was to be done, as in "cannot ...".
        what: &'static str,
        /// The pin.
        path: PathBuf,
        /// Its error.
        error: io::Error,
    },
}

impl fmt::Display for BpfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBpffs(path) => write!(
                f,
                "{}: no folder of a BPF file system; `mount -t bpf bpf /sys/fs/bpf` makes one, and mkdir folders in it",
                path.display()
            ),
            Self::NotPinned(path) => write!(f, "{}: no map is pinned there", path.display()),
            Self::NotLoaded(path) => write!(
                f,
                "{}: no table is loaded; `popfib xdp load` loads one",
                path.display()
            ),
            Self::Table(error) => error.fmt(f),
            Self::OtherMap { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::TooLarge => write!(
                f,
                "the table is larger than 16 GiB, the most that a map can hold"
            ),
            Self::Refused { what, path, error } => {
                write!(f, "{}: cannot {what}: {error}", path.display())?;
                match error.raw_os_error() {
                    Some(libc::EPERM) => write!(
                        f,
                        "; it takes the capabilities CAP_BPF and, to find what is loaded, CAP_SYS_ADMIN"
                    ),
                    Some(libc::ENOSYS | libc::EINVAL) => {
                        write!(f, "; it takes Linux 5.11 or later with CONFIG_BPF_SYSCALL")
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for BpfError {}
