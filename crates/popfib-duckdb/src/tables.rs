//! Table functions: `popfib_table` makes a table, `popfib_drop` forgets it, `popfib_routes` reads the routes of a
//! file.
//!
//! Files are opened when a query runs, not when it is bound, which DuckDB may do several times.

use core::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use popfib::{IpPrefix, NextHop};
use popfib_formats::{Input, LoadOptions, ReadError, Route, RouteSource, open_routes};
use popfib_table::{Dictionary, PrefixText};

use crate::api::{Handle, TypeId, api};
use crate::border::{border, drop_box, into_raw};
use crate::registry::Registry;
use crate::request::{self, OPTIONS, Source};
use crate::table::Table;
use crate::vector::{LogicalType, Output, Text};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Table,
    Tables,
    Drop,
    Routes,
}

/// A function: its name, the types of its parameters, whether it has options, and its columns.
struct Signature {
    name: &'static CStr,
    parameters: &'static [TypeId],
    has_options: bool,
    columns: &'static [(&'static CStr, TypeId)],
}

/// What is said of a table.
const TABLE: &[(&CStr, TypeId)] = &[
    (c"name", TypeId::VARCHAR),
    (c"ipv4_routes", TypeId::UBIGINT),
    (c"ipv6_routes", TypeId::UBIGINT),
    (c"replaced", TypeId::UBIGINT),
    (c"skipped", TypeId::UBIGINT),
    (c"notes", TypeId::VARCHAR),
];

impl Kind {
    const ALL: [Self; 4] = [Self::Table, Self::Tables, Self::Drop, Self::Routes];

    fn signature(self) -> Signature {
        match self {
            Self::Table => Signature {
                name: c"popfib_table",
                parameters: &[TypeId::VARCHAR, TypeId::ANY],
                has_options: true,
                columns: TABLE,
            },
            Self::Tables => Signature {
                name: c"popfib_tables",
                parameters: &[],
                has_options: false,
                columns: TABLE,
            },
            Self::Drop => Signature {
                name: c"popfib_drop",
                parameters: &[TypeId::VARCHAR],
                has_options: false,
                columns: &[(c"dropped", TypeId::BOOLEAN)],
            },
            Self::Routes => Signature {
                name: c"popfib_routes",
                parameters: &[TypeId::ANY],
                has_options: true,
                columns: &[(c"prefix", TypeId::VARCHAR), (c"value", TypeId::VARCHAR)],
            },
        }
    }
}

/// What DuckDB keeps for a function.
struct Function {
    kind: Kind,
    registry: Arc<Registry>,
}

/// A function called with its arguments.
enum Bound {
    Table(Arc<Registry>, String, Source, LoadOptions),
    Tables(Arc<Registry>),
    Drop(Arc<Registry>, String),
    Routes(Source, LoadOptions),
}

/// A function that runs.
enum Running {
    /// More tables, with their names.
    Tables(std::vec::IntoIter<(String, Arc<Table>)>),
    Dropped(bool),
    /// More routes, and whether invalid lines are skipped.
    Routes(Box<dyn RouteSource>, bool),
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
                    Bound::Table(registry, name, source, options)
                }
                Kind::Tables => Bound::Tables(registry),
                Kind::Drop => Bound::Drop(registry, request::name(info, 0)?),
                Kind::Routes => {
                    let source = Source::of_argument(info, 0)?;
                    Bound::Routes(source, request::options(info)?)
                }
            };
            for (name, column) in function.kind.signature().columns {
                let column = LogicalType::new(*column);
                (api().bind_add_result_column)(info, name.as_ptr(), column.handle());
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
            let running = Mutex::new(bound.start()?);
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
    fn start(&self) -> Result<Running, String> {
        match self {
            Self::Table(registry, name, source, options) => {
                let table = match source.open()? {
                    None => Table::built_in(),
                    Some(reader) => Table::load(source.name(), reader, options)?,
                };
                let table = Arc::new(table);
                registry.insert(name.clone(), Arc::clone(&table));
                Ok(Running::Tables(vec![(name.clone(), table)].into_iter()))
            }
            Self::Tables(registry) => Ok(Running::Tables(registry.all().into_iter())),
            Self::Drop(registry, name) => Ok(Running::Dropped(registry.remove(name))),
            Self::Routes(source, options) => {
                let routes: Box<dyn RouteSource> = match source.open()? {
                    None => Box::new(BuiltIn::new()),
                    Some(reader) => {
                        let input = Input::from_reader(source.name(), reader);
                        open_routes(input, options).map_err(|error| error.to_string())?
                    }
                };
                Ok(Running::Routes(routes, options.skip_invalid))
            }
        }
    }
}

/// The routes of the built-in table, IPv4 first.
struct BuiltIn {
    values: Dictionary,
    routes: std::vec::IntoIter<(IpPrefix, NextHop)>,
}

impl BuiltIn {
    fn new() -> Self {
        let table = popfib_formats::default_table();
        let routes = table.routes().collect::<Vec<_>>().into_iter();
        let values = table.next_hops;
        Self { values, routes }
    }
}

impl RouteSource for BuiltIn {
    fn next_route(&mut self) -> Result<Option<Route<'_>>, ReadError> {
        let route = self.routes.next();
        Ok(route.map(|(prefix, number)| Route {
            prefix,
            next_hop: self.values.get(number).unwrap_or_default(),
        }))
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
                let count = unsafe { fill_tables(&mut tables, column) };
                *self = Self::Tables(tables);
                Ok(count)
            }
            Self::Dropped(dropped) => {
                // SAFETY: as above; a BOOLEAN is a byte.
                unsafe { column(0).rows::<bool>(1).set(0, dropped) }
                Ok(1)
            }
            Self::Routes(mut routes, skip_invalid) => {
                // SAFETY: as above.
                let count = unsafe { fill_routes(&mut *routes, skip_invalid, column)? };
                *self = Self::Routes(routes, skip_invalid);
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
) -> usize {
    // SAFETY: no argument.
    let room = unsafe { (api().vector_size)() } as usize;
    let (names, notes) = (column(0), column(5));
    let mut has_notes = Vec::new();
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
    }
    // SAFETY: as above.
    unsafe { notes.set_nulls(&has_notes) }
    has_notes.len()
}

/// # Safety
/// As for [`Running::fill`].
unsafe fn fill_routes(
    routes: &mut dyn RouteSource,
    skip_invalid: bool,
    column: &dyn Fn(u64) -> Output,
) -> Result<usize, String> {
    // SAFETY: no argument.
    let room = unsafe { (api().vector_size)() } as usize;
    let columns = [column(0), column(1)];
    // SAFETY: the caller's: two columns of texts.
    let rows = columns.map(|column| unsafe { column.rows::<Text>(room) });
    let mut count = 0;
    while count < room {
        match routes.next_route() {
            Ok(None) => break,
            Ok(Some(route)) => {
                let prefix = PrefixText::new(route.prefix);
                // SAFETY: as above.
                unsafe {
                    columns[0].put(&rows[0], count, prefix.as_bytes());
                    columns[1].put(&rows[1], count, route.next_hop.as_bytes());
                }
                count += 1;
            }
            Err(error) if skip_invalid && error.is_invalid_line() => {}
            Err(error) if skip_invalid && error.is_cut() => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(count)
}
