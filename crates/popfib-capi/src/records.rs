//! The handle `popfib_records`: what the numbers that lookups in an image's table return stand for.
//!
//! Values are those of a [`popfib_table::Table`], which nobody changes, so that any thread may ask. Texts stay where the table
//! has them; nothing is allocated.

use core::ffi::{CStr, c_char, c_int};
use core::mem::MaybeUninit;
use core::{ptr, slice};

use popfib::NextHop;
use popfib_table::{Cell, Column, ColumnType, Records, Scalar, Table};

use crate::border::{border, border_or, put, required};
use crate::bulk::is_wrong;
use crate::error::{Errno, Result};

/// `POPFIB_TEXT` and the like.
const TEXT: u32 = 1;
const INT64: u32 = 2;
const UINT64: u32 = 3;
const DOUBLE: u32 = 4;
const BOOL: u32 = 5;
/// `POPFIB_LIST`, which is added to these.
const LIST: u32 = 16;

/// What a `popfib_records` points to: a table that has records.
pub(crate) struct RecordsHandle(Table);

/// The header lets all threads ask at the same time.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<RecordsHandle>();
};

impl RecordsHandle {
    /// The pointer that C keeps, until `popfib_records_free`.
    pub(crate) fn hand_out(table: Table) -> Result<*mut Self> {
        table.records().ok_or(Errno::NO_DATA)?;
        Ok(Box::into_raw(Box::new(Self(table))))
    }

    fn records(&self) -> Result<&Records> {
        self.0.records().ok_or(Errno::NO_DATA)
    }
}

/// A type of C that values have.
trait Value<'r>: Sized {
    /// Its number in the header.
    const TYPE: u32;

    fn of(scalar: Scalar<'r>) -> Option<Self>;
}

impl<'r> Value<'r> for &'r str {
    const TYPE: u32 = TEXT;

    fn of(scalar: Scalar<'r>) -> Option<Self> {
        match scalar {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Value<'_> for i64 {
    const TYPE: u32 = INT64;

    fn of(scalar: Scalar<'_>) -> Option<Self> {
        match scalar {
            Scalar::Integer(number) => number.try_into().ok(),
            _ => None,
        }
    }
}

impl Value<'_> for u64 {
    const TYPE: u32 = UINT64;

    fn of(scalar: Scalar<'_>) -> Option<Self> {
        match scalar {
            Scalar::Integer(number) => number.try_into().ok(),
            _ => None,
        }
    }
}

impl Value<'_> for f64 {
    const TYPE: u32 = DOUBLE;

    fn of(scalar: Scalar<'_>) -> Option<Self> {
        match scalar {
            Scalar::Float(number) => Some(number),
            _ => None,
        }
    }
}

/// A boolean.
impl Value<'_> for u8 {
    const TYPE: u32 = BOOL;

    fn of(scalar: Scalar<'_>) -> Option<Self> {
        match scalar {
            Scalar::Boolean(truth) => Some(truth.into()),
            _ => None,
        }
    }
}

/// The number of a column's type in the header.
fn type_of(column: &Column) -> u32 {
    let element = match column.element_type() {
        ColumnType::Integer if column.is_unsigned() => UINT64,
        ColumnType::Integer => INT64,
        ColumnType::Float => DOUBLE,
        ColumnType::Boolean => BOOL,
        _ => TEXT,
    };
    match column.column_type() {
        ColumnType::Texts | ColumnType::Integers => element | LIST,
        _ => element,
    }
}

fn column_at(records: &Records, column: u32) -> Result<&Column> {
    let columns = records.columns();
    columns.get(column as usize).ok_or(Errno::INVALID)
}

/// Fails unless the column has values of type `T`, or lists of them where these are allowed.
fn expect<'r, T: Value<'r>>(records: &'r Records, column: u32, may_be_list: bool) -> Result<()> {
    let found = type_of(column_at(records, column)?);
    let is_right = found == T::TYPE || may_be_list && found == T::TYPE | LIST;
    is_right.then_some(()).ok_or(Errno::OTHER_TYPE)
}

/// The value of a record, whose column is there; `None` if it is absent, as each of number 0 is.
fn cell(records: &Records, column: u32, number: u32) -> Result<Option<Cell<'_>>> {
    if number as usize > records.len() {
        return Err(Errno::RANGE);
    }
    let number = NextHop::new(number);
    Ok(number.and_then(|number| records.cell(number, column as usize)))
}

/// One value of a record.
fn value<'r, T: Value<'r>>(
    records: &'r Records,
    column: u32,
    number: u32,
    index: usize,
) -> Result<T> {
    expect::<T>(records, column, true)?;
    let scalar = match cell(records, column, number)? {
        Some(Cell::Scalar(scalar)) if index == 0 => Some(scalar),
        Some(Cell::List(list)) => list.iter().nth(index),
        _ => None,
    };
    scalar.and_then(T::of).ok_or(Errno::NO_ENTRY)
}

/// Hands the value of each record to `each`, with its place.
fn values<'r, T: Value<'r>>(
    records: &'r Records,
    column: u32,
    numbers: &[u32],
    mut each: impl FnMut(usize, Option<T>),
) -> Result<()> {
    expect::<T>(records, column, false)?;
    // Before anything is written.
    if numbers
        .iter()
        .any(|&number| number as usize > records.len())
    {
        return Err(Errno::RANGE);
    }
    let values = column_at(records, column)?;
    for (at, &number) in numbers.iter().enumerate() {
        // Code 0, of what is absent and of number 0, has no value.
        let value = match values.value(records.code(number, column as usize)) {
            Some(Cell::Scalar(scalar)) => T::of(scalar),
            _ => None,
        };
        each(at, value);
    }
    Ok(())
}

/// The arrays of a bulk call, which reads the first and writes the others.
///
/// # Safety
/// Each is null, or an array of `count` elements; nobody else uses the last two.
#[expect(clippy::type_complexity)]
unsafe fn arrays<'a, T, U>(
    numbers: *const u32,
    first: *mut T,
    second: *mut U,
    count: usize,
) -> Result<(
    &'a [u32],
    &'a mut [MaybeUninit<T>],
    &'a mut [MaybeUninit<U>],
)> {
    const { assert!(size_of::<T>() <= 8 && size_of::<U>() <= 8) };
    if count == 0 {
        return Ok((&[], &mut [], &mut []));
    }
    let numbers_align = align_of::<u32>();
    if count > isize::MAX as usize / 8
        || is_wrong::<u32, T>(numbers.cast(), first.cast(), count, numbers_align)
        || is_wrong::<u32, U>(numbers.cast(), second.cast(), count, numbers_align)
        || is_wrong::<T, U>(first.cast(), second.cast(), count, align_of::<T>())
    {
        return Err(Errno::INVALID);
    }
    // SAFETY: aligned, not longer than any array, as long as the caller promises, and apart from each other.
    unsafe {
        Ok((
            slice::from_raw_parts(numbers, count),
            slice::from_raw_parts_mut(first.cast(), count),
            slice::from_raw_parts_mut(second.cast(), count),
        ))
    }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_free(records: *mut RecordsHandle) {
    border_or((), || {
        if !records.is_null() {
            // SAFETY: from `hand_out`, and the caller gives it up.
            drop(unsafe { Box::from_raw(records) });
        }
    });
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_count(records: *const RecordsHandle) -> u32 {
    // SAFETY: the caller's.
    unsafe { ask(records, |records| records.len() as u32) }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_columns(records: *const RecordsHandle) -> u32 {
    // SAFETY: the caller's.
    unsafe { ask(records, |records| records.columns().len() as u32) }
}

/// # Safety
/// Null or records.
unsafe fn ask(records: *const RecordsHandle, ask: impl FnOnce(&Records) -> u32) -> u32 {
    border_or(0, || {
        // SAFETY: the caller's.
        let records = unsafe { records.as_ref() }.and_then(|handle| handle.records().ok());
        records.map_or(0, ask)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_column(
    records: *const RecordsHandle,
    name: *const c_char,
    column: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let records = unsafe { required(records)?.records()? };
        let found = if name.is_null() {
            Some(records.value_column())
        } else {
            // SAFETY: the caller's.
            let name = unsafe { CStr::from_ptr(name) };
            // No column has a name that is not UTF-8.
            name.to_str().ok().and_then(|name| records.column(name))
        };
        // SAFETY: the caller's.
        unsafe { put(column, found.ok_or(Errno::NO_ENTRY)? as u32) };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_column_info(
    records: *const RecordsHandle,
    column: u32,
    name: *mut *const c_char,
    len: *mut usize,
    column_type: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let column = unsafe { column_at(required(records)?.records()?, column)? };
        // SAFETY: the caller's.
        unsafe {
            put_text(Some(column.name()), name, len);
            put(column_type, type_of(column));
        }
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_length(
    records: *const RecordsHandle,
    column: u32,
    number: u32,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let records = unsafe { required(records)?.records()? };
        column_at(records, column)?;
        let found = match cell(records, column, number)? {
            None => 0,
            Some(Cell::Scalar(_)) => 1,
            Some(Cell::List(list)) => list.len(),
        };
        // SAFETY: the caller's.
        unsafe { put(len, found) };
        Ok(0)
    })
}

/// Where a text is, and its length; null if there is none.
fn parts(text: Option<&str>) -> (*const c_char, usize) {
    text.map_or((ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// # Safety
/// Each is null, or a place for a pointer or length.
unsafe fn put_text(text: Option<&str>, to: *mut *const c_char, len: *mut usize) {
    let (start, length) = parts(text);
    // SAFETY: the caller's.
    unsafe {
        put(to, start);
        put(len, length);
    }
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_text(
    records: *const RecordsHandle,
    column: u32,
    number: u32,
    index: usize,
    text: *mut *const c_char,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let records = unsafe { required(records)?.records()? };
        let found = value(records, column, number, index)?;
        // SAFETY: the caller's.
        unsafe { put_text(Some(found), text, len) };
        Ok(0)
    })
}

/// # Safety
/// As popfib.h says.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_text_bulk(
    records: *const RecordsHandle,
    column: u32,
    numbers: *const u32,
    texts: *mut *const c_char,
    lengths: *mut usize,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: the caller's.
        let records = unsafe { required(records)?.records()? };
        // SAFETY: the caller's.
        let (numbers, texts, lengths) = unsafe { arrays(numbers, texts, lengths, count)? };
        values(records, column, numbers, |at, text| {
            let (start, len) = parts(text);
            texts[at].write(start);
            lengths[at].write(len);
        })?;
        Ok(0)
    })
}

/// The two functions of a type of one word or less.
macro_rules! getters {
    ($type:ty, $one:ident, $bulk:ident) => {
        /// # Safety
        /// As popfib.h says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $one(
            records: *const RecordsHandle,
            column: u32,
            number: u32,
            index: usize,
            to: *mut $type,
        ) -> c_int {
            border(|| {
                // SAFETY: the caller's.
                let records = unsafe { required(records)?.records()? };
                let found: $type = value(records, column, number, index)?;
                // SAFETY: the caller's.
                unsafe { put(to, found) };
                Ok(0)
            })
        }

        /// # Safety
        /// As popfib.h says.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $bulk(
            records: *const RecordsHandle,
            column: u32,
            numbers: *const u32,
            to: *mut $type,
            present: *mut u8,
            count: usize,
        ) -> c_int {
            border(|| {
                // SAFETY: the caller's.
                let records = unsafe { required(records)?.records()? };
                // SAFETY: the caller's.
                let (numbers, to, present) = unsafe { arrays(numbers, to, present, count)? };
                values(records, column, numbers, |at, value: Option<$type>| {
                    to[at].write(value.unwrap_or_default());
                    present[at].write(value.is_some().into());
                })?;
                Ok(0)
            })
        }
    };
}

getters!(i64, popfib_records_int64, popfib_records_int64_bulk);
getters!(u64, popfib_records_uint64, popfib_records_uint64_bulk);
getters!(f64, popfib_records_double, popfib_records_double_bulk);
getters!(u8, popfib_records_bool, popfib_records_bool_bulk);
