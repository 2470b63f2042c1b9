//! A table that answers a stream, and what its columns are called.

use std::borrow::Cow;
use std::sync::Arc;

use popfib::NextHop;
use popfib_table::{Cell, Column, Records, Table};

use crate::args::TableArgs;
use crate::failure::Failure;
use crate::image::{Opened, without_routes};
use crate::table;

/// A column of a table's records, which are mostly of one.
pub(crate) struct NamedTable {
    /// What the table is called; `None` for the only one.
    pub(crate) name: Option<String>,
    /// What the column is called where there are several of the table.
    column_name: Option<String>,
    /// Whether the answer has the matched prefix, too: for the first column of a table.
    pub(crate) with_prefixes: bool,
    pub(crate) table: Arc<Table>,
    /// The index of the column.
    column: usize,
}

impl NamedTable {
    /// The only table, of one column.
    pub(crate) fn only(table: Table, with_prefixes: bool) -> Self {
        Self {
            name: None,
            column_name: None,
            with_prefixes,
            table: Arc::new(table),
            column: 0,
        }
    }

    /// The columns of the table called `name`; several are called by their names, too.
    pub(crate) fn of_columns(
        name: Option<String>,
        table: Table,
        with_prefixes: bool,
    ) -> impl Iterator<Item = Self> {
        let table = Arc::new(table);
        let own = |column: &Column| Some(column.name().to_owned());
        let names: Vec<_> = match table.records().map(Records::columns) {
            // One that was asked for by its name, of the only table.
            Some([column]) if name.is_none() => vec![table::own_name(column).map(str::to_owned)],
            None | Some([_]) => vec![None],
            Some(columns) => columns.iter().map(own).collect(),
        };
        let columns = names.into_iter().enumerate();
        columns.map(move |(column, column_name)| Self {
            name: name.clone(),
            column_name,
            with_prefixes: with_prefixes && column == 0,
            table: Arc::clone(&table),
            column,
        })
    }

    /// The tables of these options, by prefixes if they have any.
    pub(crate) fn of(args: &TableArgs) -> Result<Vec<Self>, Failure> {
        let table = match table::open_image(args)? {
            Some(opened) => opened.into_table()?,
            None => table::load_records(args.table.as_deref(), &args.read)?.table,
        };
        Ok(Self::of_columns(None, table, true).collect())
    }

    /// The value of the record of this number.
    pub(crate) fn cell(&self, number: NextHop) -> Option<Cell<'_>> {
        self.table.records()?.cell(number, self.column)
    }

    /// Those of all records in the order of their numbers, from 1 on.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Option<Cell<'_>>> {
        self.numbers().map(|number| self.cell(number))
    }

    /// The same as texts.
    pub(crate) fn values(&self) -> impl Iterator<Item = Option<Cow<'_, str>>> {
        self.numbers().map(|number| self.value(number))
    }

    fn numbers(&self) -> impl Iterator<Item = NextHop> {
        (1..=self.table.value_count().unwrap_or(0)).filter_map(NextHop::new)
    }

    /// That of one record.
    pub(crate) fn value(&self, number: NextHop) -> Option<Cow<'_, str>> {
        self.table.value_in(number, self.column)
    }

    /// Those of an image, which has to have its routes for prefixes.
    pub(crate) fn of_image(
        opened: Opened,
        with_prefixes: bool,
    ) -> Result<impl Iterator<Item = Self>, Failure> {
        has_prefixes(&opened.name, &opened.table, with_prefixes)?;
        Ok(Self::of_columns(None, opened.into_table()?, with_prefixes))
    }

    /// The names of its columns for the cell of this name, which is empty where there is one cell.
    pub(crate) fn columns(&self, cell: &str) -> Vec<String> {
        let (prefix, value) = match (&self.name, &self.column_name) {
            (None, None) => ("prefix".to_owned(), "next_hop".to_owned()),
            (None, Some(column)) => ("prefix".to_owned(), column.clone()),
            (Some(name), None) => (format!("{name}_prefix"), name.clone()),
            (Some(name), Some(column)) => (format!("{name}_prefix"), format!("{name}_{column}")),
        };
        let mut names = vec![value];
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

/// Refuses prefixes of an image without routes.
pub(super) fn has_prefixes(name: &str, table: &Table, with_prefixes: bool) -> Result<(), Failure> {
    if with_prefixes && !table.has_prefixes() {
        let what = "name the matched prefix; --value-only does without";
        return Err(without_routes(name, what));
    }
    Ok(())
}
