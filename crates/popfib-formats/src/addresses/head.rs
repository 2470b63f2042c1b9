//! The first lines of a file with something on them, which distinguish formats: a table with a heading from lines of text.
//!
//! ```text
//! time,client,bytes                a heading: names, and an address below
//! 10:20,192.0.2.1,512
//!
//! 192.0.2.1,512                    lines of text, or a table without a heading: nobody can tell
//! ```

use super::find::find_address;
use super::record::CsvRecord;
use crate::delimiter::{declared, delimiter};

/// Whether a line with something on it is in `head` as a whole.
pub(super) fn has_line(head: &[u8]) -> bool {
    lines(head).any(|(line, is_whole)| is_whole && is_content(line))
}

/// The first line that is neither empty nor a comment.
pub(super) fn first_line(head: &[u8]) -> Option<&[u8]> {
    lines(head)
        .map(|(line, _)| line)
        .find(|line| is_content(line))
}

/// The delimiter of the first line.
pub(super) fn first_delimiter(head: &[u8]) -> Option<u8> {
    first_line(head).and_then(delimiter)
}

/// Whether a file begins with a heading of columns, as its first two lines say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// What separates the columns.
    Found(u8),
    /// The second line is not there as a whole.
    Unknown,
    /// There is none.
    None,
}

/// What is a heading: names, none of them a number or an address, and in the next line as many cells, one of which is an
/// address.
///
/// Commas alone do not make a table, since logs have them, too.
pub(super) fn heading(head: &[u8]) -> Heading {
    let mut lines = lines(head).filter(|(line, _)| !line.is_empty());
    let Some((mut first, true)) = lines.next() else {
        return Heading::Unknown;
    };
    let declared = declared(first);
    if declared.is_some() {
        match lines.next() {
            Some((line, true)) => first = line,
            _ => return Heading::Unknown,
        }
    }
    let Some(delimiter) = declared
        .or_else(|| delimiter(first))
        .filter(|_| is_content(first))
    else {
        return Heading::None;
    };
    let mut record = CsvRecord::new(delimiter);
    record.split(first);
    let is_name = |cell: &[u8]| {
        let begins = cell.first().is_some_and(|byte| {
            byte.is_ascii_alphabetic() || !byte.is_ascii_graphic() || *byte == b'_'
        });
        begins && find_address(cell, 0).is_none()
    };
    let columns = record.count();
    if columns < 2 || !record.cells().all(is_name) {
        return Heading::None;
    }
    let Some((second, true)) = lines.next() else {
        return Heading::Unknown;
    };
    record.split(second);
    match record.count() == columns && record.cells().any(is_address) {
        true => Heading::Found(delimiter),
        false => Heading::None,
    }
}

/// Whether a cell is an address, perhaps with a port or the like, and not a text with one in it.
pub(super) fn is_address(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let found = find_address(cell, 0);
    found.is_some_and(|found| found.range.start <= 1) && !cell.contains(&b' ')
}

/// The lines of `head`, and whether each has its end there.
pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let is_whole = line.ends_with(b"\n");
        (line.trim_ascii_end(), is_whole)
    })
}

/// Whether a line is neither empty nor a comment.
pub(super) fn is_content(line: &[u8]) -> bool {
    !matches!(line.trim_ascii_start(), [] | [b'#' | b';', ..])
}
