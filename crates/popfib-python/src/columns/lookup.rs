//! Rows of addresses in, answers out: numbers of values, or matches. No Python in here.
//!
//! Rows that lie in memory as the kernels want them are looked up in place. Of others a block at a time is split by family
//! ([`AddressColumn`]), and the answers are put back in their places.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use popfib::family::Family;
use popfib_formats::threads;
use popfib_table::{AddressColumn, FamilyAddresses};
use pyo3::prelude::*;

use super::cells::{ArrowCell, ArrowCells, CellError};
use crate::quote::Quoted;
use crate::routes::TableRoutes;

/// Rows that are gathered before they are looked up.
pub(super) const BLOCK: usize = 256;

/// Fewer rows than this are not worth a thread.
const ROWS_PER_THREAD: usize = 1 << 14;

/// What to do with a row that is no address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnInvalid {
    Raise,
    Null,
}

impl OnInvalid {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            _ => Err(value_error!(
                "invalid is 'raise' or 'null', not {}",
                Quoted(name.as_bytes())
            )),
        }
    }
}

/// What is found for a row; the default is that of no match.
pub(super) trait RowAnswer: Copy + Default + PartialEq + Send {}

impl<T: Copy + Default + PartialEq + Send> RowAnswer for T {}

/// Where addresses of either family are looked up, many at a time.
pub(super) trait AnswerSource: Sync {
    type Answer: RowAnswer;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]);

    /// The same for addresses in network order, which become numbers a block at a time.
    fn batch_be<A: Family>(&self, addresses: &[A::Bytes], answers: &mut [Self::Answer]) {
        let mut block = [A::MIN; BLOCK];
        for (addresses, answers) in addresses.chunks(BLOCK).zip(answers.chunks_mut(BLOCK)) {
            for (address, bytes) in block.iter_mut().zip(addresses) {
                *address = A::from_be_bytes(*bytes);
            }
            self.batch(&block[..addresses.len()], answers);
        }
    }
}

/// Where numbers of values are found.
pub(super) struct RouteValueNumbers<'a>(pub(super) &'a TableRoutes);

impl AnswerSource for RouteValueNumbers<'_> {
    type Answer = u32;

    fn batch<A: Family>(&self, addresses: &[A], numbers: &mut [u32]) {
        self.0.family::<A>().lookup_batch(addresses, numbers);
    }
}

/// Answers an address by itself.
struct AddressItself;

impl AnswerSource for AddressItself {
    type Answer = Option<IpAddr>;

    fn batch<A: Family>(&self, addresses: &[A], answers: &mut [Self::Answer]) {
        for (address, answer) in addresses.iter().zip(answers) {
            *answer = Some(address.ip());
        }
    }
}

/// The addresses of all `count` rows, to be looked up in several tables.
pub(super) fn addresses(
    rows: &[ColumnRows<'_>],
    count: usize,
    invalid: OnInvalid,
    threads: usize,
) -> Result<Vec<Option<IpAddr>>, String> {
    let mut addresses = vec![None; count];
    lookup(rows, &AddressItself, invalid, threads, &mut addresses)?;
    Ok(addresses)
}

/// Rows of one kind.
pub(super) enum ColumnRows<'a> {
    /// IPv4 addresses as numbers.
    Numbers(&'a [u32]),
    /// IPv4 addresses in network order.
    Bytes4(&'a [[u8; 4]]),
    /// IPv6 addresses in network order.
    Bytes16(&'a [[u8; 16]]),
    /// Addresses read from Python objects before.
    Addresses(&'a [Option<IpAddr>]),
    /// Cells of Arrow's kinds.
    Cells(ArrowCells<'a>),
}

impl ColumnRows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(rows) => rows.len(),
            Self::Bytes4(rows) => rows.len(),
            Self::Bytes16(rows) => rows.len(),
            Self::Addresses(rows) => rows.len(),
            Self::Cells(rows) => rows.len(),
        }
    }

    /// Whether they are cells that are read one by one whenever they are looked up.
    pub(super) fn is_text(&self) -> bool {
        match self {
            Self::Cells(cells) => cells.numbers().is_none() && cells.words().is_none(),
            _ => false,
        }
    }

    /// Looks up the rows from `start` on; `Err` has the row and what is wrong.
    fn lookup<S: AnswerSource>(
        &self,
        start: usize,
        source: &S,
        invalid: OnInvalid,
        answers: &mut [S::Answer],
    ) -> Result<(), (usize, String)> {
        let end = start + answers.len();
        match self {
            Self::Numbers(rows) => source.batch::<u32>(&rows[start..end], answers),
            Self::Bytes4(rows) => source.batch_be::<u32>(&rows[start..end], answers),
            Self::Bytes16(rows) => source.batch_be::<u128>(&rows[start..end], answers),
            Self::Addresses(rows) => {
                let rows = &rows[start..end];
                return blocks(source, answers, |row| Ok(rows[row]));
            }
            Self::Cells(cells) => {
                return in_cells(cells, start, source, invalid, answers)
                    .map_err(|(row, reason)| (start + row, reason));
            }
        }
        Ok(())
    }
}

/// Looks up all rows into `answers`, one for each, in as many threads as asked for (0: one for
/// each core).
pub(super) fn lookup<S: AnswerSource>(
    rows: &[ColumnRows<'_>],
    source: &S,
    invalid: OnInvalid,
    threads: usize,
    answers: &mut [S::Answer],
) -> Result<(), String> {
    let count = answers.len();
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads.min(1024),
    };
    let share = count.div_ceil(threads).max(ROWS_PER_THREAD);
    // The pieces in their order: the columns, which may be of many small ones, and their rows, as few as a thread is worth.
    let (mut left, mut first) = (answers, 0);
    let mut pieces = Vec::new();
    for rows in rows {
        for start in (0..rows.len()).step_by(share) {
            let len = share.min(rows.len() - start);
            let (these, behind) = left.split_at_mut(len);
            left = behind;
            pieces.push((first, rows, start, these));
        }
        first += rows.len();
    }
    let count = if count <= share { 1 } else { pieces.len() };
    let threads = threads.min(count);
    let pieces = Mutex::new(pieces.into_iter());
    let error: Mutex<Option<(usize, String)>> = Mutex::default();
    threads::share(threads, || {
        loop {
            let piece = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((first, rows, start, these)) = piece else {
                return;
            };
            if let Err((row, reason)) = rows.lookup(start, source, invalid, these) {
                let mut error = error.lock().unwrap_or_else(PoisonError::into_inner);
                let found = (first + row, reason);
                *error = error.take().into_iter().chain([found]).min();
            }
        }
    });
    match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some((row, reason)) => Err(format!("row {row}: {reason}")),
    }
}

fn in_cells<S: AnswerSource>(
    cells: &ArrowCells<'_>,
    start: usize,
    source: &S,
    invalid: OnInvalid,
    answers: &mut [S::Answer],
) -> Result<(), (usize, String)> {
    // A cell that is no address is an error, or counts as null.
    let settle = |address: Result<_, CellError<'_>>| match address {
        Err(CellError::Text(_) | CellError::Length(_) | CellError::Number(_))
            if invalid == OnInvalid::Null =>
        {
            Ok(None)
        }
        Err(wrong) => Err(wrong.to_string()),
        Ok(address) => Ok(address),
    };
    if let Some(values) = cells.numbers() {
        let values = &values[start..start + answers.len()];
        source.batch::<u32>(values, answers);
        for (row, answer) in answers.iter_mut().enumerate() {
            let is_valid = cells.is_valid(start + row);
            *answer = if is_valid {
                *answer
            } else {
                S::Answer::default()
            };
        }
        return Ok(());
    }
    // Each word of a dictionary is looked up once, unless there are more words than rows. A word that is no address is an error
    // only in a row that has it.
    if let Some(words) = cells.words().filter(|words| words.len() <= answers.len()) {
        let none = S::Answer::default();
        let mut found = vec![none; words.len()];
        blocks(source, &mut found, |word| {
            Ok(in_cell(words.cell(word)).unwrap_or(None))
        })?;
        for (row, answer) in answers.iter_mut().enumerate() {
            let word = cells.index(start + row);
            let word = word.map_err(|wrong| (row, wrong.to_string()))?;
            *answer = word.map_or(none, |word| found[word]);
            if *answer == none {
                settle(in_cell(cells.cell(start + row))).map_err(|reason| (row, reason))?;
            }
        }
        return Ok(());
    }
    match cells.texts() {
        Some(text) => blocks(source, answers, |row| settle(in_cell(text(start + row)))),
        None => blocks(source, answers, |row| {
            settle(in_cell(cells.cell(start + row)))
        }),
    }
}

/// The address in a cell; `None` for null.
#[inline(always)]
fn in_cell<'a>(
    cell: Result<ArrowCell<'a>, CellError<'a>>,
) -> Result<Option<IpAddr>, CellError<'a>> {
    Ok(Some(match cell? {
        ArrowCell::Null => return Ok(None),
        ArrowCell::Number(bits) => IpAddr::V4(bits.into()),
        ArrowCell::Text(text) => address(text)?,
        ArrowCell::Packed(bytes) => packed(bytes)?,
    }))
}

/// Reads and looks up all rows, a block at a time; those that are no address have no match.
#[inline(always)]
fn blocks<S: AnswerSource>(
    source: &S,
    answers: &mut [S::Answer],
    read: impl Fn(usize) -> Result<Option<IpAddr>, String>,
) -> Result<(), (usize, String)> {
    let mut column = AddressColumn::new();
    for (block, answers) in answers.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let filled = column.fill(answers.len(), |row| read(first + row));
        filled.map_err(|(row, reason)| (first + row, reason))?;
        answers.fill(S::Answer::default());
        batch(column.ipv4(), source, answers);
        batch(column.ipv6(), source, answers);
    }
    Ok(())
}

/// Looks up the addresses of one family in a block.
fn batch<A: Family, S: AnswerSource>(
    addresses: &FamilyAddresses<A>,
    source: &S,
    answers: &mut [S::Answer],
) {
    let Ok(()) = addresses.answer(answers, |addresses, answers| {
        source.batch(addresses, answers);
        Ok::<_, Infallible>(())
    });
}

/// The address that a text means.
#[inline(always)]
pub(super) fn address(text: &[u8]) -> Result<IpAddr, CellError<'_>> {
    match popfib_formats::addresses::leading_ipv4(text) {
        Some((bits, read)) if read == text.len() => Ok(IpAddr::V4(bits.into())),
        _ => other_address(text),
    }
}

fn other_address(text: &[u8]) -> Result<IpAddr, CellError<'_>> {
    let address = str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    address.ok_or(CellError::Text(text))
}

#[inline(always)]
fn packed(bytes: &[u8]) -> Result<IpAddr, CellError<'_>> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else if let Ok(bytes) = <[u8; 16]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else {
        Err(CellError::Length(bytes.len()))
    }
}
