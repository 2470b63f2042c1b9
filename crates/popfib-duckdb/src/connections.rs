//! One table for a statement: the connection that runs it and a name in, the table that the statement has begun with out.
//!
//! DuckDB tells which connection calls, and a connection runs one statement at a time: it ends with the last of what DuckDB keeps
//! for it. Between two steps of a plan nothing may be left, and the next step begins with the tables of then. For answers that is as
//! if the step were a statement, but a join that numbers records by one table and reads them from another would be wrong: so it is
//! noted which table was the first of each name, and the join fails.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use popfib_formats::Escaped;

use crate::api::{DuckDbHandle, duckdb};
use crate::border::{drop_box, into_raw};
use crate::registry::Registry;
use crate::table::SqlTable;

/// The connections of a database, by their numbers, and its tables.
#[derive(Default)]
pub(crate) struct Connections {
    pub(crate) registry: Arc<Registry>,
    known: Mutex<HashMap<u64, Weak<DuckDbConnection>>>,
}

/// A connection with calls that are bound or run.
pub(crate) struct DuckDbConnection {
    registry: Arc<Registry>,
    tables: Mutex<StatementTables>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connections {
    /// The connection that binds a table function, which may read records; `None` if this DuckDB does not tell it.
    ///
    /// # Safety
    /// `info` is that of the bind.
    pub(crate) unsafe fn of_bind(&self, info: DuckDbHandle) -> Option<Arc<DuckDbConnection>> {
        let api = duckdb().files.as_ref()?;
        let mut context = ptr::null_mut();
        // SAFETY: the info of a bind has a context.
        let connection = unsafe {
            (api.table_function_get_client_context)(info, &raw mut context);
            self.of_context(context)?
        };
        lock(&connection.tables).first.clear();
        Some(connection)
    }

    /// Keeps a call of the connection for the init of a scalar function.
    ///
    /// # Safety
    /// `info` is that of the init.
    pub(crate) unsafe fn begin(&self, info: DuckDbHandle) {
        let Some(api) = &duckdb().files else {
            return;
        };
        let mut context = ptr::null_mut();
        // SAFETY: the info of an init has a context, and takes a state.
        unsafe {
            (api.scalar_function_init_get_client_context)(info, &raw mut context);
            if let Some(connection) = self.of_context(context) {
                let state = into_raw(TableCall::new(&connection, false));
                (api.scalar_function_init_set_state)(info, state, drop_box::<TableCall>);
            }
        }
    }

    /// # Safety
    /// `context` is a client context that is the caller's, or null.
    unsafe fn of_context(&self, mut context: DuckDbHandle) -> Option<Arc<DuckDbConnection>> {
        let api = duckdb().files.as_ref().filter(|_| !context.is_null())?;
        // SAFETY: a client context, which is given back here.
        let number = unsafe {
            let number = (api.client_context_get_connection_id)(context);
            (api.destroy_client_context)(&raw mut context);
            number
        };
        let mut known = lock(&self.known);
        if let Some(connection) = known.get(&number).and_then(Weak::upgrade) {
            return Some(connection);
        }
        known.retain(|_, connection| connection.strong_count() > 0);
        let connection = Arc::new(DuckDbConnection {
            registry: Arc::clone(&self.registry),
            tables: Mutex::default(),
        });
        known.insert(number, Arc::downgrade(&connection));
        Some(connection)
    }
}

/// The tables of a statement by their names.
#[derive(Default)]
struct StatementTables {
    /// How many calls run.
    calls: usize,
    in_use: HashMap<String, Arc<SqlTable>>,
    /// Those in use first since the last statement that reads records was bound or has ended.
    first: HashMap<String, Weak<SqlTable>>,
}

/// A call that runs.
pub(crate) struct TableCall {
    connection: Arc<DuckDbConnection>,
    reads_records: bool,
}

impl TableCall {
    pub(crate) fn new(connection: &Arc<DuckDbConnection>, reads_records: bool) -> Self {
        lock(&connection.tables).calls += 1;
        Self {
            connection: Arc::clone(connection),
            reads_records,
        }
    }

    /// That of a scalar function; `None` if this DuckDB has begun none.
    ///
    /// # Safety
    /// `info` is that of a call of a function whose init is [`Connections::begin`].
    pub(crate) unsafe fn of_scalar<'c>(info: DuckDbHandle) -> Option<&'c Self> {
        let api = duckdb().files.as_ref()?;
        // SAFETY: the state that the init has kept, or null; it lives as long as the call.
        unsafe {
            (api.scalar_function_get_state)(info)
                .cast::<Self>()
                .as_ref()
        }
    }

    /// The table of a name.
    ///
    /// # Errors
    /// As [`Registry::get`]; of a call that reads records, if an earlier step of the statement used another table of this name.
    pub(crate) fn get(&self, name: &[u8]) -> Result<Arc<SqlTable>, String> {
        let key = String::from_utf8_lossy(name);
        let mut tables = lock(&self.connection.tables);
        let known = tables.in_use.get(&*key).map(Arc::clone);
        let is_new = known.is_none();
        let table = known.map_or_else(|| self.connection.registry.get(name), Ok)?;
        if is_new {
            let (key, first) = (key.to_string(), Arc::downgrade(&table));
            tables.first.entry(key.clone()).or_insert(first);
            tables.in_use.insert(key, Arc::clone(&table));
        }
        let is_first = |first: &Weak<_>| first.ptr_eq(&Arc::downgrade(&table));
        match !self.reads_records || tables.first.get(&*key).is_none_or(is_first) {
            true => Ok(table),
            false => Err(format!(
                "table '{}' was replaced while this statement ran or waited; run it again",
                Escaped(&key)
            )),
        }
    }
}

impl Drop for TableCall {
    fn drop(&mut self) {
        let mut tables = lock(&self.connection.tables);
        tables.calls -= 1;
        if tables.calls == 0 {
            tables.in_use.clear();
        }
        if self.reads_records {
            tables.first.clear();
        }
    }
}
