//! The first line of a file with something on it, which distinguishes formats.

use crate::delimiter::delimiter;

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

/// The lines of `head`, and whether each has its end there.
fn lines(head: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let is_whole = line.ends_with(b"\n");
        (line.trim_ascii_end(), is_whole)
    })
}

fn is_content(line: &[u8]) -> bool {
    !matches!(line.trim_ascii_start(), [] | [b'#' | b';', ..])
}
