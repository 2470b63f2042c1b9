//! Tables for lookups alone: an image as it is, any other format by its routes.

use std::sync::Arc;

use popfib_table::Table;

use crate::error::ReadError;
use crate::image;
use crate::input::Input;
use crate::load::{RouteTable, image_table, load_from};
use crate::table_format::LoadOptions;

/// A table as loaded for lookups, and what it lacks of its source.
#[derive(Clone, Debug)]
pub struct LookupTable {
    /// The table.
    pub table: Table,
    /// How many routes were replaced by a later one for the same prefix.
    pub replaced: u64,
    /// How many invalid lines, or records of a binary file, were skipped.
    pub skipped: u64,
    /// What else was left out, for the user: one line each.
    pub notes: Vec<String>,
}

impl From<RouteTable> for LookupTable {
    fn from(table: RouteTable) -> Self {
        Self {
            replaced: table.replaced,
            skipped: table.skipped,
            notes: table.notes.clone(),
            table: table.into_table(),
        }
    }
}

/// Loads a table for lookups. An image, recognised by content, is used as it is where nothing is asked of its routes; it
/// may have been compiled without them. Everything else is read as by [`load_from`].
///
/// Takes time in proportion to the file and memory in proportion to the table.
///
/// # Errors
/// As [`load`](crate::load).
pub fn load_for_lookups(mut input: Input, options: &LoadOptions) -> Result<LookupTable, ReadError> {
    if *options != LoadOptions::new() || !(image::FORMAT.detect)(input.peek(image::FORMAT.detect)) {
        return Ok(load_from(input, options)?.into());
    }
    let image = Arc::new(image::read(&mut input)?);
    let table = match image.name_count() {
        Some(_) => Table::of_image(image),
        None => image_table(input.name(), image)?.into_table(),
    };
    Ok(LookupTable {
        table,
        replaced: 0,
        skipped: 0,
        notes: Vec::new(),
    })
}
