//! The columns that `lpm` and its kin are called with: whether rows name the same table, and what a row that is no address
//! means.

use popfib_formats::Escaped;

use crate::api::TypeId;
use crate::vector::{InputVector, SqlText};

/// The columns that a function is called with.
pub(crate) struct LpmArguments<'a> {
    /// The names of tables.
    pub(crate) tables: InputVector<'a>,
    pub(crate) addresses: InputVector<'a>,
    /// The names of columns, if they are given.
    pub(crate) columns: Option<InputVector<'a>>,
    /// What to do about rows that are no addresses.
    pub(crate) invalid: Option<InputVector<'a>>,
}

impl LpmArguments<'_> {
    fn names(&self) -> impl Iterator<Item = &InputVector<'_>> {
        [&self.tables].into_iter().chain(&self.columns)
    }

    /// Whether all rows name one table and one column.
    ///
    /// # Safety
    /// `tables` and `columns` are of texts.
    pub(crate) unsafe fn has_one_name(&self) -> bool {
        self.names().all(|names| {
            // SAFETY: a column of texts, as the caller promises.
            let rows = unsafe { names.rows::<SqlText>() };
            // Without a branch for each name, since they are nearly always the same.
            rows.first().is_some_and(|first| {
                !names.has_nulls() && rows.iter().fold(true, |same, name| same & (name == first))
            })
        })
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.names().any(|names| names.is_null(row))
    }

    /// Whether two rows, neither of them null, name the same.
    ///
    /// # Safety
    /// `tables` and `columns` are of texts, and neither row is null.
    pub(crate) unsafe fn is_same(&self, row: usize, other: usize) -> bool {
        // SAFETY: columns of texts and rows that are not null, as the caller promises.
        self.names()
            .all(|names| unsafe { names.bytes(row) == names.bytes(other) })
    }

    /// Whether rows that are no addresses are errors: `'error'` or `'null'`, the same for all rows.
    ///
    /// # Errors
    /// A row has another word, or null.
    ///
    /// # Safety
    /// `invalid` is of texts.
    pub(crate) unsafe fn is_strict(&self) -> Result<bool, String> {
        let Some(invalid) = &self.invalid else {
            return Ok(false);
        };
        let what = "the last argument says what a row is that is no address: 'null' or 'error'";
        let mut strict = false;
        for row in 0..invalid.len() {
            // SAFETY: a column of texts, as the caller promises, and a row that is not null.
            strict = match (!invalid.is_null(row)).then(|| unsafe { invalid.bytes(row) }) {
                Some(b"null") => false,
                Some(b"error") => true,
                _ => return Err(what.to_owned()),
            };
        }
        Ok(strict)
    }

    /// The error for a row that is neither null nor an address.
    pub(crate) fn no_address(&self, row: usize) -> String {
        match self.addresses.type_id() {
            TypeId::VARCHAR => {
                // SAFETY: a column of texts; a row that is invalid is not null.
                let text = String::from_utf8_lossy(unsafe { self.addresses.bytes(row) });
                let text: String = text.chars().take(60).collect();
                format!("'{}' is no address", Escaped(&text))
            }
            TypeId::BLOB => "a BLOB that is no address: it has neither 4 bytes nor 16".to_owned(),
            _ => "a number that is no address".to_owned(),
        }
    }
}
