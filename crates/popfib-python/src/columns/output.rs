//! Numbers of values in, what the caller asked for out: a numpy array, a list or an Arrow column.

use numpy::{PyArray1, PyArrayMethods, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::PyArrowColumn;
use super::dictionary;
use super::matches::{MatchOutput, RowMatch};
use super::room::{ask_for_memory, out_without_indices};
use crate::quote::Quoted;
use crate::state::TableState;
use crate::values::ValueSnapshot;

/// What the caller asked for.
#[derive(Clone, Copy)]
pub(super) enum ColumnOutput {
    Numbers(NumberOutput),
    Matches(MatchOutput),
}

impl ColumnOutput {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        Ok(match name {
            "values" => Self::Numbers(NumberOutput::Values),
            "indices" => Self::Numbers(NumberOutput::Indices),
            "list" => Self::Numbers(NumberOutput::List),
            "arrow" => Self::Numbers(NumberOutput::Arrow),
            "prefixes" => Self::Matches(MatchOutput::Prefixes),
            "matches" => Self::Matches(MatchOutput::Pairs),
            "arrow-prefixes" => Self::Matches(MatchOutput::Arrow),
            _ => {
                return Err(value_error!(
                    "output is 'values', 'indices', 'list', 'arrow', 'prefixes', 'matches' or 'arrow-prefixes', not {}",
                    Quoted(name.as_bytes())
                ));
            }
        })
    }

    /// The form of each column of records.
    ///
    /// # Errors
    /// `ValueError` for what is no form of columns.
    pub(super) fn of_columns(self) -> PyResult<NumberOutput> {
        match self {
            Self::Numbers(form) if !matches!(form, NumberOutput::Indices) => Ok(form),
            _ => Err(value_error!(
                "columns=[...] goes with output='values', 'list' or 'arrow'"
            )),
        }
    }
}

/// What is made of numbers of values.
#[derive(Clone, Copy)]
pub(super) enum NumberOutput {
    /// A numpy array of objects.
    Values,
    /// A numpy array of numbers of the dictionary, 0 for none.
    Indices,
    /// A list of objects.
    List,
    /// An Arrow column, dictionary-encoded.
    Arrow,
}

impl NumberOutput {
    /// What the numbers of so many rows stand for, and whether values are to be read for a column with a type, which all must have.
    pub(super) fn known(self, state: &TableState, rows: usize) -> (ValueSnapshot, bool) {
        let is_to_read = matches!(self, Self::Arrow) && state.values.expect(rows);
        (state.values.known(), is_to_read)
    }

    /// The form of a column of prefixes beside one of this form.
    pub(super) fn of_prefixes(self) -> MatchOutput {
        match self {
            Self::Arrow => MatchOutput::Arrow,
            Self::Values | Self::Indices | Self::List => MatchOutput::Prefixes,
        }
    }

    /// The numbers of matches, as answers of this form.
    pub(super) fn of_matches<'py>(
        self,
        py: Python<'py>,
        found: Vec<RowMatch>,
    ) -> PyResult<NumberAnswers<'py>> {
        let mut answers = self.answers(py, found.len(), None)?;
        for (number, found) in answers.numbers()?.iter_mut().zip(found) {
            *number = found.number();
        }
        Ok(answers)
    }

    /// Room for the numbers of `count` rows: in `out`, if there is one.
    ///
    /// # Errors
    /// `TypeError` if `out` is no array of numbers, `ValueError` if it can't take the answers.
    pub(super) fn answers<'py>(
        self,
        py: Python<'py>,
        count: usize,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<NumberAnswers<'py>> {
        if matches!(self, Self::Indices | Self::Values) {
            need_numpy(py)?;
        }
        let each = match self {
            Self::Indices => size_of::<u32>(),
            Self::Arrow => 2 * size_of::<u32>(),
            Self::Values | Self::List => size_of::<u32>() + 2 * size_of::<usize>(),
        };
        ask_for_memory(count, each)?;
        match self {
            Self::Indices if let Some(out) = out => given(out, count),
            _ if out.is_some() => Err(out_without_indices()),
            Self::Indices => {
                #[cfg(target_os = "linux")]
                let array = super::memory::array(py, count);
                #[cfg(not(target_os = "linux"))]
                let array = None;
                let array = array.unwrap_or_else(|| PyArray1::zeros(py, count, false));
                Ok(NumberAnswers::Array(array.try_readwrite()?))
            }
            _ => Ok(NumberAnswers::Vec(vec![0; count])),
        }
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        answers: NumberAnswers<'py>,
        known: &ValueSnapshot,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = match answers {
            NumberAnswers::Array(array) => return Ok((**array).clone().into_any()),
            NumberAnswers::Vec(numbers) => numbers,
        };
        let none = py.None();
        let object = |number: &u32| {
            let place = known.places.get((*number as usize).wrapping_sub(1));
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
                let column = dictionary::encoded(py, numbers, known)?;
                Ok(Bound::new(py, PyArrowColumn::new(&column))?.into_any())
            }
        }
    }
}

/// The numbers of all rows, while they are looked up.
pub(super) enum NumberAnswers<'py> {
    Array(PyReadwriteArray1<'py, u32>),
    Vec(Vec<u32>),
}

impl NumberAnswers<'_> {
    /// The numbers, to be written.
    ///
    /// # Errors
    /// `ValueError` if the array does not lie in memory as it was found or made.
    pub(super) fn numbers(&mut self) -> PyResult<&mut [u32]> {
        Ok(match self {
            Self::Array(array) => array.as_slice_mut()?,
            Self::Vec(numbers) => numbers,
        })
    }
}

/// The answers in an array of the caller's, as `out` of numpy's functions.
fn given<'py>(out: &Bound<'py, PyAny>, count: usize) -> PyResult<NumberAnswers<'py>> {
    let array = out
        .cast::<PyArray1<u32>>()
        .map_err(|_| type_error!("out is a numpy array of uint32 with one dimension, or None"))?;
    if array.len() != count {
        return Err(value_error!(
            "out has {} places for {count} addresses",
            array.len()
        ));
    }
    let array = array
        .try_readwrite()
        .map_err(|_| value_error!("out is read-only, or its memory is that of the addresses"))?;
    if !array.is_contiguous() {
        return Err(value_error!("out is not in one piece"));
    }
    if !array.is_aligned() {
        return Err(value_error!(
            "out is not aligned: its numbers do not begin at multiples of 4 bytes"
        ));
    }
    Ok(NumberAnswers::Array(array))
}

/// Fails if there is no numpy, for which the library would panic.
pub(super) fn need_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop).map_err(|_| {
        PyImportError::new_err("numpy is not installed; output='list' and 'arrow' work without it")
    })
}
