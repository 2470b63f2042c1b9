//! Rows of codes, packed: a row's codes in, one code of a row out.
//!
//! In each row a column has as many bits as its highest code needs. The columns follow each other from the lowest bit of the row's first
//! byte on, and a row has a whole number of bytes. After the last row there are bytes of 0, so that eight bytes may be read from any
//! code's first byte on: a code is one unaligned load, a shift and a mask.

/// How the number of a record leads to its codes.
#[derive(Clone, Debug)]
pub(super) enum RecordRows {
    /// There is one column, and the number of a record is its code.
    Codes,
    Packed(PackedRows),
}

impl RecordRows {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Codes => 0,
            Self::Packed(rows) => rows.bytes.len(),
        }
    }
}

/// Rows of codes, in bits.
#[derive(Clone, Debug)]
pub(super) struct PackedRows {
    bytes: Vec<u8>,
    /// The bytes of a row.
    stride: usize,
    fields: Vec<CodeField>,
    len: usize,
}

/// Where the codes of a column are in each row.
#[derive(Clone, Copy, Debug)]
struct CodeField {
    first_bit: usize,
    bits: u32,
}

/// Bytes after the last row.
pub(super) const PADDING: usize = 7;

impl PackedRows {
    /// How many bits the codes of a column have whose highest code is this one.
    pub(super) fn bits(highest: u32) -> u32 {
        u32::BITS - highest.leading_zeros()
    }

    /// `len` rows of `stride` bytes, of columns with these highest codes, and the padding.
    ///
    /// # Errors
    /// Why these are no such rows.
    pub(super) fn from_parts(
        bytes: &[u8],
        stride: usize,
        len: usize,
        highest: impl Iterator<Item = u32> + Clone,
    ) -> Result<Self, &'static str> {
        let mut rows = Self::new(highest.clone());
        let expected = stride
            .checked_mul(len)
            .and_then(|len| len.checked_add(PADDING));
        if rows.stride != stride || expected != Some(bytes.len()) {
            return Err("it has another length than its columns and records need");
        }
        rows.bytes = bytes.to_vec();
        rows.len = len;
        if bytes[stride * len..].iter().any(|&byte| byte != 0) {
            return Err("a byte after the last row is not 0");
        }
        let is_high = |(column, highest)| {
            // A column without values has no bits in any row.
            highest > 0
                && (0..len).any(|row| rows.code(row, column).is_none_or(|code| code > highest))
        };
        if highest.enumerate().any(is_high) {
            return Err("a code has no value");
        }
        let used: u32 = rows.fields.iter().map(|field| field.bits).sum();
        // Of the last byte of a row; of a row without codes, all of its bits.
        let unused = u64::MAX << (u64::from(used) - (stride as u64 - 1) * 8);
        let mut last_bytes = rows.bytes[..stride * len]
            .iter()
            .skip(stride - 1)
            .step_by(stride);
        match last_bytes.any(|&byte| u64::from(byte) & unused != 0) {
            true => Err("a row has bits after its last code"),
            false => Ok(rows),
        }
    }

    /// Keeps only these columns, in this order; the bytes of the rows stay as they are.
    pub(super) fn select(&mut self, columns: &[usize]) {
        self.fields = columns.iter().map(|&column| self.fields[column]).collect();
    }

    /// The bytes of all rows with the padding, and of one.
    pub(super) fn into_parts(self) -> (Vec<u8>, usize) {
        (self.bytes, self.stride)
    }

    /// No rows yet, of columns with these highest codes.
    pub(super) fn new(highest: impl IntoIterator<Item = u32>) -> Self {
        let mut first_bit = 0;
        let mut fields = Vec::new();
        for highest in highest {
            let bits = Self::bits(highest);
            fields.push(CodeField {
                // A code of no bits is read from the row's first byte: after its last one there may be none to read.
                first_bit: if bits == 0 { 0 } else { first_bit },
                bits,
            });
            first_bit += bits as usize;
        }
        Self {
            bytes: vec![0; PADDING],
            // An image says with a length of 0 that there are no rows.
            stride: first_bit.div_ceil(8).max(1),
            fields,
            len: 0,
        }
    }

    /// Adds a row; columns after the last code are absent.
    ///
    /// # Panics
    /// If a code is above the highest of its column.
    pub(super) fn push(&mut self, codes: impl IntoIterator<Item = u32>) {
        let start = self.stride * self.len;
        self.len += 1;
        self.bytes.resize(self.stride * self.len + PADDING, 0);
        for (field, code) in self.fields.iter().zip(codes) {
            assert!(u64::from(code) >> field.bits == 0, "a code of more bits");
            let bits = u64::from(code) << (field.first_bit % 8);
            let at = start + field.first_bit / 8;
            for (byte, bits) in self.bytes[at..at + 8].iter_mut().zip(bits.to_le_bytes()) {
                *byte |= bits;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The code in this row and column; `None` after the last row.
    #[inline]
    pub(super) fn code(&self, row: usize, column: usize) -> Option<u32> {
        let field = self.fields[column];
        if row >= self.len {
            return None;
        }
        let at = self.stride * row + field.first_bit / 8;
        let bytes = self.bytes[at..].first_chunk()?;
        let bits = u64::from_le_bytes(*bytes) >> (field.first_bit % 8);
        Some((bits & ((1 << field.bits) - 1)) as u32)
    }
}
