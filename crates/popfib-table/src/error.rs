//! [`TableError`]: why a table has no answer, or cannot be made.

use popfib::{CompileError, ImageError};
use thiserror::Error;

/// Why a table has no answer, or cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// It is an image that was compiled without its routes.
    #[error("the image was compiled without its routes, which are needed here")]
    NoRoutes,
    /// It is an image for prefixes alone: it has no Fib of values, which come with the prefixes.
    #[error("the image was compiled for prefixes alone, without a FIB of values")]
    NoValues,
    /// Its routes could not be compiled.
    #[error("{0}")]
    Compile(#[from] CompileError),
    /// It could not be made an image.
    #[error("{0}")]
    Image(#[from] ImageError),
    /// Its records have more than 4096 columns.
    #[error("records of more than 4096 columns")]
    TooManyColumns,
    /// Its records are larger than an image holds.
    #[error("records with more than 4 GiB of texts or lists in a column")]
    TooLarge,
    /// It is an image whose next hops have no names.
    #[error("the image has no names for its next hops")]
    NoNames,
    /// Two columns would have this name, which is escaped as a message needs it.
    #[error("two columns are called {0}")]
    DuplicateColumn(String),
}
