//! The functions of DuckDB's C extension API that are used here.
//!
//! DuckDB hands over a table of function pointers. In its stable part a function keeps its place forever, and new
//! ones follow at the end; so the place is all there is to know of one (`duckdb_extension.h` has them in order).
//! Declared by hand: generated bindings copy all 548 pointers, past the end of the shorter tables of older DuckDBs.

use core::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// An opaque handle of DuckDB's.
pub(crate) type Handle = *mut c_void;
/// A function of DuckDB's by which it gives up what it was handed.
pub(crate) type Destroy = unsafe extern "C" fn(*mut c_void);
/// What runs a scalar function: info, input chunk, output vector.
pub(crate) type RunScalar = unsafe extern "C" fn(Handle, Handle, Handle);
/// What binds or initialises a table function.
pub(crate) type Begin = unsafe extern "C" fn(Handle);
/// What runs a table function: info, output chunk.
pub(crate) type RunTable = unsafe extern "C" fn(Handle, Handle);

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

/// What an extension is called with.
#[repr(C)]
pub(crate) struct Access {
    pub(crate) set_error: unsafe extern "C" fn(Handle, *const c_char),
    pub(crate) get_database: unsafe extern "C" fn(Handle) -> *mut Handle,
    pub(crate) get_api: unsafe extern "C" fn(Handle, *const c_char) -> *const c_void,
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
            /// The table is of a version that has them all.
            unsafe fn read(table: *const c_void) -> Option<Self> {
                // SAFETY: the caller's; a place holds a pointer to a function of this type.
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
        3 connect(Handle, *mut Handle) -> u32;
        6 disconnect(*mut Handle);
        7 library_version() -> *const c_char;
        25 free(*mut c_void);
        26 vector_size() -> u64;
        92 destroy_value(*mut Handle);
        118 get_bool(Handle) -> bool;
        136 get_value_type(Handle) -> Handle;
        137 get_blob(Handle) -> Blob;
        142 get_varchar(Handle) -> *mut c_char;
        149 is_null_value(Handle) -> bool;
        151 get_list_size(Handle) -> u64;
        152 get_list_child(Handle, u64) -> Handle;
        156 create_logical_type(u32) -> Handle;
        159 create_list_type(Handle) -> Handle;
        163 create_struct_type(*mut Handle, *mut *const c_char, u64) -> Handle;
        166 get_type_id(Handle) -> u32;
        178 struct_type_child_count(Handle) -> u64;
        180 struct_type_child_type(Handle, u64) -> Handle;
        184 destroy_logical_type(*mut Handle);
        190 data_chunk_get_vector(Handle, u64) -> Handle;
        189 data_chunk_get_column_count(Handle) -> u64;
        191 data_chunk_get_size(Handle) -> u64;
        192 data_chunk_set_size(Handle, u64);
        193 vector_get_column_type(Handle) -> Handle;
        194 vector_get_data(Handle) -> *mut c_void;
        195 vector_get_validity(Handle) -> *mut u64;
        196 vector_ensure_validity_writable(Handle);
        198 vector_assign_string_element_len(Handle, u64, *const c_char, u64);
        199 list_vector_get_child(Handle) -> Handle;
        201 list_vector_set_size(Handle, u64) -> u32;
        202 list_vector_reserve(Handle, u64) -> u32;
        203 struct_vector_get_child(Handle, u64) -> Handle;
        209 create_scalar_function() -> Handle;
        210 destroy_scalar_function(*mut Handle);
        215 scalar_function_add_parameter(Handle, Handle);
        216 scalar_function_set_return_type(Handle, Handle);
        217 scalar_function_set_extra_info(Handle, *mut c_void, Destroy);
        218 scalar_function_set_function(Handle, RunScalar);
        211 scalar_function_set_name(Handle, *const c_char);
        220 scalar_function_get_extra_info(Handle) -> *mut c_void;
        221 scalar_function_set_error(Handle, *const c_char);
        222 create_scalar_function_set(*const c_char) -> Handle;
        223 destroy_scalar_function_set(*mut Handle);
        224 add_scalar_function_to_set(Handle, Handle) -> u32;
        225 register_scalar_function_set(Handle, Handle) -> u32;
        242 create_table_function() -> Handle;
        243 destroy_table_function(*mut Handle);
        244 table_function_set_name(Handle, *const c_char);
        245 table_function_add_parameter(Handle, Handle);
        246 table_function_add_named_parameter(Handle, *const c_char, Handle);
        247 table_function_set_extra_info(Handle, *mut c_void, Destroy);
        248 table_function_set_bind(Handle, Begin);
        249 table_function_set_init(Handle, Begin);
        251 table_function_set_function(Handle, RunTable);
        252 table_function_supports_projection_pushdown(Handle, bool);
        253 register_table_function(Handle, Handle) -> u32;
        254 bind_get_extra_info(Handle) -> *mut c_void;
        255 bind_add_result_column(Handle, *const c_char, Handle);
        257 bind_get_parameter(Handle, u64) -> Handle;
        258 bind_get_named_parameter(Handle, *const c_char) -> Handle;
        259 bind_set_bind_data(Handle, *mut c_void, Destroy);
        260 bind_set_cardinality(Handle, u64, bool);
        261 bind_set_error(Handle, *const c_char);
        263 init_get_bind_data(Handle) -> *mut c_void;
        264 init_set_init_data(Handle, *mut c_void, Destroy);
        265 init_get_column_count(Handle) -> u64;
        266 init_get_column_index(Handle, u64) -> u64;
        268 init_set_error(Handle, *const c_char);
        271 function_get_init_data(Handle) -> *mut c_void;
        273 function_set_error(Handle, *const c_char);
    }
}

functions! {
    /// What DuckDB has since 1.5.6: files by its own file systems, under its own settings.
    FileApi {
        469 destroy_error_data(*mut Handle);
        471 error_data_message(Handle) -> *const c_char;
        477 client_context_get_file_system(Handle) -> Handle;
        478 destroy_file_system(*mut Handle);
        479 file_system_open(Handle, *const c_char, Handle, *mut Handle) -> u32;
        480 file_system_error_data(Handle) -> Handle;
        481 create_file_open_options() -> Handle;
        482 file_open_options_set_flag(Handle, u32, bool) -> u32;
        483 destroy_file_open_options(*mut Handle);
        484 destroy_file_handle(*mut Handle);
        485 file_handle_error_data(Handle) -> Handle;
        487 file_handle_read(Handle, *mut c_void, i64) -> i64;
        501 destroy_client_context(*mut Handle);
        531 table_function_get_client_context(Handle, *mut Handle);
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

/// The DuckDB that loaded this library. Only called from what it was given to call.
#[inline(always)]
pub(crate) fn duckdb() -> &'static DuckDb {
    DUCKDB.get().expect("DuckDB calls only what `load` gave it")
}

/// Gets the functions of the DuckDB that loads this library.
///
/// # Errors
/// Why not; none where DuckDB knows the error already.
///
/// # Safety
/// The arguments are those of the entry point.
pub(crate) unsafe fn load(info: Handle, access: &Access) -> Result<(), Option<&'static str>> {
    // SAFETY: the caller's; DuckDB checks the version, and answers null if it has not got it.
    let read = unsafe {
        let table = (access.get_api)(info, c"v1.2.0".as_ptr());
        if table.is_null() {
            return Err(None);
        }
        Api::read(table)
    };
    let api = read.ok_or(Some("popfib: a function of the C API is missing"))?;
    // SAFETY: a static string.
    let version = unsafe { CStr::from_ptr((api.library_version)()) };
    let version = version.to_string_lossy().into_owned();
    let files = if number(&version) >= [1, 5, 6] {
        // SAFETY: as above.
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
    // Two DuckDBs in one process, which share this library: its functions are those of the first.
    if known.api.vector_size as usize != place {
        return Err(Some("popfib: loaded by another DuckDB in this process"));
    }
    Ok(())
}

/// The three numbers of a version.
fn number(version: &str) -> [u32; 3] {
    let mut numbers = version
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}
