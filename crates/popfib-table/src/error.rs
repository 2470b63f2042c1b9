//! [`TableError`]: why a table has no answer, or cannot be made.

use std::error::Error;
use std::fmt;

use popfib::{CompileError, ImageError};

/// Why a table has no answer, or cannot be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// It is an image that was compiled without its routes.
    NoRoutes,
    /// It is an image for prefixes alone: it has no Fib of values, which come with the prefixes.
    NoValues,
    /// Its routes could not be compiled.
    Compile(CompileError),
    /// It could not be made an image.
    Image(ImageError),
    /// Its records have more than 4096 columns.
    TooManyColumns,
    /// Its records are larger than an image holds.
    TooLarge,
    /// It is an image whose next hops have no names.
    NoNames,
    /// Two columns would have this name, which is escaped as a message needs it.
    DuplicateColumn(String),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRoutes => {
                f.write_str("the image was compiled without its routes, which are needed here")
            }
            Self::NoValues => {
                f.write_str("the image was compiled for prefixes alone, without a FIB of values")
            }
            Self::Compile(error) => error.fmt(f),
            Self::Image(error) => error.fmt(f),
            Self::TooManyColumns => f.write_str("records of more than 4096 columns"),
            Self::NoNames => f.write_str("the image has no names for its next hops"),
            Self::DuplicateColumn(name) => write!(f, "two columns are called {name}"),
            Self::TooLarge => {
                f.write_str("records with more than 4 GiB of texts or lists in a column")
            }
        }
    }
}

impl Error for TableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoRoutes
            | Self::NoValues
            | Self::TooManyColumns
            | Self::TooLarge
            | Self::NoNames
            | Self::DuplicateColumn(_) => None,
            Self::Compile(error) => Some(error),
            Self::Image(error) => Some(error),
        }
    }
}

impl From<CompileError> for TableError {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

impl From<ImageError> for TableError {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}
