//! What comes with images, files of compiled tables that lookups use without unpacking them: the tables of one, and what is
//! kept in it.
//!
//! An [`ImageWriter`](crate::ImageWriter) compiles Ribs and arranges them as sections of a file; an
//! [`Image`](crate::Image) has the same bytes in memory. `docs/image-format.md` describes the bytes.

pub(crate) mod error;
mod family;
mod format;
mod memory;
mod metadata;
pub(crate) mod open;
mod sections;
mod shared;
mod table;
pub(crate) mod write;

pub(crate) use error::ImageError;

pub use family::ImageFamily;
pub use metadata::Source;
pub use table::ImageTable;
pub use write::Keep;
