//! Columns of answers: a column of records in, the bytes that ClickHouse's format Native has for it out.
//!
//! The bytes of each record are made once, before the first address comes; an answer copies those of its record.
//!
//! A Nullable column has a byte for each row, 1 for null, and then the values of all rows. A column of arrays has the end of
//! each array among all elements, and then the elements. A tuple is its columns, one after the other.

use std::str::FromStr;

use popfib::NextHop;
use popfib_formats::Escaped;
use popfib_program::failure::Failure;
use popfib_table::{Cell, ColumnType, Records, Scalar};

use super::native;
use crate::stream::answer_texts::{AnswerTextsBuilder, AnyAnswerTexts};
use crate::stream::output_buffer::OutputBuffer;

/// What a value is in ClickHouse, by the names of its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClickhouseType {
    String,
    UInt32,
    Int64,
    UInt64,
    Float64,
    Bool,
}

impl ClickhouseType {
    /// The bytes that stand for the value of a row that is null.
    fn null(self) -> &'static [u8] {
        match self {
            Self::String | Self::Bool => &[0],
            Self::UInt32 => &[0; 4],
            Self::Int64 | Self::UInt64 | Self::Float64 => &[0; 8],
        }
    }

    /// Writes a value; false if it is not of this type.
    fn write(self, scalar: Scalar<'_>, to: &mut Vec<u8>) -> bool {
        match (self, scalar) {
            (Self::String, Scalar::Text(text)) => native::text(text, to),
            (Self::String, scalar) => native::text(&scalar.to_string(), to),
            (Self::Float64, Scalar::Float(number, _)) => {
                to.extend_from_slice(&number.to_le_bytes())
            }
            (Self::Bool, Scalar::Boolean(truth)) => to.push(truth.into()),
            (Self::UInt32, scalar) => return number(scalar, u32::to_le_bytes, to),
            (Self::Int64, scalar) => return number(scalar, i64::to_le_bytes, to),
            (Self::UInt64, scalar) => return number(scalar, u64::to_le_bytes, to),
            _ => return false,
        }
        true
    }
}

/// Writes a value as an integer; false if it is none, or too large for the type.
fn number<T: FromStr + TryFrom<i128>, const N: usize>(
    scalar: Scalar<'_>,
    bytes: impl FnOnce(T) -> [u8; N],
    to: &mut Vec<u8>,
) -> bool {
    let number = match scalar {
        Scalar::Integer(number) => T::try_from(number).ok(),
        Scalar::Text(text) => text.parse().ok(),
        Scalar::Float(..) | Scalar::Boolean(_) => None,
    };
    let Some(number) = number else {
        return false;
    };
    to.extend_from_slice(&bytes(number));
    true
}

/// A column of answers, ready to be copied.
pub(super) struct ClickhouseColumn {
    pub(super) type_name: String,
    /// The bytes of a value, or of all elements of an array, by the number of the record; 0 is no match.
    texts: AnyAnswerTexts,
    lead: NullsOrLengths,
}

/// What comes before the values of a column, by the number of the record.
enum NullsOrLengths {
    Nulls(Vec<u8>),
    /// How many elements an array has.
    Lengths(Vec<u32>),
}

impl ClickhouseColumn {
    /// A column of records, its values of the type that they have.
    pub(super) fn typed(records: &Records, column: usize) -> Result<Self, Failure> {
        let of = &records.columns()[column];
        let value_type = match of.element_type() {
            ColumnType::Integer if of.is_unsigned() => ClickhouseType::UInt64,
            ColumnType::Integer => ClickhouseType::Int64,
            ColumnType::Float => ClickhouseType::Float64,
            ColumnType::Boolean => ClickhouseType::Bool,
            _ => ClickhouseType::String,
        };
        match of.element_type() == of.column_type() {
            true => Self::nullable(records, column, value_type),
            false => Ok(Self::arrays(records, column, value_type)),
        }
    }

    /// A column of records, its values of this type; lists become texts.
    pub(super) fn nullable(
        records: &Records,
        column: usize,
        value_type: ClickhouseType,
    ) -> Result<Self, Failure> {
        let type_name = format!("Nullable({value_type:?})");
        let mut texts = AnswerTextsBuilder::default();
        let mut nulls = Vec::with_capacity(records.len() + 1);
        for cell in cells(records, column) {
            nulls.push(cell.is_none().into());
            let mut is_right = true;
            texts.push(|to| match cell {
                None => to.extend_from_slice(value_type.null()),
                Some(Cell::Scalar(scalar)) => is_right = value_type.write(scalar, to),
                Some(list) => is_right = value_type.write(Scalar::Text(&list.to_string()), to),
            });
            if let (Some(cell), false) = (cell, is_right) {
                let text = cell.to_string();
                let value = Escaped(&text);
                return Err(
                    format!("the value '{value}' is no number of the type {type_name}").into(),
                );
            }
        }
        Ok(Self {
            type_name,
            texts: texts.into_answer_texts(),
            lead: NullsOrLengths::Nulls(nulls),
        })
    }

    /// A column of lists, as arrays; a list that is absent becomes an empty one, since ClickHouse has no array that is null.
    fn arrays(records: &Records, column: usize, value_type: ClickhouseType) -> Self {
        let mut texts = AnswerTextsBuilder::default();
        let mut lengths = Vec::with_capacity(records.len() + 1);
        for cell in cells(records, column) {
            let list = match cell {
                Some(Cell::List(list)) => Some(list),
                _ => None,
            };
            lengths.push(list.map_or(0, |list| list.len() as u32));
            texts.push(|to| {
                for scalar in list.into_iter().flat_map(|list| list.iter()) {
                    value_type.write(scalar, to);
                }
            });
        }
        Self {
            type_name: format!("Array({value_type:?})"),
            texts: texts.into_answer_texts(),
            lead: NullsOrLengths::Lengths(lengths),
        }
    }

    /// Writes the values of these records, 0 for none. `bytes` is memory that calls share.
    pub(super) fn write(&self, numbers: &[u32], bytes: &mut Vec<u8>, out: &mut OutputBuffer) {
        bytes.clear();
        match &self.lead {
            NullsOrLengths::Nulls(nulls) => {
                bytes.extend(numbers.iter().map(|&number| nulls[number as usize]));
            }
            NullsOrLengths::Lengths(lengths) => {
                let mut end = 0;
                for &number in numbers {
                    end += u64::from(lengths[number as usize]);
                    bytes.extend_from_slice(&end.to_le_bytes());
                }
            }
        }
        out.put(bytes);
        self.texts.write_all(numbers, out);
    }
}

/// The value of "no match", which is none, and then that of each record.
fn cells(records: &Records, column: usize) -> impl Iterator<Item = Option<Cell<'_>>> {
    let numbers = 0..=records.len() as u32;
    numbers.map(move |number| records.cell(NextHop::new(number)?, column))
}

/// The type of a tuple of columns, each with its name.
pub(super) fn tuple<'n>(columns: impl Iterator<Item = (&'n str, &'n ClickhouseColumn)>) -> String {
    let elements = columns.map(|(name, column)| {
        let name = name.replace('\\', "\\\\").replace('`', "\\`");
        format!("`{name}` {}", column.type_name)
    });
    let elements: Vec<_> = elements.collect();
    format!("Tuple({})", elements.join(", "))
}
