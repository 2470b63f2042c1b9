//! Records of a file on their way to a table: cells in, the text of a record out, and back to columns once the file is read.
//!
//! A source hands out routes with one text each. Where several columns are asked for, that text is a whole record: a
//! [`RecordText`] writes the cells of one, and [`unpack`] makes [`Records`] of all different ones once the file is read. So
//! whatever a source does with values, such as to keep those of ranges until all are there, it does with records; and equal
//! ones are met by one dictionary. Rejected: to hand the cells from the source to the table for each route. A MaxMind database
//! has 32 networks a record.
//!
//! ```text
//! 0t2:DE1i5:645002l2:t4:spamt4:bots      column 0 is the text DE, 1 the integer 64500, 2 the list spam, bots
//! ```
//! A cell is `COLUMN KIND LENGTH:TEXT`, without the blanks; a list is `COLUMN l COUNT:` and as many elements, without columns.
//! Cells are in the order of columns, so equal records are equal texts. In a text, control characters and backslashes are
//! escaped: the whole is a value like any other.

use std::collections::BTreeSet;
use std::fmt::Write;

use hashbrown::HashMap;
use popfib::NextHop;
use popfib_table::{Dictionary, MaxMindType, Records, RecordsBuilder, Scalar};

use crate::error::no_name;
use crate::name_rule::is_forbidden;
use crate::route::RecordColumns;
use crate::table_format::ColumnSelection;

/// How a cell's text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    Text,
    /// Of a type that all texts of the column tell.
    Written,
    Integer,
    Float,
    Boolean,
    /// As a MaxMind database has it: an integer, a float, or a text.
    MaxMind(MaxMindType),
}

impl CellKind {
    const PLAIN: [Self; 5] = [
        Self::Text,
        Self::Written,
        Self::Integer,
        Self::Float,
        Self::Boolean,
    ];

    /// That of a value.
    pub(crate) fn of(value: Scalar<'_>) -> Self {
        match value {
            Scalar::Text(_) => Self::Text,
            Scalar::Integer(_) => Self::Integer,
            Scalar::Float(_) => Self::Float,
            Scalar::Boolean(_) => Self::Boolean,
        }
    }

    /// The letter that stands for it in the text of a record.
    fn letter(self) -> char {
        match self {
            Self::Text => 't',
            Self::Written => 'w',
            Self::Integer => 'i',
            Self::Float => 'f',
            Self::Boolean => 'b',
            Self::MaxMind(of) => char::from(b'A' + of as u8),
        }
    }

    /// The kind of a letter.
    fn of_letter(letter: u8) -> Option<Self> {
        let of_maxmind = MaxMindType::ALL.map(Self::MaxMind);
        let mut kinds = Self::PLAIN.into_iter().chain(of_maxmind);
        kinds.find(|kind| kind.letter() == char::from(letter))
    }
}

/// The letter of a list.
const LIST: char = 'l';

/// How many names that are not asked for are remembered, for an error.
const MAX_OTHERS: usize = 100;

/// Writes records as texts, one after the other.
#[derive(Debug, Default)]
pub(crate) struct RecordText {
    wanted: ColumnSelection,
    names: Vec<String>,
    indices: HashMap<String, usize>,
    /// Whether a column had a value in any record.
    is_used: Vec<bool>,
    /// How much a column of this name tells, the lowest most; `None` for nothing.
    rank: Option<fn(&str) -> Option<usize>>,
    /// Columns that are there and not asked for.
    others: BTreeSet<String>,
    /// The cells of the record at hand, and the places of their texts.
    cells: Vec<(usize, std::ops::Range<usize>)>,
    text: String,
    record: String,
}

impl RecordText {
    /// For these columns.
    pub(crate) fn new(wanted: &ColumnSelection) -> Self {
        let mut new = Self {
            wanted: wanted.clone(),
            ..Self::default()
        };
        if let ColumnSelection::Named(names) = wanted {
            for name in names {
                if !new.indices.contains_key(name) {
                    new.add(name);
                }
            }
        }
        new
    }

    /// Adds a column; its index.
    fn add(&mut self, name: &str) -> usize {
        let index = self.names.len();
        self.names.push(name.to_owned());
        self.is_used.push(false);
        self.indices.insert(name.to_owned(), index);
        index
    }

    /// Of all columns, the one that is the value of a record is that of the lowest rank.
    pub(crate) fn ranked(mut self, rank: fn(&str) -> Option<usize>) -> Self {
        self.rank = Some(rank);
        self
    }

    /// The columns so far.
    pub(crate) fn columns(&self) -> RecordColumns<'_> {
        RecordColumns {
            names: &self.names,
            value: self.value_column(),
            are_records: !self.is_one(),
            missing: self.missing(),
        }
    }

    /// The index of the column that is the value of a record: of those that were asked for, the first.
    fn value_column(&self) -> usize {
        let Some(rank) = self.rank.filter(|_| self.wants_all()) else {
            return 0;
        };
        let ranked = self.names.iter().enumerate();
        let ranked = ranked.filter_map(|(index, name)| Some((rank(name)?, index)));
        ranked.min().map_or(0, |(_, index)| index)
    }

    /// The file has this column: that it has no value there is no error.
    pub(crate) fn is_there(&mut self, column: usize) {
        self.is_used[column] = true;
    }

    /// The index of the column called `name`; `None` if it is not asked for.
    pub(crate) fn column(&mut self, name: &str) -> Option<usize> {
        if let Some(&index) = self.indices.get(name) {
            return Some(index);
        }
        if self.wanted == ColumnSelection::All {
            return Some(self.add(name));
        }
        if self.others.len() < MAX_OTHERS && !self.others.contains(name) {
            self.others.insert(name.to_owned());
        }
        None
    }

    /// Whether there is a column called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.indices.contains_key(name)
    }

    /// The index of the column called `name` if it was asked for by name. Unlike [`Self::column`] this notes nothing, since the
    /// caller does not know whether the record has such a value.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        let index = self.indices.get(name).copied();
        index.filter(|_| !self.wants_all())
    }

    /// The name of the only column, if one is asked for.
    pub(crate) fn only(&self) -> Option<&str> {
        self.wanted.name()
    }

    /// Whether every column is asked for.
    pub(crate) fn wants_all(&self) -> bool {
        self.wanted == ColumnSelection::All
    }

    /// The names of the columns, the first with index 0.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Puts a cell into the record at hand; of two for one column the first stays.
    pub(crate) fn put(&mut self, column: usize, kind: CellKind, text: &str) {
        let start = self.text.len();
        match self.is_one() {
            true => self.text.push_str(text),
            false => cell(kind, text, &mut self.text),
        }
        self.cells.push((column, start..self.text.len()));
    }

    /// Puts a list into the record at hand; one without elements is absent.
    pub(crate) fn put_list<'e>(
        &mut self,
        column: usize,
        elements: impl ExactSizeIterator<Item = (CellKind, &'e str)>,
    ) {
        if elements.len() == 0 {
            return;
        }
        let start = self.text.len();
        if !self.is_one() {
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{LIST}{}:", elements.len());
        }
        for (index, (kind, text)) in elements.enumerate() {
            if !self.is_one() {
                cell(kind, text, &mut self.text);
                continue;
            }
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(text);
        }
        self.cells.push((column, start..self.text.len()));
    }

    /// Whether the text of a record is that of its only cell.
    fn is_one(&self) -> bool {
        self.only().is_some()
    }

    /// The text of the record whose cells were put; empty if it has none.
    pub(crate) fn finish(&mut self) -> &str {
        // Stable: of two cells of a column the first is first.
        self.cells.sort_by_key(|(column, _)| *column);
        self.cells.dedup_by_key(|(column, _)| *column);
        self.record.clear();
        let is_one = self.is_one();
        for (column, text) in self.cells.drain(..) {
            self.is_used[column] = true;
            if !is_one {
                // Writing to a String cannot fail.
                let _ = write!(self.record, "{column}");
            }
            self.record.push_str(&self.text[text]);
        }
        self.text.clear();
        &self.record
    }

    /// The first column that was asked for and never came, and which there were.
    fn missing(&self) -> Option<String> {
        let unused = self.is_used.iter().position(|is_used| !is_used);
        let unused = unused.filter(|_| !self.wants_all())?;
        let used = self.names.iter().zip(&self.is_used);
        let used = used.filter(|(_, is_used)| **is_used).map(|(name, _)| name);
        let mut there: Vec<&str> = used.chain(&self.others).map(String::as_str).collect();
        if there.is_empty() {
            return None;
        }
        there.sort_unstable();
        Some(no_name(&self.names[unused], there.into_iter()))
    }
}

/// Appends an element of a list, or a cell after the number of its column.
fn cell(kind: CellKind, text: &str, to: &mut String) {
    let needs_escape = |c: char| c == '\\' || is_forbidden(c);
    let letter = kind.letter();
    if !text.contains(needs_escape) {
        // Writing to a String cannot fail.
        let _ = write!(to, "{letter}{}:{text}", text.len());
        return;
    }
    let mut escaped = String::new();
    for c in text.chars() {
        match needs_escape(c) {
            true => escaped.extend(c.escape_unicode()),
            false => escaped.push(c),
        }
    }
    let _ = write!(to, "{letter}{}:{escaped}", escaped.len());
}

/// Records made of texts, in columns.
#[derive(Debug)]
pub(crate) struct UnpackedRecords {
    pub(crate) records: Records,
    /// The names of columns whose values were of several types, and are texts.
    pub(crate) mixed: Vec<String>,
    /// The number of the record of each text, where they are not those of the texts.
    pub(crate) renumbered: Option<Vec<NextHop>>,
}

/// The records of all `texts`, whose columns have these names.
///
/// # Errors
/// More columns than records can have.
pub(crate) fn unpack(names: &[String], texts: &Dictionary) -> Result<UnpackedRecords, String> {
    let mut builder = RecordsBuilder::new();
    for name in names {
        builder.column(name).map_err(|error| error.to_string())?;
    }
    let mut numbers = Vec::new();
    let mut is_same = true;
    let mut reader = RecordReader::default();
    for text in texts.iter() {
        let number = reader.read(text, &mut builder);
        number.ok_or("a record that was not written here")?;
        let number = builder.finish_record();
        numbers.push(number);
        is_same &= number.get() as usize == numbers.len();
    }
    let built = builder.build();
    Ok(UnpackedRecords {
        records: built.records,
        mixed: built.mixed,
        renumbered: (!is_same).then_some(numbers),
    })
}

/// Reads the texts of records.
#[derive(Default)]
struct RecordReader {
    /// A text without its escapes, and the elements of a list.
    plain: String,
    elements: Vec<(CellKind, String)>,
}

impl RecordReader {
    /// Sets the cells of a record; `None` if this is none.
    fn read(&mut self, mut text: &str, builder: &mut RecordsBuilder) -> Option<()> {
        while !text.is_empty() {
            let column = number(&mut text)?;
            if let Some(rest) = text.strip_prefix(LIST) {
                text = rest;
                let count = number(&mut text)?;
                text = text.strip_prefix(':')?;
                self.elements.clear();
                for _ in 0..count {
                    let kind = self.element(&mut text)?;
                    self.elements.push((kind, self.plain.clone()));
                }
                let elements = self.elements.iter();
                builder.set_list(column, elements.map(|(kind, text)| scalar(*kind, text)));
                continue;
            }
            match (self.element(&mut text)?, &self.plain) {
                (CellKind::Written, text) => builder.set_written(column, text),
                (kind @ CellKind::MaxMind(of), text) => {
                    builder.set_maxmind(column, scalar(kind, text), of);
                }
                (kind, text) => builder.set(column, scalar(kind, text)),
            }
        }
        Some(())
    }

    /// Reads an element into `plain`.
    fn element(&mut self, text: &mut &str) -> Option<CellKind> {
        let kind = CellKind::of_letter(*text.as_bytes().first()?)?;
        *text = &text[1..];
        let len = number(text)?;
        let rest = text.strip_prefix(':')?;
        let (escaped, rest) = rest.split_at_checked(len)?;
        *text = rest;
        self.plain.clear();
        let mut parts = escaped.split("\\u{");
        self.plain.push_str(parts.next()?);
        for part in parts {
            let (code, after) = part.split_once('}')?;
            let code = u32::from_str_radix(code, 16).ok()?;
            self.plain.push(char::from_u32(code)?);
            self.plain.push_str(after);
        }
        Some(kind)
    }
}

/// Takes the digits that `text` begins with.
fn number(text: &mut &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.parse().ok()
}

/// The value of a text of this kind. An integer of more than 64 bits is a text: no column holds it.
fn scalar(kind: CellKind, text: &str) -> Scalar<'_> {
    let of_kind = match kind {
        CellKind::Text => None,
        // In a list; else all of the column tell.
        CellKind::Written => (text.parse().ok())
            .filter(|number: &i128| number.to_string() == text)
            .map(Scalar::Integer),
        CellKind::Float | CellKind::MaxMind(MaxMindType::Float) => {
            text.parse().ok().map(Scalar::Float)
        }
        // Of 128 bits whatever they are, so that a column has one type in all databases.
        CellKind::MaxMind(MaxMindType::Bytes | MaxMindType::Uint128) => None,
        CellKind::Integer | CellKind::MaxMind(_) => text.parse().ok().map(Scalar::Integer),
        CellKind::Boolean => text.parse().ok().map(Scalar::Boolean),
    };
    of_kind.unwrap_or(Scalar::Text(text))
}
