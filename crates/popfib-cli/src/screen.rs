//! The styles of all that is coloured, beside what a stream can show.

use anstyle::{AnsiColor, Style};
pub(crate) use popfib_program::screen::{Screen, width};

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
