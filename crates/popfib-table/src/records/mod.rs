//! Records: what the routes of a table lead to, as rows of typed columns. Values come in one record after the other and get the
//! record's number; a number and a column give the value back.
//!
//! Equal records have one number. A record is a row of codes, one for each column, packed bit after bit; a column's codes are at the
//! same place in all rows, and code 0 means that the value is absent. The dictionary of a column leads from its codes to its values.
//! So to read a whole record costs a cache miss for its row and one for each text; an array of codes for each column would cost one
//! more for each column.
//!
//! In a table of one column the number of a record is the code of its value, and there are no rows.

mod builder;
mod cell;
mod code_lists;
mod column;
mod image;
mod interned_code_lists;
mod packed_rows;
mod scalars;
mod store;

pub(crate) use builder::MAX_COLUMNS;
pub(crate) use interned_code_lists::InternedCodeLists;
pub(crate) use store::VALUE;

pub use builder::{BuiltRecords, CellKind, RecordsBuilder};
pub use cell::{Cell, ListCell};
pub use column::{Column, ColumnType, MaxMindType};
pub use image::check_records;
pub use scalars::Scalar;
pub use store::Records;

#[cfg(test)]
mod tests;
