//! Why the command gave up: one line for standard error, exit 2.

use std::fmt;
use std::io;

use popfib::CompileError;
use popfib_formats::ReadError;

/// The reason of an exit with status 2.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad usage, already explained on standard error.
    Usage,
    /// Bad usage or input, in one line.
    Message(String),
    /// A file could not be read; its line names file, line and reason.
    Read(ReadError),
    /// Standard output does not take what it is given.
    Output(io::Error),
}

impl Failure {
    /// Whether the reader of standard output has gone, which is no error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => f.write_str("bad usage"),
            Self::Message(message) => f.write_str(message),
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
