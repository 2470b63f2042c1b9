//! A file in, a table as queries use it out: never changed, shared by all threads, with the values of its columns as
//! DuckDB has them, made when they are first asked for.

use std::error::Error;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use popfib::family::Family;
use popfib::{ImageError, Kernel};
use popfib_formats::text::no_column_message;
use popfib_formats::{Escaped, Input, LoadOptions, LookupTable, load};
use popfib_table::{Cell, Column, Records};

use crate::vector::SqlText;

/// A table of both families.
pub(crate) struct SqlTable {
    /// The table, and what was left out when it was loaded.
    pub(crate) loaded: LookupTable,
    /// Cloned by statements during which it keeps its name.
    pub(crate) held: Arc<()>,
    /// One for each column of its records.
    values: Vec<SqlColumnValues>,
}

/// What is made of the values of a column when it is first asked for.
#[derive(Default)]
struct SqlColumnValues {
    codes: OnceLock<Option<Vec<u32>>>,
    texts: OnceLock<SqlColumnTexts>,
    integers: OnceLock<Result<Vec<i64>, String>>,
    floats: OnceLock<Result<Vec<f64>, String>>,
}

/// The texts of a column.
pub(crate) struct SqlColumnTexts {
    /// By their codes; 0 has the empty one.
    pub(crate) texts: Vec<SqlText>,
    /// Whether there is one that does not fit into its [`SqlText`].
    pub(crate) has_long: bool,
}

impl From<LookupTable> for SqlTable {
    fn from(loaded: LookupTable) -> Self {
        let columns = loaded.records().map_or(0, |of| of.columns().len());
        Self {
            held: Arc::default(),
            values: (0..columns).map(|_| SqlColumnValues::default()).collect(),
            loaded,
        }
    }
}

impl SqlTable {
    /// The built-in table, or that in a file: an image or in any format that popfib reads.
    ///
    /// # Errors
    /// A line that names the file and says what is wrong with it.
    pub(crate) fn load(input: Input, options: &LoadOptions) -> Result<Self, String> {
        let loaded = load(input, options).and_then(LookupTable::named);
        let mut loaded = loaded.map_err(|error| {
            match error.source().and_then(|source| source.downcast_ref()) {
                Some(ImageError::Tables { .. }) => format!("{error}; vrf := 'NAME' chooses"),
                _ => in_sql(&error.to_string()),
            }
        })?;
        let notes = loaded.absent.iter().chain(&loaded.notes);
        let notes = notes.chain(&loaded.unread).map(|note| in_sql(note));
        loaded.notes = notes.collect();
        Ok(loaded.into())
    }

    /// Its records, which each loaded table has: those of an image without names are its numbers.
    pub(crate) fn records(&self) -> &Records {
        let records = self.loaded.records();
        records.expect("a table for lookups has names")
    }

    /// The index of the column of this name; without a name, that of the column of values.
    ///
    /// # Errors
    /// There is no column of this name; the error names those that there are.
    pub(crate) fn column(&self, name: Option<&[u8]>) -> Result<usize, String> {
        let Some(name) = name else {
            return Ok(self.records().value_column());
        };
        let name = String::from_utf8_lossy(name);
        let column = self.records().column(&name);
        column.ok_or_else(|| in_sql(&no_column_message(&name, self.loaded.records())))
    }

    /// Writes the numbers of the records of these addresses.
    ///
    /// # Errors
    /// There is no memory for the compiled table.
    pub(crate) fn find<A: Family>(
        &self,
        addresses: &[A],
        numbers: &mut [u32],
    ) -> Result<(), String> {
        let family = self.loaded.family::<A>();
        let found = family.value_numbers(Kernel::best(), addresses, numbers);
        found.map_err(|error| error.to_string())
    }

    /// By the numbers of records, the codes of their values in a column; `None` if they are the numbers themselves.
    pub(crate) fn codes(&self, column: usize) -> Option<&[u32]> {
        let records = self.records();
        let codes = self.values[column].codes.get_or_init(|| {
            let codes = (0..=records.len() as u32).map(|number| records.code(number, column));
            let codes: Vec<_> = codes.collect();
            let are_numbers = (0..).zip(&codes).all(|(number, &code)| number == code);
            (!are_numbers).then_some(codes)
        });
        codes.as_deref()
    }

    /// The values of a column as texts.
    pub(crate) fn texts(&self, column: usize) -> &SqlColumnTexts {
        let values = &self.records().columns()[column];
        self.values[column].texts.get_or_init(|| {
            let texts = cells(values).map(|cell| SqlText::new(cell.to_text().as_bytes()));
            let texts: Vec<_> = [SqlText::new(b"")].into_iter().chain(texts).collect();
            SqlColumnTexts {
                has_long: texts.iter().any(SqlText::is_long),
                texts,
            }
        })
    }

    /// The values of a column as integers, by their codes, 0 for code 0.
    ///
    /// # Errors
    /// One of them is no such integer.
    pub(crate) fn integers(&self, column: usize) -> Result<&[i64], String> {
        let numbers = &self.values[column].integers;
        self.numbers(column, numbers, "integer of 64 bits with a sign")
    }

    /// The values of a column as floats, by their codes, 0 for code 0.
    ///
    /// # Errors
    /// One of them is no number.
    pub(crate) fn floats(&self, column: usize) -> Result<&[f64], String> {
        self.numbers(column, &self.values[column].floats, "number")
    }

    fn numbers<'t, T: FromStr + Default>(
        &self,
        column: usize,
        numbers: &'t OnceLock<Result<Vec<T>, String>>,
        what: &str,
    ) -> Result<&'t [T], String> {
        let values = &self.records().columns()[column];
        let parse = |cell: Cell<'_>| {
            let text = cell.to_text();
            let number = match cell {
                Cell::Scalar(_) => text.parse().ok(),
                Cell::List(_) => None,
            };
            number.ok_or_else(|| format!("the value '{}' is no {what}", Escaped(&text)))
        };
        let all = || {
            let zero = [Ok(T::default())].into_iter();
            zero.chain(cells(values).map(parse)).collect()
        };
        let numbers = numbers.get_or_init(all).as_ref();
        numbers.map(Vec::as_slice).map_err(String::clone)
    }
}

/// A text of the libraries, with an option and its value as SQL writes them.
fn in_sql(text: &str) -> String {
    text.replace("='*'`", " := '*'`")
}

/// The values of a column in the order of their codes, from 1 on.
fn cells(column: &Column) -> impl Iterator<Item = Cell<'_>> {
    (1..=column.len() as u32).filter_map(|code| column.value(code))
}
