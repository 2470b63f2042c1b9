//! The options that a Fib is compiled with.

use super::{Size, arrays};

/// How a [`Fib`](crate::Fib) is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    direct_bits: Option<u8>,
    aggregation: bool,
    size: Size,
}

impl Default for Options {
    /// Direct bits that follow the number of routes; route aggregation; the smallest size.
    fn default() -> Self {
        Self {
            direct_bits: None,
            aggregation: true,
            size: Size::default(),
        }
    }
}

impl Options {
    /// The most direct bits there can be: a root table of 2^24 entries.
    pub const MAX_DIRECT_BITS: u8 = arrays::MAX_DIRECT_BITS;

    /// How many leading bits tables resolve (the paper's s, section 3.4): 0 to
    /// 24, at most the key width. The table takes `4 * 2^s` bytes; for keys of
    /// more than 32 bits the part after the first 16 bits exists only where
    /// there are routes.
    ///
    /// `None` follows the number of routes: 0, from 16 routes on 6, from 256 on 12, and from 65,536
    /// on 18; for keys of more than 32 bits from 16,384 on 24. [`Size::Balanced`] has these last from
    /// 1,000 routes on.
    #[must_use]
    pub fn direct_bits(mut self, direct_bits: Option<u8>) -> Self {
        self.direct_bits = direct_bits;
        self
    }

    /// Whether subtrees in which all addresses have one next hop become a
    /// single leaf (the paper's route aggregation, section 3). Answers are the
    /// same either way.
    #[must_use]
    pub fn aggregation(mut self, aggregation: bool) -> Self {
        self.aggregation = aggregation;
        self
    }

    /// Whether a compiled table may take more memory for a higher rate. Answers are the same either way.
    #[must_use]
    pub fn size(mut self, size: Size) -> Self {
        self.size = size;
        self
    }

    /// Whether a table of these may be flat.
    pub(crate) fn is_balanced(&self) -> bool {
        self.size == Size::Balanced
    }

    /// The requested direct bits; `None` if they follow the number of routes.
    pub fn asked_direct_bits(&self) -> Option<u8> {
        self.direct_bits
    }

    /// Whether route aggregation is on.
    pub fn is_aggregating(&self) -> bool {
        self.aggregation
    }
}
