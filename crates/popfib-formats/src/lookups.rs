//! Tables for lookups alone: an image as it is, any other format by its routes. An [`Input`] in, a [`LookupTable`] out.
//!
//! Apart from `load.rs` because an image need not be taken apart to be asked, and may have no routes at all. Whatever needs the
//! routes (a filter, another value) goes by them, so that one answer does not depend on the form of the file.

use popfib::family::ByFamily;
use popfib::image::Source;
use popfib_table::{Table, TableError};

use crate::error::ReadError;
use crate::image::{self, table_of_image};
use crate::input::Input;
use crate::load::{RouteTable, load_from, remarks};
use crate::table_format::LoadOptions;
use crate::values::ColumnSelection;

/// A table as loaded for lookups, and what it lacks of its source.
#[derive(Clone, Debug)]
pub struct LookupTable {
    /// Its source: the name of the file.
    pub name: String,
    /// What is known of where it comes from, as [`RouteTable::sources`].
    pub sources: Vec<Source>,
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
            notes: table.absent.iter().chain(&table.notes).cloned().collect(),
            name: table.name.clone(),
            sources: table.sources.clone(),
            table: table.into_table(),
        }
    }
}

impl LookupTable {
    /// Its routes, for what needs more than lookups.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`] of an image without them.
    pub fn into_routes(self) -> Result<RouteTable, TableError> {
        Ok(RouteTable {
            name: self.name,
            sources: self.sources,
            ribs: ByFamily {
                ipv4: self.table.ipv4().rib()?.into_owned(),
                ipv6: self.table.ipv6().rib()?.into_owned(),
            },
            records: self.table.records().cloned().unwrap_or_default(),
            columns: ColumnSelection::All,
            ..RouteTable::default()
        })
    }

    /// The same with a text for each value, which is its number if it is of an image without texts.
    ///
    /// # Errors
    /// That image has no routes either.
    pub fn named(mut self) -> Result<Self, ReadError> {
        let named = self.table.named();
        self.table = named.map_err(|error| ReadError::file(&self.name, error.to_string()))?;
        Ok(self)
    }

    /// A table of which nothing was left out.
    pub fn of(name: String, sources: Vec<Source>, table: Table) -> Self {
        Self {
            name,
            sources,
            table,
            replaced: 0,
            skipped: 0,
            notes: Vec::new(),
        }
    }

    /// What the table lacks of its source, for the user, one line each, as [`RouteTable::remarks`].
    pub fn remarks(&self) -> Vec<String> {
        remarks(self.replaced, self.skipped, &self.notes)
    }
}

/// Loads a table for lookups. An image, recognised by content, is used as it is where nothing is asked of its routes; it
/// may have been compiled without them. Everything else is read as by [`load_from`].
///
/// Takes time in proportion to the file and memory in proportion to the table.
///
/// # Errors
/// As [`load`](crate::load()).
pub fn load_for_lookups(mut input: Input, options: &LoadOptions) -> Result<LookupTable, ReadError> {
    let of_columns = LoadOptions {
        columns: options.columns.clone(),
        image_columns: true,
        // There is nothing invalid in an image.
        skip_invalid: options.skip_invalid,
        mask: options.mask,
        table: options.table.clone(),
        ..LoadOptions::new()
    };
    let options = &LoadOptions {
        image_columns: true,
        ..options.clone()
    };
    if *options != of_columns || !(image::FORMAT.detect)(input.peek(image::FORMAT.detect)) {
        return Ok(load_from(input, options)?.into());
    }
    let name = input.name().to_owned();
    let image = image::read(&mut input, options.table.as_deref())?;
    let table = table_of_image(&name, &image, &options.columns)?;
    LookupTable::of(name, image.sources(), table).named()
}
