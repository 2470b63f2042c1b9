//! `Table.lookup_many`: a column of addresses in, a column of answers out.
//!
//! `input` finds out what the column is and borrows or imports it, `lookup`
//! answers it in numbers, without the interpreter and in any number of threads,
//! and `output` makes numpy, Arrow or Python objects of the numbers. `arrow` has
//! the C interface of Arrow, both ways.

mod arrow;
mod input;
mod lookup;
#[cfg(target_os = "linux")]
mod memory;
mod output;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::table::Table;
pub(crate) use arrow::ArrowColumn;
use input::Column;
use lookup::{Invalid, Lpm, Source};
use output::Output;

/// See `Table.lookup_many` in the package's stubs.
pub(crate) fn lookup_many<'py>(
    table: &Table,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    invalid: &str,
    threads: usize,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = addresses.py();
    let output = Output::by_name(output)?;
    let invalid = Invalid::by_name(invalid)?;
    let column = Column::new(addresses, invalid)?;
    let rows = column.rows();
    let count = rows.iter().map(|rows| rows.len()).sum();
    let mut answers = output.answers(py, count, out)?;
    let numbers = answers.numbers();
    // Compiled tables are looked up in without the lock; the table may change meanwhile.
    let (compiled, result, places) = table.shared.with(py, |state| {
        state.ipv4.expect(py, count);
        state.ipv6.expect(py, count);
        let places = state.values.places();
        if let (Some(ipv4), Some(ipv6)) = (state.ipv4.fib(), state.ipv6.fib()) {
            return Ok((Some((ipv4.clone(), ipv6.clone())), Ok(()), places));
        }
        let source = Source {
            ipv4: Lpm::of(state.ipv4.fib(), state.ipv4.rib()),
            ipv6: Lpm::of(state.ipv6.fib(), state.ipv6.rib()),
        };
        let numbers = &mut *numbers;
        let result = py.detach(|| lookup::lookup(&rows, &source, invalid, threads, numbers));
        Ok((None, result, places))
    })?;
    let result = match compiled {
        None => result,
        Some((ipv4, ipv6)) => {
            let source = Source {
                ipv4: Lpm::Fib(&ipv4),
                ipv6: Lpm::Fib(&ipv6),
            };
            py.detach(|| lookup::lookup(&rows, &source, invalid, threads, numbers))
        }
    };
    result.map_err(PyValueError::new_err)?;
    output.make(py, answers, &places)
}
