//! Numbers of values as what the caller wants to have.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, StringArray, UInt32Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString};

use super::arrow::ArrowColumn;
use crate::keys;
use crate::values::Places;

#[derive(Clone, Copy)]
pub(super) enum Output {
    /// A numpy array of objects.
    Values,
    /// A numpy array of numbers of the dictionary, 0 for none.
    Indices,
    /// A list of objects.
    List,
    /// An Arrow column, dictionary-encoded.
    Arrow,
}

impl Output {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        match name {
            "values" => Ok(Self::Values),
            "indices" => Ok(Self::Indices),
            "list" => Ok(Self::List),
            "arrow" => Ok(Self::Arrow),
            _ => Err(PyValueError::new_err(format!(
                "output is 'values', 'indices', 'list' or 'arrow', not {}",
                keys::quote(name)
            ))),
        }
    }

    /// Room for the numbers of `count` rows: in `out`, if there is one.
    ///
    /// # Errors
    /// `TypeError` if that is no array of numbers, `ValueError` for all else that is wrong with it.
    pub(super) fn answers<'py>(
        self,
        py: Python<'py>,
        count: usize,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Answers<'py>> {
        if matches!(self, Self::Indices | Self::Values) {
            need_numpy(py)?;
        }
        match self {
            Self::Indices if let Some(out) = out => given(out, count),
            _ if out.is_some() => Err(PyValueError::new_err("out goes with output='indices'")),
            Self::Indices => {
                #[cfg(target_os = "linux")]
                let array = super::memory::array(py, count);
                #[cfg(not(target_os = "linux"))]
                let array = None;
                let array = array.unwrap_or_else(|| PyArray1::zeros(py, count, false));
                Ok(Answers::Array(array.try_readwrite()?))
            }
            _ => Ok(Answers::Vec(vec![0; count])),
        }
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        answers: Answers<'py>,
        places: &Places,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = match answers {
            Answers::Array(array) => return Ok((**array).clone().into_any()),
            Answers::Vec(numbers) => numbers,
        };
        let none = py.None();
        let object = |number: &u32| {
            let place = places.get((*number as usize).wrapping_sub(1));
            place
                .and_then(Option::as_ref)
                .unwrap_or(&none)
                .clone_ref(py)
        };
        match self {
            Self::Indices => Ok(PyArray1::from_vec(py, numbers).into_any()),
            Self::Values => {
                let objects: Vec<_> = numbers.iter().map(object).collect();
                Ok(PyArray1::from_vec(py, objects).into_any())
            }
            Self::List => Ok(PyList::new(py, numbers.iter().map(object))?.into_any()),
            Self::Arrow => {
                let column = dictionary_encoded(py, numbers, places)?;
                Ok(Bound::new(py, ArrowColumn::new(&column))?.into_any())
            }
        }
    }
}

/// The numbers of all rows, while they are looked up.
pub(super) enum Answers<'py> {
    Array(PyReadwriteArray1<'py, u32>),
    Vec(Vec<u32>),
}

impl Answers<'_> {
    pub(super) fn numbers(&mut self) -> &mut [u32] {
        match self {
            // New and in one piece.
            Self::Array(array) => array.as_slice_mut().unwrap_or_default(),
            Self::Vec(numbers) => numbers,
        }
    }
}

/// Room in an array of the caller's, as `out` of numpy's functions.
fn given<'py>(out: &Bound<'py, PyAny>, count: usize) -> PyResult<Answers<'py>> {
    let array = out.cast::<PyArray1<u32>>().map_err(|_| {
        PyTypeError::new_err("out is a numpy array of uint32 with one dimension, or None")
    })?;
    if array.len() != count {
        return Err(PyValueError::new_err(format!(
            "out has {} places for {count} addresses",
            array.len()
        )));
    }
    let array = array.try_readwrite().map_err(|_| {
        PyValueError::new_err("out is read-only, or its memory is that of the addresses")
    })?;
    if !array.is_contiguous() {
        return Err(PyValueError::new_err("out is not in one piece"));
    }
    Ok(Answers::Array(array))
}

/// An error in place of the panic of a library that finds no numpy.
fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop).map_err(|_| {
        PyImportError::new_err("numpy is not installed; output='list' and 'arrow' work without it")
    })
}

fn dictionary_encoded(
    py: Python<'_>,
    mut numbers: Vec<u32>,
    places: &Places,
) -> PyResult<DictionaryArray<UInt32Type>> {
    let nulls: NullBuffer = numbers.iter().map(|number| *number != 0).collect();
    for number in &mut numbers {
        *number = number.saturating_sub(1);
    }
    let values = words(py, places)?;
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    let keys = UInt32Array::new(ScalarBuffer::from(numbers), nulls);
    DictionaryArray::try_new(keys, values).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The dictionary: all values are text, or all are ints of 64 bits.
fn words(py: Python<'_>, places: &Places) -> PyResult<ArrayRef> {
    let objects = || places.iter().flatten().map(|object| object.bind(py));
    // An array of no rows can't be pointed into; rows that are null point to place 0.
    let spare = usize::from(places.is_empty());
    if objects().all(|object| object.is_instance_of::<PyString>()) {
        let mut words: Vec<Option<String>> = Vec::with_capacity(places.len() + spare);
        for place in places {
            let word = place.as_ref().map(|object| object.bind(py).extract());
            words.push(word.transpose()?);
        }
        words.resize(places.len() + spare, None);
        return Ok(Arc::new(StringArray::from(words)));
    }
    if objects().all(|object| object.is_exact_instance_of::<PyInt>()) {
        let mut words: Vec<Option<i64>> = Vec::with_capacity(places.len());
        for place in places {
            let word = place.as_ref().map(|object| object.bind(py).extract());
            words.push(word.transpose().map_err(|_| {
                PyValueError::new_err("a value does not fit into 64 bits, as Arrow's int64 has")
            })?);
        }
        return Ok(Arc::new(Int64Array::from(words)));
    }
    Err(PyTypeError::new_err(
        "for output='arrow' all values are str, or all are int; output='indices' with \
         Table.dictionary() serves others",
    ))
}
