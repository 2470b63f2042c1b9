//! The values of a file while it is read: texts, or the cells of records, in; a number out at once, the same for equal ones.
//!
//! Whatever reads a file fills a [`ValueBook`] and hands out routes with numbers; [`load`](crate::load()) puts the numbers into Ribs
//! and makes [`Records`] of the book. Where one value is read for each route, it holds texts; where several columns are, records.
//! Rejected: to hand texts to the table, which would number them again, and for records would need a text that holds cells.

use std::mem;

use hashbrown::HashMap;
use popfib::NextHop;
use popfib_table::{BuiltRecords, CellKind, Dictionary, Records, RecordsBuilder};

use crate::error::no_name;
use crate::name_rule::{check_length, checked};

/// Which columns of a file's records are read.
///
/// A column is called by the keys that lead to its value in a MaxMind database or a JSON object (`country.iso_code`,
/// `subdivisions[0].iso_code`), or by its heading, or number from 1, in a CSV file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColumnSelection {
    /// One value: the most telling one of each record.
    #[default]
    Value,
    /// Those of these names, in their order: values of one, records of several.
    Named(Vec<String>),
    /// All, as records.
    All,
}

impl ColumnSelection {
    /// What these names ask for: `*` is all of them; `None` without a name.
    pub fn of(names: Vec<String>) -> Option<Self> {
        match &names[..] {
            [] => None,
            [all] if all == "*" => Some(Self::All),
            _ => Some(Self::Named(names)),
        }
    }

    /// Whether routes lead to records, not to values.
    pub fn are_records(&self) -> bool {
        match self {
            Self::Value => false,
            Self::Named(names) => names.len() > 1,
            Self::All => true,
        }
    }

    /// The name of the only column, if one is asked for.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(names) if names.len() == 1 => Some(&names[0]),
            _ => None,
        }
    }
}

/// How many names that are not asked for are remembered, for an error.
const MAX_OTHERS: usize = 20;

/// Numbers the values of a file, from 1 in the order of their first appearance.
#[derive(Debug, Default)]
pub struct ValueBook {
    pub(crate) wanted: ColumnSelection,
    /// Whether only prefixes count, so that no value of a route needs a number.
    pub(crate) is_ignored: bool,
    /// Whether the one column is only what the format has for a value, so that its name was not asked for.
    pub(crate) is_unnamed: bool,
    /// Which column of several is read, where none is asked for, and which are not, for the user: one line.
    pub(crate) unread: Option<String>,
    /// How much a column of this name tells, the lowest most; `None` for nothing.
    rank: Option<fn(&str) -> Option<usize>>,
    /// Whether a column had a value in any record.
    is_used: Vec<bool>,
    /// Columns that are there and not asked for, in the order of the file.
    others: Vec<String>,
    /// That the file has too many columns.
    flaw: Option<String>,
    /// The values that are texts.
    texts: Dictionary,
    /// The columns, and the records of several.
    records: RecordsBuilder,
    /// In place of these, the records of an image as they are.
    finished: Option<Records>,
    /// The length of the texts of all records.
    records_len: usize,
    /// Of the record at hand, the text if it is one, the length of its texts, and its number once it has one.
    text: String,
    len: usize,
    number: Option<NextHop>,
}

impl ValueBook {
    /// For these columns.
    pub(crate) fn new(wanted: &ColumnSelection) -> Self {
        let mut new = Self {
            wanted: wanted.clone(),
            ..Self::default()
        };
        if let ColumnSelection::Named(names) = wanted {
            for name in names {
                new.add(name);
            }
        }
        new
    }

    /// For one value, or for none where values are ignored.
    pub(crate) fn ignored(is_ignored: bool) -> Self {
        Self {
            is_ignored,
            ..Self::default()
        }
    }

    /// For records that have their numbers.
    pub(crate) fn of_records(records: Records) -> Self {
        Self {
            wanted: ColumnSelection::All,
            finished: Some(records),
            ..Self::default()
        }
    }

    /// The index of a column, which may be new; `None` if there are too many.
    fn add(&mut self, name: &str) -> Option<usize> {
        match self.records.column(name) {
            Ok(index) => {
                self.is_used.resize(self.records.names().len(), false);
                Some(index)
            }
            Err(error) => {
                self.flaw.get_or_insert_with(|| error.to_string());
                None
            }
        }
    }

    /// Of all columns, the one that is the value of a record is that of the lowest rank.
    pub(crate) fn ranked(mut self, rank: fn(&str) -> Option<usize>) -> Self {
        self.rank = Some(rank);
        self
    }

    /// The index of the column that is the value of a record: of those that were asked for, the first.
    fn value_column(&self) -> usize {
        let Some(rank) = self.rank.filter(|_| self.wants_all()) else {
            return 0;
        };
        let ranked = self.names().enumerate();
        let ranked = ranked.filter_map(|(index, name)| Some((rank(name)?, index)));
        ranked.min().map_or(0, |(_, index)| index)
    }

    /// The file has this column: that it has no value there is no error.
    pub(crate) fn is_there(&mut self, column: usize) {
        self.is_used[column] = true;
    }

    /// The index of the column called `name`; `None` if it is not asked for.
    pub(crate) fn column(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.records.index(name) {
            return Some(index);
        }
        if self.wants_all() {
            return self.add(name);
        }
        if self.others.len() < MAX_OTHERS && !self.others.iter().any(|other| other == name) {
            self.others.push(name.to_owned());
        }
        None
    }

    /// Whether there is a column called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.records.index(name).is_some()
    }

    /// The index of the column called `name` if it was asked for by name. Unlike [`Self::column`] this notes nothing, since the
    /// caller does not know whether the record has such a value.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        let index = self.records.index(name);
        index.filter(|_| !self.wants_all())
    }

    /// Whether every column is asked for.
    pub(crate) fn wants_all(&self) -> bool {
        self.wanted == ColumnSelection::All
    }

    /// Whether records of several columns are.
    pub(crate) fn are_records(&self) -> bool {
        self.wanted.are_records()
    }

    /// Whether columns are asked for.
    pub(crate) fn reads_columns(&self) -> bool {
        self.wanted != ColumnSelection::Value
    }

    /// The names of the columns, the first with index 0.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.records.names()
    }

    /// The name of the only column.
    pub(crate) fn only(&self) -> Option<&str> {
        if let Some([column]) = self.finished.as_ref().map(Records::columns) {
            return Some(column.name());
        }
        let mut names = self.names();
        names.next().filter(|_| names.len() == 0)
    }

    /// Begins a record. What was put since the last one is forgotten.
    pub(crate) fn begin(&mut self) {
        self.records.clear_record();
        self.text.clear();
        (self.len, self.number) = (0, None);
    }

    /// Whether the record at hand has a value in this column.
    fn is_taken(&self, column: usize) -> bool {
        match self.are_records() {
            true => self.records.has(column),
            false => !self.text.is_empty(),
        }
    }

    /// Puts a cell into the record at hand; of two for one column the first stays. Where one value is read, any column is its.
    pub(crate) fn put(&mut self, column: usize, kind: CellKind, text: &str) {
        if self.is_taken(column) {
            return;
        }
        self.note(column, text.len());
        match self.are_records() {
            true => self.records.set(column, kind, text),
            false => self.text.push_str(text),
        }
    }

    /// Puts a list into the record at hand; one without elements is absent.
    pub(crate) fn put_list<'e>(
        &mut self,
        column: usize,
        elements: impl ExactSizeIterator<Item = (CellKind, &'e str)> + Clone,
    ) {
        if elements.len() == 0 || self.is_taken(column) {
            return;
        }
        self.note(column, elements.clone().map(|(_, text)| text.len()).sum());
        if self.are_records() {
            return self.records.set_list(column, elements);
        }
        for (index, (_, text)) in elements.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(text);
        }
    }

    /// A value of this length comes into a column.
    fn note(&mut self, column: usize, len: usize) {
        self.len += len;
        if let Some(is_used) = self.is_used.get_mut(column) {
            *is_used = true;
        }
    }

    /// The text of the record at hand, where one value is read.
    pub(crate) fn at_hand(&self) -> &str {
        &self.text
    }

    /// Whether the record at hand has no value.
    pub(crate) fn is_blank(&self) -> bool {
        match self.are_records() {
            true => self.number.is_none() && self.records.is_blank(),
            false => self.text.trim().is_empty(),
        }
    }

    /// The number of the record at hand, whatever its length; `None` if it has no value, and where values are ignored.
    pub(crate) fn number(&mut self) -> Option<NextHop> {
        if self.number.is_some() || self.is_ignored || self.is_blank() {
            return self.number;
        }
        let number = match self.are_records() {
            true => {
                let known = self.records.len();
                let row = self.records.row_bytes();
                let number = self.records.finish_record();
                if self.records.len() > known {
                    self.records_len += self.len + row;
                }
                number
            }
            false => self.texts.intern(&self.text),
        };
        self.number = Some(number);
        self.number
    }

    /// The number of the record at hand; `None` if it has no value. It stays until the next one [begins](Self::begin).
    ///
    /// # Errors
    /// What no value may be.
    pub(crate) fn finish(&mut self) -> Result<Option<NextHop>, String> {
        match self.are_records() {
            true => check_length(self.len)?,
            false if self.is_blank() => {}
            false => _ = checked(&self.text)?,
        }
        Ok(self.number())
    }

    /// The number of a text that was checked; `None` of the empty one, and where values are ignored.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Option<NextHop> {
        (!text.is_empty() && !self.is_ignored).then(|| self.texts.intern(text))
    }

    /// The number of what has no value.
    pub(crate) fn absent(&mut self) -> NextHop {
        if let Some(blank) = self.finished.as_ref().and_then(Records::blank) {
            return blank;
        }
        match self.are_records() {
            true => {
                self.begin();
                self.records.finish_record()
            }
            false => self.texts.intern(""),
        }
    }

    /// Keeps the values of these numbers alone, and gives them their new numbers; `None` for an [absent](Self::absent) one.
    pub(crate) fn keep<'r>(&mut self, kept: impl Iterator<Item = &'r mut Option<NextHop>>) {
        let absent = self.absent();
        let texts = mem::take(&mut self.texts);
        let records = mem::take(&mut self.records);
        self.records = records.of_same_columns();
        let mut numbers = HashMap::new();
        for value in kept {
            *value = value.filter(|&number| number != absent).map(|number| {
                *numbers
                    .entry(number)
                    .or_insert_with(|| match self.are_records() {
                        true => self.records.copy_record(&records, number),
                        false => self.texts.intern(texts.get(number).unwrap_or_default()),
                    })
            });
        }
    }

    /// The text of this number, where one value is read for each route.
    pub fn get(&self, number: NextHop) -> Option<&str> {
        self.texts.get(number)
    }

    /// The length of all values in bytes.
    pub(crate) fn text_len(&self) -> usize {
        self.texts.text_len() + self.records_len
    }

    /// The texts, where one value is read for each route.
    pub(crate) fn into_texts(self) -> Dictionary {
        self.texts
    }

    /// The records, and which columns they have. `has_values` is that of the source: then what is all absent is a column.
    pub(crate) fn build(mut self, has_values: bool) -> (ColumnSelection, BuiltRecords) {
        if let Some(records) = self.finished {
            let mixed = Vec::new();
            return (self.wanted, BuiltRecords { records, mixed });
        }
        if self.are_records() && self.names().len() > 0 {
            let value_column = self.value_column();
            let mut built = self.records.build();
            built.records.set_value_column(value_column);
            return (self.wanted, built);
        }
        if !self.records.is_empty() {
            // All that there can be is a record without values.
            self.texts.intern("");
        }
        let is_absent = self.texts.len() == 1 && self.texts.number("").is_some();
        let columns = match self.wanted {
            ColumnSelection::Named(names) if names.len() == 1 && !self.is_unnamed => {
                ColumnSelection::Named(names)
            }
            _ if is_absent && has_values => ColumnSelection::Named(vec!["value".to_owned()]),
            _ => ColumnSelection::Value,
        };
        let records = Records::of_texts_or_none(columns.name(), self.texts);
        let mixed = Vec::new();
        (columns, BuiltRecords { records, mixed })
    }

    /// What is wrong with the columns: there are too many, or one that was asked for never came, with those that there were.
    pub(crate) fn missing(&self) -> Option<String> {
        if self.flaw.is_some() {
            return self.flaw.clone();
        }
        let unused = self.is_used.iter().position(|is_used| !is_used);
        let unused = unused.filter(|_| !self.wants_all())?;
        let used = self.names().zip(&self.is_used);
        let used = used.filter(|(_, is_used)| **is_used).map(|(name, _)| name);
        let mut there = used
            .chain(self.others.iter().map(String::as_str))
            .peekable();
        there.peek()?;
        let name = self.names().nth(unused)?;
        Some(no_name(name, there))
    }
}
