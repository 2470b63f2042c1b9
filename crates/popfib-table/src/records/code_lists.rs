//! Lists of codes by number: all codes one after the other, and where each list ends.

/// Lists of codes, numbered from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeLists {
    codes: Vec<u32>,
    /// Where each ends in `codes`.
    ends: Vec<usize>,
}

impl CodeLists {
    /// The lists that end at these places in `codes`.
    ///
    /// # Errors
    /// The index of the first of `ends` that is before its list's beginning or after the last code.
    pub(crate) fn from_parts(codes: Vec<u32>, ends: Vec<usize>) -> Result<Self, usize> {
        let mut last = 0;
        for (index, &end) in ends.iter().enumerate() {
            if end < last || end > codes.len() {
                return Err(index);
            }
            last = end;
        }
        match last == codes.len() {
            true => Ok(Self { codes, ends }),
            false => Err(ends.len()),
        }
    }

    pub(crate) fn push(&mut self, codes: &[u32]) {
        self.codes.extend_from_slice(codes);
        self.ends.push(self.codes.len());
    }

    /// The list of a number; `None` if there is none. O(1).
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&[u32]> {
        let index = (number as usize).checked_sub(1)?;
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.codes[start..end])
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The codes of all lists, one after the other.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Where each list ends in [`codes`](Self::codes).
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (1..=self.len() as u32).filter_map(|number| self.get(number))
    }

    pub(crate) fn bytes(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<usize>();
        self.codes.capacity() * size_of::<u32>() + ends
    }
}
