//! Parquet: a column of addresses in, the same rows with what tables say about them out; and tables, in and out.
//!
//! [`ParquetAddresses`] reads the addresses of one column in batches. [`ParquetAnnotator`] writes the rows again, and after their columns the
//! [`ParquetAnswers`]. [`ParquetRows`] reads the rows of a table as lines of JSON, and [`write_table()`] writes a table.
//!
//! This is a crate of its own because the libraries below it are larger than all the rest of popfib: a program that doesn't need Parquet
//! leaves it out.

#![forbid(unsafe_code)]

mod annotator;
mod answers;
mod column_encoder;
mod column_values;
mod error;
mod file_bytes;
mod json_rows;
mod page_checks;
mod page_writer;
mod panic_guard;
mod plain_column;
mod ranks;
mod read_addresses;
mod rle_hybrid;
mod write_table;

pub use annotator::ParquetAnnotator;
pub use answers::ParquetAnswers;
pub use error::ParquetError;
pub use json_rows::ParquetRows;
pub use read_addresses::ParquetAddresses;
pub use write_table::write_table;
