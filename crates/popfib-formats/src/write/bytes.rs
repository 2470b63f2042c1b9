//! Text into memory.

use std::fmt;
use std::io::Write;

/// Appends formatted text.
pub(super) fn push(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}
