//! What a next hop may be called: one rule for all readers and all writers.
//!
//! Names go into lines, between tabs, and to terminals. So a name has no control
//! character and no line end of Unicode, which could forge rows or steer a
//! terminal, and it has something to show. Its length has a limit, one for all
//! that popfib reads and writes, so that what one command has written, another
//! can read; live sources leave out routes whose values would be longer.
//!
//! A "name" is any text that stands for a next hop: an address, an AS number, a country.

use crate::error::quote;

/// The maximum length of a next hop's text in bytes. The path of a BGP message of 4,096 bytes takes 12,000 at most, a
/// route over 256 next hops as much.
pub const MAX_NEXT_HOP_LENGTH: usize = 60_000;

const TOO_LONG: &str = "a next hop of more than 60000 bytes";

/// The maximum length of all next hops of a table in bytes: a compressed file of some hundred kilobytes may hold more.
pub(crate) const MAX_NAMES: usize = 1 << 30;

/// Whether a name may have this character.
pub(crate) fn is_forbidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Whether `name` may be the name of a next hop; else what is wrong with it.
pub(crate) fn check(name: &str) -> Result<(), &'static str> {
    if name.len() > MAX_NEXT_HOP_LENGTH {
        return Err(TOO_LONG);
    }
    check_characters(name)
}

/// As [`check`], for a name of any length: that of an image, whose bytes bound it.
pub(crate) fn check_characters(name: &str) -> Result<(), &'static str> {
    if name.contains(is_forbidden) {
        return Err("a next hop with a control character");
    }
    if name.trim().is_empty() {
        return Err("an empty next hop");
    }
    Ok(())
}

/// Refuses a value, of one text or of several, that is too long.
pub(crate) fn check_length(len: usize) -> Result<(), String> {
    match len > MAX_NEXT_HOP_LENGTH {
        true => Err(format!("{len} bytes: {TOO_LONG}")),
        false => Ok(()),
    }
}

/// `name` if it may be one; else the reason for an error, which quotes it unless it is too long.
pub(crate) fn checked(name: &str) -> Result<&str, String> {
    check_length(name.len())?;
    match check_characters(name) {
        Ok(()) => Ok(name),
        Err(reason) => Err(format!("{}: {reason}", quote(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_is_none() {
        let longest = "x".repeat(MAX_NEXT_HOP_LENGTH);
        for name in ["a", "192.0.2.1", "Cloudflare, Inc.", "Zürich #1", &longest] {
            assert_eq!(checked(name), Ok(name));
        }
        let longer = format!("{longest}x");
        for (name, reason) in [
            ("", "an empty next hop"),
            (" \u{a0} ", "an empty next hop"),
            ("a\tb", "a next hop with a control character"),
            ("a\nb", "a next hop with a control character"),
            ("\x1b[31m", "a next hop with a control character"),
            ("a\0", "a next hop with a control character"),
            ("a\u{85}", "a next hop with a control character"),
            ("a\u{2028}", "a next hop with a control character"),
            (&longer, "a next hop of more than 60000 bytes"),
        ] {
            assert_eq!(check(name), Err(reason), "{name:?}");
        }
        assert_eq!(
            checked("a\x1b"),
            Err(r#""a\u{1b}": a next hop with a control character"#.into())
        );
    }
}
