//! The columns of records: what the records of the rows say, as a column for each that is asked for.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder, StringBuilder};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, Field};
use numpy::PyArray1;
use popfib_table::{Cell, Column, ColumnType, Records, Scalar};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::ArrowColumn;
use super::dictionary::{self, Used};
use super::output::{OfNumbers, need_numpy};
use crate::records;

/// A column of `records` at the rows whose records have these numbers, 0 for none.
pub(super) fn column<'py>(
    py: Python<'py>,
    form: OfNumbers,
    records: &Records,
    index: usize,
    numbers: &[u32],
) -> PyResult<Bound<'py, PyAny>> {
    let column = &records.columns()[index];
    let codes = || {
        let codes = numbers.iter().map(|&number| records.code(number, index));
        codes.collect::<Vec<_>>()
    };
    if let OfNumbers::Arrow = form {
        let column = py.detach(|| arrow(column, codes()));
        let column = column.map_err(|error| PyValueError::new_err(error.to_string()))?;
        return Ok(Bound::new(py, ArrowColumn::new(&column))?.into_any());
    }
    let codes = py.detach(codes);
    if let OfNumbers::Values = form {
        need_numpy(py)?;
        if let Some(array) = array(py, column, &codes) {
            return Ok(array);
        }
    }
    let used = Used::new(&codes, column.len());
    let objects = used.numbers().iter().map(|&code| match column.value(code) {
        Some(cell) => records::object(py, cell),
        None => Ok(py.None().into_bound(py)),
    });
    let objects = objects.collect::<PyResult<Vec<_>>>()?;
    let none = py.None().into_bound(py);
    let rows = codes.iter().map(|&code| match code {
        0 => none.clone(),
        code => objects[used.place(code) as usize].clone(),
    });
    Ok(match form {
        OfNumbers::Values => {
            let objects = rows.map(Bound::unbind).collect();
            PyArray1::from_vec(py, objects).into_any()
        }
        _ => PyList::new(py, rows.collect::<Vec<_>>())?.into_any(),
    })
}

/// An array of the type of the column, where numpy has one that can say what the rows say: floats have NaN where there is
/// none, and integers and truths have to be there for all rows.
fn array<'py>(py: Python<'py>, column: &Column, codes: &[u32]) -> Option<Bound<'py, PyAny>> {
    let values = codes.iter().map(|&code| column.value(code));
    Some(match column.column_type() {
        ColumnType::Float => {
            let float = |cell| match cell {
                Some(Cell::Scalar(Scalar::Float(float))) => float,
                _ => f64::NAN,
            };
            PyArray1::from_iter(py, values.map(float)).into_any()
        }
        ColumnType::Integer if column.is_unsigned() => {
            let values = values.map(|cell| u64::try_from(integer(cell)?).ok());
            PyArray1::from_vec(py, values.collect::<Option<Vec<_>>>()?).into_any()
        }
        ColumnType::Integer => {
            let values = values.map(|cell| i64::try_from(integer(cell)?).ok());
            PyArray1::from_vec(py, values.collect::<Option<Vec<_>>>()?).into_any()
        }
        ColumnType::Boolean => {
            let truths = values.map(|cell| match cell {
                Some(Cell::Scalar(Scalar::Boolean(truth))) => Some(truth),
                _ => None,
            });
            PyArray1::from_vec(py, truths.collect::<Option<Vec<_>>>()?).into_any()
        }
        ColumnType::Text | ColumnType::Texts | ColumnType::Integers => return None,
    })
}

fn integer(cell: Option<Cell<'_>>) -> Option<i128> {
    match cell {
        Some(Cell::Scalar(Scalar::Integer(number))) => Some(number),
        _ => None,
    }
}

/// The column as Arrow has it: texts by a dictionary, all else as it is.
fn arrow(column: &Column, codes: Vec<u32>) -> Result<ArrayRef, ArrowError> {
    let scalars = || {
        let cells = codes.iter().map(|&code| column.value(code));
        cells.map(|cell| match cell {
            Some(Cell::Scalar(scalar)) => Some(scalar),
            _ => None,
        })
    };
    Ok(match column.column_type() {
        ColumnType::Text => {
            let used = Used::new(&codes, column.len());
            let texts = used.numbers().iter().map(|&code| match column.value(code) {
                Some(Cell::Scalar(Scalar::Text(text))) => text,
                _ => "",
            });
            let texts: Vec<_> = texts.collect();
            let bytes = texts.iter().map(|text| text.len()).sum::<usize>();
            i32::try_from(bytes).map_err(|_| too_long())?;
            Arc::new(dictionary::column(
                codes,
                &used,
                Arc::new(StringArray::from(texts)),
            )?)
        }
        ColumnType::Integer | ColumnType::Float | ColumnType::Boolean => {
            array_of(column, scalars())
        }
        ColumnType::Texts | ColumnType::Integers => Arc::new(lists(column, &codes)?),
    })
}

/// These values of the elements of a column.
fn array_of<'c>(column: &Column, values: impl Iterator<Item = Option<Scalar<'c>>>) -> ArrayRef {
    match column.element_type() {
        ColumnType::Integer if column.is_unsigned() => {
            Arc::new(primitive::<UInt64Type>(values, |scalar| match scalar {
                Scalar::Integer(number) => u64::try_from(number).ok(),
                _ => None,
            }))
        }
        ColumnType::Integer => Arc::new(primitive::<Int64Type>(values, |scalar| match scalar {
            Scalar::Integer(number) => i64::try_from(number).ok(),
            _ => None,
        })),
        ColumnType::Float => Arc::new(primitive::<Float64Type>(values, |scalar| match scalar {
            Scalar::Float(float) => Some(float),
            _ => None,
        })),
        ColumnType::Boolean => {
            let mut truths = BooleanBuilder::with_capacity(values.size_hint().0);
            for value in values {
                truths.append_option(match value {
                    Some(Scalar::Boolean(truth)) => Some(truth),
                    _ => None,
                });
            }
            let truths: BooleanArray = truths.finish();
            Arc::new(truths)
        }
        ColumnType::Text | ColumnType::Texts | ColumnType::Integers => {
            let mut texts = StringBuilder::new();
            for value in values {
                match value {
                    Some(Scalar::Text(text)) => texts.append_value(text),
                    _ => texts.append_null(),
                }
            }
            Arc::new(texts.finish())
        }
    }
}

fn primitive<'c, T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Option<Scalar<'c>>>,
    value: impl Fn(Scalar<'c>) -> Option<T::Native>,
) -> PrimitiveArray<T> {
    let mut array = PrimitiveBuilder::<T>::with_capacity(values.size_hint().0);
    for scalar in values {
        array.append_option(scalar.and_then(&value));
    }
    array.finish()
}

fn lists(column: &Column, codes: &[u32]) -> Result<ListArray, ArrowError> {
    let list = |code: &u32| match column.value(*code) {
        Some(Cell::List(list)) => Some(list),
        _ => None,
    };
    let (mut bytes, mut ends) = (0, vec![0]);
    for list in codes.iter().map(list) {
        let count = list.map_or(0, |list| list.len());
        let end = i32::try_from(count).ok();
        let end = end.and_then(|count| count.checked_add(*ends.last()?));
        ends.push(end.ok_or_else(too_long)?);
        if column.element_type() == ColumnType::Text {
            let texts = list.into_iter().flat_map(|list| list.iter());
            bytes += texts.map(text_len).sum::<usize>();
        }
    }
    i32::try_from(bytes).map_err(|_| too_long())?;
    let elements = codes.iter().filter_map(list);
    let elements = array_of(column, elements.flat_map(|list| list.iter().map(Some)));
    let nulls: NullBuffer = codes.iter().map(|&code| code != 0).collect();
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let field = Arc::new(Field::new_list_field(elements.data_type().clone(), false));
    ListArray::try_new(field, OffsetBuffer::new(ends.into()), elements, nulls)
}

fn text_len(scalar: Scalar<'_>) -> usize {
    match scalar {
        Scalar::Text(text) => text.len(),
        _ => 0,
    }
}

/// What no column of Arrow with offsets of 32 bits has room for.
fn too_long() -> ArrowError {
    ArrowError::InvalidArgumentError("more than 2 GiB of texts or elements in one column".into())
}
