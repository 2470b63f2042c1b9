//! How a command begins and ends, the same for every command of popfib: words of the command line in, options for `run` and at the end
//! an exit status out.
//!
//! Data goes to standard output, notes and errors to standard error. Exit 0 is success, 1 a negative answer, 2 bad usage or bad input,
//! with one line that says why. If the reader closes standard output early (`popfib routes | head`), the command ends without a
//! message, with the status 141 that shells show for a program that SIGPIPE ended: output that was cut is no success, and a script
//! sees that `popfib diff` did not end with 0.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, ColorChoice, Command, Parser, ValueEnum};
use colorchoice_clap::Color;

use crate::failure::{self, Failure};
use crate::help;
use crate::message;
use crate::screen::Screen;

/// The answer of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answer is yes, or all is done: exit 0.
    Good,
    /// The answer is no: exit 1.
    Bad,
}

impl Verdict {
    /// Whether the answer is yes.
    pub fn good_if(is_yes: bool) -> Self {
        if is_yes { Self::Good } else { Self::Bad }
    }
}

/// 128 and the number of SIGPIPE.
const CLOSED_PIPE: u8 = 141;

/// Parses the arguments, of which the first is the program, for `run`, and turns its result into an exit status. `meant` knows what to
/// say of a word that is no command or option.
pub fn main<C: Parser>(
    arguments: Vec<OsString>,
    meant: impl FnOnce(&str) -> Option<String>,
    run: impl FnOnce(C) -> Result<Verdict, Failure>,
) -> ExitCode {
    let color = color(&arguments);
    let command = C::command();
    // One program runs in a process.
    let _ = message::NAME.set(command.get_name().to_owned());
    // Help is put together only if somebody asks for it: that takes longer than parsing the arguments.
    let parsed = parse(command, arguments.clone()).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            parse(help::arrange(C::command()), arguments)
        }
        _ => Err(error),
    });
    let verdict = match parsed {
        Ok(arguments) => run(arguments),
        Err(error) => {
            // Help and errors are printed although the arguments were not parsed, so `--color` was searched for by itself.
            color.unwrap_or_default().write_global();
            usage(&error, meant)
        }
    };
    match verdict {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(failure) if failure.is_closed_pipe() => ExitCode::from(CLOSED_PIPE),
        Err(failure) => {
            match &failure {
                Failure::Help(help) => message::to_stderr(help),
                failure => message::error(failure),
            }
            ExitCode::from(2)
        }
    }
}

/// Parses the arguments, and notes which options the subcommand has.
fn parse<C: Parser>(mut command: Command, arguments: Vec<OsString>) -> Result<C, clap::Error> {
    let matches = command.try_get_matches_from_mut(arguments);
    let parsed = matches.and_then(|matches| {
        failure::know_options(options(&command, &matches));
        C::from_arg_matches(&matches)
    });
    parsed.map_err(|error| error.format(&mut command))
}

/// The arguments of this process. `--color` is one with what it takes, and takes `auto` if nothing else, as that of grep.
pub fn arguments() -> Vec<OsString> {
    with_colors(env::args_os())
}

fn with_colors(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let is_when = |word: &OsString| {
        let word = word.to_str();
        word.is_some_and(|word| ColorChoice::from_str(word, false).is_ok())
    };
    let mut arguments = arguments.into_iter().peekable();
    let mut joined = Vec::new();
    while let Some(mut argument) = arguments.next() {
        let is_last = argument == "--";
        if argument == "--color" {
            let when = arguments.next_if(is_when);
            argument.push("=");
            argument.push(when.unwrap_or_else(|| "auto".into()));
        }
        joined.push(argument);
        if is_last {
            joined.extend(arguments.by_ref());
        }
    }
    joined
}

/// The index of the first argument that is not about colours.
pub fn first(arguments: &[OsString]) -> usize {
    let mut others = arguments.iter().skip(1);
    let first = others.position(|argument| {
        argument
            .to_str()
            .is_none_or(|text| !text.starts_with("--color="))
    });
    first.map_or(arguments.len(), |at| at + 1)
}

/// What the last argument about colours says.
fn color(arguments: &[OsString]) -> Option<Color> {
    let arguments = arguments.iter().filter_map(|argument| argument.to_str());
    let arguments = arguments.take_while(|argument| *argument != "--");
    let colors = arguments.filter_map(|argument| argument.strip_prefix("--color="));
    let colors = colors.filter_map(|when| ColorChoice::from_str(when, false).ok());
    colors.last().map(|color| Color { color })
}

/// The long names of the options of the subcommand that was given, or of `command` if there was none.
fn options(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let below = matches.subcommand();
    let below = below.and_then(|(name, matches)| Some((command.find_subcommand(name)?, matches)));
    if let Some((command, matches)) = below {
        return options(command, matches);
    }
    let options = command
        .get_arguments()
        .filter_map(|option| option.get_long());
    options.map(str::to_owned).collect()
}

/// What clap has to say: help and version are output, the rest is bad usage, of which `meant` may know more.
fn usage(
    error: &clap::Error,
    meant: impl FnOnce(&str) -> Option<String>,
) -> Result<Verdict, Failure> {
    let text = error.render();
    let shown = |screen: Screen| match screen.is_coloured {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let mut stdout = io::stdout();
            let written = stdout.write_all(shown(Screen::stdout()).as_bytes());
            let written = written.and_then(|()| stdout.flush());
            written.map(|()| Verdict::Good).map_err(Failure::Output)
        }
        // Without any argument: the help in place of an error.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::Help(shown(Screen::stderr())))
        }
        _ => {
            let about = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
            let about = about.into_iter().find_map(|kind| error.get(kind));
            let said = match about {
                Some(ContextValue::String(word)) => meant(word),
                _ => None,
            };
            Err(said.unwrap_or_else(|| one_line(&text.to_string())).into())
        }
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
        // Clap's tip for values that begin with a hyphen seldom fits.
        .filter(|paragraph| {
            let noise = ["Usage:", "tip: to "];
            !paragraph.is_empty() && !noise.iter().any(|noise| paragraph.starts_with(noise))
        })
        .map(|paragraph| paragraph.replace("For more information, try", "try"))
        .collect();
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::{ColorChoice, color, first, one_line, with_colors};

    #[test]
    fn colours_are_known_before_other_arguments() {
        for (text, place, wanted) in [
            ("popfib", 1, None),
            ("popfib 8.8.8.8 --color never", 1, Some(ColorChoice::Never)),
            ("popfib --color always info", 2, Some(ColorChoice::Always)),
            ("popfib --color info", 2, Some(ColorChoice::Auto)),
            (
                "popfib --color=never --color=auto",
                3,
                Some(ColorChoice::Auto),
            ),
            ("popfib --color", 2, Some(ColorChoice::Auto)),
            ("popfib --color=red info", 2, None),
            ("popfib lookup -- --color=never", 1, None),
        ] {
            let arguments = with_colors(text.split(' ').map(Into::into));
            assert_eq!(first(&arguments), place, "{text}");
            assert_eq!(color(&arguments).map(|color| color.color), wanted, "{text}");
        }
    }

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
