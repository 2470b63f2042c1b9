//! SqlTable functions, which take arguments and return rows: `popfib_table` makes a table of a file, `popfib_tables` lists the
//! tables, `popfib_drop` removes one, and those of `rows.rs` return what is in one.
//!
//! Files are opened when a query runs, not when it is bound, which DuckDB may do several times.

use core::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use popfib_formats::{Input, LoadOptions};

use crate::api::{DuckDbHandle, TypeId, api};
use crate::border::{border, drop_box, into_raw};
use crate::cells::CellType;
use crate::connections::Connections;
use crate::registry::Registry;
use crate::request::{self, OPTIONS, SqlSource};
use crate::rows::{BoundRows, RowKind, RowsScan};
use crate::table::SqlTable;
use crate::vector::{LogicalType, OutputVector};

/// Which of the table functions.
#[derive(Clone, Copy, Debug)]
enum TableFunctionKind {
    Table,
    Tables,
    Drop,
    Rows(RowKind),
}

/// A function: its name, the types of its parameters, and whether it has options.
struct Signature {
    name: &'static CStr,
    parameters: &'static [TypeId],
    has_options: bool,
}

/// The result columns of functions that return tables; the names and types of their columns follow as the last one.
const TABLE: [(&CStr, TypeId); 6] = [
    (c"name", TypeId::VARCHAR),
    (c"ipv4_routes", TypeId::UBIGINT),
    (c"ipv6_routes", TypeId::UBIGINT),
    (c"replaced", TypeId::UBIGINT),
    (c"skipped", TypeId::UBIGINT),
    (c"notes", TypeId::VARCHAR),
];

impl TableFunctionKind {
    const ALL: [Self; 5] = [
        Self::Table,
        Self::Tables,
        Self::Drop,
        Self::Rows(RowKind::Record),
        Self::Rows(RowKind::Route),
    ];

    fn signature(self) -> Signature {
        let (name, parameters): (_, &[_]) = match self {
            Self::Table => (c"popfib_table", &[TypeId::VARCHAR, TypeId::ANY]),
            Self::Tables => (c"popfib_tables", &[]),
            Self::Drop => (c"popfib_drop", &[TypeId::VARCHAR]),
            Self::Rows(RowKind::Record) => (c"popfib_records", &[TypeId::VARCHAR]),
            Self::Rows(RowKind::Route) => (c"popfib_routes", &[TypeId::VARCHAR]),
        };
        Signature {
            name,
            parameters,
            has_options: matches!(self, Self::Table),
        }
    }

    /// Adds the result columns of a function that returns tables, or of a drop.
    ///
    /// # Safety
    /// `info` is that of the bind.
    unsafe fn add_columns(self, info: DuckDbHandle) {
        // SAFETY: an info of a bind; DuckDB copies names and types.
        let add = |name: &CStr, of: &LogicalType| unsafe {
            (api().bind_add_result_column)(info, name.as_ptr(), of.handle());
        };
        if let Self::Drop = self {
            return add(c"dropped", &LogicalType::new(TypeId::BOOLEAN));
        }
        for (name, of) in TABLE {
            add(name, &LogicalType::new(of));
        }
        let varchar = LogicalType::new(TypeId::VARCHAR);
        let column = LogicalType::structure([(c"name", &varchar), (c"type", &varchar)]);
        add(c"columns", &LogicalType::list(&column));
    }
}

/// What DuckDB keeps for a function, and hands back when it binds a call.
struct TableFunction {
    kind: TableFunctionKind,
    connections: Arc<Connections>,
}

/// A call that is bound: a function and its arguments.
enum BoundCall {
    Table(Arc<Registry>, String, SqlSource, Box<LoadOptions>),
    Tables(Arc<Registry>),
    Drop(Arc<Registry>, String),
    Rows(BoundRows),
}

/// A call that runs.
enum RunningCall {
    /// The tables that are left, with their names.
    Tables(std::vec::IntoIter<(String, Arc<SqlTable>)>),
    Dropped(bool),
    Rows(RowsScan),
    Done,
}

/// Registers the functions.
///
/// # Errors
/// The name of one that DuckDB does not take.
///
/// # Safety
/// `connection` is one of the database that loads this library.
pub(crate) unsafe fn register(
    connection: DuckDbHandle,
    connections: &Arc<Connections>,
) -> Result<(), &'static CStr> {
    for kind in TableFunctionKind::ALL {
        let signature = kind.signature();
        // SAFETY: a connection; handles that are made here are given back, and DuckDB copies what is registered.
        let registered = unsafe {
            let mut function = (api().create_table_function)();
            (api().table_function_set_name)(function, signature.name.as_ptr());
            for &parameter in signature.parameters {
                let parameter = LogicalType::new(parameter);
                (api().table_function_add_parameter)(function, parameter.handle());
            }
            for (name, option) in OPTIONS.iter().filter(|_| signature.has_options) {
                let option = LogicalType::new(*option);
                let (add, name) = (api().table_function_add_named_parameter, name.as_ptr());
                add(function, name, option.handle());
            }
            let data = into_raw(TableFunction {
                kind,
                connections: Arc::clone(connections),
            });
            (api().table_function_set_extra_info)(function, data, drop_box::<TableFunction>);
            (api().table_function_set_bind)(function, bind);
            (api().table_function_set_init)(function, init);
            (api().table_function_set_function)(function, run);
            let is_rows = matches!(kind, TableFunctionKind::Rows(_));
            (api().table_function_supports_projection_pushdown)(function, is_rows);
            let registered = (api().register_table_function)(connection, function);
            (api().destroy_table_function)(&raw mut function);
            registered
        };
        if registered != 0 {
            return Err(signature.name);
        }
    }
    Ok(())
}

/// # Safety
/// DuckDB calls it to bind a call of a function of [`register`], with the info of the bind.
unsafe extern "C" fn bind(info: DuckDbHandle) {
    // SAFETY: the extra info is what `register` handed over, and the call has the parameters that it added. What is bound is
    // dropped before its connection.
    unsafe {
        border(api().bind_set_error, info, || {
            let function = &*(api().bind_get_extra_info)(info).cast::<TableFunction>();
            let registry = Arc::clone(&function.connections.registry);
            let bound = match function.kind {
                TableFunctionKind::Table => {
                    let source = SqlSource::of_argument(info, 1)?;
                    let (name, options) = (request::name(info, 0)?, request::options(info)?);
                    BoundCall::Table(registry, name, source, Box::new(options))
                }
                TableFunctionKind::Tables => BoundCall::Tables(registry),
                TableFunctionKind::Drop => BoundCall::Drop(registry, request::name(info, 0)?),
                TableFunctionKind::Rows(row_kind) => {
                    let name = request::name(info, 0)?;
                    BoundCall::Rows(BoundRows::new(info, row_kind, &function.connections, name)?)
                }
            };
            if !matches!(bound, BoundCall::Rows(_)) {
                function.kind.add_columns(info);
            }
            (api().bind_set_bind_data)(info, into_raw(bound), drop_box::<BoundCall>);
            Ok(())
        });
    }
}

/// # Safety
/// DuckDB calls it to start a call that [`bind`] has bound, with the info of the init.
unsafe extern "C" fn init(info: DuckDbHandle) {
    // SAFETY: the bind data is what `bind` handed over.
    unsafe {
        border(api().init_set_error, info, || {
            let bound = &*(api().init_get_bind_data)(info).cast::<BoundCall>();
            let running = Mutex::new(bound.start(info)?);
            (api().init_set_init_data)(info, into_raw(running), drop_box::<Mutex<RunningCall>>);
            Ok(())
        });
    }
}

/// # Safety
/// DuckDB calls it to get rows of a call that [`init`] has started, with the info of the call and the chunk to be filled.
unsafe extern "C" fn run(info: DuckDbHandle, chunk: DuckDbHandle) {
    // SAFETY: the init data is what `init` handed over; the chunk has the columns that `bind` added and DuckDB asked for, with
    // room for a chunk's rows.
    unsafe {
        border(api().function_set_error, info, || {
            let running = &*(api().function_get_init_data)(info).cast::<Mutex<RunningCall>>();
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            let column = |at| OutputVector::new((api().data_chunk_get_vector)(chunk, at));
            let count = running.fill(&column)?;
            (api().data_chunk_set_size)(chunk, count as u64);
            Ok(())
        });
    }
}

impl BoundCall {
    /// # Safety
    /// `info` is that of the init.
    unsafe fn start(&self, info: DuckDbHandle) -> Result<RunningCall, String> {
        match self {
            Self::Table(registry, name, source, options) => {
                let input = match source.open()? {
                    None => Input::built_in(),
                    Some(reader) => Input::from_reader(source.name(), reader),
                };
                let table = Arc::new(SqlTable::load(input, options)?);
                registry.replace(name, Some(Arc::clone(&table)))?;
                Ok(RunningCall::Tables(vec![(name.clone(), table)].into_iter()))
            }
            Self::Tables(registry) => Ok(RunningCall::Tables(registry.all().into_iter())),
            Self::Drop(registry, name) => Ok(RunningCall::Dropped(
                registry.replace(name, None)?.is_some(),
            )),
            // SAFETY: an info of an init; these functions have projection pushdown.
            Self::Rows(rows) => Ok(RunningCall::Rows(unsafe { rows.start(info)? })),
        }
    }
}

impl RunningCall {
    /// Fills the columns with the next rows, and says how many.
    ///
    /// # Safety
    /// `column` returns the columns of the call, which have room for a chunk's rows.
    unsafe fn fill(&mut self, column: &dyn Fn(u64) -> OutputVector) -> Result<usize, String> {
        match std::mem::replace(self, Self::Done) {
            Self::Tables(mut tables) => {
                // SAFETY: the columns are those that `add_columns` adds for tables.
                let count = unsafe { fill_tables(&mut tables, column)? };
                *self = Self::Tables(tables);
                Ok(count)
            }
            Self::Dropped(dropped) => {
                // SAFETY: the column is that which `add_columns` adds for a drop; a BOOLEAN is a byte.
                unsafe { column(0).rows::<bool>(1).set(0, dropped) }
                Ok(1)
            }
            Self::Rows(mut rows) => {
                // SAFETY: the columns are those that DuckDB asked `rows` for.
                let count = unsafe { rows.fill(column)? };
                *self = Self::Rows(rows);
                Ok(count)
            }
            Self::Done => Ok(0),
        }
    }
}

/// Fills the columns with the next tables, and says how many.
///
/// # Safety
/// `column` returns the columns that [`TableFunctionKind::add_columns`] adds for tables, with room for a chunk's rows.
unsafe fn fill_tables(
    tables: &mut dyn Iterator<Item = (String, Arc<SqlTable>)>,
    column: &dyn Fn(u64) -> OutputVector,
) -> Result<usize, String> {
    // SAFETY: a function without arguments.
    let room = unsafe { (api().vector_size)() } as usize;
    let (names, notes) = (column(0), column(5));
    let (mut has_notes, mut shown) = (Vec::new(), Vec::new());
    for (row, (name, table)) in tables.take(room).enumerate() {
        let loaded = &table.loaded;
        let numbers = [
            loaded.ipv4().route_count() as u64,
            loaded.ipv6().route_count() as u64,
            loaded.replaced,
            loaded.skipped,
        ];
        // SAFETY: the columns have the types of `TABLE`, and room for `room` rows.
        unsafe {
            names.put(&names.rows(room), row, name.as_bytes());
            for (at, number) in (1..).zip(numbers) {
                column(at).rows::<u64>(room).set(row, number);
            }
            let text = loaded.notes.join("; ");
            notes.put(&notes.rows(room), row, text.as_bytes());
        }
        has_notes.push(!loaded.notes.is_empty());
        shown.push(table);
    }
    // SAFETY: the columns of notes, and of names and types, with room for these rows.
    unsafe {
        notes.set_nulls(&has_notes);
        fill_columns(&shown, column(6))?;
    }
    Ok(shown.len())
}

/// Writes the names and types of the columns of each table.
///
/// # Safety
/// `output` is of lists of structures of two texts, and has room for a row for each table.
unsafe fn fill_columns(tables: &[Arc<SqlTable>], output: OutputVector) -> Result<(), String> {
    let columns = tables.iter().enumerate().flat_map(|(row, table)| {
        let columns = table.records().columns().iter();
        columns.map(move |column| (row, column.name(), Some(CellType::of(column).name())))
    });
    let columns: Vec<_> = columns.collect();
    // SAFETY: such an output, as the caller promises.
    unsafe { output.put_pairs(tables.len(), &columns, |name| name.as_bytes()) }
}
