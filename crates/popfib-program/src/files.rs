//! What a path or a standard stream is: standard input, an image, a pipe.

use std::fs::File;
#[cfg(unix)]
use std::fs::Metadata;
use std::io::Read;
#[cfg(unix)]
use std::os::fd::AsFd;
use std::path::Path;

/// Whether `path` stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path as messages have it.
pub fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}

/// Whether the file is an image, by its beginning.
pub fn is_image_file(path: &Path) -> bool {
    let mut head = Vec::new();
    // What is no regular file can be read only once.
    let file = File::open(path).ok().filter(|_| path.is_file());
    let read = file.map(|file| file.take(16).read_to_end(&mut head));
    read.is_some_and(|read| read.is_ok()) && popfib_formats::image::is_image(&head)
}

/// What the system says of a standard stream; only Unix does.
#[cfg(unix)]
pub fn metadata(stream: impl AsFd) -> Option<Metadata> {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata()).ok()
}
