//! Rows of addresses to numbers of values: no Python in here.
//!
//! Rows are looked up in place where they lie as the kernels want them, else a
//! block at a time: each block is split by family into two arrays on the stack,
//! and the answers are put back in their places.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryViewArray, FixedSizeBinaryArray, GenericBinaryArray};
use arrow_array::{GenericStringArray, OffsetSizeTrait, StringViewArray};
use popfib::{Address, Fib, NextHop, Rib};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::keys;

/// Rows that are gathered before they are looked up.
const BLOCK: usize = 256;

/// Fewer rows than this are not worth a thread.
const ROWS_PER_THREAD: usize = 1 << 14;

/// What to do with a row that is no address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Invalid {
    Raise,
    Null,
}

impl Invalid {
    pub(super) fn by_name(name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            _ => Err(PyValueError::new_err(format!(
                "invalid is 'raise' or 'null', not {}",
                keys::quote(name)
            ))),
        }
    }
}

/// Where one family is looked up.
#[derive(Clone, Copy)]
pub(super) enum Lpm<'a, A: Address> {
    Fib(&'a Fib<A, u32>),
    Rib(&'a Rib<A>),
}

impl<'a, A: Address> Lpm<'a, A> {
    /// The Fib if there is one, else the Rib.
    pub(super) fn of(fib: Option<&'a Arc<Fib<A, u32>>>, rib: &'a Rib<A>) -> Self {
        fib.map_or(Self::Rib(rib), |fib| Self::Fib(fib))
    }

    fn batch(&self, addresses: &[A], numbers: &mut [u32]) {
        match self {
            Self::Fib(fib) => fib.lookup_batch(addresses, numbers),
            Self::Rib(rib) => {
                for (number, address) in numbers.iter_mut().zip(addresses) {
                    *number = rib.lookup(*address).map_or(0, NextHop::get);
                }
            }
        }
    }

    fn batch_be(&self, addresses: &[A::Bytes], numbers: &mut [u32]) {
        match self {
            Self::Fib(fib) => fib.lookup_batch_be(addresses, numbers),
            Self::Rib(rib) => {
                for (number, address) in numbers.iter_mut().zip(addresses) {
                    let address = A::from_be_bytes(*address);
                    *number = rib.lookup(address).map_or(0, NextHop::get);
                }
            }
        }
    }
}

/// Where both families are looked up.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) ipv4: Lpm<'a, u32>,
    pub(super) ipv6: Lpm<'a, u128>,
}

/// A run of rows of one kind.
pub(super) enum Rows<'a> {
    /// IPv4 addresses as numbers.
    Numbers(&'a [u32]),
    /// IPv4 addresses in network order.
    Bytes4(&'a [[u8; 4]]),
    /// IPv6 addresses in network order.
    Bytes16(&'a [[u8; 16]]),
    /// Addresses read from Python objects before.
    Addresses(&'a [Option<IpAddr>]),
    /// A column of Arrow, of a type that `input` let pass.
    Arrow(&'a dyn Array),
}

impl Rows<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(rows) => rows.len(),
            Self::Bytes4(rows) => rows.len(),
            Self::Bytes16(rows) => rows.len(),
            Self::Addresses(rows) => rows.len(),
            Self::Arrow(rows) => rows.len(),
        }
    }

    /// Looks up the rows from `start` on; `Err` has the row and what is wrong.
    fn lookup(
        &self,
        start: usize,
        source: &Source<'_>,
        invalid: Invalid,
        numbers: &mut [u32],
    ) -> Result<(), (usize, String)> {
        let end = start + numbers.len();
        match self {
            Self::Numbers(rows) => source.ipv4.batch(&rows[start..end], numbers),
            Self::Bytes4(rows) => source.ipv4.batch_be(&rows[start..end], numbers),
            Self::Bytes16(rows) => source.ipv6.batch_be(&rows[start..end], numbers),
            Self::Addresses(rows) => {
                let rows = &rows[start..end];
                return blocks(source, numbers, Invalid::Raise, |row| Ok(rows[row]))
                    .map_err(|(row, reason)| (start + row, reason));
            }
            Self::Arrow(rows) => {
                let rows = rows.slice(start, numbers.len());
                return arrow(&*rows, source, invalid, numbers)
                    .map_err(|(row, reason)| (start + row, reason));
            }
        }
        Ok(())
    }
}

/// Looks up all rows into `numbers`, one for each, in as many threads as asked for (0: one for
/// each core).
pub(super) fn lookup(
    rows: &[Rows<'_>],
    source: &Source<'_>,
    invalid: Invalid,
    threads: usize,
    numbers: &mut [u32],
) -> Result<(), String> {
    let count = numbers.len();
    let threads = match threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads.min(1024),
    };
    let share = count.div_ceil(threads).max(ROWS_PER_THREAD);
    let mut left = numbers;
    let mut first = 0;
    let mut errors: Vec<(usize, String)> = Vec::new();
    let mut collect = |first: usize, result: Result<(), (usize, String)>| {
        if let Err((row, reason)) = result {
            errors.push((first + row, reason));
        }
    };
    if count <= share {
        for rows in rows {
            let (these, behind) = left.split_at_mut(rows.len());
            left = behind;
            collect(first, rows.lookup(0, source, invalid, these));
            first += rows.len();
        }
    } else {
        thread::scope(|scope| {
            let mut running = Vec::new();
            for rows in rows {
                let mut start = 0;
                while start < rows.len() {
                    let len = share.min(rows.len() - start);
                    let (these, behind) = std::mem::take(&mut left).split_at_mut(len);
                    left = behind;
                    let run = move || rows.lookup(start, source, invalid, these);
                    running.push((first, scope.spawn(run)));
                    // Columns of many small pieces must not start a thread for each at once.
                    if running.len() >= threads {
                        let (first, run) = running.remove(0);
                        collect(first, join(run));
                    }
                    start += len;
                }
                first += rows.len();
            }
            for (first, run) in running {
                collect(first, join(run));
            }
        });
    }
    match errors.into_iter().min() {
        None => Ok(()),
        Some((row, reason)) => Err(format!("row {row}: {reason}")),
    }
}

fn join<T>(run: thread::ScopedJoinHandle<'_, T>) -> T {
    match run.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn arrow(
    rows: &dyn Array,
    source: &Source<'_>,
    invalid: Invalid,
    numbers: &mut [u32],
) -> Result<(), (usize, String)> {
    use arrow_schema::DataType as Type;
    match rows.data_type() {
        Type::Null => {
            numbers.fill(0);
            Ok(())
        }
        Type::UInt32 => {
            let values = rows
                .as_primitive::<arrow_array::types::UInt32Type>()
                .values();
            source.ipv4.batch(values, numbers);
            if let Some(nulls) = rows.nulls() {
                for (number, is_valid) in numbers.iter_mut().zip(nulls.iter()) {
                    *number *= u32::from(is_valid);
                }
            }
            Ok(())
        }
        Type::Utf8 => texts(rows.as_string::<i32>(), source, invalid, numbers),
        Type::LargeUtf8 => texts(rows.as_string::<i64>(), source, invalid, numbers),
        Type::Utf8View => {
            let rows: &StringViewArray = rows.as_string_view();
            valued(rows, source, invalid, numbers, |row| {
                address(rows.value(row))
            })
        }
        Type::Binary => packed(rows.as_binary::<i32>(), source, invalid, numbers),
        Type::LargeBinary => packed(rows.as_binary::<i64>(), source, invalid, numbers),
        Type::BinaryView => {
            let rows: &BinaryViewArray = rows.as_binary_view();
            valued(rows, source, invalid, numbers, |row| {
                unpack(rows.value(row))
            })
        }
        Type::FixedSizeBinary(_) => {
            let rows: &FixedSizeBinaryArray = rows.as_fixed_size_binary();
            valued(rows, source, invalid, numbers, |row| {
                unpack(rows.value(row))
            })
        }
        Type::Dictionary(..) => {
            let rows = rows.as_any_dictionary();
            // Every word is looked up once, used or not: those that no row uses may be no
            // address, so they are never an error by themselves.
            let words = rows.values();
            let mut answers = vec![0; words.len()];
            arrow(words, source, Invalid::Null, &mut answers)?;
            let mut is_sound = vec![false; words.len()];
            for (row, key) in rows.normalized_keys().into_iter().enumerate() {
                if rows.keys().is_null(row) {
                    numbers[row] = 0;
                    continue;
                }
                numbers[row] = answers[key];
                if invalid == Invalid::Raise && answers[key] == 0 && !is_sound[key] {
                    let word = words.slice(key, 1);
                    arrow(&*word, source, invalid, &mut [0])
                        .map_err(|(_, reason)| (row, reason))?;
                    is_sound[key] = true;
                }
            }
            Ok(())
        }
        other => Err((0, format!("a column of {other} holds no addresses"))),
    }
}

fn texts<O: OffsetSizeTrait>(
    rows: &GenericStringArray<O>,
    source: &Source<'_>,
    invalid: Invalid,
    numbers: &mut [u32],
) -> Result<(), (usize, String)> {
    valued(rows, source, invalid, numbers, |row| {
        address(rows.value(row))
    })
}

fn packed<O: OffsetSizeTrait>(
    rows: &GenericBinaryArray<O>,
    source: &Source<'_>,
    invalid: Invalid,
    numbers: &mut [u32],
) -> Result<(), (usize, String)> {
    valued(rows, source, invalid, numbers, |row| {
        unpack(rows.value(row))
    })
}

/// Rows whose values `read` makes addresses of, where they are not null.
#[inline(always)]
fn valued(
    rows: &dyn Array,
    source: &Source<'_>,
    invalid: Invalid,
    numbers: &mut [u32],
    read: impl Fn(usize) -> Result<IpAddr, String>,
) -> Result<(), (usize, String)> {
    match rows.nulls() {
        None => blocks(source, numbers, invalid, |row| read(row).map(Some)),
        Some(nulls) => blocks(source, numbers, invalid, |row| match nulls.is_valid(row) {
            true => read(row).map(Some),
            false => Ok(None),
        }),
    }
}

/// Reads and looks up all rows, a block at a time; 0 for those that are no address.
#[inline(always)]
fn blocks(
    source: &Source<'_>,
    numbers: &mut [u32],
    invalid: Invalid,
    read: impl Fn(usize) -> Result<Option<IpAddr>, String>,
) -> Result<(), (usize, String)> {
    let mut ipv4 = Part::<u32>::new();
    let mut ipv6 = Part::<u128>::new();
    for (block, numbers) in numbers.chunks_mut(BLOCK).enumerate() {
        numbers.fill(0);
        for place in 0..numbers.len() {
            let row = block * BLOCK + place;
            match read(row) {
                Ok(Some(IpAddr::V4(address))) => ipv4.push(address.into(), place),
                Ok(Some(IpAddr::V6(address))) => ipv6.push(address.into(), place),
                Ok(None) => {}
                Err(_) if invalid == Invalid::Null => {}
                Err(reason) => return Err((row, reason)),
            }
        }
        ipv4.lookup(source.ipv4, numbers);
        ipv6.lookup(source.ipv6, numbers);
    }
    Ok(())
}

/// The addresses of one family in a block, and their places.
struct Part<A> {
    addresses: [A; BLOCK],
    places: [u8; BLOCK],
    numbers: [u32; BLOCK],
    len: usize,
}

impl<A: Address> Part<A> {
    fn new() -> Self {
        Self {
            addresses: [A::MIN; BLOCK],
            places: [0; BLOCK],
            numbers: [0; BLOCK],
            len: 0,
        }
    }

    #[inline(always)]
    fn push(&mut self, address: A, place: usize) {
        self.addresses[self.len] = address;
        self.places[self.len] = place as u8;
        self.len += 1;
    }

    fn lookup(&mut self, lpm: Lpm<'_, A>, numbers: &mut [u32]) {
        let answers = &mut self.numbers[..self.len];
        lpm.batch(&self.addresses[..self.len], answers);
        for (answer, place) in answers.iter().zip(&self.places) {
            numbers[usize::from(*place)] = *answer;
        }
        self.len = 0;
    }
}

/// The address that a text means.
#[inline(always)]
pub(super) fn address(text: &str) -> Result<IpAddr, String> {
    match popfib_formats::ipv4_address(text.as_bytes()) {
        Some((bits, read)) if read == text.len() => Ok(IpAddr::V4(bits.into())),
        _ => other_address(text),
    }
}

fn other_address(text: &str) -> Result<IpAddr, String> {
    text.parse()
        .map_err(|_| format!("{}: not an address", keys::quote(text)))
}

#[inline(always)]
fn unpack(bytes: &[u8]) -> Result<IpAddr, String> {
    if let Ok(bytes) = <[u8; 4]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else if let Ok(bytes) = <[u8; 16]>::try_from(bytes) {
        Ok(IpAddr::from(bytes))
    } else {
        let len = bytes.len();
        Err(format!("packed addresses have 4 or 16 bytes, not {len}"))
    }
}
