//! `lookup_many` of `Table`, of `LiveTable` and of several tables: a column of addresses in, a column of answers out.
//!
//! `input` finds out what the column is and borrows or imports it. `lookup` answers it in numbers, without the interpreter and
//! in any number of threads; `live` does for a `LiveTable`. Then `output` makes numpy, Arrow (`dictionary`) or Python objects of
//! the numbers, `matches` of prefixes, `records` of the columns of records. `in_tables` does all that where each address has a table of
//! its own. `contains` says which addresses are in a set, and
//! `anonymize` puts others in their place. `arrow` has Arrow's capsules, both ways; `c_data` has what is in the capsules of
//! others, and `cells` reads it.

mod anonymize;
mod arrow;
mod c_data;
mod cells;
mod contains;
mod dictionary;
mod in_tables;
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

use crate::live::LiveRoutes;
use crate::routes::{NumberMap, TableRoutes};
use crate::state::{SharedState, TableState};
use crate::values::ValueSnapshot;
use anonymize::AnonymizedAddresses;
pub(crate) use arrow::PyArrowColumn;
use contains::{MembershipForm, MembershipLookup, SetMembership};
use input::PyAddressColumn;
pub(crate) use input::of_object;
use lookup::{AnswerSource, ColumnRows, OnInvalid, RouteValueNumbers, RowAnswer};
use matches::{RouteMatches, RowMatch};
use output::{ColumnOutput, NumberOutput};
use records::RowRecords;

/// What a column is looked up in.
#[derive(Clone, Copy)]
pub(crate) enum TableOrLive<'a> {
    Table(&'a SharedState),
    Live(&'a LiveRoutes),
}

/// One of several that a column is looked up in.
pub(crate) enum TableOrSet<'a> {
    Routes(TableOrLive<'a>),
    Set(&'a NumberMap),
}

impl TableOrLive<'_> {
    /// # Errors
    /// `ValueError` for indices of a live table, which may mean other values before anybody reads them.
    fn check(self, output: ColumnOutput) -> PyResult<()> {
        match (self, output) {
            (Self::Live(_), ColumnOutput::Numbers(NumberOutput::Indices)) => Err(value_error!(
                "the values of a LiveTable have no lasting numbers: output='arrow' gives indices with what they stand for"
            )),
            _ => Ok(()),
        }
    }
}

/// What is found for each row of a column that is looked up in a table.
trait RowQuestion {
    type Answer: RowAnswer;

    /// What finds it.
    ///
    /// # Errors
    /// `ValueError` if the table has it not.
    fn source(routes: &TableRoutes) -> PyResult<impl AnswerSource<Answer = Self::Answer>>;
}

/// The numbers of values.
struct ValueQuestion;

impl RowQuestion for ValueQuestion {
    type Answer = u32;

    fn source(routes: &TableRoutes) -> PyResult<impl AnswerSource<Answer = u32>> {
        Ok(RouteValueNumbers(routes))
    }
}

/// Longest matches.
struct MatchQuestion;

impl RowQuestion for MatchQuestion {
    type Answer = RowMatch;

    fn source(routes: &TableRoutes) -> PyResult<impl AnswerSource<Answer = RowMatch>> {
        routes.check()?;
        Ok(RouteMatches(routes))
    }
}

/// A table with more routes than this for each row does not change while the column is looked up (`run` says why).
const ROUTES_A_ROW: usize = 4;

/// See `Table.lookup_many` in the package's stubs.
pub(crate) fn lookup_many<'py>(
    table: TableOrLive<'_>,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    invalid: &str,
    threads: isize,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let output = ColumnOutput::by_name(output)?;
    let asked = AskedColumn::new(addresses, invalid, threads)?;
    let lookup = asked.lookup()?;
    lookup.answer(table, output, out)
}

/// See `Table.lookup_many` in the package's stubs: the columns of these names, each with its answers.
pub(crate) fn lookup_columns<'py>(
    table: &SharedState,
    addresses: &Bound<'py, PyAny>,
    columns: &[String],
    output: &str,
    invalid: &str,
    threads: isize,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let form = ColumnOutput::by_name(output)?.of_columns()?;
    let py = addresses.py();
    let asked = AskedColumn::new(addresses, invalid, threads)?;
    let lookup = asked.lookup()?;
    // Values that are objects are one column, as those of records of texts.
    let of_objects = Records::default();
    // Wrong names are an error before anything is looked up.
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
        let answer = || lookup.answer(TableOrLive::Table(table), ColumnOutput::Numbers(form), None);
        return columns.map(|name| Ok((name, answer()?))).collect();
    };
    let count = lookup.count();
    room::ask_for_memory(count, (1 + 2 * indices.len()) * size_of::<u32>())?;
    let mut numbers = vec![0; count];
    lookup.look_up(&RouteValueNumbers(&routes), &mut numbers)?;
    let of_rows = py.detach(|| RowRecords::new(records, numbers));
    let columns = columns.zip(indices);
    let columns = columns.map(|(name, index)| Ok((name, of_rows.column(py, form, index)?)));
    columns.collect()
}

/// See `TableSet.lookup_many` in the package's stubs.
pub(crate) fn lookup_in_tables<'py>(
    table: &SharedState,
    tables: &Bound<'py, PyAny>,
    addresses: &Bound<'py, PyAny>,
    columns: Option<&[String]>,
    output: &str,
    invalid: &str,
    threads: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let output = ColumnOutput::by_name(output)?;
    let asked = AskedColumn::new(addresses, invalid, threads)?;
    asked.lookup()?.in_tables(table, tables, columns, output)
}

/// See `IPSet.contains` in the package's stubs.
pub(crate) fn contains<'py>(
    set: &NumberMap,
    addresses: &Bound<'py, PyAny>,
    output: &str,
    invalid: &str,
    threads: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let form = MembershipForm::by_name(output)?;
    let asked = AskedColumn::new(addresses, invalid, threads)?;
    let lookup = asked.lookup()?;
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
    let mut asked = AskedColumn::new(addresses, invalid, threads)?;
    let form = anonymize::AnonymizedForm::of(&asked.column);
    asked.invalid = form.invalid(asked.invalid);
    let lookup = asked.lookup()?;
    let count = lookup.count();
    room::ask_for_memory(count, size_of::<Option<IpAddr>>() + 2 * size_of::<usize>())?;
    let mut found = vec![None; count];
    lookup.look_up(&AnonymizedAddresses(by), &mut found)?;
    form.make(py, found)
}

/// See `lookup_many` in the package's stubs: each name of a table with its answers, after that of its prefixes
/// if `with_prefixes`.
pub(crate) fn lookup_several<'py>(
    tables: &[(String, TableOrSet<'_>)],
    addresses: &Bound<'py, PyAny>,
    output: &str,
    with_prefixes: bool,
    invalid: &str,
    threads: isize,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let output = ColumnOutput::by_name(output)?;
    let asked = AskedColumn::new(addresses, invalid, threads)?;
    let read;
    let mut lookup = asked.lookup()?;
    // Text is read once for all tables.
    if lookup.rows.iter().any(ColumnRows::is_text) {
        let count = lookup.count();
        room::ask_for_memory(count, size_of::<Option<IpAddr>>())?;
        let ColumnLookup {
            rows,
            invalid,
            threads,
            ..
        } = &lookup;
        let found = lookup
            .py
            .detach(|| lookup::addresses(rows, count, *invalid, *threads));
        read = found.map_err(PyValueError::new_err)?;
        lookup.rows = vec![ColumnRows::Addresses(&read)];
    }
    let mut answers = Vec::new();
    for (name, table) in tables {
        let table = match table {
            TableOrSet::Routes(table) => table,
            // The matching prefixes of a set say nothing: they are the fewest that have its addresses.
            TableOrSet::Set(set) => {
                answers.push((
                    name.clone(),
                    lookup.members(set, MembershipForm::of(output)?)?,
                ));
                continue;
            }
        };
        if with_prefixes {
            let ColumnOutput::Numbers(form) = output else {
                return Err(value_error!(
                    "prefixes=True goes with output='values', 'indices', 'list' or 'arrow'"
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

/// A column to look up, and how.
struct AskedColumn<'py> {
    py: Python<'py>,
    column: PyAddressColumn<'py>,
    invalid: OnInvalid,
    threads: usize,
}

impl<'py> AskedColumn<'py> {
    fn new(addresses: &Bound<'py, PyAny>, invalid: &str, threads: isize) -> PyResult<Self> {
        let invalid = OnInvalid::by_name(invalid)?;
        let threads = usize::try_from(threads)
            .map_err(|_| value_error!("threads is a number, and 0 means one for each core"))?;
        Ok(Self {
            py: addresses.py(),
            column: PyAddressColumn::new(addresses, invalid)?,
            invalid,
            threads,
        })
    }

    fn lookup(&self) -> PyResult<ColumnLookup<'_, 'py>> {
        Ok(ColumnLookup {
            py: self.py,
            rows: self.column.rows()?,
            invalid: self.invalid,
            threads: self.threads,
        })
    }
}

/// The rows of a column to look up.
struct ColumnLookup<'a, 'py> {
    py: Python<'py>,
    rows: Vec<ColumnRows<'a>>,
    invalid: OnInvalid,
    threads: usize,
}

impl<'py> ColumnLookup<'_, 'py> {
    /// How many rows there are. A column of nulls may have more than any memory has room for.
    fn count(&self) -> usize {
        let rows = self.rows.iter();
        rows.map(ColumnRows::len).fold(0, usize::saturating_add)
    }

    /// The answers of a table to all rows, as `output`; in `out`, if there is one.
    fn answer(
        &self,
        table: TableOrLive<'_>,
        output: ColumnOutput,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, count) = (self.py, self.count());
        table.check(output)?;
        match output {
            ColumnOutput::Numbers(form) => {
                let mut answers = form.answers(py, count, out)?;
                let numbers = answers.numbers()?;
                let known = match table {
                    TableOrLive::Table(table) => {
                        self.known::<ValueQuestion>(table, form, numbers)?
                    }
                    TableOrLive::Live(live) => self.live_numbers(live, numbers)?,
                };
                form.make(py, answers, &known)
            }
            ColumnOutput::Matches(form) => {
                let mut found = form.answers(count, out)?;
                let places = match table {
                    TableOrLive::Table(table) => {
                        self.run::<MatchQuestion, _>(table, &mut found, |state| {
                            state.values.places()
                        })?
                    }
                    TableOrLive::Live(live) => self.live_matches(live, &mut found)?.places,
                };
                form.make(py, &found, &places)
            }
        }
    }

    /// Whether all rows are in a set.
    fn members(&self, set: &NumberMap, form: MembershipForm) -> PyResult<Bound<'py, PyAny>> {
        let count = self.count();
        room::ask_for_memory(count, size_of::<SetMembership>() + size_of::<usize>())?;
        let mut found = vec![SetMembership::Null; count];
        self.look_up(&MembershipLookup(set), &mut found)?;
        form.make(self.py, found)
    }

    /// The matching prefixes and the values, both of one state of the table.
    fn both(
        &self,
        table: TableOrLive<'_>,
        form: NumberOutput,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        table.check(ColumnOutput::Numbers(form))?;
        let of_prefixes = form.of_prefixes();
        let mut found = of_prefixes.answers(self.count(), None)?;
        let known = match table {
            TableOrLive::Table(table) => self.known::<MatchQuestion>(table, form, &mut found)?,
            TableOrLive::Live(live) => self.live_matches(live, &mut found)?,
        };
        let prefixes = of_prefixes.make(self.py, &found, &known.places)?;
        let numbers = form.of_matches(self.py, found)?;
        Ok((prefixes, form.make(self.py, numbers, &known)?))
    }

    /// Looks up all rows; returns what the numbers of the answers stand for, as that form needs it.
    fn known<Q: RowQuestion>(
        &self,
        table: &SharedState,
        form: NumberOutput,
        answers: &mut [Q::Answer],
    ) -> PyResult<ValueSnapshot> {
        let count = answers.len();
        let known = self.run::<Q, _>(table, answers, |state| form.known(state, count))?;
        self.read(table, known)
    }

    /// What numbers stand for, with the texts of values where these are [to be read](NumberOutput::known).
    fn read(
        &self,
        table: &SharedState,
        (mut known, is_to_read): (ValueSnapshot, bool),
    ) -> PyResult<ValueSnapshot> {
        let py = self.py;
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

    /// Looks up all rows, and returns what `ask` says of the same state of the table.
    ///
    /// A short column is looked up with the lock held: a change waits for it, since that takes less time than to copy the table.
    /// A longer one is looked up without the lock: the first change meanwhile goes to a copy.
    fn run<Q: RowQuestion, T>(
        &self,
        table: &SharedState,
        answers: &mut [Q::Answer],
        ask: impl FnOnce(&TableState) -> T,
    ) -> PyResult<T> {
        let count = answers.len();
        let mut look_up = |routes: &TableRoutes| self.look_up(&Q::source(routes)?, answers);
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
    fn look_up<S: AnswerSource>(&self, source: &S, answers: &mut [S::Answer]) -> PyResult<()> {
        let (rows, invalid, threads) = (&self.rows, self.invalid, self.threads);
        let find = || lookup::lookup(rows, source, invalid, threads, answers);
        let found = self.py.detach(find);
        found.map_err(PyValueError::new_err)
    }
}
