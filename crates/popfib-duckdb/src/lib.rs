//! A DuckDB extension: longest-prefix match in SQL. Columns of addresses and the names of tables in, columns of answers out;
//! files in, tables that popfib has compiled out.
//!
//! One binary for every DuckDB from 1.2 on, by the stable C extension API (`api.rs`). What users meet is in
//! docs/sql.md. The names of tables belong to a database, whose functions all share one `Registry`.
//!
//! | file | what |
//! |---|---|
//! | `api.rs`, `border.rs`, `vector.rs`, `file.rs` | DuckDB: its functions, errors, columns, files |
//! | `table.rs`, `registry.rs` | what is looked up in |
//! | `seen.rs`, `addresses.rs`, `lpm_arguments.rs`, `scalar.rs` | `lpm`, `lpm_int`, `lpm_float`, `lpm_record`, `lpm_prefix`, `lpm_all` |
//! | `request.rs`, `tables.rs` | `popfib_table`, `popfib_tables`, `popfib_drop` |
//! | `cells.rs`, `rows.rs` | `popfib_records`, `popfib_routes` |

mod addresses;
mod api;
mod border;
mod cells;
mod connections;
mod file;
mod lpm_arguments;
mod registry;
mod request;
mod rows;
mod scalar;
mod seen;
mod table;
mod tables;
mod vector;

use core::ptr;
use std::ffi::CString;
use std::panic;
use std::sync::Arc;

use api::{DuckDbHandle, ExtensionAccess, api};
use connections::Connections;

/// The entry point: registers the functions in the database that loads this library.
///
/// # Safety
/// DuckDB calls it, with `info` and `access` for one database, both valid until it returns.
#[unsafe(no_mangle)] // SAFETY: nothing else has this name, which DuckDB makes of the file's.
unsafe extern "C" fn popfib_init_c_api(info: DuckDbHandle, access: *const ExtensionAccess) -> bool {
    // SAFETY: a structure of three functions that lives until this returns.
    let access = unsafe { &*access };
    // SAFETY: the arguments of this call.
    let start = || unsafe { start(info, access) };
    let result = panic::catch_unwind(panic::AssertUnwindSafe(start));
    let error = match result {
        Ok(Ok(())) => return true,
        Ok(Err(None)) => return false,
        Ok(Err(Some(error))) => error,
        Err(_) => "popfib: internal error".to_owned(),
    };
    let error = CString::new(error).unwrap_or_default();
    // SAFETY: the function for this info; DuckDB copies the string.
    unsafe { (access.set_error)(info, error.as_ptr()) }
    false
}

/// Registers the functions.
///
/// # Errors
/// Why they can't be registered; `None` if DuckDB has reported the error itself.
///
/// # Safety
/// `info` and `access` are those that DuckDB calls the entry point with.
unsafe fn start(info: DuckDbHandle, access: &ExtensionAccess) -> Result<(), Option<String>> {
    // SAFETY: `access` is DuckDB's for this `info`; the connection that is made here is given back after its last use.
    unsafe {
        api::load(info, access).map_err(|error| error.map(str::to_owned))?;
        let database = (access.get_database)(info);
        if database.is_null() {
            return Err(None);
        }
        let mut connection = ptr::null_mut();
        if (api().connect)(*database, &raw mut connection) != 0 {
            return Err(Some("popfib: no connection to the database".to_owned()));
        }
        let connections = Arc::new(Connections::default());
        let registered = scalar::register(connection, &connections)
            .and_then(|()| tables::register(connection, &connections));
        (api().disconnect)(&raw mut connection);
        registered.map_err(|name| {
            let name = name.to_string_lossy();
            Some(format!("popfib: DuckDB does not take the function {name}"))
        })
    }
}
