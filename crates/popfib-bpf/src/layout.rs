//! What the words of a map are: rows, and the header in row 0, as `engines/bpf/popfib.bpf.h` has them.
//!
//! A *place* numbers a word; each row has [`ROW`] of them. A row is stored with [`TAIL`] words of the next one after its own, so that a
//! block is found in the row in which it begins. Each of a table's arrays begins at a row.
//!
//! | word of row 0 | what |
//! |---|---|
//! | 0, 1 | magic, version |
//! | 2, 3 | rows; generation: how many tables there have been, this one included |
//! | 4, 5 | values: place, number |
//! | 6 | what the values are, a [`ValueKind`] |
//! | 7, 8 | texts of the values: place of their ends, bytes of all. The texts begin at the row after the ends; no bytes: none |
//! | 9 | what is added to the numbers that IPv6 finds, if its values come after those of IPv4; 0 if both families share them |
//! | 16 + 16 * kind | of each [`FibKind`]: places of root and arena, bits of root, pages and values, mask of values, how many tables there are, whose roots lie side by side by their ids; words of the arena in use, and that it has; routes |

/// Words of a row.
pub(crate) const ROW: usize = 1024;

/// Words of the next row that a row repeats: a block has at most 66, and the last begins in the last word.
pub(crate) const TAIL: usize = 66;

/// Words of a row as it is stored.
pub(crate) const STORED: usize = ROW + TAIL;

pub(crate) const MAGIC: u32 = 0x4246_4f50;
pub(crate) const VERSION: u32 = 3;

/// A word of row 0 that is 0: the root of a Fib that is not there.
pub(crate) const NOTHING: u32 = ROW as u32 - 1;

/// Words of the header.
pub(crate) const ROWS: usize = 2;
pub(crate) const GENERATION: usize = 3;
pub(crate) const VALUES: usize = 4;
pub(crate) const VALUE_COUNT: usize = 5;
pub(crate) const VALUE_KIND: usize = 6;
pub(crate) const TEXT_ENDS: usize = 7;
pub(crate) const TEXT_BYTES: usize = 8;
pub(crate) const IPV6_VALUES: usize = 9;

/// Which Fib of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FibKind {
    /// Next hops of IPv4.
    Ipv4,
    /// Next hops of IPv6.
    Ipv6,
    /// Longest matches of IPv4: numbers of next hop and length, as [`popfib::longest`] has them.
    Ipv4Matches,
    /// Longest matches of IPv6.
    Ipv6Matches,
}

impl FibKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ipv4, Self::Ipv6, Self::Ipv4Matches, Self::Ipv6Matches];

    /// The first word of its part of the header.
    pub(crate) fn words(self) -> usize {
        16 + 16 * self as usize
    }

    /// Bits of an address.
    pub(crate) fn width(self) -> u8 {
        match self {
            Self::Ipv4 | Self::Ipv4Matches => 32,
            Self::Ipv6 | Self::Ipv6Matches => 128,
        }
    }
}

/// What the values of a table are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// Each its own number in the table, from 1 on.
    #[default]
    Numbers,
    /// The numbers that the values of the table are.
    Integers,
    /// Numbers that a file gives them.
    Ids,
}

/// Declares the header of a Fib by the names of its words, in their order, which so are listed once.
macro_rules! fib_header {
    ($($word:ident),+) => {
        /// The part of the header on a Fib, in the order of its words.
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct FibHeader {
            $(pub(crate) $word: u32,)+
        }

        impl FibHeader {
            pub(crate) fn to_words(self) -> [u32; 10] {
                [$(self.$word),+]
            }

            pub(crate) fn of_words(words: [u32; 10]) -> Self {
                let [$($word),+] = words;
                Self { $($word),+ }
            }
        }
    };
}
fib_header!(
    root, arena, root_bits, page_bits, value_bits, value_mask, tables, arena_len, arena_room,
    routes
);

impl FibHeader {
    /// Of a Fib that is not there.
    pub(crate) fn none() -> Self {
        Self {
            root: NOTHING,
            ..Self::default()
        }
    }
}

/// The words of a map, as they are stored.
pub(crate) trait Words {
    /// The word at this index; 0 beyond the end.
    fn stored(&self, index: usize) -> u32;

    /// The word at this place; 0 beyond the end.
    fn at(&self, place: u32) -> u32 {
        let place = place as usize;
        self.stored(place / ROW * STORED + place % ROW)
    }

    /// The header of a Fib.
    fn fib(&self, kind: FibKind) -> FibHeader {
        FibHeader::of_words(std::array::from_fn(|at| self.stored(kind.words() + at)))
    }
}
