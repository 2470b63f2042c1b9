//! What the values of a table say, in the place of their numbers: objects in, text and integers without the interpreter out,
//! for columns that have a type.
//!
//! A batch of a few thousand rows has nearly as many different values, of the million that a table may have. Their objects
//! lie all over memory, and to read one takes several misses of the cache, one after the other. So all objects are read once,
//! when columns have asked for a good part of them, and what most of them say stands in the place of their number: one miss,
//! of which many are under way at a time.
//!
//! What changes later is not read at once, because nothing may be asked of an object while the table is locked: such a number
//! is unknown here, and whoever needs it asks the object. Rejected: to read a changed value at the next column. That needs a
//! list of changes beside the numbers, and a share of unknown ones costs nothing that can be measured.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// What a value says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueWord {
    /// Neither text of UTF-8 nor an int of 64 bits, or not read: ask the object.
    Unknown,
    Int(i64),
    /// A text that fits, and its length. All of the array is copied, then cut, since a copy of unknown length takes longer.
    Short([u8; 14], u8),
    /// The start of a text in `long`, and its length.
    Long(u32, usize),
}

const _: () = assert!(size_of::<ValueWord>() == 16);

/// The values of a table as they were read; those that came later are unknown.
#[derive(Clone)]
pub(crate) struct ValueWords {
    /// Of number `n` at `n - 1`.
    words: Vec<ValueWord>,
    long: Vec<u8>,
    changes: usize,
}

impl ValueWords {
    /// No words: for a table that has not been read.
    pub(crate) const fn none() -> Self {
        Self {
            words: Vec::new(),
            long: Vec::new(),
            changes: 0,
        }
    }

    /// Reads all values; `None` if there is no memory.
    pub(crate) fn read(py: Python<'_>, values: &[Option<Py<PyAny>>]) -> Option<Self> {
        let mut read = Self::none();
        read.words.try_reserve_exact(values.len()).ok()?;
        for value in values {
            let value = value.as_ref().map(|value| value.bind(py));
            let text = value.and_then(|value| value.cast::<PyString>().ok());
            let word = match (text, value) {
                (Some(text), _) => match text.to_str() {
                    Ok(text) => read.word_of(text.as_bytes())?,
                    Err(_) => ValueWord::Unknown,
                },
                (None, Some(value)) => value.extract().map_or(ValueWord::Unknown, ValueWord::Int),
                (None, None) => ValueWord::Unknown,
            };
            read.words.push(word);
        }
        read.long.shrink_to_fit();
        Some(read)
    }

    /// The word for `text`; `None` if there is no memory.
    fn word_of(&mut self, text: &[u8]) -> Option<ValueWord> {
        let mut short = [0; 14];
        if let Some(start) = short.get_mut(..text.len()) {
            start.copy_from_slice(text);
            return Some(ValueWord::Short(short, text.len() as u8));
        }
        let Ok(len) = u32::try_from(text.len()) else {
            return Some(ValueWord::Unknown);
        };
        let start = self.long.len();
        self.long.try_reserve(text.len()).ok()?;
        self.long.extend_from_slice(text);
        Some(ValueWord::Long(len, start))
    }

    /// What the value of a number from 1 on says.
    #[inline(always)]
    pub(crate) fn get(&self, number: u32) -> ValueWord {
        let word = self.words.get((number as usize).wrapping_sub(1));
        word.copied().unwrap_or(ValueWord::Unknown)
    }

    /// The text of a [`ValueWord::Long`] of these.
    pub(crate) fn long(&self, len: u32, start: usize) -> &[u8] {
        &self.long[start..][..len as usize]
    }

    /// Says that a number has another value. Returns whether most values are still known.
    pub(crate) fn forget(&mut self, number: u32) -> bool {
        if let Some(word) = self.words.get_mut((number as usize).wrapping_sub(1)) {
            *word = ValueWord::Unknown;
        }
        self.changes += 1;
        self.changes <= self.words.len() / 8
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<ValueWord>() + self.long.capacity()
    }
}
