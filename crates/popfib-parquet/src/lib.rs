//! Parquet: a column of addresses in, the same rows with prefix and next hop out.
//!
//! [`ParquetAddresses`] reads a file's rows in batches and finds the addresses
//! of one column in them; [`ParquetWriter`] writes rows and their answers. A
//! crate of its own, because the libraries below it are larger than all the
//! rest of popfib: who doesn't need Parquet leaves it out.

mod error;
mod read;
mod write;

pub use arrow_schema::SchemaRef;
pub use error::ParquetError;
pub use read::ParquetAddresses;
pub use write::{Answers, Dictionary, NONE, ParquetWriter};
