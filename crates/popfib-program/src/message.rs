//! One-line notes and errors on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;

use anstyle::Style;
use serde::{Serialize, Serializer};

use crate::progress;
use crate::screen::{ERROR, Screen};

/// The name of the program, which is before what it says.
pub(crate) static NAME: OnceLock<String> = OnceLock::new();

/// One line on standard error, whatever is in it: control characters are escaped.
pub fn note(line: impl Display) {
    tell_line(Style::new(), line);
}

/// The same for an error.
pub fn error(line: impl Display) {
    tell_line(ERROR, line);
}

fn tell_line(style: Style, line: impl Display) {
    let mut text = format!(
        "{} ",
        Screen::stderr().paint(
            style,
            format_args!("{}:", NAME.get().map_or("popfib", |name| name))
        )
    );
    for character in line.to_string().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text.push('\n');
    to_stderr(&text);
}

/// Writes to standard error, which has no buffer, in one piece: two programs that share it don't mix
/// their lines. A standard error that is gone is no reason to stop.
pub fn to_stderr(text: &str) {
    let _ = progress::apart(true, || io::stderr().write_all(text.as_bytes()));
}

/// Notes what was left out of the source called `name`, or changed in it.
pub fn tell(name: &str, remarks: &[String]) {
    for line in remarks {
        note(format_args!("{}: {line}", name.escape_debug()));
    }
}

/// A value that is a string of JSON: its text.
#[derive(Debug)]
pub struct AsText<T>(pub T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
