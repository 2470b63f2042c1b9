//! What a terminal is shown: bytes of any origin in, text that steers nothing out.
//!
//! Values, names and lines of logs are of strangers. On a terminal control characters and those that turn the direction of text are
//! written as escapes (`\u{202e}`), but for line ends, tabs and the sequences that set a style, which popfib itself writes.

use std::fmt::Write;

use popfib_formats::Escaped;

/// The text of `bytes`, and how many of them it is: a character that may go on after them is left for the next time.
pub fn shown(bytes: &[u8]) -> (String, usize) {
    let whole = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    };
    let text = String::from_utf8_lossy(&bytes[..whole]);
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\x1b' if is_style(&text[at + 1..]) => shown.push(c),
            c => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "{}", Escaped(&text[at..at + c.len_utf8()]));
            }
        }
    }
    (shown, whole)
}

/// Whether this follows ESC in a sequence that sets a style.
fn is_style(rest: &str) -> bool {
    let after = rest.strip_prefix('[').map(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':'))
    });
    after.is_some_and(|after| after.starts_with('m'))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_steers_a_terminal() {
        for (bytes, text) in [
            (&b"10.0.0.0/8\tZ\xc3\xbcrich\n"[..], "10.0.0.0/8\tZürich\n"),
            (b"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
            (b"\x1b]0;x\x07\x1b[2J\r", "\\u{1b}]0;x\\u{7}\\u{1b}[2J\\r"),
            (
                "\u{9b}31m\u{202e}\u{2066}".as_bytes(),
                "\\u{9b}31m\\u{202e}\\u{2066}",
            ),
            (b"\x9b\xff", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(shown(bytes), (text.to_owned(), bytes.len()));
        }
        // Cut within a character.
        assert_eq!(shown(b"a\xc2"), ("a".to_owned(), 1));
        assert_eq!(shown(b"\xc2").1, 1);
    }
}
