//! What standard output and standard error can show: whether they are terminals and so have aligned columns, and whether they have
//! colours.
//!
//! Whether there are colours is decided as by clap for its help (anstream): by `--color`, else by NO_COLOR, CLICOLOR_FORCE,
//! CLICOLOR and TERM, else on a terminal.

use std::fmt::{self, Display};
use std::io;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

/// The colour of clap's errors.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();

/// What a stream can show.
#[derive(Clone, Copy, Debug, Default)]
pub struct Screen {
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// Whether it shows colours.
    pub is_coloured: bool,
}

impl Screen {
    /// A file's: bytes and nothing else.
    pub const NONE: Self = Self {
        is_terminal: false,
        is_coloured: false,
    };

    /// What standard output can show.
    pub fn stdout() -> Self {
        Self::of(io::stdout())
    }

    /// The same of standard error.
    pub fn stderr() -> Self {
        Self::of(io::stderr())
    }

    fn of<S: RawStream>(stream: S) -> Self {
        let is_coloured = AutoStream::choice(&stream) != ColorChoice::Never;
        Self {
            is_terminal: stream.is_terminal(),
            is_coloured,
        }
    }

    /// `text` in this style, if there are colours.
    pub fn paint<T: Display>(self, style: Style, text: T) -> Painted<T> {
        let style = if self.is_coloured {
            style
        } else {
            Style::new()
        };
        Painted { style, text }
    }
}

/// A text between the escapes of a style.
pub struct Painted<T> {
    style: Style,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { style, text } = self;
        write!(f, "{style}{text}{style:#}")
    }
}

/// How many characters a line of the terminal has.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(80, |(width, _)| width.0.into())
}
