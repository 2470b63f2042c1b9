//! [`Column`]: a column's name, its type, and its different values by their codes, from 1 on. A code in, a [`Cell`] out.

use super::cell::{Cell, ListCell};
use super::code_lists::CodeLists;
use super::scalars::{Scalar, ScalarDictionary};

/// The type of a column's values. Any value may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Texts.
    Text,
    /// Numbers of 64 bits, all of them signed or none.
    Integer,
    /// Numbers of 64 bits that may have a fraction.
    Float,
    /// True or false.
    Boolean,
    /// Lists of texts. Lists of floats and of booleans have no type of their own and are lists of texts, too.
    Texts,
    /// Lists of integers.
    Integers,
}

impl ColumnType {
    /// Its name: `text`, `integer`, `float`, `boolean`, `list of texts`, `list of integers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Texts => "list of texts",
            Self::Integers => "list of integers",
        }
    }
}

/// The type that all values of a column had in a MaxMind database, if [`ColumnType`] does not say it: so they can be written as they
/// were. The numbers are those of the database's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MaxMindType {
    /// Bytes; here they are texts of hexadecimal digits.
    Bytes = 4,
    /// Integers of 16 bits, unsigned.
    Uint16 = 5,
    /// Of 32 bits, unsigned.
    Uint32 = 6,
    /// Of 32 bits, signed.
    Int32 = 8,
    /// Of 64 bits, unsigned.
    Uint64 = 9,
    /// Of 128 bits, unsigned; here they are texts.
    Uint128 = 10,
    /// Floats of 32 bits.
    Float = 15,
}

impl MaxMindType {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Bytes,
        Self::Uint16,
        Self::Uint32,
        Self::Int32,
        Self::Uint64,
        Self::Uint128,
        Self::Float,
    ];
}

/// A column of records: its name, its type, and its different values.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    pub(super) maxmind_type: Option<MaxMindType>,
    pub(super) values: ScalarDictionary,
    /// The lists, in a column of lists: each is a sequence of codes of `values`.
    pub(super) lists: Option<CodeLists>,
}

impl Column {
    pub(super) fn new(name: String, values: ScalarDictionary, lists: Option<CodeLists>) -> Self {
        Self {
            name,
            maxmind_type: None,
            values,
            lists,
        }
    }

    /// The column of prefix lengths called `name`: code 1 is the length 0.
    pub(crate) fn of_lengths(name: &str) -> Self {
        let lengths = (0..=128).collect();
        Self::new(name.to_owned(), ScalarDictionary::Signed(lengths), None)
    }

    /// The same column with another name.
    pub(crate) fn renamed(&self, name: String) -> Self {
        Self {
            name,
            ..self.clone()
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    pub fn column_type(&self) -> ColumnType {
        match self.element_type() {
            scalar if self.lists.is_none() => scalar,
            ColumnType::Integer => ColumnType::Integers,
            _ => ColumnType::Texts,
        }
    }

    /// The type of the elements in a column of lists, which in an image may be any but a list; in other columns the type of the values.
    pub fn element_type(&self) -> ColumnType {
        match &self.values {
            ScalarDictionary::Texts(_) | ScalarDictionary::Names(_) => ColumnType::Text,
            ScalarDictionary::Signed(_) | ScalarDictionary::Unsigned(_) => ColumnType::Integer,
            ScalarDictionary::Floats(..) => ColumnType::Float,
            ScalarDictionary::Booleans(_) => ColumnType::Boolean,
        }
    }

    /// Whether its integers are unsigned: none is negative, and one may be higher than an `i64` holds. All others are `i64`.
    pub fn is_unsigned(&self) -> bool {
        matches!(self.values, ScalarDictionary::Unsigned(_))
    }

    /// The type that its values had in a MaxMind database, if they all had one of these.
    pub fn maxmind_type(&self) -> Option<MaxMindType> {
        self.maxmind_type
    }

    /// How many different values it has. Their codes are the numbers from 1 to this one.
    pub fn len(&self) -> usize {
        match &self.lists {
            None => self.values.len(),
            Some(lists) => lists.len(),
        }
    }

    /// Whether it has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its only value is the empty text, as in the table of a value-less list. Python and JavaScript answer true in place of that
    /// text: it is false in these languages, and `if table.get(address)` would miss every match.
    pub fn is_of_list(&self) -> bool {
        self.len() == 1 && matches!(self.value(1), Some(Cell::Scalar(Scalar::Text(""))))
    }

    /// The value of this code; `None` if there is none. O(1).
    #[inline]
    pub fn value(&self, code: u32) -> Option<Cell<'_>> {
        match &self.lists {
            None => self.values.get(code).map(Cell::Scalar),
            Some(lists) => Some(Cell::List(ListCell {
                codes: lists.get(code)?,
                values: &self.values,
            })),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let lists = self.lists.as_ref().map_or(0, CodeLists::bytes);
        self.values.bytes() + lists
    }
}
