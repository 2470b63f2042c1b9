//! Tests by the library's interface in one program: each of its own would have the library once more.

mod changed_images;
mod rpki;
mod watcher;
