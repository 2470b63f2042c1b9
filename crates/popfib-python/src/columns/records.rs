//! The numbers of the rows' records in; a column of what the records say out, for each column that is asked for.
//!
//! Rows mostly have few different records. So each record is read once, and a row is a place among them: a column is what the
//! records say, gathered by the places. Rejected: to read the column's cell of each row, which takes a miss of the cache for
//! each row and column, and leaves a third of the rate with three columns.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, ListArray,
    PrimitiveArray, StringArray, UInt32Array, UInt64Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, Field};
use numpy::{Element, PyArray1};
use popfib_table::{Cell, Column, ColumnType, Records, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::PyArrowColumn;
use super::dictionary::UsedNumbers;
use super::output::{NumberOutput, need_numpy};
use crate::records;

/// The records of rows.
pub(super) struct RowRecords<'r> {
    records: &'r Records,
    /// The numbers of the records that rows have, each once, after 0 for none.
    numbers: Vec<u32>,
    /// For each row the place of its number in them.
    places: Vec<u32>,
    /// Whether some row has no record.
    has_none: bool,
}

impl<'r> RowRecords<'r> {
    /// The records of rows, by the number of each row's record, 0 for none.
    pub(super) fn new(records: &'r Records, mut rows: Vec<u32>) -> Self {
        let used = UsedNumbers::new(&rows, records.len());
        let mut has_none = false;
        for number in &mut rows {
            has_none |= *number == 0;
            if *number != 0 {
                *number = 1 + used.place(*number);
            }
        }
        let mut numbers = vec![0];
        numbers.extend_from_slice(used.numbers());
        Self {
            records,
            numbers,
            places: rows,
            has_none,
        }
    }

    /// The column of this index.
    pub(super) fn column<'py>(
        &self,
        py: Python<'py>,
        form: NumberOutput,
        index: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let column = &self.records.columns()[index];
        let codes = self.numbers.iter();
        let codes = codes.map(|&number| match number {
            0 => 0,
            number => self.records.code(number, index),
        });
        let codes: Vec<u32> = codes.collect();
        match form {
            NumberOutput::Arrow => {
                let column = py.detach(|| self.arrow(column, &codes));
                let column = column.map_err(|error| PyValueError::new_err(error.to_string()))?;
                return Ok(Bound::new(py, PyArrowColumn::new(&column))?.into_any());
            }
            NumberOutput::Values => {
                need_numpy(py)?;
                if let Some(array) = self.array(py, column, &codes) {
                    return Ok(array);
                }
            }
            NumberOutput::List | NumberOutput::Indices => {}
        }
        // Records with the same value share its object.
        let used = UsedNumbers::new(&codes, column.len());
        let objects = used
            .numbers()
            .iter()
            .map(|&code| match records::value(column, code) {
                Some(cell) => records::object(py, cell).map(Bound::unbind),
                None => Ok(py.None()),
            });
        let objects = objects.collect::<PyResult<Vec<_>>>()?;
        let none = py.None();
        let of_place = codes.iter().map(|&code| match code {
            0 => &none,
            code => &objects[used.place(code) as usize],
        });
        let of_place: Vec<_> = of_place.collect();
        let rows = self.places.iter();
        let rows = rows.map(|&place| of_place[place as usize].clone_ref(py));
        Ok(match form {
            NumberOutput::Values => PyArray1::from_vec(py, rows.collect()).into_any(),
            _ => PyList::new(py, rows)?.into_any(),
        })
    }

    /// What the rows say, of what the records say.
    fn gather<T: Copy>(&self, of_place: &[T]) -> Vec<T> {
        let places = self.places.iter();
        places.map(|&place| of_place[place as usize]).collect()
    }

    /// Which rows have a value, by the codes of the records; `None` if all have one.
    fn nulls(&self, codes: &[u32]) -> Option<NullBuffer> {
        (self.has_none || codes[1..].contains(&0)).then(|| {
            let is_there = |row: usize| codes[self.places[row] as usize] != 0;
            NullBuffer::new(BooleanBuffer::collect_bool(self.places.len(), is_there))
        })
    }

    /// An array of the column's type, if numpy has one for what the rows say: absent floats become NaN, and integers and
    /// booleans must be there in all rows.
    fn array<'py>(
        &self,
        py: Python<'py>,
        column: &Column,
        codes: &[u32],
    ) -> Option<Bound<'py, PyAny>> {
        let is_whole = !self.has_none && !codes[1..].contains(&0);
        match records::type_of(column) {
            ColumnType::Float => Some(self.numpy(py, column, codes, f64::NAN)),
            ColumnType::Integer if is_whole && column.is_unsigned() => {
                Some(self.numpy(py, column, codes, 0_u64))
            }
            ColumnType::Integer if is_whole => Some(self.numpy(py, column, codes, 0_i64)),
            ColumnType::Boolean if is_whole => Some(self.numpy(py, column, codes, false)),
            _ => None,
        }
    }

    fn numpy<'py, 'c, T: Copy + Element + TryFrom<Scalar<'c>>>(
        &self,
        py: Python<'py>,
        column: &'c Column,
        codes: &'c [u32],
        none: T,
    ) -> Bound<'py, PyAny> {
        let values = scalars(column, codes).map(|scalar| value(scalar).unwrap_or(none));
        let values: Vec<_> = values.collect();
        PyArray1::from_vec(py, self.gather(&values)).into_any()
    }

    /// The column as Arrow has it: texts by a dictionary, all else as it is.
    fn arrow(&self, column: &Column, codes: &[u32]) -> Result<ArrayRef, ArrowError> {
        Ok(match records::type_of(column) {
            ColumnType::Text => Arc::new(self.texts(column, codes)?),
            ColumnType::Integer if column.is_unsigned() => {
                Arc::new(self.primitive::<UInt64Type>(column, codes))
            }
            ColumnType::Integer => Arc::new(self.primitive::<Int64Type>(column, codes)),
            ColumnType::Float => Arc::new(self.primitive::<Float64Type>(column, codes)),
            ColumnType::Boolean => {
                let truths: Vec<_> = scalars(column, codes)
                    .map(|scalar| value(scalar).unwrap_or(false))
                    .collect();
                let row = |row: usize| truths[self.places[row] as usize];
                let rows = BooleanBuffer::collect_bool(self.places.len(), row);
                Arc::new(BooleanArray::new(rows, self.nulls(codes)))
            }
            ColumnType::Texts | ColumnType::Integers => Arc::new(self.lists(column, codes)?),
        })
    }

    fn primitive<'c, T: ArrowPrimitiveType>(
        &self,
        column: &'c Column,
        codes: &'c [u32],
    ) -> PrimitiveArray<T>
    where
        T::Native: TryFrom<Scalar<'c>>,
    {
        let values = scalars(column, codes).map(|scalar| value(scalar).unwrap_or_default());
        let values: Vec<_> = values.collect();
        PrimitiveArray::new(self.gather(&values).into(), self.nulls(codes))
    }

    fn texts(
        &self,
        column: &Column,
        codes: &[u32],
    ) -> Result<DictionaryArray<UInt32Type>, ArrowError> {
        let used = UsedNumbers::new(codes, column.len());
        let cells = used.numbers().iter().map(|&code| column.value(code));
        let texts = cells.map(|cell| value(cell.and_then(Cell::scalar)).unwrap_or_default());
        let texts: Vec<&str> = texts.collect();
        let bytes = texts.iter().map(|text| text.len()).sum::<usize>();
        i32::try_from(bytes).map_err(|_| too_long())?;
        let words: ArrayRef = Arc::new(StringArray::from(texts));
        // Rows that are null point to the first word, so there has to be one.
        let words = match words.is_empty() {
            true => new_null_array(words.data_type(), 1),
            false => words,
        };
        let keys: Vec<_> = codes.iter().map(|&code| used.place(code)).collect();
        let keys = UInt32Array::new(self.gather(&keys).into(), self.nulls(codes));
        DictionaryArray::try_new(keys, words)
    }

    fn lists(&self, column: &Column, codes: &[u32]) -> Result<ListArray, ArrowError> {
        let rows = self.places.iter().map(|&place| codes[place as usize]);
        let list = |code: u32| match column.value(code) {
            Some(Cell::List(list)) => Some(list),
            _ => None,
        };
        let (mut bytes, mut ends) = (0, vec![0]);
        for list in rows.clone().map(list) {
            let count = list.map_or(0, |list| list.len());
            let end = i32::try_from(count).ok();
            let end = end.and_then(|count| count.checked_add(*ends.last()?));
            ends.push(end.ok_or_else(too_long)?);
            if column.element_type() == ColumnType::Text {
                let texts = list.into_iter().flat_map(|list| list.iter());
                bytes += texts
                    .map(|text| value(Some(text)).map_or(0, str::len))
                    .sum::<usize>();
            }
        }
        i32::try_from(bytes).map_err(|_| too_long())?;
        let elements = rows.filter_map(list).flat_map(|list| list.iter().map(Some));
        let elements = elements_of(column, elements);
        let field = Arc::new(Field::new_list_field(elements.data_type().clone(), false));
        let ends = OffsetBuffer::new(ends.into());
        ListArray::try_new(field, ends, elements, self.nulls(codes))
    }
}

/// What these codes of a column stand for.
fn scalars<'c>(column: &'c Column, codes: &'c [u32]) -> impl Iterator<Item = Option<Scalar<'c>>> {
    let cells = codes.iter().map(|&code| records::value(column, code));
    cells.map(|cell| cell.and_then(Cell::scalar))
}

/// The value of this type; `None` for one of another, which a column of the type does not have.
fn value<'c, T: TryFrom<Scalar<'c>>>(scalar: Option<Scalar<'c>>) -> Option<T> {
    scalar.and_then(|scalar| scalar.try_into().ok())
}

/// The elements of a column of lists.
fn elements_of<'c>(
    column: &Column,
    elements: impl Iterator<Item = Option<Scalar<'c>>>,
) -> ArrayRef {
    match column.element_type() {
        ColumnType::Integer if column.is_unsigned() => {
            Arc::new(elements.map(value::<u64>).collect::<UInt64Array>())
        }
        ColumnType::Integer => Arc::new(elements.map(value::<i64>).collect::<Int64Array>()),
        ColumnType::Float => Arc::new(elements.map(value::<f64>).collect::<Float64Array>()),
        ColumnType::Boolean => Arc::new(elements.map(value::<bool>).collect::<BooleanArray>()),
        ColumnType::Text | ColumnType::Texts | ColumnType::Integers => {
            Arc::new(elements.map(value::<&str>).collect::<StringArray>())
        }
    }
}

/// The error of a column that is too long for offsets of 32 bits.
fn too_long() -> ArrowError {
    ArrowError::InvalidArgumentError("more than 2 GiB of texts or elements in one column".into())
}
