//! What `lpm` and its kin are called with.

use popfib_formats::Escaped;

use crate::api::TypeId;
use crate::vector::{Column, Text};

/// The columns that a function is called with.
pub(crate) struct Question<'a> {
    /// The names of tables.
    pub(crate) tables: Column<'a>,
    pub(crate) addresses: Column<'a>,
    /// The names of columns, where they are given.
    pub(crate) columns: Option<Column<'a>>,
    /// What to do about rows that are no addresses.
    pub(crate) invalid: Option<Column<'a>>,
}

impl Question<'_> {
    fn names(&self) -> impl Iterator<Item = &Column<'_>> {
        [&self.tables].into_iter().chain(&self.columns)
    }

    /// Whether all rows name one table and one column.
    ///
    /// # Safety
    /// Both are columns of texts.
    pub(crate) unsafe fn has_one_name(&self) -> bool {
        self.names().all(|names| {
            // SAFETY: the caller's.
            let rows = unsafe { names.rows::<Text>() };
            // Without a branch for each name, since nearly always they are one.
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
    /// As for `has_one_name`.
    pub(crate) unsafe fn is_same(&self, row: usize, other: usize) -> bool {
        // SAFETY: the caller's.
        self.names()
            .all(|names| unsafe { names.bytes(row) == names.bytes(other) })
    }

    /// Whether rows that are no addresses are errors: `'error'` or `'null'`, the same for all rows.
    ///
    /// # Errors
    /// Another word.
    ///
    /// # Safety
    /// What says so is a column of texts.
    pub(crate) unsafe fn is_strict(&self) -> Result<bool, String> {
        let Some(invalid) = &self.invalid else {
            return Ok(false);
        };
        let what = "the last argument says what a row is that is no address: 'null' or 'error'";
        let mut strict = false;
        for row in 0..invalid.len() {
            // SAFETY: the caller's; the row is not null.
            strict = match (!invalid.is_null(row)).then(|| unsafe { invalid.bytes(row) }) {
                Some(b"null") => false,
                Some(b"error") => true,
                _ => return Err(what.to_owned()),
            };
        }
        Ok(strict)
    }

    /// What to say of a row that is no address.
    pub(crate) fn no_address(&self, row: usize) -> String {
        match self.addresses.type_id() {
            TypeId::VARCHAR => {
                // SAFETY: a column of texts; the row is not null.
                let text = String::from_utf8_lossy(unsafe { self.addresses.bytes(row) });
                let text: String = text.chars().take(60).collect();
                format!("'{}' is no address", Escaped(&text))
            }
            TypeId::BLOB => "a BLOB that is no address: it has neither 4 bytes nor 16".to_owned(),
            _ => "a number that is no address".to_owned(),
        }
    }
}
