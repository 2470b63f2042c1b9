//! The handle `popfib_record_builder`: values by column and record in, the records of an image that is saved out.

use core::ffi::{c_char, c_int, c_void};
use std::borrow::Cow;

use popfib_table::{CellKind, RecordsBuilder};

use crate::border::{border, make_handle, put, required_mut, text};
use crate::bulk::array;
use crate::error::{Errno, Result};
use crate::memory::{free_on_heap, make_on_heap};
use crate::records::{BOOL, DOUBLE, INT64, LIST, TEXT, UINT64};

/// `POPFIB_WRITTEN`.
const WRITTEN: u32 = 6;

/// What a `popfib_record_builder` points to.
pub(crate) struct CRecordBuilder(pub(crate) RecordsBuilder);

/// # Safety
/// `builder` is null or a place for a pointer.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_record_builder_create(builder: *mut *mut CRecordBuilder) -> c_int {
    let make = || make_on_heap(CRecordBuilder(RecordsBuilder::new()));
    // SAFETY: null or a place for a pointer, as the caller promises.
    unsafe { make_handle(builder, make) }
}

/// # Safety
/// `builder` is null, or live and the caller's alone, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_record_builder_free(builder: *mut CRecordBuilder) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(builder) }
}

/// # Safety
/// `builder` is null, or live and the caller's alone; `name` is null or a string, `column` null or a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_record_builder_column(
    builder: *mut CRecordBuilder,
    name: *const c_char,
    column: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone; null or a string.
        let (builder, name) = unsafe { (required_mut(builder)?, text(name)?) };
        let index = builder.0.column(name)?;
        // SAFETY: null or a place, as the caller promises.
        unsafe { put(column, index as u32) };
        Ok(())
    })
}

/// The values of an array, as they are written.
///
/// # Safety
/// `values` is null, or an array of `count` values of this type, texts as strings.
unsafe fn written<'a>(
    of: u32,
    values: *const c_void,
    count: usize,
) -> Result<Vec<(CellKind, Cow<'a, str>)>> {
    /// # Safety
    /// `values` is null, or an array of `count` values.
    unsafe fn each<'a, T: ToString + 'a>(
        kind: CellKind,
        values: *const c_void,
        count: usize,
    ) -> Result<Vec<(CellKind, Cow<'a, str>)>> {
        // SAFETY: as the caller promises.
        let values = unsafe { array(values.cast::<T>(), count)? }.iter();
        Ok(values
            .map(|value| (kind, value.to_string().into()))
            .collect())
    }
    // SAFETY: as the caller promises of an array of the type.
    unsafe {
        match of & !LIST {
            TEXT | WRITTEN => {
                let kind = match of {
                    WRITTEN => CellKind::Written,
                    _ => CellKind::Text,
                };
                let texts = array(values.cast::<*const c_char>(), count)?.iter();
                let texts = texts.map(|each| Ok((kind, text(*each)?.into())));
                texts.collect()
            }
            INT64 => each::<i64>(CellKind::Integer, values, count),
            UINT64 => each::<u64>(CellKind::Integer, values, count),
            DOUBLE => each::<f64>(CellKind::Float, values, count),
            BOOL => {
                let truths = array(values.cast::<u8>(), count)?.iter();
                let truths = truths.map(|&truth| (truth != 0).to_string().into());
                Ok(truths.map(|truth| (CellKind::Boolean, truth)).collect())
            }
            of => Err(Errno::INVALID.saying(format_args!("type {of}: unknown"))),
        }
    }
}

/// # Safety
/// `builder` is null, or live and the caller's alone; `values` is null, or an array of `count` values of the type, texts as strings.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_record_builder_set(
    builder: *mut CRecordBuilder,
    column: u32,
    of: u32,
    values: *const c_void,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone, as the caller promises.
        let builder = &mut unsafe { required_mut(builder)? }.0;
        let (index, columns) = (column as usize, builder.names().len());
        if index >= columns {
            let line = format_args!("no column {column}: there are {columns}, from 0 on");
            return Err(Errno::INVALID.saying(line));
        }
        // SAFETY: as the caller promises.
        let values = unsafe { written(of, values, count)? };
        match &values[..] {
            [] => {}
            [(kind, text)] if of & LIST == 0 => builder.set(index, *kind, text),
            _ if of & LIST == 0 => {
                let line = format_args!("{count} values of a column without lists");
                return Err(Errno::INVALID.saying(line));
            }
            _ => builder.set_list(index, values),
        }
        Ok(())
    })
}

/// # Safety
/// `builder` is null, or live and the caller's alone; `number` is null or a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_record_builder_finish(
    builder: *mut CRecordBuilder,
    number: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null, or live and the caller's alone; null or a place.
        unsafe { put(number, required_mut(builder)?.0.finish_record().get()) };
        Ok(())
    })
}
