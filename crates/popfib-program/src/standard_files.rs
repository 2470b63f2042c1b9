//! A standard stream in, what it is as a file out: a pipe, which file. Only Unix says so.

use std::fs::{File, Metadata};
use std::os::fd::AsFd;

/// What the system says of a standard stream.
pub fn metadata(stream: impl AsFd) -> Option<Metadata> {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata()).ok()
}
