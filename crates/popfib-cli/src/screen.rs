//! What standard output and standard error can show: whether they are terminals and so have aligned columns, and whether they have
//! colours. The styles of all that is coloured are here, too.
//!
//! Whether there are colours is decided as by clap for its help (anstream): by `--color`, else by NO_COLOR, CLICOLOR_FORCE,
//! CLICOLOR and TERM, else on a terminal.

use std::fmt::{self, Display};
use std::io;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

pub(crate) const PREFIX: Style = AnsiColor::Cyan.on_default();
pub(crate) const VALUE: Style = AnsiColor::Green.on_default();
pub(crate) const HEADING: Style = Style::new().bold();
pub(crate) const BAR: Style = AnsiColor::Blue.on_default();
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const CHANGED: Style = AnsiColor::Yellow.on_default();
/// The colours of `grep`.
pub(crate) const MATCH: Style = AnsiColor::Red.on_default().bold();
pub(crate) const FILE_NAME: Style = AnsiColor::Magenta.on_default();
pub(crate) const LINE_NUMBER: Style = AnsiColor::Green.on_default();
pub(crate) const MARK: Style = AnsiColor::Cyan.on_default();
/// The colour of clap's errors.
pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();

/// What a stream can show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Screen {
    /// Whether it is a terminal.
    pub(crate) is_terminal: bool,
    pub(crate) is_coloured: bool,
}

impl Screen {
    /// A file's: bytes and nothing else.
    pub(crate) const NONE: Self = Self {
        is_terminal: false,
        is_coloured: false,
    };

    pub(crate) fn stdout() -> Self {
        Self::of(io::stdout())
    }

    pub(crate) fn stderr() -> Self {
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
    pub(crate) fn paint<T: Display>(self, style: Style, text: T) -> Painted<T> {
        let style = if self.is_coloured {
            style
        } else {
            Style::new()
        };
        Painted { style, text }
    }
}

/// A text between the escapes of a style.
pub(crate) struct Painted<T> {
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
pub(crate) fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(80, |(width, _)| width.0.into())
}
