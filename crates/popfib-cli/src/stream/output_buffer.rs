//! The bytes of the output: pieces in, all of them one after the other out.
//!
//! There is always room after the last byte, so that a short piece is copied with a fixed length and without a look at its own:
//! such a copy is a few moves and no call.

/// How many bytes there is room for after the last one.
const SLACK: usize = 64;

/// A buffer that grows with what is put into it, and is emptied as a whole.
pub(crate) struct OutputBuffer {
    buffer: Vec<u8>,
    len: usize,
}

impl Default for OutputBuffer {
    fn default() -> Self {
        Self {
            buffer: vec![0; 1 << 20],
            len: 0,
        }
    }
}

impl OutputBuffer {
    /// What was put here since the last [`clear`](Self::clear).
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Removes the byte at `at`.
    pub(crate) fn remove(&mut self, at: usize) {
        self.buffer.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }

    /// Appends the first `len` bytes of `piece`. All of it is copied, since the compiler knows that length.
    #[inline(always)]
    pub(crate) fn put_padded<const N: usize>(&mut self, piece: &[u8; N], len: usize) {
        const { assert!(N <= SLACK) };
        self.room()[..N].copy_from_slice(piece);
        self.len += len;
    }

    /// The next 64 bytes, to be filled; [`fill`](Self::fill) says how many were.
    #[inline(always)]
    pub(crate) fn room(&mut self) -> &mut [u8; SLACK] {
        if self.buffer.len() < self.len + SLACK {
            self.grow(SLACK);
        }
        self.buffer[self.len..]
            .first_chunk_mut()
            .expect("it has grown")
    }

    #[inline(always)]
    pub(crate) fn fill(&mut self, len: usize) {
        self.len += len;
    }

    /// Appends `bytes`.
    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        if self.buffer.len() < self.len + bytes.len() + SLACK {
            self.grow(bytes.len() + SLACK);
        }
        self.buffer[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let len = (self.buffer.len() + more).next_power_of_two();
        self.buffer.resize(len, 0);
    }
}
