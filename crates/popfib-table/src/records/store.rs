//! [`Records`]: a record's number and a column in, the value out. It holds the columns, and the rows that lead to their values.
//!
//! Names of next hops are records of one column of texts, in images too, so that there is one way to what a number stands for. A
//! column has a flat name (`country.iso_code`) in every door, also where the language has nested objects: one name everywhere.

use std::borrow::Cow;

use popfib::NextHop;

use super::cell::Cell;
use super::column::Column;
use super::interned_code_lists::InternedCodeLists;
use super::packed_rows::{PackedRows, RecordRows};
use super::scalars::ScalarDictionary;
use crate::dictionary::Dictionary;

/// The name of a column of values that have no name.
pub(crate) const VALUE: &str = "value";

/// The records of a table, numbered from 1 on: columns with names and types, and a row for each record.
///
/// A [`RecordsBuilder`](crate::RecordsBuilder) makes them; texts alone need only a [`Dictionary`].
#[derive(Clone, Debug)]
pub struct Records {
    pub(super) columns: Vec<Column>,
    /// The index of the column that is the value of a record.
    pub(super) value_column: usize,
    pub(super) rows: RecordRows,
}

impl Default for Records {
    fn default() -> Self {
        Self::of_values(Dictionary::new())
    }
}

impl Records {
    /// Records of one column of texts that is called `value`, in which the number of a record is that of its text.
    pub fn of_values(texts: Dictionary) -> Self {
        Self::of_texts(VALUE, texts)
    }

    /// Records of one column of texts, in which the number of a record is that of its text.
    pub fn of_texts(name: &str, texts: Dictionary) -> Self {
        Self::of_scalars(name, ScalarDictionary::Texts(texts.into_texts()))
    }

    /// The same, in which the value of the empty text is absent. O(texts) if there is one. Without a name for the column, a single
    /// text is as it is: the empty one is that of a value-less list.
    pub fn of_texts_or_none(name: Option<&str>, texts: Dictionary) -> Self {
        let is_list = name.is_none() && texts.len() == 1;
        let name = name.unwrap_or(VALUE);
        if is_list || texts.number("").is_none() {
            return Self::of_texts(name, texts);
        }
        let mut present = Dictionary::new();
        let code = |text: &str| match text {
            "" => [0],
            text => [present.intern(text).get()],
        };
        let rows: Vec<_> = texts.iter().map(code).collect();
        Self::of_rows(Self::of_texts(name, present).columns, rows)
    }

    pub(super) fn of_scalars(name: &str, values: ScalarDictionary) -> Self {
        Self {
            columns: vec![Column::new(name.to_owned(), values, None)],
            value_column: 0,
            rows: RecordRows::Codes,
        }
    }

    /// The columns; there is one at least.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The index of the column called `name`. O(columns).
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name() == name)
    }

    /// The index of the column that is asked for [the value](crate::Table::value) of a record.
    pub fn value_column(&self) -> usize {
        self.value_column
    }

    /// Makes the column of this index the value of a record; at first it is column 0.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set_value_column(&mut self, column: usize) {
        assert!(column < self.columns.len());
        self.value_column = column;
    }

    /// Keeps the columns of these names alone, in this order; the records keep their numbers.
    pub(crate) fn select(&mut self, names: &[String]) -> Result<(), String> {
        let index = |name: &String| self.column(name).ok_or_else(|| name.clone());
        let kept = names.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        if let RecordRows::Packed(rows) = &mut self.rows {
            rows.select(&kept);
        }
        // The same column if it is kept, otherwise the first of those kept.
        let value_column = kept.iter().position(|&index| index == self.value_column);
        self.value_column = value_column.unwrap_or(0);
        self.columns = kept
            .iter()
            .map(|&index| self.columns[index].clone())
            .collect();
        Ok(())
    }

    /// How many records there are, which is also the highest number.
    pub fn len(&self) -> usize {
        match &self.rows {
            RecordRows::Codes => self.columns[0].len(),
            RecordRows::Packed(rows) => rows.len(),
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a record in the column of this index; `None` if it is absent, and for a number that no record has. O(1).
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn cell(&self, number: NextHop, column: usize) -> Option<Cell<'_>> {
        let code = self.code(number.get(), column);
        self.columns[column].value(code)
    }

    /// The same as text. O(1) if it is one, otherwise O(its length).
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn text(&self, number: NextHop, column: usize) -> Option<Cow<'_, str>> {
        self.cell(number, column).map(Cell::to_text)
    }

    /// The [values](Self::value_column) of all records as texts, in the order of their numbers, empty where they are absent.
    pub fn values(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let numbers = (1..=self.len() as u32).filter_map(NextHop::new);
        numbers.map(|number| self.text(number, self.value_column).unwrap_or_default())
    }

    /// The code of the value of a record in the column of this index, 0 if it is absent. For a number that no record has, it is a code
    /// without a value. O(1).
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn code(&self, number: u32, column: usize) -> u32 {
        match &self.rows {
            RecordRows::Codes => number,
            RecordRows::Packed(rows) => {
                let row = (number as usize).wrapping_sub(1);
                rows.code(row, column).unwrap_or(0)
            }
        }
    }

    /// The codes of a record in all columns.
    pub fn codes(&self, number: u32) -> impl Iterator<Item = u32> {
        (0..self.columns.len()).map(move |column| self.code(number, column))
    }

    /// The number of the first record without any value. O(records * columns).
    pub fn blank(&self) -> Option<NextHop> {
        let mut numbers = 1..=self.len() as u32;
        let blank = numbers.find(|&number| self.codes(number).all(|code| code == 0));
        blank.and_then(NextHop::new)
    }

    /// Each different record once, and by the number of each, from 1 on, that of the equal one. O(records * columns).
    pub fn distinct(self) -> (Self, Vec<u32>) {
        let mut rows = InternedCodeLists::default();
        let mut row = Vec::new();
        let numbers = (1..=self.len() as u32).map(|number| {
            row.clear();
            row.extend(self.codes(number));
            rows.intern(&row)
        });
        let numbers: Vec<_> = numbers.collect();
        let rows = rows.lists();
        if rows.len() == numbers.len() {
            return (self, numbers);
        }
        let rows = rows.iter().map(|row| row.iter().copied());
        let mut distinct = Self::of_rows(self.columns, rows);
        distinct.value_column = self.value_column;
        (distinct, numbers)
    }

    /// Records of these columns, whose codes are `rows`, from number 1 on.
    pub(crate) fn of_rows<R: IntoIterator<Item = u32>>(
        columns: Vec<Column>,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let mut packed = PackedRows::new(columns.iter().map(|column| column.len() as u32));
        for row in rows {
            packed.push(row);
        }
        Self {
            columns,
            value_column: 0,
            rows: RecordRows::Packed(packed),
        }
    }

    /// A column of lists of `values`, each of which is a record; its elements are numbers of `values`.
    pub(crate) fn of_lists(name: &str, values: Dictionary, lists: InternedCodeLists) -> Self {
        let values = ScalarDictionary::Texts(values.into_texts());
        Self {
            columns: vec![Column::new(
                name.to_owned(),
                values,
                Some(lists.into_lists()),
            )],
            value_column: 0,
            rows: RecordRows::Codes,
        }
    }

    /// The bytes that rows and values take.
    pub fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::bytes).sum();
        self.rows.bytes() + columns
    }
}
