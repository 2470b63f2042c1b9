//! The rows of `popfib_records` and `popfib_routes`: the records of a table, or its routes, with typed columns.

use std::ffi::CString;
use std::sync::Arc;

use popfib::{IpPrefix, NextHop};
use popfib_table::PrefixText;

use crate::api::{Handle, TypeId, api};
use crate::cells::{CellType, names};
use crate::registry::Registry;
use crate::table::Table;
use crate::vector::{LogicalType, Output, Text};

/// What there is a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    Record,
    Route,
}

/// A call that is bound: the columns are those that the table has then.
pub(crate) struct BoundRows {
    each: Each,
    registry: Arc<Registry>,
    table: String,
    columns: Vec<(CString, CellType)>,
}

/// The rows that are left.
pub(crate) struct RowsOf {
    table: Arc<Table>,
    /// By their places in a chunk: 0 is the record or the prefix, then those of the records.
    columns: Vec<u64>,
    /// In prefix order; none for records.
    routes: Vec<(IpPrefix, NextHop)>,
    next: usize,
    end: usize,
    /// Of the chunk at hand.
    codes: Vec<u32>,
}

impl BoundRows {
    /// Binds a call for the table of this name.
    ///
    /// # Errors
    /// There is none.
    ///
    /// # Safety
    /// The info of a bind.
    pub(crate) unsafe fn new(
        info: Handle,
        each: Each,
        registry: Arc<Registry>,
        name: String,
    ) -> Result<Self, String> {
        let table = registry.get(name.as_bytes())?;
        let count = match each {
            Each::Record => table.records().len(),
            Each::Route => table.loaded.table.route_count(),
        };
        let (first, first_type) = match each {
            Each::Record => (c"record", TypeId::UINTEGER),
            Each::Route => (c"prefix", TypeId::VARCHAR),
        };
        let columns = columns(each, &table);
        let first = (first.to_owned(), LogicalType::new(first_type));
        let own = columns
            .iter()
            .map(|(name, of)| (name.clone(), of.logical_type()));
        for (name, of) in [first].into_iter().chain(own) {
            // SAFETY: the caller's; DuckDB copies both.
            unsafe { (api().bind_add_result_column)(info, name.as_ptr(), of.handle()) }
        }
        // SAFETY: the caller's.
        unsafe { (api().bind_set_cardinality)(info, count as u64, false) }
        Ok(Self {
            each,
            registry,
            table: name,
            columns,
        })
    }

    /// The rows of the table that has the name now.
    ///
    /// # Errors
    /// There is none, it has no routes, or other columns.
    ///
    /// # Safety
    /// The info of an init, of a function with projection pushdown.
    pub(crate) unsafe fn start(&self, info: Handle) -> Result<RowsOf, String> {
        let table = self.registry.get(self.table.as_bytes())?;
        if columns(self.each, &table) != self.columns {
            let name = popfib_formats::Escaped(&self.table);
            return Err(format!(
                "table '{name}' has other columns than when this statement was prepared"
            ));
        }
        let routes = match self.each {
            Each::Record => Vec::new(),
            Each::Route => {
                let routes = table.loaded.table.routes();
                routes.map_err(|error| error.to_string())?.collect()
            }
        };
        let end = match self.each {
            Each::Record => table.records().len(),
            Each::Route => routes.len(),
        };
        // SAFETY: the caller's.
        let columns = unsafe {
            let count = (api().init_get_column_count)(info);
            let index = |at| (api().init_get_column_index)(info, at);
            (0..count).map(index).collect()
        };
        Ok(RowsOf {
            table,
            columns,
            routes,
            next: 0,
            end,
            codes: Vec::new(),
        })
    }
}

/// The columns of the records.
fn columns(each: Each, table: &Table) -> Vec<(CString, CellType)> {
    let first = match each {
        Each::Record => c"record",
        Each::Route => c"prefix",
    };
    let columns = table.records().columns();
    let names = names(first, columns).into_iter().skip(1);
    names.zip(columns.iter().map(CellType::of)).collect()
}

impl RowsOf {
    /// Fills the columns with the next rows, and says how many.
    ///
    /// # Errors
    /// No memory for lists.
    ///
    /// # Safety
    /// They are those that were asked for at the start, with room for a chunk's rows.
    pub(crate) unsafe fn fill(&mut self, column: &dyn Fn(u64) -> Output) -> Result<usize, String> {
        // SAFETY: no argument.
        let room = unsafe { (api().vector_size)() } as usize;
        let rows = self.next..self.end.min(self.next + room);
        self.next = rows.end;
        let count = rows.len();
        let records = self.table.records();
        for (at, &index) in (0..).zip(&self.columns) {
            let output = column(at);
            // SAFETY: the caller's, of which these are the types.
            unsafe {
                match (index, &self.routes[..]) {
                    (0, []) => {
                        let numbers = output.rows::<u32>(count);
                        for (row, number) in rows.clone().enumerate() {
                            numbers.set(row, number as u32 + 1);
                        }
                    }
                    (0, routes) => {
                        let prefixes = output.rows::<Text>(count);
                        for (row, (prefix, _)) in routes[rows.clone()].iter().enumerate() {
                            let prefix = PrefixText::new(*prefix);
                            output.put(&prefixes, row, prefix.as_bytes());
                        }
                    }
                    (index, routes) => {
                        let Some(column) = records.columns().get(index as usize - 1) else {
                            // What DuckDB asks for where it wants no column, only to count.
                            continue;
                        };
                        let code = |number| records.code(number, index as usize - 1);
                        self.codes.clear();
                        match routes {
                            [] => {
                                let numbers = rows.clone().map(|number| number as u32 + 1);
                                self.codes.extend(numbers.map(code));
                            }
                            routes => {
                                let routes = routes[rows.clone()].iter();
                                self.codes
                                    .extend(routes.map(|(_, number)| code(number.get())));
                            }
                        }
                        CellType::of(column).fill(output, column, &self.codes)?;
                    }
                }
            }
        }
        Ok(count)
    }
}
