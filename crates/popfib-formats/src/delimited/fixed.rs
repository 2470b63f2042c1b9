//! The columns of formats whose fields have a fixed order: which are asked for, and their record in a row. The fields of a row in,
//! the cells of a record out ([`ValueBook`]).

use popfib_table::CellKind;

use crate::error::no_name;
use crate::table_format::LoadOptions;
use crate::values::{ColumnSelection, ValueBook};

/// The columns that were asked for.
pub(super) struct FixedColumns {
    wanted: ColumnSelection,
    is_unnamed: bool,
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
        let wanted = ColumnSelection::Named(names);
        let is_unnamed = options.columns == ColumnSelection::Value;
        Self {
            columns,
            wanted,
            is_unnamed,
        }
    }

    /// What the columns go into, as [`Grammar::values`](crate::grammar::Grammar::values) has it.
    pub(super) fn values(&self) -> ValueBook {
        let mut values = ValueBook::new(&self.wanted);
        values.is_unnamed = self.is_unnamed;
        // The format has these columns, so it is no error if all of their fields are empty.
        let count = values.names().len();
        (0..count).for_each(|column| values.is_there(column));
        values
    }

    /// Makes the columns of a row with these fields the record at hand.
    pub(super) fn fill<'f>(
        &self,
        field: impl Fn(usize) -> &'f str,
        values: &mut ValueBook,
    ) -> Result<(), String> {
        values.begin();
        for &(number, column) in self.columns.as_ref().map_err(String::clone)? {
            match field(number).trim() {
                "" => {}
                value => values.put(column, CellKind::Written, value),
            }
        }
        Ok(())
    }
}
