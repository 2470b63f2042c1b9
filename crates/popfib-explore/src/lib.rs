//! Tables in, a page for the browser out: one file, which looks up, maps, searches and counts without a server or a network.
//!
//! The page is HTML, CSS and plain JavaScript, in `page/`; it reads images itself, so neither a build step nor WebAssembly is needed.
//! It is a crate of its own, and no part of popfib-draw, as pictures need neither tables with records nor formats nor hashes.
//!
//! ```
//! use popfib::image::Keep;
//! use popfib::{ImageWriter, Options};
//! use popfib_table::Table;
//!
//! let table: Table = [("192.0.2.0/24".parse()?, "AS64500")].into_iter().collect();
//! let mut image = ImageWriter::new(0);
//! image.table("mine", &[])?;
//! table.write(&mut image, &Options::default(), Keep::Prefixes)?;
//! let page = popfib_explore::page("Mine", &image.to_bytes(), [&table])?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod hidden_routes;
mod page;

use popfib_formats::{ColumnSelection, Input, LoadOptions, LookupTable, ReadError, load};

pub use page::page;

/// The special-purpose addresses of IANA's registries, with all columns, which every page has as its last table: called
/// [`SPECIAL_TABLE_NAME`](popfib_formats::SPECIAL_TABLE_NAME), the page says of each address what it is for.
///
/// # Errors
/// None in practice: the table is embedded.
pub fn special_purposes() -> Result<LookupTable, ReadError> {
    let options = LoadOptions {
        columns: ColumnSelection::All,
        ..LoadOptions::new()
    };
    load(Input::special(), &options)
}
