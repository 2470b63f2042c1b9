//! The columns of formats whose fields have a fixed order: which are asked for, and their record in a row. The fields of a row in,
//! the text of a record out (`record.rs`).

use crate::error::no_name;
use crate::record::{CellKind, RecordText};
use crate::table_format::{ColumnSelection, LoadOptions};

/// The columns that were asked for.
pub(super) struct FixedColumns {
    record: RecordText,
    /// The fields, from 0, with the indices that they have in the record.
    columns: Result<Vec<(usize, usize)>, String>,
}

impl FixedColumns {
    /// Of the columns `known`, each a name and a field, those of the options; the first if one value is read.
    pub(super) fn new(options: &LoadOptions, known: &[(&str, usize)]) -> Self {
        let names = match &options.columns {
            ColumnSelection::Value => vec![known[0].0.to_owned()],
            ColumnSelection::Named(names) => names.clone(),
            ColumnSelection::All => known.iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        let number = |(index, name): (usize, &String)| {
            let numbered = name.parse().ok().and_then(|n: usize| n.checked_sub(1));
            let is_it =
                |(known, field): &&(&str, usize)| *known == name || Some(*field) == numbered;
            let Some((_, field)) = known.iter().find(is_it) else {
                return Err(no_name(name, known.iter().map(|(name, _)| *name)));
            };
            Ok((*field, index))
        };
        let columns = names.iter().enumerate().map(number).collect();
        let mut record = RecordText::new(&ColumnSelection::Named(names));
        // The format has these columns, so it is no error if all of their fields are empty.
        (0..record.names().len()).for_each(|column| record.is_there(column));
        Self { columns, record }
    }

    /// The record of a row with these fields; empty if it has none of the columns.
    pub(super) fn of<'f>(&mut self, field: impl Fn(usize) -> &'f str) -> Result<&str, String> {
        for &(number, column) in self.columns.as_ref().map_err(String::clone)? {
            match field(number).trim() {
                "" => {}
                value => self.record.put(column, CellKind::Written, value),
            }
        }
        Ok(self.record.finish())
    }

    /// The columns, as [`Grammar::record`](crate::grammar::Grammar::record) lends them.
    pub(super) fn record(&self) -> &RecordText {
        &self.record
    }
}
