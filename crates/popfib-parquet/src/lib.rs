//! Parquet: a column of addresses in, the same rows with what tables say about them out; and tables, in and out.
//!
//! [`ParquetRows`] reads the rows of a table as lines of JSON, [`write_table`] writes one. [`ParquetAddresses`] reads the
//! addresses of one column in batches; [`ParquetAnnotator`] writes the rows again and their [`ParquetAnswers`] after them. A
//! crate of its own, because the libraries below it are larger than all the
//! rest of popfib: who doesn't need Parquet leaves it out.

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
