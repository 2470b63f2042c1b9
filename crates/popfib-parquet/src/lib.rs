//! Parquet: a column of addresses in, the same rows with prefix and next hop out; and tables.
//!
//! [`ParquetRows`] reads the rows of a table as lines of JSON. [`ParquetAddresses`] reads the addresses of one column in batches;
//! [`ParquetWriter`] writes the rows again and their [`Answers`] after them. A
//! crate of its own, because the libraries below it are larger than all the
//! rest of popfib: who doesn't need Parquet leaves it out.

#![forbid(unsafe_code)]

mod answers;
mod error;
mod file;
mod guard;
mod hybrid;
mod page;
mod pages;
mod ranks;
mod read;
mod rows;
mod write;

pub use answers::Answers;
pub use error::ParquetError;
pub use read::ParquetAddresses;
pub use rows::ParquetRows;
pub use write::ParquetWriter;
