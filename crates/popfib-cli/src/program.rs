//! How a command begins and ends, the same for every command of popfib.
//!
//! Data goes to standard output, notes and errors to standard error. Exit 0 is
//! success, 1 a negative answer, 2 bad usage or bad input, told in one line. A
//! reader that closes standard output early (`popfib routes | head`) ends the
//! command quietly, with the status that a shell shows for one that the signal of a closed
//! pipe ended: what was cut is no success, and a difference that was found stays one.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::failure::Failure;
use crate::output;

/// What a command that did its work has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The answer is yes, or all is done: exit 0.
    Good,
    /// The answer is no: exit 1.
    Bad,
}

/// 128 and the number of SIGPIPE.
const CLOSED_PIPE: u8 = 141;

/// Parses the arguments, of which the first is the program, for `run` and turns what it says into an exit status.
pub(crate) fn main<C: Parser>(
    name: &'static str,
    arguments: impl IntoIterator<Item = OsString>,
    run: impl FnOnce(C) -> Result<Verdict, Failure>,
) -> ExitCode {
    output::name_program(name);
    let verdict = match C::try_parse_from(arguments) {
        Ok(arguments) => run(arguments),
        Err(error) => usage(&error),
    };
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(failure) if failure.is_closed_pipe() => ExitCode::from(CLOSED_PIPE),
        Err(failure) => {
            match &failure {
                Failure::Help(help) => output::to_stderr(help),
                failure => output::note(failure),
            }
            ExitCode::from(2)
        }
    }
}

/// What clap has to say: help and version are output, the rest is bad usage.
fn usage(error: &clap::Error) -> Result<Verdict, Failure> {
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut stdout = io::stdout();
            let written = write!(stdout, "{text}").and_then(|()| stdout.flush());
            written.map(|()| Verdict::Good).map_err(Failure::Output)
        }
        // Help in place of an error, where nothing was asked for.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::Help(text.to_string())),
        _ => Err(Failure::Message(one_line(&text.to_string()))),
    }
}

/// An error of clap's, a paragraph or two with the usage below, in one line.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        words.join(" ")
    });
    let told: Vec<String> = paragraphs
        .filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("Usage:"))
        .map(|paragraph| paragraph.replace("For more information, try", "try"))
        .collect();
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn usage_is_told_in_one_line() {
        let text = "error: the following required arguments were not provided:\n  --output <FILE>\n\n\
                    Usage: popfib compile --output <FILE>\n\nFor more information, try '--help'.\n";
        let line =
            "the following required arguments were not provided: --output <FILE>; try '--help'.";
        assert_eq!(one_line(text), line);
        let text = "error: unexpected argument '--tabel' found\n\n  tip: a similar argument exists: \
                    '--table'\n\nUsage: popfib info\n\nFor more information, try '--help'.\n";
        let line = "unexpected argument '--tabel' found; tip: a similar argument exists: '--table'; \
                    try '--help'.";
        assert_eq!(one_line(text), line);
    }
}
