//! `lookup_many` of `Table` and `LiveTable`: a column of addresses in, a column of answers out. And of several tables at a time.
//!
//! `input` finds out what the column is and borrows or imports it, `lookup`
//! answers it in numbers, without the interpreter and in any number of threads,
//! (`live` those of a `LiveTable`) and `output` makes numpy, Arrow (`dictionary`) or Python objects of the numbers, `matches` of prefixes,
//! `records` of the columns of records. `contains` says which are in a set, `anonymize` puts others in their place.
//! `arrow` has Arrow's capsules, both ways; `c_data` what is in those of others,
//! and `cells` reads it.

mod anonymize;
mod arrow;
mod c_data;
mod cells;
mod contains;
mod dictionary;
mod input;
mod live;
mod lookup;
mod matches;
#[cfg(target_os = "linux")]
mod memory;
mod output;
mod records;
mod room;

use std::net::IpAddr;

use popfib_formats::Anonymizer;
use popfib_table::Records;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::live::Live;
use crate::routes::{Map, Routes};
use crate::state::{Shared, State};
use crate::values::Known;
use anonymize::Anonymized;
pub(crate) use arrow::ArrowColumn;
use contains::{Form, Member, Members};
use input::Column;
pub(crate) use input::of_object;
use lookup::{Answer, Invalid, Rows, Source, Values};
use matches::{Match, Matches};
use output::{OfNumbers, Output};
use records::OfRows;

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'a> {
    Table(&'a Shared),
    Live(&'a Live),
}

/// One of several that are asked for one column.
pub(crate) enum OneOf<'a> {
    Routes(Asked<'a>),
    Set(&'a Map),
}

impl Asked<'_> {
    /// # Errors
    /// `ValueError` for indices into what may have changed before anybody reads them.
    fn check(self, output: Output) -> PyResult<()> {
        match (self, output) {
            (Self::Live(_), Output::Numbers(OfNumbers::Indices)) => Err(PyValueError::new_err(
                "the values of a LiveTable have no lasting numbers: output='arrow' gives indices with what they stand for",
            )),
            _ => Ok(()),
        }
    }
}

/// What is asked for each row.
trait Question {
    type Answer: Answer;

    /// Where the answers are.
    ///
    /// # Errors
    /// `ValueError` if they are not there.
    fn source(routes: &Routes) -> PyResult<impl Source<Answer = Self::Answer>>;
}

/// The numbers of values.
struct OfValues;

impl Question for OfValues {
    type Answer = u32;

    fn source(routes: &Routes) -> PyResult<impl Source<Answer = u32>> {
        Ok(Values(routes))
    }
}

/// Longest matches.
struct OfPrefixes;

impl Question for OfPrefixes {
    type Answer = Match;

    fn source(routes: &Routes) -> PyResult<impl Source<Answer = Match>> {
        routes.check()?;
        Ok(Matches(routes))
    }
}

/// Of so many routes for each row a table is not looked up in while it changes.
const ROUTES_A_ROW: usize = 4;

/// See `Table.lookup_many` in the package's stubs.
pub(crate) fn lookup_many<'py>(
    table: Asked<'_>,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    invalid: &str,
    threads: isize,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let output = Output::by_name(output)?;
    let invalid = Invalid::by_name(invalid)?;
    let threads = threads_of(threads)?;
    let column = Column::new(addresses, invalid)?;
    let lookup = Lookup {
        py: addresses.py(),
        rows: &column.rows()?,
        invalid,
        threads,
    };
    lookup.answer(table, output, out)
}

/// See `Table.lookup_many` in the package's stubs: the columns of these names, each with its answers.
pub(crate) fn lookup_columns<'py>(
    table: &Shared,
    addresses: &Bound<'py, PyAny>,
    columns: &[String],
    output: &str,
    invalid: &str,
    threads: isize,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let form = match Output::by_name(output)? {
        Output::Numbers(form) if !matches!(form, OfNumbers::Indices) => form,
        _ => {
            return Err(PyValueError::new_err(
                "columns=[...] goes with output='values', 'list' or 'arrow'",
            ));
        }
    };
    let py = addresses.py();
    let invalid = Invalid::by_name(invalid)?;
    let threads = threads_of(threads)?;
    let column = Column::new(addresses, invalid)?;
    let rows = column.rows()?;
    let lookup = Lookup {
        py,
        rows: &rows,
        invalid,
        threads,
    };
    // Values that are objects are one column, as those of records of texts.
    let of_objects = Records::default();
    // What is wrong with the names is told before anything is looked up.
    let (routes, indices) = table.read(py, |state| {
        let records = state.routes.records()?;
        let records = records.unwrap_or(&of_objects);
        let indices = columns
            .iter()
            .map(|name| crate::records::column(records, name));
        let indices: Vec<_> = indices.collect::<PyResult<_>>()?;
        Ok((state.routes.clone(), indices))
    })?;
    let columns = columns.iter().cloned();
    let Some(records) = routes.records()? else {
        let answer = || lookup.answer(Asked::Table(table), Output::Numbers(form), None);
        return columns.map(|name| Ok((name, answer()?))).collect();
    };
    let count = count(&rows);
    room::ask_for_memory(count, (1 + 2 * indices.len()) * size_of::<u32>())?;
    let mut numbers = vec![0; count];
    lookup.look_up(&Values(&routes), &mut numbers)?;
    let of_rows = py.detach(|| OfRows::new(records, numbers));
    let columns = columns.zip(indices);
    let columns = columns.map(|(name, index)| Ok((name, of_rows.column(py, form, index)?)));
    columns.collect()
}

/// See `IPSet.contains` in the package's stubs.
pub(crate) fn contains<'py>(
    set: &Map,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    invalid: &str,
    threads: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let form = Form::by_name(output)?;
    let invalid = Invalid::by_name(invalid)?;
    let threads = threads_of(threads)?;
    let column = Column::new(addresses, invalid)?;
    let rows = column.rows()?;
    let lookup = Lookup {
        py: addresses.py(),
        rows: &rows,
        invalid,
        threads,
    };
    lookup.members(set, form)
}

/// See `Anonymizer.anonymize_many` in the package's stubs.
pub(crate) fn anonymize<'py>(
    by: &Anonymizer,
    addresses: &Bound<'py, PyAny>,
    invalid: &str,
    threads: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = addresses.py();
    let invalid = Invalid::by_name(invalid)?;
    let threads = threads_of(threads)?;
    let column = Column::new(addresses, invalid)?;
    let form = anonymize::Form::of(&column);
    let rows = column.rows()?;
    let lookup = Lookup {
        py,
        rows: &rows,
        invalid: form.invalid(invalid),
        threads,
    };
    let count = count(&rows);
    room::ask_for_memory(count, size_of::<Option<IpAddr>>() + 2 * size_of::<usize>())?;
    let mut found = vec![None; count];
    lookup.look_up(&Anonymized(by), &mut found)?;
    form.make(py, found)
}

/// See `lookup_many` in the package's stubs: each name of a table with its answers, after that of its prefixes
/// if `with_prefixes`.
pub(crate) fn lookup_several<'py>(
    tables: &[(String, OneOf<'_>)],
    addresses: &Bound<'py, PyAny>,
    output: &str,
    with_prefixes: bool,
    invalid: &str,
    threads: isize,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let output = Output::by_name(output)?;
    let invalid = Invalid::by_name(invalid)?;
    let threads = threads_of(threads)?;
    let column = Column::new(addresses, invalid)?;
    let rows = column.rows()?;
    // Text is read once, and not again for each table.
    let read = match rows.iter().any(Rows::is_text) {
        true => {
            let count = count(&rows);
            room::ask_for_memory(count, size_of::<Option<IpAddr>>())?;
            let read = addresses
                .py()
                .detach(|| lookup::addresses(&rows, count, invalid, threads));
            Some(read.map_err(PyValueError::new_err)?)
        }
        false => None,
    };
    let rows = read
        .as_ref()
        .map_or(rows, |read| vec![Rows::Addresses(read)]);
    let lookup = Lookup {
        py: addresses.py(),
        rows: &rows,
        invalid,
        threads,
    };
    let mut answers = Vec::new();
    for (name, table) in tables {
        let table = match table {
            OneOf::Routes(table) => table,
            // Its prefixes are the fewest that have the addresses, and no answer.
            OneOf::Set(set) => {
                answers.push((name.clone(), lookup.members(set, Form::of(output)?)?));
                continue;
            }
        };
        if with_prefixes {
            let Output::Numbers(form) = output else {
                return Err(PyValueError::new_err(
                    "prefixes=True goes with output='values', 'indices', 'list' or 'arrow'",
                ));
            };
            let (prefixes, values) = lookup.both(*table, form)?;
            answers.push((format!("{name}_prefix"), prefixes));
            answers.push((name.clone(), values));
        } else {
            answers.push((name.clone(), lookup.answer(*table, output, None)?));
        }
    }
    Ok(answers)
}

fn threads_of(threads: isize) -> PyResult<usize> {
    usize::try_from(threads)
        .map_err(|_| PyValueError::new_err("threads is a number, and 0 means one for each core"))
}

/// Rows to look up.
struct Lookup<'a, 'py> {
    py: Python<'py>,
    rows: &'a [Rows<'a>],
    invalid: Invalid,
    threads: usize,
}

/// How many rows there are; of nulls, more than any memory has room for may be.
fn count(rows: &[Rows<'_>]) -> usize {
    rows.iter().map(Rows::len).fold(0, usize::saturating_add)
}

impl<'py> Lookup<'_, 'py> {
    /// The answers of a table to all rows, as `output`; in `out`, if there is one.
    fn answer(
        &self,
        table: Asked<'_>,
        output: Output,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, count) = (self.py, count(self.rows));
        table.check(output)?;
        match output {
            Output::Numbers(form) => {
                let mut answers = form.answers(py, count, out)?;
                let numbers = answers.numbers()?;
                let known = match table {
                    Asked::Table(table) => self.known::<OfValues>(table, form, numbers)?,
                    Asked::Live(live) => self.live_numbers(live, numbers)?,
                };
                form.make(py, answers, &known)
            }
            Output::Matches(form) => {
                let mut found = form.answers(count, out)?;
                let places = match table {
                    Asked::Table(table) => {
                        self.run::<OfPrefixes, _>(table, &mut found, |state| state.values.places())?
                    }
                    Asked::Live(live) => self.live_matches(live, &mut found)?.places,
                };
                form.make(py, &found, &places)
            }
        }
    }

    /// Whether all rows are in a set.
    fn members(&self, set: &Map, form: Form) -> PyResult<Bound<'py, PyAny>> {
        let count = count(self.rows);
        room::ask_for_memory(count, size_of::<Member>() + size_of::<usize>())?;
        let mut found = vec![Member::Null; count];
        self.look_up(&Members(set), &mut found)?;
        form.make(self.py, found)
    }

    /// The prefixes and the values of a table, of one state of it.
    fn both(
        &self,
        table: Asked<'_>,
        form: OfNumbers,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        table.check(Output::Numbers(form))?;
        let of_prefixes = form.of_prefixes();
        let mut found = of_prefixes.answers(count(self.rows), None)?;
        let known = match table {
            Asked::Table(table) => self.known::<OfPrefixes>(table, form, &mut found)?,
            Asked::Live(live) => self.live_matches(live, &mut found)?,
        };
        let prefixes = of_prefixes.make(self.py, &found, &known.places)?;
        let numbers = form.of_matches(self.py, found)?;
        Ok((prefixes, form.make(self.py, numbers, &known)?))
    }

    /// Looks up all rows; what the numbers of the answers stand for, for that form.
    fn known<Q: Question>(
        &self,
        table: &Shared,
        form: OfNumbers,
        answers: &mut [Q::Answer],
    ) -> PyResult<Known> {
        let (py, count) = (self.py, answers.len());
        let (mut known, is_to_read) = self.run::<Q, _>(table, answers, |state| {
            let is_to_read = form.has_type() && state.values.expect(count);
            (state.values.known(), is_to_read)
        })?;
        if is_to_read {
            // Not with the lock held: an object that is no text of UTF-8 raises an error.
            known.read(py);
            table.with(py, |state| {
                state.values.keep(&known);
                Ok(())
            })?;
        }
        Ok(known)
    }

    /// Looks up all rows, and asks the table for what the answers are of.
    ///
    /// A change waits for columns that take less time than to copy the table. Longer ones are looked up without the
    /// lock: the first change meanwhile goes to a copy.
    fn run<Q: Question, T>(
        &self,
        table: &Shared,
        answers: &mut [Q::Answer],
        ask: impl FnOnce(&State) -> T,
    ) -> PyResult<T> {
        let count = answers.len();
        let mut look_up = |routes: &Routes| self.look_up(&Q::source(routes)?, answers);
        let (asked, kept) = table.read(self.py, |state| {
            let (asked, routes) = (ask(state), &state.routes);
            if count >= routes.len() / ROUTES_A_ROW {
                return Ok((asked, Some(routes.clone())));
            }
            look_up(routes)?;
            Ok((asked, None))
        })?;
        kept.as_ref().map_or(Ok(()), look_up)?;
        Ok(asked)
    }

    /// Looks up all rows, while other threads have the interpreter.
    fn look_up<S: Source>(&self, source: &S, answers: &mut [S::Answer]) -> PyResult<()> {
        let &Self {
            py,
            rows,
            invalid,
            threads,
        } = self;
        let found = py.detach(|| lookup::lookup(rows, source, invalid, threads, answers));
        found.map_err(PyValueError::new_err)
    }
}
