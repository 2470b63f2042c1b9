//! Files by DuckDB's own file systems: the name of a file in, its bytes out, as a `Read`.
//!
//! So DuckDB's settings hold (`enable_external_access`, `allowed_directories`), and names may be of any file system that its
//! extensions add (`s3://`).

use core::ffi::{CStr, c_void};
use core::ptr;
use std::ffi::CString;
use std::io::{self, Read};

use crate::api::{DuckDbHandle, FileApi, duckdb};

/// `DUCKDB_FILE_FLAG_READ`.
const READ: u32 = 1;

/// DuckDB's functions for files.
///
/// # Errors
/// This DuckDB has no such functions; the error says what to do instead.
fn files() -> Result<&'static FileApi, String> {
    duckdb().files.as_ref().ok_or_else(|| {
        format!(
            "DuckDB {} lets an extension open no files, as it does from 1.5.6 on; give the contents: \
             SET VARIABLE f = (SELECT content FROM read_blob('FILE')), then getvariable('f') in place of the name",
            duckdb().version
        )
    })
}

/// The file systems of a connection.
pub(crate) struct FileSystem(DuckDbHandle);

// SAFETY: what it refers to belongs to the connection, and may be used by any one thread at a time.
unsafe impl Send for FileSystem {}

impl FileSystem {
    /// The file systems of the connection that binds a table function.
    ///
    /// # Errors
    /// This DuckDB has no functions for files, or the connection no file system.
    ///
    /// # Safety
    /// `info` is that of the bind; the value lives no longer than the connection.
    pub(crate) unsafe fn of_bind(info: DuckDbHandle) -> Result<Self, String> {
        let files = files()?;
        let mut context = ptr::null_mut();
        // SAFETY: the info of a bind has a context, which has the file system; only the context itself is given back.
        let system = unsafe {
            (files.table_function_get_client_context)(info, &raw mut context);
            let system = (files.client_context_get_file_system)(context);
            (files.destroy_client_context)(&raw mut context);
            system
        };
        match system.is_null() {
            true => Err("the connection has no file system".to_owned()),
            false => Ok(Self(system)),
        }
    }

    /// Opens a file.
    ///
    /// # Errors
    /// DuckDB's line on why it does not open the file.
    pub(crate) fn open(&mut self, path: &str) -> Result<DuckDbFile, String> {
        let files = files()?;
        let path = CString::new(path).map_err(|_| "a file name holds a byte 0")?;
        let mut file = ptr::null_mut();
        // SAFETY: the file system lives; `path` is a string; the options are made and given back here.
        unsafe {
            let mut options = (files.create_file_open_options)();
            (files.file_open_options_set_flag)(options, READ, true);
            let state = (files.file_system_open)(self.0, path.as_ptr(), options, &raw mut file);
            (files.destroy_file_open_options)(&raw mut options);
            if state != 0 || file.is_null() {
                return Err(message(files, (files.file_system_error_data)(self.0)));
            }
        }
        Ok(DuckDbFile(file))
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        if let Ok(files) = files() {
            // SAFETY: made in `of_bind`, and not used again.
            unsafe { (files.destroy_file_system)(&raw mut self.0) }
        }
    }
}

/// A file that DuckDB has opened.
pub(crate) struct DuckDbFile(DuckDbHandle);

// SAFETY: DuckDB binds a file to no thread, and one thread at a time has this value.
unsafe impl Send for DuckDbFile {}

impl Read for DuckDbFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let files = files().map_err(io::Error::other)?;
        let room = buffer.len().min(i64::MAX as usize) as i64;
        // SAFETY: an open file; the buffer has room for so many bytes.
        unsafe {
            let read = (files.file_handle_read)(self.0, buffer.as_mut_ptr().cast::<c_void>(), room);
            let failed = |_| {
                let data = (files.file_handle_error_data)(self.0);
                io::Error::other(message(files, data))
            };
            usize::try_from(read).map_err(failed)
        }
    }
}

impl Drop for DuckDbFile {
    fn drop(&mut self) {
        if let Ok(files) = files() {
            // SAFETY: opened in `open`, and not used again.
            unsafe { (files.destroy_file_handle)(&raw mut self.0) }
        }
    }
}

/// The text of an error, which is given back.
///
/// # Safety
/// `error` is the data of an error of DuckDB's, and nobody else gives it back.
unsafe fn message(files: &FileApi, mut error: DuckDbHandle) -> String {
    // SAFETY: the data of an error; its text is null or a string that lives until it is given back.
    unsafe {
        let text = (files.error_data_message)(error);
        let text = match text.is_null() {
            true => "the file can't be read".to_owned(),
            false => CStr::from_ptr(text).to_string_lossy().into_owned(),
        };
        (files.destroy_error_data)(&raw mut error);
        text
    }
}
