//! A table that answers a stream: options or an image in, a table with the names of its columns of answers out.

use std::sync::{Arc, OnceLock};

use popfib::NextHop;
use popfib_formats::LookupTable;
use popfib_formats::text::no_column_message;
use popfib_program::failure::Failure;
use popfib_table::{Cell, Column, Records, Table};

use crate::args::TableArgs;
use crate::condition::OtherRecords;
use crate::image::without_routes;
use crate::records::own_name;
use crate::table;

/// A table, and the columns of its records that are asked for.
pub(crate) struct NamedTable {
    /// The name of the table; the only one needs none.
    name: Option<String>,
    /// Whether the answer has the matched prefix, too, before the columns.
    pub(crate) with_prefixes: bool,
    pub(crate) table: Arc<Table>,
    /// By their numbers, the records that count as an answer, if conditions say so.
    pub(crate) selected: Option<Vec<bool>>,
    /// The other records of its prefixes, if they count, too.
    pub(crate) others: OtherRecords,
    /// The name of each column; the only one of a table needs none.
    columns: Vec<Option<String>>,
}

impl NamedTable {
    /// The table that was loaded, which has to have prefixes if they are asked for.
    pub(super) fn of_loaded(
        name: Option<String>,
        loaded: LookupTable,
        with_prefixes: bool,
    ) -> Result<Self, Failure> {
        if with_prefixes && !loaded.has_prefixes() {
            let what = "name the matched prefix, which --value-only does without";
            return Err(without_routes(&loaded.name, what));
        }
        Ok(Self::new(name, loaded.named()?.content, with_prefixes))
    }

    /// The table called `name`, of all its columns.
    pub(crate) fn new(name: Option<String>, table: Table, with_prefixes: bool) -> Self {
        let own = |column: &Column| Some(column.name().to_owned());
        let columns = match table.records().map(Records::columns) {
            // A column that was asked for by its name keeps it, if it is that of the only table.
            Some([column]) if name.is_none() => vec![own_name(column).map(str::to_owned)],
            None | Some([_]) => vec![None],
            Some(columns) => columns.iter().map(own).collect(),
        };
        Self {
            name,
            with_prefixes,
            table: Arc::new(table),
            selected: None,
            others: OtherRecords::new(),
            columns,
        }
    }

    /// The same with the columns of these names alone, with all if there are none.
    pub(crate) fn showing(self, names: &[String]) -> Result<Self, Failure> {
        if names.is_empty() {
            return Ok(self);
        }
        let mut table = Arc::unwrap_or_clone(self.table);
        let selected = table.select(names);
        selected.map_err(|missing| no_column_message(&missing, table.records()))?;
        Ok(Self {
            others: self.others,
            ..Self::new(self.name, table, self.with_prefixes)
        })
    }

    /// The table of these options, by prefixes if it has any.
    pub(crate) fn of(args: &TableArgs) -> Result<Self, Failure> {
        let loaded: LookupTable = table::load(args, args.read.options())?;
        Ok(Self::new(None, loaded.named()?.content, true))
    }

    /// Whether what matched has to be known by its route, and not by its record.
    pub(crate) fn is_by_routes(&self) -> bool {
        self.with_prefixes || !self.others.is_empty()
    }

    /// The number of its columns, without that of the prefix.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The numbers of all records, from 1 on.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = NextHop> {
        (1..=self.table.record_count().unwrap_or(0)).filter_map(NextHop::new)
    }

    /// The value of a record in the column of this index.
    pub(crate) fn cell(&self, number: NextHop, column: usize) -> Option<Cell<'_>> {
        self.table.records()?.cell(number, column)
    }

    /// The values of a record, column by column.
    pub(crate) fn cells(&self, number: NextHop) -> impl ExactSizeIterator<Item = Option<Cell<'_>>> {
        (0..self.width()).map(move |column| self.cell(number, column))
    }

    /// The names of its columns for the cell of this name, which is empty if a row has only one cell.
    pub(crate) fn columns(&self, cell: &str) -> Vec<String> {
        let prefix = match &self.name {
            None => "prefix".to_owned(),
            Some(name) => format!("{name}_prefix"),
        };
        let value = |column: &Option<String>| match (&self.name, column) {
            (None, None) => "next_hop".to_owned(),
            (None, Some(column)) => column.clone(),
            (Some(name), None) => name.clone(),
            (Some(name), Some(column)) => format!("{name}_{column}"),
        };
        let prefix = self.with_prefixes.then_some(prefix);
        let mut names: Vec<_> = prefix
            .into_iter()
            .chain(self.columns.iter().map(value))
            .collect();
        if !cell.is_empty() {
            for name in &mut names {
                *name = format!("{cell}_{name}");
            }
        }
        names
    }
}

/// Accepts new tables only if their columns are still `names`, which the first ones set: the heading has been written.
pub(crate) fn with_same_columns(
    tables: Vec<NamedTable>,
    names: &OnceLock<Vec<String>>,
) -> Result<Arc<[NamedTable]>, Failure> {
    let columns: Vec<_> = tables.iter().flat_map(|table| table.columns("")).collect();
    let before = names.get_or_init(|| columns.clone());
    if *before != columns {
        let (columns, before) = (columns.join(", "), before.join(", "));
        return Err(format!("the columns are {columns} now, which were {before}").into());
    }
    Ok(tables.into())
}
