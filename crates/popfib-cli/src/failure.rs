//! Why the command gave up: one line for standard error, exit 2.

use std::fmt;
use std::io;

use popfib::CompileError;
use popfib_formats::ReadError;
use popfib_table::TableError;

/// The reason of an exit with status 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing was asked for: the whole help.
    Help(String),
    /// Bad usage or input.
    Message(String),
    /// A file could not be read; its line names file, line and reason.
    Read(ReadError),
    /// Standard output does not take what it is given.
    Output(io::Error),
}

impl Failure {
    /// Whether the reader of standard output has gone, of which there is nothing to say.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Help(text) | Self::Message(text) => f.write_str(text),
            Self::Read(error) => error.fmt(f),
            Self::Output(error) => write!(f, "standard output: {error}"),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Self::Message(error.to_string())
    }
}
