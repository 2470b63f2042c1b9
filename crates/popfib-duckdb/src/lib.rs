//! A DuckDB extension: longest-prefix match in SQL, by tables that popfib has compiled.
//!
//! One binary for every DuckDB from 1.2 on, by the stable C extension API (`api.rs`). What users meet is in
//! docs/sql.md. Names are those of a database, whose functions all share one [`registry::Registry`].
//!
//! | file | what |
//! |---|---|
//! | `api.rs`, `border.rs`, `vector.rs`, `file.rs` | DuckDB: its functions, errors, columns, files |
//! | `table.rs`, `registry.rs` | what is looked up in |
//! | `seen.rs`, `addresses.rs`, `question.rs`, `scalar.rs` | `lpm`, `lpm_int`, `lpm_float`, `lpm_record`, `lpm_prefix`, `lpm_all` |
//! | `request.rs`, `tables.rs` | `popfib_table`, `popfib_tables`, `popfib_drop` |
//! | `cells.rs`, `rows.rs` | `popfib_records`, `popfib_routes` |

mod addresses;
mod api;
mod border;
mod cells;
mod file;
mod question;
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

use api::{Access, Handle, api};
use registry::Registry;

/// The entry point: registers the functions in the database that loads this library.
///
/// # Safety
/// DuckDB calls it.
#[unsafe(no_mangle)] // SAFETY: nothing else has this name, which DuckDB makes of the file's.
unsafe extern "C" fn popfib_init_c_api(info: Handle, access: *const Access) -> bool {
    // SAFETY: the caller's: a structure of three functions, which lives until this returns.
    let access = unsafe { &*access };
    // SAFETY: as above.
    let start = || unsafe { start(info, access) };
    let result = panic::catch_unwind(panic::AssertUnwindSafe(start));
    let error = match result {
        Ok(Ok(())) => return true,
        Ok(Err(None)) => return false,
        Ok(Err(Some(error))) => error,
        Err(_) => "popfib: internal error".to_owned(),
    };
    let error = CString::new(error).unwrap_or_default();
    // SAFETY: as above; DuckDB copies the string.
    unsafe { (access.set_error)(info, error.as_ptr()) }
    false
}

/// # Errors
/// Why the functions can't be registered; none where DuckDB knows.
///
/// # Safety
/// The arguments are those of the entry point.
unsafe fn start(info: Handle, access: &Access) -> Result<(), Option<String>> {
    // SAFETY: the caller's; the connection is given back.
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
        let registry = Arc::new(Registry::default());
        let registered = scalar::register(connection, &registry)
            .and_then(|()| tables::register(connection, &registry));
        (api().disconnect)(&raw mut connection);
        registered.map_err(|name| {
            let name = name.to_string_lossy();
            Some(format!("popfib: DuckDB does not take the function {name}"))
        })
    }
}
