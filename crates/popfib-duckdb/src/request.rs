//! The arguments of a table function in; the name of a table, where its routes come from, and options out.

use core::ffi::{CStr, c_void};
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

use popfib_formats::{ColumnSelection, LoadOptions};

use crate::api::{DuckDbHandle, TypeId, api};
use crate::file::FileSystem;
use crate::vector::LogicalType;

/// The named parameters of functions that read files, called like the options of the command.
pub(crate) const OPTIONS: [(&CStr, TypeId); 9] = [
    (c"format", TypeId::VARCHAR),
    (c"value", TypeId::VARCHAR),
    (c"columns", TypeId::ANY),
    (c"peer", TypeId::VARCHAR),
    (c"vrf", TypeId::VARCHAR),
    (c"skip_invalid", TypeId::BOOLEAN),
    (c"mask", TypeId::BOOLEAN),
    (c"fill", TypeId::BOOLEAN),
    (c"mapped", TypeId::BOOLEAN),
];

/// What names the built-in table, in place of a file.
const BUILT_IN: &str = "default";

/// Where routes come from.
pub(crate) enum SqlSource {
    BuiltIn,
    /// A file of DuckDB's file systems.
    File(String, Mutex<FileSystem>),
    /// The contents of a file.
    Bytes(Arc<[u8]>),
}

impl SqlSource {
    /// The argument `at` of a table function: a file's name, or its contents.
    ///
    /// # Errors
    /// The argument is NULL; this DuckDB opens no files for extensions.
    ///
    /// # Safety
    /// `info` is that of a bind, of a function with that argument; the value lives no longer than the connection.
    pub(crate) unsafe fn of_argument(info: DuckDbHandle, at: u64) -> Result<Self, String> {
        // SAFETY: an info of a bind, with that argument.
        let value = SqlValue(unsafe { (api().bind_get_parameter)(info, at) });
        if let Some(bytes) = value.blob() {
            return Ok(Self::Bytes(bytes));
        }
        match value.text().ok_or("the name of the file is NULL")? {
            path if path == BUILT_IN => Ok(Self::BuiltIn),
            // SAFETY: an info of a bind; this value lives no longer than the connection, as the caller promises.
            path => Ok(Self::File(
                path,
                Mutex::new(unsafe { FileSystem::of_bind(info)? }),
            )),
        }
    }

    /// The name that errors give it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::BuiltIn => BUILT_IN,
            Self::File(path, _) => path,
            Self::Bytes(_) => "BLOB",
        }
    }

    /// Opens it; nothing for the built-in table.
    ///
    /// # Errors
    /// DuckDB's line on why it does not open the file.
    pub(crate) fn open(&self) -> Result<Option<Box<dyn Read + Send>>, String> {
        Ok(match self {
            Self::BuiltIn => None,
            Self::File(path, system) => {
                let mut system = system.lock().unwrap_or_else(PoisonError::into_inner);
                Some(Box::new(system.open(path)?))
            }
            Self::Bytes(bytes) => Some(Box::new(Cursor::new(Arc::clone(bytes)))),
        })
    }
}

/// The argument `at` of a table function as text.
///
/// # Errors
/// The argument is NULL.
///
/// # Safety
/// `info` is that of a bind, of a function with that argument.
pub(crate) unsafe fn name(info: DuckDbHandle, at: u64) -> Result<String, String> {
    // SAFETY: an info of a bind, with that argument.
    let value = SqlValue(unsafe { (api().bind_get_parameter)(info, at) });
    value
        .text()
        .ok_or_else(|| "the name of a table is NULL".to_owned())
}

/// The named parameters.
///
/// # Errors
/// One of them has a value that it can't have.
///
/// # Safety
/// `info` is that of a bind, of a function with [`OPTIONS`].
pub(crate) unsafe fn options(info: DuckDbHandle) -> Result<LoadOptions, String> {
    // SAFETY: an info of a bind; DuckDB returns null for a parameter that is not given.
    let value =
        |name: &CStr| SqlValue(unsafe { (api().bind_get_named_parameter)(info, name.as_ptr()) });
    let text = |name| value(name).text();
    let mut options = LoadOptions::new();
    if let Some(format) = text(c"format") {
        options.format = Some(format.parse().map_err(|error| format!("format: {error}"))?);
    }
    if let Some(name) = text(c"value") {
        options.value = name.parse().map_err(|error| format!("value: {error}"))?;
    }
    if let Some(peer) = text(c"peer") {
        options.peer = Some(peer.parse().map_err(|error| format!("peer: {error}"))?);
    }
    options.columns = columns(&value(c"columns"))?;
    options.table = text(c"vrf");
    options.skip_invalid = value(c"skip_invalid").is_true();
    options.mask = value(c"mask").is_true();
    options.fill = value(c"fill").is_true();
    options.mapped = value(c"mapped").is_true();
    Ok(options)
}

/// The columns that a name, a list of names or `'*'` stands for.
///
/// # Errors
/// A value of another type, an empty list, or a list with NULL.
fn columns(value: &SqlValue) -> Result<ColumnSelection, String> {
    let what = "columns: a name, a list of names, or '*' for all";
    if value.is_null() {
        return Ok(ColumnSelection::Value);
    }
    let names = match value.type_id() {
        TypeId::VARCHAR => vec![value.text().unwrap_or_default()],
        TypeId::LIST => {
            let names = value.elements().map(|name| name.text());
            names.collect::<Option<_>>().ok_or(what)?
        }
        _ => return Err(what.to_owned()),
    };
    ColumnSelection::of(names).ok_or_else(|| what.to_owned())
}

/// A value that DuckDB made for the caller, who gives it back at the end; null if there is none.
struct SqlValue(DuckDbHandle);

impl SqlValue {
    fn is_null(&self) -> bool {
        // SAFETY: not null, hence a value.
        self.0.is_null() || unsafe { (api().is_null_value)(self.0) }
    }

    fn is_true(&self) -> bool {
        // SAFETY: a value, and a BOOLEAN by the parameters of the function.
        !self.is_null() && unsafe { (api().get_bool)(self.0) }
    }

    fn text(&self) -> Option<String> {
        if self.is_null() {
            return None;
        }
        // SAFETY: a value; the text is null or a string, which is given back.
        unsafe {
            let start = (api().get_varchar)(self.0);
            let text =
                (!start.is_null()).then(|| CStr::from_ptr(start).to_string_lossy().into_owned());
            (api().free)(start.cast::<c_void>());
            text
        }
    }

    /// The type of a value that there is.
    fn type_id(&self) -> TypeId {
        // SAFETY: a value, since callers look for null before.
        unsafe { LogicalType::id_of_value(self.0) }
    }

    /// The elements of a list.
    fn elements(&self) -> impl Iterator<Item = SqlValue> {
        // SAFETY: a value; DuckDB says 0 for what is no list.
        let count = unsafe { (api().get_list_size)(self.0) };
        // SAFETY: a list with that element; DuckDB makes a value of it, which is given back as all others.
        (0..count).map(|at| SqlValue(unsafe { (api().get_list_child)(self.0, at) }))
    }

    /// The bytes of a BLOB.
    fn blob(&self) -> Option<Arc<[u8]>> {
        // SAFETY: a value, and a BLOB; DuckDB makes so many bytes of it, which are given back.
        unsafe {
            if self.is_null() || self.type_id() != TypeId::BLOB {
                return None;
            }
            let blob = (api().get_blob)(self.0);
            let bytes = match blob.size {
                0 => Arc::default(),
                size => core::slice::from_raw_parts(blob.data.cast::<u8>(), size as usize).into(),
            };
            (api().free)(blob.data);
            Some(bytes)
        }
    }
}

impl Drop for SqlValue {
    fn drop(&mut self) {
        // SAFETY: null, which DuckDB leaves alone, or a value that is not used again.
        unsafe { (api().destroy_value)(&raw mut self.0) }
    }
}
