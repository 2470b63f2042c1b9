//! Table functions: `popfib_table` makes a table, `popfib_tables` tells which there are, `popfib_drop` forgets one, and
//! those of `rows.rs`.
//!
//! Files are opened when a query runs, not when it is bound, which DuckDB may do several times.

use core::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use popfib_formats::LoadOptions;

use crate::api::{Handle, TypeId, api};
use crate::border::{border, drop_box, into_raw};
use crate::cells::CellType;
use crate::registry::Registry;
use crate::request::{self, OPTIONS, Source};
use crate::rows::{BoundRows, Each, RowsOf};
use crate::table::Table;
use crate::vector::{LogicalType, Output};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Table,
    Tables,
    Drop,
    Rows(Each),
}

/// A function: its name, the types of its parameters, and whether it has options.
struct Signature {
    name: &'static CStr,
    parameters: &'static [TypeId],
    has_options: bool,
}

/// What is said of a table, before its columns.
const TABLE: [(&CStr, TypeId); 6] = [
    (c"name", TypeId::VARCHAR),
    (c"ipv4_routes", TypeId::UBIGINT),
    (c"ipv6_routes", TypeId::UBIGINT),
    (c"replaced", TypeId::UBIGINT),
    (c"skipped", TypeId::UBIGINT),
    (c"notes", TypeId::VARCHAR),
];

impl Kind {
    const ALL: [Self; 5] = [
        Self::Table,
        Self::Tables,
        Self::Drop,
        Self::Rows(Each::Record),
        Self::Rows(Each::Route),
    ];

    fn signature(self) -> Signature {
        let (name, parameters): (_, &[_]) = match self {
            Self::Table => (c"popfib_table", &[TypeId::VARCHAR, TypeId::ANY]),
            Self::Tables => (c"popfib_tables", &[]),
            Self::Drop => (c"popfib_drop", &[TypeId::VARCHAR]),
            Self::Rows(Each::Record) => (c"popfib_records", &[TypeId::VARCHAR]),
            Self::Rows(Each::Route) => (c"popfib_routes", &[TypeId::VARCHAR]),
        };
        Signature {
            name,
            parameters,
            has_options: matches!(self, Self::Table),
        }
    }

    /// Adds the result columns of what says which tables there are, or of a drop.
    ///
    /// # Safety
    /// The info of a bind.
    unsafe fn add_columns(self, info: Handle) {
        // SAFETY: the caller's; DuckDB copies names and types.
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

/// What DuckDB keeps for a function.
struct Function {
    kind: Kind,
    registry: Arc<Registry>,
}

/// A function called with its arguments.
enum Bound {
    Table(Arc<Registry>, String, Source, Box<LoadOptions>),
    Tables(Arc<Registry>),
    Drop(Arc<Registry>, String),
    Rows(BoundRows),
}

/// A function that runs.
enum Running {
    /// More tables, with their names.
    Tables(std::vec::IntoIter<(String, Arc<Table>)>),
    Dropped(bool),
    Rows(RowsOf),
    Done,
}

/// Registers the functions.
///
/// # Errors
/// The name of one that DuckDB does not take.
///
/// # Safety
/// A connection of the database that loads this library.
pub(crate) unsafe fn register(
    connection: Handle,
    registry: &Arc<Registry>,
) -> Result<(), &'static CStr> {
    for kind in Kind::ALL {
        let signature = kind.signature();
        // SAFETY: the caller's; handles made here are given back, what is registered is copied.
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
            let data = into_raw(Function {
                kind,
                registry: Arc::clone(registry),
            });
            (api().table_function_set_extra_info)(function, data, drop_box::<Function>);
            (api().table_function_set_bind)(function, bind);
            (api().table_function_set_init)(function, init);
            (api().table_function_set_function)(function, run);
            let is_rows = matches!(kind, Kind::Rows(_));
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
/// DuckDB calls it for a function of [`register`].
unsafe extern "C" fn bind(info: Handle) {
    // SAFETY: the caller's: what `register` handed over, and the arguments it asked for.
    unsafe {
        border(api().bind_set_error, info, || {
            let function = &*(api().bind_get_extra_info)(info).cast::<Function>();
            let registry = Arc::clone(&function.registry);
            let bound = match function.kind {
                Kind::Table => {
                    let source = Source::of_argument(info, 1)?;
                    let (name, options) = (request::name(info, 0)?, request::options(info)?);
                    Bound::Table(registry, name, source, Box::new(options))
                }
                Kind::Tables => Bound::Tables(registry),
                Kind::Drop => Bound::Drop(registry, request::name(info, 0)?),
                Kind::Rows(each) => {
                    let name = request::name(info, 0)?;
                    Bound::Rows(BoundRows::new(info, each, registry, name)?)
                }
            };
            if !matches!(bound, Bound::Rows(_)) {
                function.kind.add_columns(info);
            }
            (api().bind_set_bind_data)(info, into_raw(bound), drop_box::<Bound>);
            Ok(())
        });
    }
}

/// # Safety
/// As for [`bind`].
unsafe extern "C" fn init(info: Handle) {
    // SAFETY: the caller's: what `bind` handed over.
    unsafe {
        border(api().init_set_error, info, || {
            let bound = &*(api().init_get_bind_data)(info).cast::<Bound>();
            let running = Mutex::new(bound.start(info)?);
            (api().init_set_init_data)(info, into_raw(running), drop_box::<Mutex<Running>>);
            Ok(())
        });
    }
}

/// # Safety
/// As for [`bind`].
unsafe extern "C" fn run(info: Handle, chunk: Handle) {
    // SAFETY: the caller's: what `init` handed over, and a chunk of the columns that `bind` added.
    unsafe {
        border(api().function_set_error, info, || {
            let running = &*(api().function_get_init_data)(info).cast::<Mutex<Running>>();
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            let column = |at| Output::new((api().data_chunk_get_vector)(chunk, at));
            let count = running.fill(&column)?;
            (api().data_chunk_set_size)(chunk, count as u64);
            Ok(())
        });
    }
}

impl Bound {
    /// # Safety
    /// The info of an init.
    unsafe fn start(&self, info: Handle) -> Result<Running, String> {
        match self {
            Self::Table(registry, name, source, options) => {
                let table = match source.open()? {
                    None => Table::built_in(&options.columns)?,
                    Some(reader) => Table::load(source.name(), reader, options)?,
                };
                let table = Arc::new(table);
                registry.insert(name.clone(), Arc::clone(&table));
                Ok(Running::Tables(vec![(name.clone(), table)].into_iter()))
            }
            Self::Tables(registry) => Ok(Running::Tables(registry.all().into_iter())),
            Self::Drop(registry, name) => Ok(Running::Dropped(registry.remove(name))),
            // SAFETY: the caller's; these functions have projection pushdown.
            Self::Rows(rows) => Ok(Running::Rows(unsafe { rows.start(info)? })),
        }
    }
}

impl Running {
    /// Fills the columns with the next rows, and says how many.
    ///
    /// # Safety
    /// They are those of the function, with room for a chunk's rows.
    unsafe fn fill(&mut self, column: &dyn Fn(u64) -> Output) -> Result<usize, String> {
        match std::mem::replace(self, Self::Done) {
            Self::Tables(mut tables) => {
                // SAFETY: the caller's.
                let count = unsafe { fill_tables(&mut tables, column)? };
                *self = Self::Tables(tables);
                Ok(count)
            }
            Self::Dropped(dropped) => {
                // SAFETY: as above; a BOOLEAN is a byte.
                unsafe { column(0).rows::<bool>(1).set(0, dropped) }
                Ok(1)
            }
            Self::Rows(mut rows) => {
                // SAFETY: as above.
                let count = unsafe { rows.fill(column)? };
                *self = Self::Rows(rows);
                Ok(count)
            }
            Self::Done => Ok(0),
        }
    }
}

/// # Safety
/// As for [`Running::fill`].
unsafe fn fill_tables(
    tables: &mut dyn Iterator<Item = (String, Arc<Table>)>,
    column: &dyn Fn(u64) -> Output,
) -> Result<usize, String> {
    // SAFETY: no argument.
    let room = unsafe { (api().vector_size)() } as usize;
    let (names, notes) = (column(0), column(5));
    let (mut has_notes, mut told) = (Vec::new(), Vec::new());
    for (row, (name, table)) in tables.take(room).enumerate() {
        let loaded = &table.loaded;
        let numbers = [
            loaded.table.ipv4().route_count() as u64,
            loaded.table.ipv6().route_count() as u64,
            loaded.replaced,
            loaded.skipped,
        ];
        // SAFETY: the caller's; the types are those of `TABLE`.
        unsafe {
            names.put(&names.rows(room), row, name.as_bytes());
            for (at, number) in (1..).zip(numbers) {
                column(at).rows::<u64>(room).set(row, number);
            }
            let text = loaded.notes.join("; ");
            notes.put(&notes.rows(room), row, text.as_bytes());
        }
        has_notes.push(!loaded.notes.is_empty());
        told.push(table);
    }
    // SAFETY: as above.
    unsafe {
        notes.set_nulls(&has_notes);
        fill_columns(&told, column(6))?;
    }
    Ok(told.len())
}

/// Writes the names and types of the columns of each table.
///
/// # Safety
/// The output is of lists of structures of two texts, and has room for as many.
unsafe fn fill_columns(tables: &[Arc<Table>], output: Output) -> Result<(), String> {
    let of = |table: &Arc<Table>| table.records().columns().len();
    let count = tables.iter().map(of).sum();
    // SAFETY: the caller's.
    unsafe {
        let lists = output.rows::<[u64; 2]>(tables.len());
        let elements = output.elements(count).ok_or("no memory for the lists")?;
        let fields = [elements.field(0), elements.field(1)];
        let texts = fields.map(|field| field.rows(count));
        let mut at = 0;
        for (row, table) in tables.iter().enumerate() {
            lists.set(row, [at as u64, of(table) as u64]);
            for column in table.records().columns() {
                fields[0].put(&texts[0], at, column.name().as_bytes());
                let name = CellType::of(column).name();
                fields[1].put(&texts[1], at, name.as_bytes());
                at += 1;
            }
        }
    }
    Ok(())
}
