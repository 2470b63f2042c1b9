//! Numbers of values in, a dictionary-encoded column of Arrow out.
//!
//! The dictionary has the values that the rows have and no others: a batch of a thousand rows must not copy a million values.
//! A bit for each number says which these are. So they come in order, and the place of one among them is the count of bits
//! before it. A bit for each word of these bits says where to look, so that what a batch costs does not grow with the table.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int64Array, StringArray, UInt32Array,
    new_null_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::ArrowError;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::values::{PyValueKind, ValueSnapshot};
use crate::words::{ValueWord, ValueWords};

/// The column of `numbers`, 0 for null.
pub(super) fn encoded(
    py: Python<'_>,
    mut numbers: Vec<u32>,
    known: &ValueSnapshot,
) -> PyResult<DictionaryArray<UInt32Type>> {
    let error = |error: ArrowError| PyValueError::new_err(error.to_string());
    let mut used = UsedNumbers::new(&numbers, known.places.len());
    let object = |number: u32| {
        let object = known
            .places
            .get(number as usize - 1)
            .and_then(Option::as_ref);
        object.map(|object| object.bind(py)).ok_or_else(|| {
            PyRuntimeError::new_err("the table has forgotten a value that a route has")
        })
    };
    let read = known
        .words
        .as_deref()
        .unwrap_or(const { &ValueWords::none() });
    let is_none = |number: &u32| match read.get(*number) {
        ValueWord::Unknown => object(*number).is_ok_and(|object| object.is_none()),
        _ => false,
    };
    let nones: HashSet<u32> = used.numbers.iter().copied().filter(is_none).collect();
    if !nones.is_empty() {
        for number in numbers.iter_mut().filter(|number| nones.contains(number)) {
            *number = 0;
        }
        used = UsedNumbers::new(&numbers, known.places.len());
    }
    // A pass of its own, in which nothing waits for anything but memory.
    let words: Vec<_> = used.numbers.iter().map(|n| read.get(*n)).collect();
    let words = used.numbers.iter().copied().zip(words);
    let dictionary: ArrayRef = match known.kind {
        PyValueKind::Text => {
            let mut bytes = Vec::with_capacity(16 * used.numbers.len());
            let mut ends = Vec::with_capacity(used.numbers.len() + 1);
            ends.push(0);
            for (number, word) in words {
                match word {
                    ValueWord::Short(text, len) => {
                        let end = bytes.len() + usize::from(len);
                        bytes.extend_from_slice(&text);
                        bytes.truncate(end);
                    }
                    ValueWord::Long(len, start) => bytes.extend_from_slice(read.long(len, start)),
                    ValueWord::Int(_) | ValueWord::Unknown => {
                        let text = object(number)?.cast::<PyString>()?;
                        bytes.extend_from_slice(text.to_str()?.as_bytes());
                    }
                }
                let end = i32::try_from(bytes.len());
                ends.push(end.map_err(|_| value_error!("more than 2 GiB of values"))?);
            }
            let ends = OffsetBuffer::new(ends.into());
            Arc::new(StringArray::try_new(ends, bytes.into(), None).map_err(error)?)
        }
        PyValueKind::Number => {
            let int = |(number, word)| match word {
                ValueWord::Int(int) => Ok(int),
                _ => object(number)?.extract(),
            };
            let ints: PyResult<Vec<i64>> = words.map(int).collect();
            Arc::new(Int64Array::from(ints?))
        }
        PyValueKind::Truth => {
            let truths = used.numbers.iter().map(|number| object(*number)?.extract());
            let truths: PyResult<Vec<bool>> = truths.collect();
            Arc::new(BooleanArray::from(truths?))
        }
        PyValueKind::Wide => {
            return Err(value_error!(
                "a value does not fit into 64 bits, as Arrow's int64 has"
            ));
        }
        PyValueKind::Other | PyValueKind::None => {
            return Err(type_error!(
                "for output='arrow' all values are str, int or bool, one of these; output='indices' with \
                 Table.dictionary() serves others"
            ));
        }
    };
    // Rows that are null point to the first word, so there has to be one.
    let dictionary = match dictionary.is_empty() {
        true => new_null_array(dictionary.data_type(), 1),
        false => dictionary,
    };
    let nulls: NullBuffer = numbers.iter().map(|number| *number != 0).collect();
    let nulls = (nulls.null_count() > 0).then_some(nulls);
    for number in &mut numbers {
        *number = used.place(*number);
    }
    let keys = UInt32Array::new(numbers.into(), nulls);
    DictionaryArray::try_new(keys, dictionary).map_err(error)
}

/// Which numbers rows have, and the place of each among them.
pub(super) struct UsedNumbers {
    /// In order, without 0.
    numbers: Vec<u32>,
    bits: Vec<u64>,
    /// How many numbers come before each word of `bits`; 0 for a word without any.
    before: Vec<u32>,
}

impl UsedNumbers {
    /// The numbers of `rows`, which are at most `highest`.
    pub(super) fn new(rows: &[u32], highest: usize) -> Self {
        let mut bits = vec![0_u64; highest / 64 + 1];
        let mut words = vec![0_u64; bits.len() / 64 + 1];
        for number in rows {
            let word = *number as usize / 64;
            bits[word] |= 1 << (number % 64);
            words[word / 64] |= 1 << (word % 64);
        }
        bits[0] &= !1;
        let mut before = vec![0; bits.len()];
        let mut numbers = Vec::with_capacity(rows.len().min(highest));
        for (at, word) in words.iter().enumerate() {
            for at in ones(*word).map(|bit| 64 * at + bit as usize) {
                before[at] = numbers.len() as u32;
                numbers.extend(ones(bits[at]).map(|bit| 64 * at as u32 + bit));
            }
        }
        Self {
            numbers,
            bits,
            before,
        }
    }

    /// In order, without 0.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The place of a number that is there; 0 for 0.
    pub(super) fn place(&self, number: u32) -> u32 {
        let (at, bit) = (number as usize / 64, number % 64);
        self.before[at] + (self.bits[at] & ((1 << bit) - 1)).count_ones()
    }
}

/// The bits that are set, the lowest first.
fn ones(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}
