//! [`RecordsBuilder`]: values by column and record in, [`Records`] out.
//!
//! Files do not say before their last line how many columns there are, and of which types. So while records are collected every value
//! is kept as the text that it is written as, once in its column, and a record is a row of these texts' codes. In the end each column
//! gets the type that all of its values have.

use hashbrown::HashMap;
use popfib::NextHop;

use super::cell::{Cell, ListCell};
use super::column::{Column, MaxMindType};
use super::interned_code_lists::InternedCodeLists;
use super::packed_rows::{PackedRows, RecordRows};
use super::scalars::{SHORT, Scalar, ScalarDictionary, short};
use super::store::Records;
use crate::dictionary::Dictionary;
use crate::error::TableError;

/// The most columns that records have: room for each language of each name of a MaxMind database, and a bound of what a
/// hostile file makes of its members.
pub(crate) const MAX_COLUMNS: usize = 4096;

/// The bit of a code in a row that says that it is the code of a list.
const LIST: u32 = 1 << 31;

/// Collects the records of a table: columns as they come up, and the values of one record after the other.
///
/// ```
/// use popfib_table::{Cell, CellKind, RecordsBuilder, Scalar};
///
/// let mut builder = RecordsBuilder::new();
/// let (asn, name) = (builder.column("asn")?, builder.column("name")?);
/// builder.set(asn, CellKind::Integer, "64496");
/// builder.set(name, CellKind::Text, "Example");
/// let number = builder.finish_record();
///
/// let records = builder.build().records;
/// assert_eq!(records.cell(number, asn), Some(Cell::Scalar(Scalar::Integer(64496))));
/// # Ok::<(), popfib_table::TableError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordsBuilder {
    columns: Vec<ColumnBuilder>,
    indices: HashMap<String, usize>,
    /// The codes of the record at hand.
    row: Vec<u32>,
    rows: InternedCodeLists,
    /// Whether a record has no value.
    lacks_values: bool,
    /// Memory for a list's codes.
    list: Vec<u32>,
}

/// How a value's text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// As a text.
    Text,
    /// Of a type that all texts of the column tell: `7` is an integer, `07` is not.
    Written,
    /// As an integer. One of more than 64 bits makes the column texts.
    Integer,
    /// As a float.
    Float,
    /// As `true` or `false`.
    Boolean,
    /// As a MaxMind database has it: an integer, a float, or a text.
    MaxMind(MaxMindType),
}

impl CellKind {
    /// Its bit among the kinds of a column.
    fn bit(self) -> u8 {
        match self {
            // Of 128 bits whatever they are, so that a column has one type in all databases.
            Self::Text | Self::MaxMind(MaxMindType::Bytes | MaxMindType::Uint128) => TEXT,
            Self::Written => WRITTEN,
            Self::Float | Self::MaxMind(MaxMindType::Float) => FLOAT,
            Self::Integer | Self::MaxMind(_) => INTEGER,
            Self::Boolean => BOOLEAN,
        }
    }
}

/// What [`RecordsBuilder::build`] makes.
#[derive(Clone, Debug)]
pub struct BuiltRecords {
    /// The records, with the numbers that the builder gave them.
    pub records: Records,
    /// The names of columns with values of several types, which are texts now.
    pub mixed: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct ColumnBuilder {
    name: String,
    /// The different values as they are written. Two of different types that are written alike have one code: a column of
    /// several types becomes texts.
    values: Dictionary,
    /// The code of the value that came last: files in order repeat it.
    last: u32,
    kinds: u8,
    /// The type that all values so far had in a MaxMind database; `Some(None)` if they had several types or none of these.
    maxmind_type: Option<Option<MaxMindType>>,
    /// Whether there are values that are no lists.
    has_scalars: bool,
    lists: InternedCodeLists,
}

/// The kinds of values that a column has, as bits.
const TEXT: u8 = 1;
const INTEGER: u8 = 2;
const FLOAT: u8 = 4;
const BOOLEAN: u8 = 8;
/// Texts whose type shows only when all of the column are there.
const WRITTEN: u8 = 16;

impl RecordsBuilder {
    /// No columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// The index of the column called `name`, which is new if there was none. Expected constant time.
    ///
    /// # Errors
    /// [`TableError::TooManyColumns`] at the 4097th.
    pub fn column(&mut self, name: &str) -> Result<usize, TableError> {
        if let Some(&index) = self.indices.get(name) {
            return Ok(index);
        }
        let index = self.columns.len();
        if index == MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        self.columns.push(ColumnBuilder {
            name: name.to_owned(),
            ..ColumnBuilder::default()
        });
        self.indices.insert(name.to_owned(), index);
        Ok(index)
    }

    /// The index of the column called `name`, if there is one. Expected constant time.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    /// The names of the columns in their order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| &*column.name)
    }

    /// Whether the record at hand has a value in the column of this index.
    pub fn has(&self, column: usize) -> bool {
        self.row.get(column).is_some_and(|&code| code != 0)
    }

    /// Whether the record at hand has no value.
    pub fn is_blank(&self) -> bool {
        self.row.is_empty()
    }

    /// The bytes that the record at hand takes beside its values.
    pub fn row_bytes(&self) -> usize {
        size_of_val(&*self.row)
    }

    /// Forgets the values of the record at hand.
    pub fn clear_record(&mut self) {
        self.row.clear();
    }

    /// How many records there are so far, which is also the highest number.
    pub fn len(&self) -> usize {
        self.rows.lists().len()
    }

    /// Whether there is no record so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the value of the record at hand in the column of this index, in place of one that it has.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set(&mut self, column: usize, kind: CellKind, text: &str) {
        let of = &mut self.columns[column];
        let maxmind_type = match kind {
            CellKind::MaxMind(maxmind_type) => Some(maxmind_type),
            _ => None,
        };
        of.maxmind_type = match of.maxmind_type {
            Some(known) if known != maxmind_type => Some(None),
            _ => Some(maxmind_type),
        };
        of.has_scalars = true;
        let code = of.code(kind, text);
        self.put(column, code);
    }

    /// As [`set`](Self::set), for a list; one without elements is absent.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set_list<T: AsRef<str>>(
        &mut self,
        column: usize,
        elements: impl IntoIterator<Item = (CellKind, T)>,
    ) {
        let of = &mut self.columns[column];
        of.maxmind_type = Some(None);
        self.list.clear();
        self.list.extend(elements.into_iter().map(|(kind, text)| {
            let text = text.as_ref();
            // Lists are of integers or of texts, which each element tells.
            let kind = match kind {
                CellKind::Written if parsed::<i128>(text).is_some() => CellKind::Integer,
                CellKind::Written => CellKind::Text,
                kind => kind,
            };
            of.code(kind, text)
        }));
        if !self.list.is_empty() {
            let code = of.lists.intern(&self.list) | LIST;
            self.put(column, code);
        }
    }

    fn put(&mut self, column: usize, code: u32) {
        if self.row.len() <= column {
            self.row.resize(column + 1, 0);
        }
        self.row[column] = code;
    }

    /// Ends the record at hand, which may have no value at all, and returns its number: that of an equal record, or the next. Expected
    /// time in proportion to the columns.
    ///
    /// # Panics
    /// At 2^32 different records.
    pub fn finish_record(&mut self) -> NextHop {
        // The row ends with a value. Columns after it are absent, and so are those that come up later.
        self.lacks_values |= self.row.is_empty();
        let number = self.rows.intern(&self.row);
        self.row.clear();
        NextHop::new(number).expect("lists are numbered from 1")
    }

    /// No records, with the same columns, whose values had the same types so far.
    pub fn of_same_columns(&self) -> Self {
        let columns = self.columns.iter().map(|column| ColumnBuilder {
            name: column.name.clone(),
            kinds: column.kinds,
            maxmind_type: column.maxmind_type,
            has_scalars: column.has_scalars,
            ..ColumnBuilder::default()
        });
        Self {
            columns: columns.collect(),
            indices: self.indices.clone(),
            ..Self::default()
        }
    }

    /// Adds the record of this number of a builder with the same columns; returns its number here, as
    /// [`finish_record`](Self::finish_record) does. What was set since the last one is forgotten.
    pub fn copy_record(&mut self, from: &Self, number: NextHop) -> NextHop {
        self.row.clear();
        let row = from.rows.lists().get(number.get()).unwrap_or_default();
        for (index, &code) in row.iter().enumerate() {
            let (column, known) = (&mut self.columns[index], &from.columns[index]);
            let mut copied = |code| {
                let text = NextHop::new(code).and_then(|code| known.values.get(code));
                text.map_or(0, |text| column.code_of(text))
            };
            let code = match known.lists.lists().get(code ^ LIST) {
                Some(codes) if code & LIST != 0 => {
                    let codes: Vec<_> = codes.iter().map(|&code| copied(code)).collect();
                    column.lists.intern(&codes) | LIST
                }
                _ => copied(code),
            };
            self.row.push(code);
        }
        self.finish_record()
    }

    /// The records, with the columns in their order. If there is no column, they have one of texts.
    pub fn build(self) -> BuiltRecords {
        let mut mixed = Vec::new();
        let columns = self.columns.into_iter();
        let (columns, renumbered): (Vec<_>, Vec<_>) =
            columns.map(|column| column.build(&mut mixed)).unzip();
        let rows = match &renumbered[..] {
            [] => {
                let records = Records::default();
                return BuiltRecords { records, mixed };
            }
            // Each record is its code, as both are numbered by their first appearance.
            [None] if !self.lacks_values => RecordRows::Codes,
            _ => {
                let mut rows = PackedRows::new(columns.iter().map(|column| column.len() as u32));
                for row in self.rows.lists().iter() {
                    let codes = row.iter().zip(&renumbered);
                    rows.push(codes.map(|(&code, renumbered)| match renumbered {
                        Some(Renumbered::Lists(codes)) if code & LIST != 0 => {
                            codes[(code ^ LIST) as usize - 1]
                        }
                        Some(Renumbered::Values(codes)) if code > 0 => codes[code as usize - 1],
                        _ => code & !LIST,
                    }));
                }
                RecordRows::Packed(rows)
            }
        };
        let records = Records {
            columns,
            value_column: 0,
            rows,
        };
        BuiltRecords { records, mixed }
    }
}

/// The codes that others have become: those of lists that are texts now, or of values of which several are one.
enum Renumbered {
    Lists(Vec<u32>),
    Values(Vec<u32>),
}

impl ColumnBuilder {
    /// The code of a value.
    fn code(&mut self, kind: CellKind, text: &str) -> u32 {
        self.kinds |= kind.bit();
        self.code_of(text)
    }

    /// The code of a value that is written as `text`.
    fn code_of(&mut self, text: &str) -> u32 {
        let last = NextHop::new(self.last).and_then(|last| self.values.get(last));
        if last != Some(text) {
            self.last = self.values.intern(text).get();
        }
        self.last
    }

    /// The column; and codes that are others in it.
    fn build(mut self, mixed: &mut Vec<String>) -> (Column, Option<Renumbered>) {
        let of_lists = self.lists.lists().len() > 0 && !self.has_scalars;
        if self.kinds == INTEGER | FLOAT && floats(&self.values).is_some() {
            self.kinds = FLOAT;
        }
        if self.kinds.count_ones() > 1 || self.lists.lists().len() > 0 && self.has_scalars {
            mixed.push(self.name.clone());
            self.kinds = TEXT;
        }
        if of_lists {
            let values = match self.kinds {
                INTEGER => typed(self.values, INTEGER),
                // Other lists are lists of texts.
                _ => ScalarDictionary::Texts(self.values.into_texts()),
            };
            return (
                Column::new(self.name, values, Some(self.lists.into_lists())),
                None,
            );
        }
        let mut codes = None;
        if self.lists.lists().len() > 0 {
            let values = ScalarDictionary::Texts(self.values.clone().into_texts());
            let list = |codes| ListCell {
                codes,
                values: &values,
            };
            let lists = self
                .lists
                .lists()
                .iter()
                .map(|codes| Cell::List(list(codes)));
            let texts = lists.map(|list| self.values.intern(&list.to_string()).get());
            codes = Some(Renumbered::Lists(texts.collect()));
        } else if self.kinds == WRITTEN
            && let Some((values, renumbered)) = whole_numbers(&self.values)
        {
            (self.values, self.kinds) = (values, FLOAT);
            codes = Some(Renumbered::Values(renumbered));
        }
        let values = typed(self.values, self.kinds);
        let mut column = Column::new(self.name, values, None);
        column.maxmind_type = self.maxmind_type.flatten();
        (column, codes)
    }
}

/// The values, with the type of their one kind, or that which all of their texts have.
fn typed(values: Dictionary, kinds: u8) -> ScalarDictionary {
    match kinds {
        INTEGER => integers(&values),
        FLOAT => floats(&values),
        BOOLEAN => booleans(&values),
        WRITTEN => integers(&values)
            .or_else(|| floats(&values).filter(ScalarDictionary::are_finite))
            .or_else(|| booleans(&values)),
        _ => None,
    }
    .unwrap_or_else(|| ScalarDictionary::Texts(values.into_texts()))
}

fn integers(values: &Dictionary) -> Option<ScalarDictionary> {
    let signed = values.iter().map(parsed).collect::<Option<_>>();
    let unsigned = || values.iter().map(parsed).collect::<Option<_>>();
    let signed = signed.map(ScalarDictionary::Signed);
    signed.or_else(|| Some(ScalarDictionary::Unsigned(unsigned()?)))
}

/// Floats of which the text is the shortest, or has zeros up to as many decimals as all have.
fn floats(values: &Dictionary) -> Option<ScalarDictionary> {
    let zeros = values.iter().filter(|text| text.ends_with('0'));
    let decimals = zeros.filter_map(|text| Some(text.split_once('.')?.1.len()));
    let decimals = decimals.max().unwrap_or(0).min(64) as u8;
    let written = |text: &str, decimals| {
        let number = text.parse().ok()?;
        let is_it = match short(number, decimals, &mut [b'0'; SHORT]) {
            Some(short) => short == text,
            None => Scalar::Float(number, decimals).to_string() == text,
        };
        is_it.then_some(number)
    };
    let numbers: Option<_> = values.iter().map(|text| written(text, decimals)).collect();
    numbers.map(|numbers| ScalarDictionary::Floats(numbers, decimals))
}

/// Floats of which some whole ones are written with `.0` and some without, which is forgotten, with their codes: `48.0` and `48` have one.
fn whole_numbers(values: &Dictionary) -> Option<(Dictionary, Vec<u32>)> {
    fn shortest(text: &str) -> &str {
        text.strip_suffix(".0").unwrap_or(text)
    }
    let is_number = |text| parsed(shortest(text)).is_some_and(f64::is_finite);
    let has_point = |text: &str| text.contains('.');
    if !values.iter().all(is_number) || !values.iter().any(has_point) || floats(values).is_some() {
        return None;
    }
    let mut numbers = Dictionary::new();
    let codes = values
        .iter()
        .map(|text| numbers.intern(shortest(text)).get());
    let codes = codes.collect();
    Some((numbers, codes))
}

fn booleans(values: &Dictionary) -> Option<ScalarDictionary> {
    let truths = values.iter().map(parsed).collect::<Option<_>>();
    truths.map(ScalarDictionary::Booleans)
}

/// The value that is written as `text`, byte for byte.
fn parsed<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}
