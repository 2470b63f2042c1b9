//! What a form of tables is: its name, and how one route is written.

use std::fmt;
use std::io::Write;

use crate::Route;

/// Appends the bytes of a route, or says why the form cannot hold its next hop.
pub(super) type Append = fn(&mut Vec<u8>, Route<'_>) -> Result<(), &'static str>;

/// What `WriteFormat` knows about a form.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) alias: Option<&'static str>,
    pub(super) description: &'static str,
    pub(super) header: &'static str,
    /// Whether a route may have the empty next hop, that of a list of prefixes.
    pub(super) takes_lists: bool,
    pub(super) append: Append,
}

/// Appends formatted text.
pub(super) fn push(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = out.write_fmt(text);
}
