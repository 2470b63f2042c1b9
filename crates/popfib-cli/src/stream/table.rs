//! A table that answers a stream, and what its columns are called.

use crate::args::TableArgs;
use crate::failure::Failure;
use crate::table;

use super::routes::Routes;

/// A table, or one of several values that its records have.
pub(crate) struct Table {
    /// What the columns of its answers are called; `None` for the only table.
    pub(crate) name: Option<String>,
    /// Whether the answer has the matched prefix, too.
    pub(crate) with_prefixes: bool,
    pub(crate) routes: Routes,
}

impl Table {
    /// The table of these options, by prefixes if it has any.
    pub(crate) fn of(args: &TableArgs) -> Result<Self, Failure> {
        let routes = match table::open_image(args)? {
            Some(opened) => Routes::of_image(opened, false)?,
            None => Routes::Table(Box::new(table::load(args)?)),
        };
        Ok(Self {
            name: None,
            with_prefixes: true,
            routes,
        })
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
