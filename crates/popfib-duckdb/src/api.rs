//! The functions of DuckDB's C extension API that are used here: a table of function pointers in, functions of Rust's types
//! out.
//!
//! DuckDB hands over the table. In its stable part a function keeps its place forever, and new ones follow at the end, so a
//! place and a type are all there is to know of one (`duckdb_extension.h` has them in order). Declared by hand. Rejected:
//! generated bindings, which copy all 548 pointers, past the end of the shorter tables of older DuckDBs.

use core::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// An opaque pointer to something of DuckDB's: a vector, a chunk, a type, a value, the info of a call.
pub(crate) type DuckDbHandle = *mut c_void;
/// What DuckDB calls to free what it was handed.
pub(crate) type DestroyFn = unsafe extern "C" fn(*mut c_void);
/// What runs a scalar function: info, input chunk, output vector.
pub(crate) type RunScalarFn = unsafe extern "C" fn(DuckDbHandle, DuckDbHandle, DuckDbHandle);
/// What binds or initialises a table function.
pub(crate) type BeginFn = unsafe extern "C" fn(DuckDbHandle);
/// What runs a table function: info, output chunk.
pub(crate) type RunTableFn = unsafe extern "C" fn(DuckDbHandle, DuckDbHandle);

/// The types of columns that are read or made here, as DuckDB numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeId(pub(crate) u32);

impl TypeId {
    pub(crate) const BOOLEAN: Self = Self(1);
    pub(crate) const UTINYINT: Self = Self(6);
    pub(crate) const USMALLINT: Self = Self(7);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const BIGINT: Self = Self(5);
    pub(crate) const UINTEGER: Self = Self(8);
    pub(crate) const UBIGINT: Self = Self(9);
    pub(crate) const DOUBLE: Self = Self(11);
    pub(crate) const HUGEINT: Self = Self(16);
    pub(crate) const VARCHAR: Self = Self(17);
    pub(crate) const BLOB: Self = Self(18);
    pub(crate) const LIST: Self = Self(24);
    pub(crate) const STRUCT: Self = Self(25);
    pub(crate) const UHUGEINT: Self = Self(32);
    pub(crate) const ANY: Self = Self(34);
    pub(crate) const NULL: Self = Self(36);
}

/// Bytes that DuckDB hands out, to be freed by `free`.
#[repr(C)]
pub(crate) struct Blob {
    pub(crate) data: *mut c_void,
    pub(crate) size: u64,
}

/// What DuckDB calls an extension with: functions to be called with the info of the entry point.
#[repr(C)]
pub(crate) struct ExtensionAccess {
    pub(crate) set_error: unsafe extern "C" fn(DuckDbHandle, *const c_char),
    pub(crate) get_database: unsafe extern "C" fn(DuckDbHandle) -> *mut DuckDbHandle,
    pub(crate) get_api: unsafe extern "C" fn(DuckDbHandle, *const c_char) -> *const c_void,
}

macro_rules! functions {
    ($(#[$documentation:meta])* $Api:ident {
        $($place:literal $name:ident($($argument:ty),*) $(-> $result:ty)?;)*
    }) => {
        $(#[$documentation])*
        pub(crate) struct $Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $Api {
            /// The functions out of DuckDB's table.
            ///
            /// # Safety
            /// `table` is DuckDB's, of a version that has all of these places.
            unsafe fn read(table: *const c_void) -> Option<Self> {
                // SAFETY: the table has the place, which holds null or a function of this type, as the header of that version says.
                unsafe {
                    $(let $name = table
                        .cast::<*const c_void>()
                        .add($place)
                        .cast::<Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>>()
                        .read()?;)*
                    Some(Self { $($name),* })
                }
            }
        }
    };
}

functions! {
    /// What every DuckDB since 1.2.0 has.
    Api {
        3 connect(DuckDbHandle, *mut DuckDbHandle) -> u32;
        6 disconnect(*mut DuckDbHandle);
        7 library_version() -> *const c_char;
        25 free(*mut c_void);
        26 vector_size() -> u64;
        92 destroy_value(*mut DuckDbHandle);
        118 get_bool(DuckDbHandle) -> bool;
        136 get_value_type(DuckDbHandle) -> DuckDbHandle;
        137 get_blob(DuckDbHandle) -> Blob;
        142 get_varchar(DuckDbHandle) -> *mut c_char;
        149 is_null_value(DuckDbHandle) -> bool;
        151 get_list_size(DuckDbHandle) -> u64;
        152 get_list_child(DuckDbHandle, u64) -> DuckDbHandle;
        156 create_logical_type(u32) -> DuckDbHandle;
        159 create_list_type(DuckDbHandle) -> DuckDbHandle;
        163 create_struct_type(*mut DuckDbHandle, *mut *const c_char, u64) -> DuckDbHandle;
        166 get_type_id(DuckDbHandle) -> u32;
        178 struct_type_child_count(DuckDbHandle) -> u64;
        180 struct_type_child_type(DuckDbHandle, u64) -> DuckDbHandle;
        184 destroy_logical_type(*mut DuckDbHandle);
        190 data_chunk_get_vector(DuckDbHandle, u64) -> DuckDbHandle;
        189 data_chunk_get_column_count(DuckDbHandle) -> u64;
        191 data_chunk_get_size(DuckDbHandle) -> u64;
        192 data_chunk_set_size(DuckDbHandle, u64);
        193 vector_get_column_type(DuckDbHandle) -> DuckDbHandle;
        194 vector_get_data(DuckDbHandle) -> *mut c_void;
        195 vector_get_validity(DuckDbHandle) -> *mut u64;
        196 vector_ensure_validity_writable(DuckDbHandle);
        198 vector_assign_string_element_len(DuckDbHandle, u64, *const c_char, u64);
        199 list_vector_get_child(DuckDbHandle) -> DuckDbHandle;
        201 list_vector_set_size(DuckDbHandle, u64) -> u32;
        202 list_vector_reserve(DuckDbHandle, u64) -> u32;
        203 struct_vector_get_child(DuckDbHandle, u64) -> DuckDbHandle;
        209 create_scalar_function() -> DuckDbHandle;
        210 destroy_scalar_function(*mut DuckDbHandle);
        215 scalar_function_add_parameter(DuckDbHandle, DuckDbHandle);
        216 scalar_function_set_return_type(DuckDbHandle, DuckDbHandle);
        217 scalar_function_set_extra_info(DuckDbHandle, *mut c_void, DestroyFn);
        218 scalar_function_set_function(DuckDbHandle, RunScalarFn);
        211 scalar_function_set_name(DuckDbHandle, *const c_char);
        220 scalar_function_get_extra_info(DuckDbHandle) -> *mut c_void;
        221 scalar_function_set_error(DuckDbHandle, *const c_char);
        222 create_scalar_function_set(*const c_char) -> DuckDbHandle;
        223 destroy_scalar_function_set(*mut DuckDbHandle);
        224 add_scalar_function_to_set(DuckDbHandle, DuckDbHandle) -> u32;
        225 register_scalar_function_set(DuckDbHandle, DuckDbHandle) -> u32;
        242 create_table_function() -> DuckDbHandle;
        243 destroy_table_function(*mut DuckDbHandle);
        244 table_function_set_name(DuckDbHandle, *const c_char);
        245 table_function_add_parameter(DuckDbHandle, DuckDbHandle);
        246 table_function_add_named_parameter(DuckDbHandle, *const c_char, DuckDbHandle);
        247 table_function_set_extra_info(DuckDbHandle, *mut c_void, DestroyFn);
        248 table_function_set_bind(DuckDbHandle, BeginFn);
        249 table_function_set_init(DuckDbHandle, BeginFn);
        251 table_function_set_function(DuckDbHandle, RunTableFn);
        252 table_function_supports_projection_pushdown(DuckDbHandle, bool);
        253 register_table_function(DuckDbHandle, DuckDbHandle) -> u32;
        254 bind_get_extra_info(DuckDbHandle) -> *mut c_void;
        255 bind_add_result_column(DuckDbHandle, *const c_char, DuckDbHandle);
        257 bind_get_parameter(DuckDbHandle, u64) -> DuckDbHandle;
        258 bind_get_named_parameter(DuckDbHandle, *const c_char) -> DuckDbHandle;
        259 bind_set_bind_data(DuckDbHandle, *mut c_void, DestroyFn);
        260 bind_set_cardinality(DuckDbHandle, u64, bool);
        261 bind_set_error(DuckDbHandle, *const c_char);
        263 init_get_bind_data(DuckDbHandle) -> *mut c_void;
        264 init_set_init_data(DuckDbHandle, *mut c_void, DestroyFn);
        265 init_get_column_count(DuckDbHandle) -> u64;
        266 init_get_column_index(DuckDbHandle, u64) -> u64;
        268 init_set_error(DuckDbHandle, *const c_char);
        271 function_get_init_data(DuckDbHandle) -> *mut c_void;
        273 function_set_error(DuckDbHandle, *const c_char);
    }
}

functions! {
    /// What DuckDB has since 1.5.6: files by its own file systems, under its own settings, and which connection calls.
    FileApi {
        469 destroy_error_data(*mut DuckDbHandle);
        471 error_data_message(DuckDbHandle) -> *const c_char;
        477 client_context_get_file_system(DuckDbHandle) -> DuckDbHandle;
        478 destroy_file_system(*mut DuckDbHandle);
        479 file_system_open(DuckDbHandle, *const c_char, DuckDbHandle, *mut DuckDbHandle) -> u32;
        480 file_system_error_data(DuckDbHandle) -> DuckDbHandle;
        481 create_file_open_options() -> DuckDbHandle;
        482 file_open_options_set_flag(DuckDbHandle, u32, bool) -> u32;
        483 destroy_file_open_options(*mut DuckDbHandle);
        484 destroy_file_handle(*mut DuckDbHandle);
        485 file_handle_error_data(DuckDbHandle) -> DuckDbHandle;
        487 file_handle_read(DuckDbHandle, *mut c_void, i64) -> i64;
        500 client_context_get_connection_id(DuckDbHandle) -> u64;
        501 destroy_client_context(*mut DuckDbHandle);
        520 scalar_function_get_state(DuckDbHandle) -> *mut c_void;
        521 scalar_function_set_init(DuckDbHandle, BeginFn);
        522 scalar_function_init_set_error(DuckDbHandle, *const c_char);
        523 scalar_function_init_set_state(DuckDbHandle, *mut c_void, DestroyFn);
        524 scalar_function_init_get_client_context(DuckDbHandle, *mut DuckDbHandle);
        526 scalar_function_init_get_extra_info(DuckDbHandle) -> *mut c_void;
        531 table_function_get_client_context(DuckDbHandle, *mut DuckDbHandle);
    }
}

/// The DuckDB that loaded this library.
pub(crate) struct DuckDb {
    pub(crate) api: Api,
    pub(crate) files: Option<FileApi>,
    /// Its version, `v1.5.6` for one.
    pub(crate) version: String,
}

static DUCKDB: OnceLock<DuckDb> = OnceLock::new();

/// The functions of the DuckDB that loaded this library.
#[inline(always)]
pub(crate) fn api() -> &'static Api {
    &duckdb().api
}

/// The DuckDB that loaded this library; only called in functions that `load` is called before.
#[inline(always)]
pub(crate) fn duckdb() -> &'static DuckDb {
    DUCKDB.get().expect("DuckDB calls only what `load` gave it")
}

/// Gets the functions of the DuckDB that loads this library.
///
/// # Errors
/// Why it can't; `None` if DuckDB has reported the error itself.
///
/// # Safety
/// `info` and `access` are those that DuckDB calls the entry point with.
pub(crate) unsafe fn load(
    info: DuckDbHandle,
    access: &ExtensionAccess,
) -> Result<(), Option<&'static str>> {
    // SAFETY: `access` is DuckDB's for this `info`. It returns a table of this version, or null if it has none.
    let read = unsafe {
        let table = (access.get_api)(info, c"v1.2.0".as_ptr());
        if table.is_null() {
            return Err(None);
        }
        Api::read(table)
    };
    let api = read.ok_or(Some("popfib: a function of the C API is missing"))?;
    // SAFETY: a function without arguments, and a string that is there for good.
    let version = unsafe { CStr::from_ptr((api.library_version)()) };
    let version = version.to_string_lossy().into_owned();
    let files = if number(&version) >= [1, 5, 6] {
        // SAFETY: as for the version above.
        unsafe {
            let table = (access.get_api)(info, c"v1.5.6".as_ptr());
            if table.is_null() {
                return Err(None);
            }
            FileApi::read(table)
        }
    } else {
        None
    };
    let place = api.vector_size as usize;
    let known = DUCKDB.get_or_init(|| DuckDb {
        api,
        files,
        version,
    });
    // Two DuckDBs in one process share this library, whose functions are those of the first.
    if known.api.vector_size as usize != place {
        return Err(Some("popfib: loaded by another DuckDB in this process"));
    }
    Ok(())
}

/// The three numbers of a version, 0 for each that is not there.
fn number(version: &str) -> [u32; 3] {
    let mut numbers = version
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}
