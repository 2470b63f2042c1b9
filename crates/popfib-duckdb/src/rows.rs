//! `popfib_records` and `popfib_routes`: the name of a table in; its records, or its routes with their records, out, as
//! rows with typed columns.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use popfib::{IpPrefix, NextHop};
use popfib_table::PrefixText;

use crate::api::{DuckDbHandle, TypeId, api};
use crate::cells::{CellType, names};
use crate::connections::{Connections, DuckDbConnection, TableCall};
use crate::registry::Registry;
use crate::table::SqlTable;
use crate::vector::{LogicalType, OutputVector, SqlText};

/// What there is a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    Record,
    Route,
}

impl RowKind {
    /// The first column, before those of the records.
    fn first(self) -> (&'static CStr, TypeId) {
        match self {
            Self::Record => (c"record", TypeId::UINTEGER),
            Self::Route => (c"prefix", TypeId::VARCHAR),
        }
    }

    /// How many rows there are.
    fn count(self, table: &SqlTable) -> usize {
        match self {
            Self::Record => table.records().len(),
            Self::Route => table.loaded.route_count(),
        }
    }
}

/// A call that is bound: the columns are those that the table has then.
pub(crate) struct BoundRows {
    kind: RowKind,
    registry: Arc<Registry>,
    table: String,
    columns: Vec<(CString, CellType)>,
    connection: Option<Arc<DuckDbConnection>>,
    /// Keeps the table's name where nothing else makes sure that records are read of the table that has numbered them.
    _held: Option<Arc<()>>,
}

/// A call that runs: the rows that are left.
pub(crate) struct RowsScan {
    table: Arc<SqlTable>,
    /// Kept so that all of the statement uses this table.
    _call: Option<TableCall>,
    /// Which column each place of a chunk has: 0 is the record or the prefix, then follow those of the records.
    columns: Vec<u64>,
    /// In prefix order; empty for records.
    routes: Vec<(IpPrefix, NextHop)>,
    next: usize,
    end: usize,
    /// The codes of the column that is being filled.
    codes: Vec<u32>,
}

impl BoundRows {
    /// Binds a call for the table of this name.
    ///
    /// # Errors
    /// There is no table of this name.
    ///
    /// # Safety
    /// `info` is that of the bind.
    pub(crate) unsafe fn new(
        info: DuckDbHandle,
        kind: RowKind,
        connections: &Connections,
        name: String,
    ) -> Result<Self, String> {
        let registry = Arc::clone(&connections.registry);
        let hold = |table: &Arc<SqlTable>| (Arc::clone(table), Arc::clone(&table.held));
        let (table, held) = registry.find(name.as_bytes(), hold)?;
        let columns = columns(kind, &table);
        let (first, first_type) = kind.first();
        let first = (first, LogicalType::new(first_type));
        let own = columns
            .iter()
            .map(|(name, of)| (name.as_c_str(), of.logical_type()));
        for (name, of) in [first].into_iter().chain(own) {
            // SAFETY: an info of a bind; DuckDB copies name and type.
            unsafe { (api().bind_add_result_column)(info, name.as_ptr(), of.handle()) }
        }
        // SAFETY: an info of a bind.
        unsafe { (api().bind_set_cardinality)(info, kind.count(&table) as u64, false) }
        // SAFETY: an info of a bind.
        let connection = unsafe { connections.of_bind(info) };
        Ok(Self {
            _held: (kind == RowKind::Record && connection.is_none()).then_some(held),
            connection,
            kind,
            registry,
            table: name,
            columns,
        })
    }

    /// The rows of the table that has the name now.
    ///
    /// # Errors
    /// There is no table of this name now, it has no routes, it has other columns than the one that was bound, or another one was
    /// there when records were numbered.
    ///
    /// # Safety
    /// `info` is that of the init, of a function with projection pushdown.
    pub(crate) unsafe fn start(&self, info: DuckDbHandle) -> Result<RowsScan, String> {
        let reads_records = self.kind == RowKind::Record;
        let call = self.connection.as_ref();
        let call = call.map(|connection| TableCall::new(connection, reads_records));
        let name = self.table.as_bytes();
        let table = call
            .as_ref()
            .map_or_else(|| self.registry.get(name), |call| call.get(name))?;
        if columns(self.kind, &table) != self.columns {
            let name = popfib_formats::Escaped(&self.table);
            return Err(format!(
                "table '{name}' has other columns than when this statement was prepared"
            ));
        }
        let routes = match self.kind {
            RowKind::Record => Vec::new(),
            RowKind::Route => {
                let routes = table.loaded.routes();
                routes.map_err(|error| error.to_string())?.collect()
            }
        };
        // SAFETY: an info of an init, which has so many columns.
        let columns = unsafe {
            let count = (api().init_get_column_count)(info);
            let index = |at| (api().init_get_column_index)(info, at);
            (0..count).map(index).collect()
        };
        Ok(RowsScan {
            end: self.kind.count(&table),
            table,
            _call: call,
            columns,
            routes,
            next: 0,
            codes: Vec::new(),
        })
    }
}

/// The columns of the records.
fn columns(kind: RowKind, table: &SqlTable) -> Vec<(CString, CellType)> {
    let columns = table.records().columns();
    let names = names(kind.first().0, columns).into_iter().skip(1);
    names.zip(columns.iter().map(CellType::of)).collect()
}

impl RowsScan {
    /// Fills the columns with the next rows, and says how many.
    ///
    /// # Errors
    /// There is no memory for the lists.
    ///
    /// # Safety
    /// `column` returns the columns that DuckDB asked for at the start, in its order, with room for a chunk's rows.
    pub(crate) unsafe fn fill(
        &mut self,
        column: &dyn Fn(u64) -> OutputVector,
    ) -> Result<usize, String> {
        // SAFETY: a function without arguments.
        let room = unsafe { (api().vector_size)() } as usize;
        let rows = self.next..self.end.min(self.next + room);
        self.next = rows.end;
        let count = rows.len();
        let records = self.table.records();
        for (at, &index) in (0..).zip(&self.columns) {
            let output = column(at);
            // SAFETY: a column of the type that was bound for this index, with room for these rows.
            unsafe {
                match (index, &self.routes[..]) {
                    (0, []) => {
                        let numbers = output.rows::<u32>(count);
                        for (row, number) in rows.clone().enumerate() {
                            numbers.set(row, number as u32 + 1);
                        }
                    }
                    (0, routes) => {
                        let prefixes = output.rows::<SqlText>(count);
                        for (row, (prefix, _)) in routes[rows.clone()].iter().enumerate() {
                            let prefix = PrefixText::new(*prefix);
                            output.put(&prefixes, row, prefix.as_bytes());
                        }
                    }
                    (index, routes) => {
                        let Some(column) = records.columns().get(index as usize - 1) else {
                            // No column: what DuckDB asks for if it only counts the rows.
                            continue;
                        };
                        let code = |row: usize| {
                            let route = routes.get(row);
                            let number = route.map_or(row as u32 + 1, |(_, number)| number.get());
                            records.code(number, index as usize - 1)
                        };
                        self.codes.clear();
                        self.codes.extend(rows.clone().map(code));
                        CellType::of(column).fill(output, column, &self.codes)?;
                    }
                }
            }
        }
        Ok(count)
    }
}
