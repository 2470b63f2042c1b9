//! Parquet: a column of addresses in, the same rows with what tables say about them out; and tables, in and out.
//!
//! [`ParquetRows`] reads the rows of a table as lines of JSON, [`write_table`] writes one. [`ParquetAddresses`] reads the
//! addresses of one column in batches; [`ParquetWriter`] writes the rows again and their [`Answers`] after them. A
//! crate of its own, because the libraries below it are larger than all the
//! rest of popfib: who doesn't need Parquet leaves it out.

#![forbid(unsafe_code)]

mod answers;
mod encoder;
mod error;
mod file;
mod guard;
mod hybrid;
mod page;
mod pages;
mod plain;
mod ranks;
mod read;
mod rows;
mod table;
mod values;
mod write;

pub use answers::Answers;
pub use error::ParquetError;
pub use read::ParquetAddresses;
pub use rows::ParquetRows;
pub use table::write_table;
pub use write::ParquetWriter;
