//! Texts of answers, made before the first address comes: the number of an answer in, its text out.
//!
//! Each number has a slot. Slots may share a cache line, but none lies across two, so that an answer costs one line of memory and
//! one copy of fixed length. The last byte of a slot is the length of its text. The few texts that are longer than a slot lie
//! elsewhere, and their slot says where.

use std::hint::black_box;

use super::output_buffer::OutputBuffer;

/// The number of answers whose texts are fetched together: more cache misses than a core has under way at a time.
pub(super) const AHEAD: usize = 64;

#[repr(align(64))]
#[derive(Clone)]
struct CacheLine([u8; 64]);

/// Texts by number, in slots of `SIZE` bytes: 16, 32 or 64.
pub(crate) struct AnswerTexts<const SIZE: usize> {
    lines: Vec<CacheLine>,
    count: usize,
    long: Vec<Vec<u8>>,
}

/// The length of a text that is too long for its slot.
const LONG: u8 = u8::MAX;

impl<const SIZE: usize> AnswerTexts<SIZE> {
    const PER_LINE: usize = 64 / SIZE;

    fn new(texts: &AnswerTextsBuilder) -> Self {
        let mut written = Self {
            lines: vec![CacheLine([0; 64]); texts.ends.len().div_ceil(Self::PER_LINE)],
            count: texts.ends.len(),
            long: Vec::new(),
        };
        let mut start = 0;
        for (number, &end) in texts.ends.iter().enumerate() {
            let text = &texts.bytes[start..end];
            start = end;
            let mut slot = [0; SIZE];
            if text.len() < SIZE {
                slot[..text.len()].copy_from_slice(text);
                slot[SIZE - 1] = text.len() as u8;
            } else {
                slot[..8].copy_from_slice(&(written.long.len() as u64).to_le_bytes());
                slot[SIZE - 1] = LONG;
                written.long.push(text.to_vec());
            }
            let line = &mut written.lines[number / Self::PER_LINE].0;
            line.as_chunks_mut().0[number % Self::PER_LINE] = slot;
        }
        written
    }

    #[inline(always)]
    fn slot(&self, number: u32) -> &[u8; SIZE] {
        let number = number as usize;
        debug_assert!(number < self.count);
        let line = &self.lines[number / Self::PER_LINE].0;
        &line.as_chunks().0[number % Self::PER_LINE]
    }

    /// Reads the slots of all `numbers`, so that they are in the cache when they are written. These reads do not wait for each
    /// other; those of writing would, since each begins where the text before it ends.
    #[inline]
    pub(super) fn touch(&self, numbers: impl Iterator<Item = u32>) {
        let seen = numbers.fold(0, |seen, number| seen ^ self.slot(number)[SIZE - 1]);
        black_box(seen);
    }

    fn write_all(&self, numbers: &[u32], out: &mut OutputBuffer) {
        for numbers in numbers.chunks(AHEAD) {
            self.touch(numbers.iter().copied());
            for &number in numbers {
                self.write(number, out);
            }
        }
    }

    /// Writes the text of `number`.
    #[inline(always)]
    pub(super) fn write(&self, number: u32, out: &mut OutputBuffer) {
        let slot = self.slot(number);
        let len = slot[SIZE - 1];
        if len == LONG {
            let [index, ..] = slot.as_chunks().0 else {
                unreachable!("a slot has 8 bytes")
            };
            out.put(&self.long[u64::from_le_bytes(*index) as usize]);
        } else {
            out.put_padded(slot, usize::from(len));
        }
    }
}

/// Collects texts one after the other, and puts them into slots when all are there and their lengths are known.
#[derive(Default)]
pub(crate) struct AnswerTextsBuilder {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl AnswerTextsBuilder {
    /// Adds the text of the next number, from 0, as `write` makes it.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// How many bytes were added.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Puts the texts into slots: the smallest that nearly all of them fit into.
    pub(crate) fn into_answer_texts(self) -> AnyAnswerTexts {
        let mut start = 0;
        let mut fitting = [0; 2];
        for &end in &self.ends {
            for (size, count) in [16, 32].into_iter().zip(&mut fitting) {
                *count += usize::from(end - start < size);
            }
            start = end;
        }
        let enough = self.ends.len() - self.ends.len() / 100;
        match fitting {
            [count, _] if count >= enough => AnyAnswerTexts::Short(AnswerTexts::new(&self)),
            [_, count] if count >= enough => AnyAnswerTexts::Medium(AnswerTexts::new(&self)),
            _ => AnyAnswerTexts::Long(AnswerTexts::new(&self)),
        }
    }
}

/// Texts in slots of any of the sizes.
pub(crate) enum AnyAnswerTexts {
    Short(AnswerTexts<16>),
    Medium(AnswerTexts<32>),
    Long(AnswerTexts<64>),
}

impl AnyAnswerTexts {
    /// As [`AnswerTexts::touch`].
    #[inline]
    pub(super) fn touch(&self, numbers: impl Iterator<Item = u32>) {
        match self {
            Self::Short(written) => written.touch(numbers),
            Self::Medium(written) => written.touch(numbers),
            Self::Long(written) => written.touch(numbers),
        }
    }

    /// As [`AnswerTexts::write`].
    #[inline]
    pub(super) fn write(&self, number: u32, out: &mut OutputBuffer) {
        match self {
            Self::Short(written) => written.write(number, out),
            Self::Medium(written) => written.write(number, out),
            Self::Long(written) => written.write(number, out),
        }
    }

    /// Writes the texts of all `numbers`, one after the other.
    pub(crate) fn write_all(&self, numbers: &[u32], out: &mut OutputBuffer) {
        match self {
            Self::Short(written) => written.write_all(numbers, out),
            Self::Medium(written) => written.write_all(numbers, out),
            Self::Long(written) => written.write_all(numbers, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for typical in [3, 15, 16, 31, 32, 63, 64, 300] {
            let texts: Vec<Vec<u8>> = (0..1000usize)
                .map(|n| {
                    let len = if n % 200 == 0 { n } else { typical - n % 3 };
                    (0..len).map(|i| (n + i) as u8).collect()
                })
                .collect();
            let mut made = AnswerTextsBuilder::default();
            for text in &texts {
                made.push(|to| to.extend_from_slice(text));
            }
            let numbers: Vec<u32> = (0..1000).rev().chain([0, 999, 5]).collect();
            let mut out = OutputBuffer::default();
            let size = match made.into_answer_texts() {
                AnyAnswerTexts::Short(written) => (write(&written, &numbers, &mut out), 16),
                AnyAnswerTexts::Medium(written) => (write(&written, &numbers, &mut out), 32),
                AnyAnswerTexts::Long(written) => (write(&written, &numbers, &mut out), 64),
            }
            .1;
            let expected = if typical < 16 {
                16
            } else if typical < 32 {
                32
            } else {
                64
            };
            assert_eq!(size, expected, "{typical}");
            let all: Vec<u8> = numbers
                .iter()
                .flat_map(|&n| texts[n as usize].clone())
                .collect();
            assert!(out.bytes() == all, "{typical}");
        }
    }

    fn write<const SIZE: usize>(
        written: &AnswerTexts<SIZE>,
        numbers: &[u32],
        out: &mut OutputBuffer,
    ) {
        written.touch(numbers.iter().copied());
        for &number in numbers {
            written.write(number, out);
        }
    }
}
