//! Tables for lookups alone: an image as it is, any other format by its routes. An [`Input`] in, a [`LookupTable`] out.
//!
//! Apart from `load.rs` because an image need not be taken apart to be asked, and may have no routes at all. Whatever needs the
//! routes (a filter, another value) goes by them, so that one answer does not depend on the form of the file.

use popfib::family::ByFamily;
use popfib::image::ImageTable;
use popfib_table::{Table, TableError};

use crate::error::ReadError;
use crate::image::{self, select_columns, table_of_image};
use crate::input::Input;
use crate::load::{FromFile, RouteTable, Routes};
use crate::loaded::Loaded;
use crate::table_format::LoadOptions;
use crate::values::ColumnSelection;

/// A table for lookups from a file, and what else is known of it.
pub type LookupTable = Loaded<Table>;

impl From<RouteTable> for LookupTable {
    fn from(table: RouteTable) -> Self {
        table.map(|routes| match routes.tables.is_empty() {
            true => Table::of_records(routes.ribs, routes.records),
            false => Table::of_set(routes.tables, routes.records),
        })
    }
}

impl LookupTable {
    /// Its routes, for what needs more than lookups.
    ///
    /// # Errors
    /// [`TableError::NoRoutes`] of an image without them.
    pub fn into_routes(self) -> Result<RouteTable, TableError> {
        let ribs = ByFamily {
            ipv4: self.ipv4().rib()?.into_owned(),
            ipv6: self.ipv6().rib()?.into_owned(),
        };
        Ok(self.map(|table| Routes {
            ribs,
            tables: Vec::new(),
            records: table.into_records().unwrap_or_default(),
            columns: ColumnSelection::All,
            others: Vec::new(),
        }))
    }

    /// The same with a text for each value, which is its number if it is of an image without texts.
    ///
    /// # Errors
    /// That image has no routes either.
    pub fn named(mut self) -> Result<Self, ReadError> {
        let failed =
            |error: TableError| ReadError::file(&self.name, error.to_string()).with_source(error);
        self.content = self.content.named().map_err(failed)?;
        Ok(self)
    }
}

impl FromFile for Table {
    fn from_file(mut input: Input, options: &LoadOptions) -> Result<LookupTable, ReadError> {
        let of_columns = LoadOptions {
            columns: options.columns.clone(),
            image_columns: true,
            // There is nothing invalid in an image.
            skip_invalid: options.skip_invalid,
            mask: options.mask,
            table: options.table.clone(),
            every_table: options.every_table,
            ..LoadOptions::new()
        };
        let options = &LoadOptions {
            image_columns: true,
            ..options.clone()
        };
        if options.every_table && (options.fill || options.mapped) {
            let reason = "`fill` and `mapped` are for one table of a file, not for all";
            return Err(ReadError::file(input.name(), reason));
        }
        if *options != of_columns || !image::is_image_input(&mut input) {
            return Ok(Routes::from_file(input, options)?.into());
        }
        let name = input.name().to_owned();
        let images = image::read(&mut input, options)?;
        if let [image] = &images[..]
            && !options.every_table
        {
            let table = table_of_image(&name, image, &options.columns)?;
            return Ok(LookupTable::new(name, image.sources(), table));
        }
        let failed =
            |error: TableError| ReadError::file(&name, error.to_string()).with_source(error);
        let table = |image: &ImageTable| {
            let table = table_of_image(&name, image, &ColumnSelection::All)?;
            Ok((image.name().to_owned(), table))
        };
        let mut table = match Table::of_common(&images).map_err(failed)? {
            Some(table) => table,
            None => {
                let tables = images.iter().map(table);
                Table::of_tables(tables.collect::<Result<Vec<_>, _>>()?).map_err(failed)?
            }
        };
        let sources = images.iter().flat_map(ImageTable::sources).collect();
        if let ColumnSelection::Named(names) = &options.columns {
            select_columns(&name, &mut table, names)?;
        }
        Ok(LookupTable::new(name, sources, table))
    }
}
