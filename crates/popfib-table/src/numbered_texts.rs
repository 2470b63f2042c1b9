//! Texts by number, one after the other in one string: two allocations for all of them.

use popfib::NextHop;

/// Texts, numbered from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberedTexts {
    text: String,
    /// Where each ends in `text`. Not u32: text of more than 4 GiB is possible, and an overflow would have to be an error of every
    /// reader.
    ends: Vec<usize>,
}

impl NumberedTexts {
    /// The texts that end at these places in `text`.
    ///
    /// # Errors
    /// The index of the first of `ends` at which no text can end; their number if bytes follow the last.
    pub(crate) fn from_parts(text: String, ends: Vec<usize>) -> Result<Self, usize> {
        let mut last = 0;
        for (index, &end) in ends.iter().enumerate() {
            if end < last || !text.is_char_boundary(end) {
                return Err(index);
            }
            last = end;
        }
        match last == text.len() {
            true => Ok(Self { text, ends }),
            false => Err(ends.len()),
        }
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    #[inline]
    pub(crate) fn get(&self, number: NextHop) -> Option<&str> {
        let index = number.get() as usize - 1;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start..end)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of all of them.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let text = self.text.get(start..end).unwrap_or_default();
            start = end;
            text
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}
