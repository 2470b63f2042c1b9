//! What the values of a table say, by number and in one piece, for columns that have a type.
//!
//! A batch of a few thousand rows has nearly as many different values, where a table has a million. Their objects lie
//! all over memory, and to read one is several misses of the cache, one after the other. So all objects are read once,
//! when columns have asked for a good part of them, and what most of them say stands in the place of their number: one
//! miss, of which many are under way at a time.
//!
//! What changes later is not read at once, because nothing may be asked of an object while the table is locked: such a
//! number is unknown here, and whoever needs it asks the object. Rejected: to read a changed value at the next column.
//! That is a list of changes beside the numbers, where a share of unknown ones costs nothing that can be measured.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// What a value says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// Neither text of UTF-8 nor an int of 64 bits, or not read: ask the object.
    Unknown,
    Int(i64),
    /// A text that fits: copied whole, and cut, it needs no copy of a length that only the text knows.
    Short([u8; 14], u8),
    /// The start of a text in `long`, and its length.
    Long(u32, usize),
}

const _: () = assert!(size_of::<Word>() == 16);

/// The values of a table as they were read; those that came later are unknown.
#[derive(Clone)]
pub(crate) struct Words {
    /// Of number `n` at `n - 1`.
    words: Vec<Word>,
    long: Vec<u8>,
    changes: usize,
}

impl Words {
    /// Those of a table that was not read.
    pub(crate) const fn none() -> Self {
        Self {
            words: Vec::new(),
            long: Vec::new(),
            changes: 0,
        }
    }

    /// Reads all values; `None` where there is no memory.
    pub(crate) fn read(py: Python<'_>, values: &[Option<Py<PyAny>>]) -> Option<Self> {
        let mut read = Self::none();
        read.words.try_reserve_exact(values.len()).ok()?;
        for value in values {
            let value = value.as_ref().map(|value| value.bind(py));
            let text = value.and_then(|value| value.cast::<PyString>().ok());
            let word = match (text, value) {
                (Some(text), _) => match text.to_str() {
                    Ok(text) => read.word_of(text.as_bytes())?,
                    Err(_) => Word::Unknown,
                },
                (None, Some(value)) => value.extract().map_or(Word::Unknown, Word::Int),
                (None, None) => Word::Unknown,
            };
            read.words.push(word);
        }
        read.long.shrink_to_fit();
        Some(read)
    }

    /// The word that says `text`; `None` where there is no memory.
    fn word_of(&mut self, text: &[u8]) -> Option<Word> {
        let mut short = [0; 14];
        if let Some(start) = short.get_mut(..text.len()) {
            start.copy_from_slice(text);
            return Some(Word::Short(short, text.len() as u8));
        }
        let Ok(len) = u32::try_from(text.len()) else {
            return Some(Word::Unknown);
        };
        let start = self.long.len();
        self.long.try_reserve(text.len()).ok()?;
        self.long.extend_from_slice(text);
        Some(Word::Long(len, start))
    }

    /// What the value of a number from 1 on says.
    #[inline(always)]
    pub(crate) fn get(&self, number: u32) -> Word {
        let word = self.words.get((number as usize).wrapping_sub(1));
        word.copied().unwrap_or(Word::Unknown)
    }

    /// The text of a [`Word::Long`] of these.
    pub(crate) fn long(&self, len: u32, start: usize) -> &[u8] {
        &self.long[start..][..len as usize]
    }

    /// Says that a number has another value. Returns whether most values are known still.
    pub(crate) fn forget(&mut self, number: u32) -> bool {
        if let Some(word) = self.words.get_mut((number as usize).wrapping_sub(1)) {
            *word = Word::Unknown;
        }
        self.changes += 1;
        self.changes <= self.words.len() / 8
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>() + self.long.capacity()
    }
}
