//! The handle `popfib_records`: numbers that lookups in an image's table returned in, the values of their records out.
//!
//! Values are those of a [`popfib_table::Table`], which nobody changes, so that any thread may ask. Texts stay where the table
//! has them; nothing is allocated.

use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core::{ptr, slice};

use popfib::NextHop;
use popfib_table::{Cell, Column, ColumnType, Records, Scalar, Table};

use crate::border::{border, border_or, put, required, string};
use crate::bulk::is_wrong;
use crate::error::{Errno, Result};
use crate::memory::{free_on_heap, make_on_heap};

/// `POPFIB_TEXT` and the like.
pub(crate) const TEXT: u32 = 1;
pub(crate) const INT64: u32 = 2;
pub(crate) const UINT64: u32 = 3;
pub(crate) const DOUBLE: u32 = 4;
pub(crate) const BOOL: u32 = 5;
/// `POPFIB_LIST`, which is added to these.
pub(crate) const LIST: u32 = 16;

/// What a `popfib_records` points to: a table that has records.
pub(crate) struct CRecords(Table);

/// The header lets all threads ask at the same time.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CRecords>();
};

impl CRecords {
    /// The pointer that C keeps, until `popfib_records_free`.
    pub(crate) fn hand_out(table: Table) -> Result<*mut Self> {
        table.records().ok_or(Errno::NO_DATA)?;
        make_on_heap(Self(table))
    }

    fn records(&self) -> Result<&Records> {
        self.0.records().ok_or(Errno::NO_DATA)
    }
}

/// A type of C that values have, with its number in the header.
trait CValue<'r>: TryFrom<Scalar<'r>> {
    const TYPE: u32;
}

impl<'r> CValue<'r> for &'r str {
    const TYPE: u32 = TEXT;
}

impl CValue<'_> for i64 {
    const TYPE: u32 = INT64;
}

impl CValue<'_> for u64 {
    const TYPE: u32 = UINT64;
}

impl CValue<'_> for f64 {
    const TYPE: u32 = DOUBLE;
}

/// A `uint8_t` of 0 or 1.
impl CValue<'_> for bool {
    const TYPE: u32 = BOOL;
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
    columns.get(column as usize).ok_or_else(|| {
        Errno::INVALID.saying(format_args!(
            "no column {column}: there are {}, from 0 on",
            columns.len()
        ))
    })
}

/// Fails unless the column has values of type `T`, or lists of them where these are allowed.
fn expect<'r, T: CValue<'r>>(records: &'r Records, column: u32, may_be_list: bool) -> Result<()> {
    let column = column_at(records, column)?;
    let found = type_of(column);
    let is_right = found == T::TYPE || may_be_list && found == T::TYPE | LIST;
    is_right.then_some(()).ok_or_else(|| {
        Errno::OTHER_TYPE.saying(format_args!(
            "column \"{}\" has values of type {found}, not {}: popfib.h has the names of types",
            column.name(),
            T::TYPE
        ))
    })
}

/// Fails for a number that no record has.
fn check_number(records: &Records, number: u32) -> Result<()> {
    (number as usize <= records.len())
        .then_some(())
        .ok_or_else(|| {
            Errno::RANGE.saying(format_args!(
                "no record {number}: the highest is {}",
                records.len()
            ))
        })
}

/// The value of a record in a column that is there; `None` if it is absent, as all values of number 0 are.
fn cell(records: &Records, column: u32, number: u32) -> Result<Option<Cell<'_>>> {
    check_number(records, number)?;
    let number = NextHop::new(number);
    Ok(number.and_then(|number| records.cell(number, column as usize)))
}

/// One value of a record.
fn value<'r, T: CValue<'r>>(
    records: &'r Records,
    column: u32,
    number: u32,
    index: usize,
) -> Result<T> {
    expect::<T>(records, column, true)?;
    let scalar = match cell(records, column, number)? {
        Some(Cell::Scalar(scalar)) if index == 0 => Some(scalar),
        Some(Cell::List(list)) => list.get(index),
        _ => None,
    };
    let value = scalar.and_then(|scalar| scalar.try_into().ok());
    value.ok_or(Errno::NO_ENTRY)
}

/// Calls `each` with the place of each record and its value.
fn values<'r, T: CValue<'r>>(
    records: &'r Records,
    column: u32,
    numbers: &[u32],
    mut each: impl FnMut(usize, Option<T>),
) -> Result<()> {
    expect::<T>(records, column, false)?;
    // Checked before anything is written.
    let highest = numbers.iter().copied().max().unwrap_or(0);
    check_number(records, highest)?;
    let values = column_at(records, column)?;
    for (at, &number) in numbers.iter().enumerate() {
        // Code 0, of what is absent and of number 0, has no value.
        let value = values.value(records.code(number, column as usize));
        let scalar = value.and_then(Cell::scalar);
        each(at, scalar.and_then(|scalar| scalar.try_into().ok()));
    }
    Ok(())
}

/// The arrays of a bulk call, which reads the first and writes the others.
///
/// # Safety
/// `numbers` is null or an array of `count` numbers; the others are null or `count` places.
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
    // SAFETY: neither null nor misaligned, not longer than any array, of `count` elements as the caller promises, and apart
    // from each other.
    unsafe {
        Ok((
            slice::from_raw_parts(numbers, count),
            slice::from_raw_parts_mut(first.cast(), count),
            slice::from_raw_parts_mut(second.cast(), count),
        ))
    }
}

/// # Safety
/// `records` is null, or live and used by no other thread meanwhile, and not used again.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_free(records: *mut CRecords) {
    // SAFETY: null, or from `make_on_heap`, live and not used again, as the caller promises.
    unsafe { free_on_heap(records) }
}

/// # Safety
/// `records` is null or live.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_count(records: *const CRecords) -> u32 {
    // SAFETY: null or live, as the caller promises.
    unsafe { ask(records, |records| records.len() as u32) }
}

/// # Safety
/// `records` is null or live.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_columns(records: *const CRecords) -> u32 {
    // SAFETY: null or live, as the caller promises.
    unsafe { ask(records, |records| records.columns().len() as u32) }
}

/// What `ask` says of records; 0 for null.
///
/// # Safety
/// `records` is null or live.
unsafe fn ask(records: *const CRecords, ask: impl FnOnce(&Records) -> u32) -> u32 {
    border_or(0, || {
        // SAFETY: null or live, as the caller promises.
        let records = unsafe { records.as_ref() }.and_then(|handle| handle.records().ok());
        records.map_or(0, ask)
    })
}

/// # Safety
/// `records` is null or live; `name` is null or a string; `column` is null or a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_column(
    records: *const CRecords,
    name: *const c_char,
    column: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        let records = unsafe { required(records)?.records()? };
        let found = if name.is_null() {
            Some(records.value_column())
        } else {
            // SAFETY: not null, hence a string.
            let name = unsafe { string(name)? };
            // No column has a name that is not UTF-8.
            name.to_str().ok().and_then(|name| records.column(name))
        };
        let found = found.ok_or_else(|| {
            // SAFETY: null is the column of the value, which is there.
            let name = unsafe { string(name) }.unwrap_or_default();
            let names: Vec<_> = records.columns().iter().map(Column::name).collect();
            let names = names.join(", ");
            Errno::NO_ENTRY.saying(format_args!("no column {name:?}; there are {names}"))
        })?;
        // SAFETY: null or a place, as the caller promises.
        unsafe { put(column, found as u32) };
        Ok(())
    })
}

/// # Safety
/// `records` is null or live; `name`, `len` and `column_type` are null or places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_column_info(
    records: *const CRecords,
    column: u32,
    name: *mut *const c_char,
    len: *mut usize,
    column_type: *mut u32,
) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        let column = unsafe { column_at(required(records)?.records()?, column)? };
        // SAFETY: null or places, as the caller promises.
        unsafe {
            put_text(Some(column.name()), name, len);
            put(column_type, type_of(column));
        }
        Ok(())
    })
}

/// # Safety
/// `records` is null or live; `len` is null or a place.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_length(
    records: *const CRecords,
    column: u32,
    number: u32,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        let records = unsafe { required(records)?.records()? };
        column_at(records, column)?;
        let found = match cell(records, column, number)? {
            None => 0,
            Some(Cell::Scalar(_)) => 1,
            Some(Cell::List(list)) => list.len(),
        };
        // SAFETY: null or a place, as the caller promises.
        unsafe { put(len, found) };
        Ok(())
    })
}

/// Where a text is, and its length; null if there is none.
fn parts(text: Option<&str>) -> (*const c_char, usize) {
    text.map_or((ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// Writes a text to the places that C wants: where it is, and its length.
///
/// # Safety
/// `to` and `len` are null or places.
unsafe fn put_text(text: Option<&str>, to: *mut *const c_char, len: *mut usize) {
    let (start, length) = parts(text);
    // SAFETY: null or places, as the caller promises.
    unsafe {
        put(to, start);
        put(len, length);
    }
}

/// # Safety
/// `records` is null or live; `text` and `len` are null or places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_text(
    records: *const CRecords,
    column: u32,
    number: u32,
    index: usize,
    text: *mut *const c_char,
    len: *mut usize,
) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        let records = unsafe { required(records)?.records()? };
        let found = value(records, column, number, index)?;
        // SAFETY: null or places, as the caller promises.
        unsafe { put_text(Some(found), text, len) };
        Ok(())
    })
}

/// # Safety
/// `records` is null or live; `numbers` is null or an array of `count` numbers; `texts` and `lengths` are null or
/// `count` places.
#[unsafe(no_mangle)]
unsafe extern "C" fn popfib_records_text_bulk(
    records: *const CRecords,
    column: u32,
    numbers: *const u32,
    texts: *mut *const c_char,
    lengths: *mut usize,
    count: usize,
) -> c_int {
    border(|| {
        // SAFETY: null or live, as the caller promises.
        let records = unsafe { required(records)?.records()? };
        // SAFETY: null, or an array and places for `count` elements each, as the caller promises.
        let (numbers, texts, lengths) = unsafe { arrays(numbers, texts, lengths, count)? };
        values(records, column, numbers, |at, text| {
            let (start, len) = parts(text);
            texts[at].write(start);
            lengths[at].write(len);
        })
    })
}

/// The two functions of a type of one word or less.
macro_rules! getters {
    ($type:ty, $one:ident, $bulk:ident) => {
        /// # Safety
        /// `records` is null or live; `to` is null or a place.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $one(
            records: *const CRecords,
            column: u32,
            number: u32,
            index: usize,
            to: *mut $type,
        ) -> c_int {
            border(|| {
                // SAFETY: null or live, as the caller promises.
                let records = unsafe { required(records)?.records()? };
                let found: $type = value(records, column, number, index)?;
                // SAFETY: null or a place, as the caller promises.
                unsafe { put(to, found) };
                Ok(())
            })
        }

        /// # Safety
        /// `records` is null or live; `numbers` is null or an array of `count` numbers; `to` and `present` are null or
        /// `count` places.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $bulk(
            records: *const CRecords,
            column: u32,
            numbers: *const u32,
            to: *mut $type,
            present: *mut u8,
            count: usize,
        ) -> c_int {
            border(|| {
                // SAFETY: null or live, as the caller promises.
                let records = unsafe { required(records)?.records()? };
                // SAFETY: null, or an array and places for `count` elements each, as the caller promises.
                let (numbers, to, present) = unsafe { arrays(numbers, to, present, count)? };
                values(records, column, numbers, |at, value: Option<$type>| {
                    to[at].write(value.unwrap_or_default());
                    present[at].write(value.is_some().into());
                })
            })
        }
    };
}

getters!(i64, popfib_records_int64, popfib_records_int64_bulk);
getters!(u64, popfib_records_uint64, popfib_records_uint64_bulk);
getters!(f64, popfib_records_double, popfib_records_double_bulk);
getters!(bool, popfib_records_bool, popfib_records_bool_bulk);
