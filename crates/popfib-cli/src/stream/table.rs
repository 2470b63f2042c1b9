//! A table that answers a stream, and what its columns are called.

use popfib_table::Table;

use crate::args::TableArgs;
use crate::failure::Failure;
use crate::image::Opened;
use crate::table;

/// A table, or one of several values that its records have.
pub(crate) struct NamedTable {
    /// What the columns of its answers are called; `None` for the only table.
    pub(crate) name: Option<String>,
    /// Whether the answer has the matched prefix, too.
    pub(crate) with_prefixes: bool,
    pub(crate) table: Table,
}

impl NamedTable {
    /// The only table.
    pub(crate) fn only(table: Table, with_prefixes: bool) -> Self {
        Self {
            name: None,
            with_prefixes,
            table,
        }
    }

    /// The table of these options, by prefixes if it has any.
    pub(crate) fn of(args: &TableArgs) -> Result<Self, Failure> {
        let table = match table::open_image(args)? {
            Some(opened) => opened.into_table()?,
            None => table::load(args)?.into_table(),
        };
        Ok(Self::only(table, true))
    }

    /// That of an image, which has to have its routes for prefixes.
    pub(crate) fn of_image(opened: Opened, with_prefixes: bool) -> Result<Self, Failure> {
        if with_prefixes && !opened.table.has_routes() {
            let what = "name the matched prefix; --value-only does without";
            return Err(opened.without_routes(what));
        }
        Ok(Self::only(opened.into_table()?, with_prefixes))
    }

    /// The names of its columns for the cell of this name, which is empty where there is one cell.
    pub(crate) fn columns(&self, cell: &str) -> Vec<String> {
        let (prefix, value) = match &self.name {
            None => ("prefix".to_owned(), "next_hop"),
            Some(name) => (format!("{name}_prefix"), name.as_str()),
        };
        let mut names = vec![value.to_owned()];
        if self.with_prefixes {
            names.insert(0, prefix);
        }
        if !cell.is_empty() {
            for name in &mut names {
                *name = format!("{cell}_{name}");
            }
        }
        names
    }
}
