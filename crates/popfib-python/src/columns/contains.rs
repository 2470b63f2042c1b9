//! Whether each address of a column is in a set.

use arrow_array::BooleanArray;
use numpy::PyArray1;
use popfib::family::Family;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::ArrowColumn;
use super::lookup::{BLOCK, Source};
use super::output::{OfNumbers, Output, need_numpy};
use crate::quote::Quoted;
use crate::routes::Map;

/// What is found for a row.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Member {
    /// The row has no address.
    #[default]
    Null,
    No,
    Yes,
}

impl Member {
    fn truth(self) -> Option<bool> {
        match self {
            Self::Null => None,
            Self::No => Some(false),
            Self::Yes => Some(true),
        }
    }
}

/// Where addresses are found or not.
pub(super) struct Members<'a>(pub(super) &'a Map);

impl Source for Members<'_> {
    type Answer = Member;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Member]) {
        let mut found = [0; BLOCK];
        for (addresses, answers) in addresses.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            let found = &mut found[..addresses.len()];
            A::of(&self.0.0).lookup_batch(addresses, found);
            for (answer, found) in answers.iter_mut().zip(found) {
                *answer = match *found {
                    0 => Member::No,
                    _ => Member::Yes,
                };
            }
        }
    }
}

/// What is made of the answers.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Values,
    List,
    Arrow,
}

impl Form {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        match name {
            "values" => Ok(Self::Values),
            "list" => Ok(Self::List),
            "arrow" => Ok(Self::Arrow),
            _ => Err(PyValueError::new_err(format!(
                "output is 'values', 'list' or 'arrow', not {}",
                Quoted(name.as_bytes())
            ))),
        }
    }
    /// That of a set beside tables.
    pub(super) fn of(output: Output) -> PyResult<Self> {
        match output {
            Output::Numbers(OfNumbers::Values) => Ok(Self::Values),
            Output::Numbers(OfNumbers::List) => Ok(Self::List),
            Output::Numbers(OfNumbers::Arrow) => Ok(Self::Arrow),
            _ => Err(PyValueError::new_err(
                "a set has no values and no matches: output='values', 'list' or 'arrow'",
            )),
        }
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        found: Vec<Member>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let truths = |found: Vec<Member>| found.into_iter().map(Member::truth);
        Ok(match self {
            Self::Values => {
                need_numpy(py)?;
                // In the memory of what was found.
                let truths = found.into_iter().map(|member| member == Member::Yes);
                PyArray1::from_vec(py, truths.collect()).into_any()
            }
            Self::List => PyList::new(py, truths(found))?.into_any(),
            Self::Arrow => {
                let column: BooleanArray = truths(found).collect();
                Bound::new(py, ArrowColumn::new(&column))?.into_any()
            }
        })
    }
}
