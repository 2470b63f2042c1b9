//! Files by DuckDB's own file systems: under its settings (`enable_external_access`, `allowed_directories`), also
//! those that its extensions add (`s3://`).

use core::ffi::{CStr, c_void};
use core::ptr;
use std::ffi::CString;
use std::io::{self, Read};

use crate::api::{FileApi, Handle, duckdb};

/// `DUCKDB_FILE_FLAG_READ`.
const READ: u32 = 1;

/// The functions for files.
///
/// # Errors
/// That this DuckDB has none.
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
pub(crate) struct FileSystem(Handle);

// SAFETY: a reference to what the connection owns, which may be used from any of its threads.
unsafe impl Send for FileSystem {}

impl FileSystem {
    /// Those of the connection that binds a table function.
    ///
    /// # Errors
    /// Of a DuckDB without them.
    ///
    /// # Safety
    /// The info of a bind; the value lives no longer than the connection.
    pub(crate) unsafe fn of_bind(info: Handle) -> Result<Self, String> {
        let files = files()?;
        let mut context = ptr::null_mut();
        // SAFETY: the caller's; the context is given back, which the file system doesn't need.
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
    /// What DuckDB says.
    pub(crate) fn open(&mut self, path: &str) -> Result<File, String> {
        let files = files()?;
        let path = CString::new(path).map_err(|_| "a file name holds a byte 0")?;
        let mut file = ptr::null_mut();
        // SAFETY: its own file system; a string; the options are given back.
        unsafe {
            let mut options = (files.create_file_open_options)();
            (files.file_open_options_set_flag)(options, READ, true);
            let state = (files.file_system_open)(self.0, path.as_ptr(), options, &raw mut file);
            (files.destroy_file_open_options)(&raw mut options);
            if state != 0 || file.is_null() {
                return Err(message(files, (files.file_system_error_data)(self.0)));
            }
        }
        Ok(File(file))
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        if let Ok(files) = files() {
            // SAFETY: its own.
            unsafe { (files.destroy_file_system)(&raw mut self.0) }
        }
    }
}

/// A file that DuckDB has opened.
pub(crate) struct File(Handle);

// SAFETY: it is used by one thread at a time.
unsafe impl Send for File {}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let files = files().map_err(io::Error::other)?;
        let room = buffer.len().min(i64::MAX as usize) as i64;
        // SAFETY: its own; the buffer has so much room.
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

impl Drop for File {
    fn drop(&mut self) {
        if let Ok(files) = files() {
            // SAFETY: its own.
            unsafe { (files.destroy_file_handle)(&raw mut self.0) }
        }
    }
}

/// The text of an error, which is given back.
///
/// # Safety
/// It is one of DuckDB's.
unsafe fn message(files: &FileApi, mut error: Handle) -> String {
    // SAFETY: the caller's; the text is a string that lives as long as the error.
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
