//! A column of records in; its values by their codes, encoded as plain pages have them, and its type out.

use std::collections::HashMap;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowSchemaConverter;
use parquet::errors::Result;
use parquet::schema::types::TypePtr;
use popfib_table::{Cell, Column, ColumnType, Scalar};

use crate::page_writer;

/// Encoded values by code from 1, one after the other as in a dictionary page.
pub(crate) struct PlainValues {
    pub(crate) bytes: Vec<u8>,
    /// Where each ends; code 0 is no value, and empty.
    ends: Vec<usize>,
}

impl Default for PlainValues {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
        }
    }
}

impl PlainValues {
    pub(crate) fn push_text(&mut self, text: &str) {
        page_writer::text(text.as_bytes(), &mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    fn push(&mut self, value: Scalar<'_>) {
        match value {
            Scalar::Text(text) => return self.push_text(text),
            // Signed or not, the same 64 bits.
            Scalar::Integer(number) => self.bytes.extend((number as i64).to_le_bytes()),
            Scalar::Float(number, _) => self.bytes.extend(number.to_le_bytes()),
            Scalar::Boolean(truth) => self.bytes.push(truth.into()),
        }
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// Appends the value of `code`.
    #[inline(always)]
    pub(crate) fn append(&self, code: usize, to: &mut Vec<u8>) {
        /// To copy a constant number of bytes takes a few instructions, any other number a call.
        const SHORT: usize = 48;
        #[cold]
        fn append_long(value: &[u8], to: &mut Vec<u8>) {
            to.extend_from_slice(value);
        }
        let start = self.ends[code - 1];
        let len = self.ends[code] - start;
        match self.bytes[start..].first_chunk::<SHORT>() {
            Some(bytes) if len <= SHORT => {
                to.extend_from_slice(bytes);
                to.truncate(to.len() - SHORT + len);
            }
            _ => append_long(&self.bytes[start..start + len], to),
        }
    }
}

/// Lists by code from 1, each as the codes of its elements.
pub(crate) struct PlainLists {
    codes: Vec<u32>,
    ends: Vec<usize>,
}

impl PlainLists {
    /// The elements of a list; code 0 has none.
    pub(crate) fn get(&self, code: u32) -> &[u32] {
        match (code as usize).checked_sub(1) {
            None => &[],
            Some(before) => &self.codes[self.ends[before]..self.ends[before + 1]],
        }
    }
}

/// The values of a column.
pub(crate) enum ColumnValues {
    Scalars(PlainValues),
    /// Booleans have no dictionary.
    Booleans(Vec<bool>),
    Lists {
        elements: PlainValues,
        lists: PlainLists,
    },
}

impl ColumnValues {
    /// The values of a column of records, by the column's codes.
    pub(crate) fn of(column: &Column) -> Self {
        let codes = 1..=column.len() as u32;
        let cells = codes.filter_map(|code| column.value(code));
        let scalars = cells.clone().filter_map(Cell::scalar);
        match column.column_type() {
            ColumnType::Boolean => Self::Booleans(
                scalars
                    .map(|truth| truth == Scalar::Boolean(true))
                    .collect(),
            ),
            ColumnType::Text | ColumnType::Integer | ColumnType::Float => {
                let mut plain = PlainValues::default();
                scalars.for_each(|scalar| plain.push(scalar));
                Self::Scalars(plain)
            }
            list @ (ColumnType::Texts | ColumnType::Integers) => {
                Self::of_lists(cells, list == ColumnType::Texts)
            }
        }
    }

    fn of_lists<'c>(cells: impl Iterator<Item = Cell<'c>>, are_texts: bool) -> Self {
        let mut elements = PlainValues::default();
        let mut lists = PlainLists {
            codes: Vec::new(),
            ends: vec![0],
        };
        let mut known = HashMap::new();
        for cell in cells {
            let Cell::List(list) = cell else { continue };
            for element in list.iter() {
                let count = known.len() as u32;
                let code = *known.entry(element.to_string()).or_insert_with_key(|text| {
                    match are_texts {
                        true => elements.push_text(text),
                        false => elements.push(element),
                    }
                    count + 1
                });
                lists.codes.push(code);
            }
            lists.ends.push(lists.codes.len());
        }
        Self::Lists { elements, lists }
    }

    /// How many there are; their codes are the numbers from 1 to this one.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Scalars(plain) => plain.count(),
            Self::Booleans(truths) => truths.len(),
            Self::Lists { lists, .. } => lists.ends.len() - 1,
        }
    }

    /// How many values the row of this code has in a column of lists, at least one.
    pub(crate) fn weight(&self, code: u32) -> usize {
        match self {
            Self::Lists { lists, .. } => lists.get(code).len().max(1),
            _ => 1,
        }
    }
}

/// The type of texts in a dictionary, as Arrow calls it.
pub(crate) fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// The type of a column of records, as Arrow calls it.
pub(crate) fn data_type(column: &Column) -> DataType {
    let integer = match column.is_unsigned() {
        true => DataType::UInt64,
        false => DataType::Int64,
    };
    let list = |of| DataType::List(Field::new("element", of, false).into());
    match column.column_type() {
        ColumnType::Text => text_type(),
        ColumnType::Integer => integer,
        ColumnType::Float => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Texts => list(DataType::Utf8),
        ColumnType::Integers => list(integer),
    }
}

/// The same columns as Parquet describes them.
pub(crate) fn types(schema: &Schema) -> Result<Vec<TypePtr>> {
    let converted = ArrowSchemaConverter::new().convert(schema)?;
    Ok(converted.root_schema().get_fields().to_vec())
}
