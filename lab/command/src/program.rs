//! How the command ends, and what it says besides its figures.
//!
//! Figures go to standard output, notes and errors to standard error, a line each. Exit 0 is success, 1 a negative
//! answer, 2 bad usage or input, 141 a reader of the output that left early.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

/// Why the command gave up: one line.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// What a subcommand that did its work has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The answer is yes, or all is done.
    Good,
    /// The answer is no.
    Bad,
}

/// The exit status that says how it went; a failure is told.
pub(crate) fn end(result: Result<Verdict, Failure>) -> ExitCode {
    let failure = match result {
        Ok(Verdict::Good) => return ExitCode::SUCCESS,
        Ok(Verdict::Bad) => return ExitCode::from(1),
        Err(failure) => failure,
    };
    let kind = failure.downcast_ref::<io::Error>().map(io::Error::kind);
    if kind == Some(io::ErrorKind::BrokenPipe) {
        // 128 and the number of SIGPIPE, as a shell shows it.
        return ExitCode::from(141);
    }
    note(failure);
    ExitCode::from(2)
}

/// Prints `text` on standard output, at once.
pub(crate) fn print(text: impl Display) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    write!(output, "{text}")?;
    Ok(output.flush()?)
}

/// Prints `value` as JSON in a line.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(serde_json::to_string(value)? + "\n")
}

/// One line on standard error; one that is gone is no reason to stop.
pub(crate) fn note(line: impl Display) {
    let _ = io::stderr().write_all(format!("popfib-lab: {line}\n").as_bytes());
}
