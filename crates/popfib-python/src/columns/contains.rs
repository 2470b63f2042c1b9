//! Addresses and a set in; a column that says which of them are in the set out.

use arrow_array::BooleanArray;
use numpy::PyArray1;
use popfib::family::Family;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::arrow::PyArrowColumn;
use super::lookup::{AnswerSource, BLOCK};
use super::output::{ColumnOutput, NumberOutput, need_numpy};
use crate::quote::Quoted;
use crate::routes::NumberMap;

/// What is found for a row.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SetMembership {
    /// The row has no address.
    #[default]
    Null,
    No,
    Yes,
}

impl SetMembership {
    fn truth(self) -> Option<bool> {
        match self {
            Self::Null => None,
            Self::No => Some(false),
            Self::Yes => Some(true),
        }
    }
}

/// Finds whether addresses are in a set.
pub(super) struct MembershipLookup<'a>(pub(super) &'a NumberMap);

impl AnswerSource for MembershipLookup<'_> {
    type Answer = SetMembership;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [SetMembership]) {
        let mut found = [0; BLOCK];
        for (addresses, answers) in addresses.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            let found = &mut found[..addresses.len()];
            A::of(&self.0.0).lookup_batch(addresses, found);
            for (answer, found) in answers.iter_mut().zip(found) {
                *answer = match *found {
                    0 => SetMembership::No,
                    _ => SetMembership::Yes,
                };
            }
        }
    }
}

/// What the answers become.
#[derive(Clone, Copy)]
pub(super) enum MembershipForm {
    Values,
    List,
    Arrow,
}

impl MembershipForm {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        match name {
            "values" => Ok(Self::Values),
            "list" => Ok(Self::List),
            "arrow" => Ok(Self::Arrow),
            _ => Err(value_error!(
                "output is 'values', 'list' or 'arrow', not {}",
                Quoted(name.as_bytes())
            )),
        }
    }

    /// The form for a set that is asked beside tables.
    pub(super) fn of(output: ColumnOutput) -> PyResult<Self> {
        match output {
            ColumnOutput::Numbers(NumberOutput::Values) => Ok(Self::Values),
            ColumnOutput::Numbers(NumberOutput::List) => Ok(Self::List),
            ColumnOutput::Numbers(NumberOutput::Arrow) => Ok(Self::Arrow),
            _ => Err(value_error!(
                "a set has no values and no matches: output='values', 'list' or 'arrow'"
            )),
        }
    }

    pub(super) fn make<'py>(
        self,
        py: Python<'py>,
        found: Vec<SetMembership>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let truths = |found: Vec<SetMembership>| found.into_iter().map(SetMembership::truth);
        Ok(match self {
            Self::Values => {
                need_numpy(py)?;
                // In the memory of what was found.
                let truths = found.into_iter().map(|member| member == SetMembership::Yes);
                PyArray1::from_vec(py, truths.collect()).into_any()
            }
            Self::List => PyList::new(py, truths(found))?.into_any(),
            Self::Arrow => {
                let column: BooleanArray = truths(found).collect();
                Bound::new(py, PyArrowColumn::new(&column))?.into_any()
            }
        })
    }
}
