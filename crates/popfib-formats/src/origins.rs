//! How the origins of a route are written where they are several ASes.
//!
//! An AS set has its members joined by `,`, in braces (`{64500,64501}`) or without; origins that
//! differ between routes are joined by `_`. These are the only next hops that have commas in the
//! text format: dumps of every collector have some.

use crate::name_rule::check;

/// Whether `text` is an AS number or several, as above.
pub(crate) fn is_as_list(text: &str) -> bool {
    without_braces(text).split(['_', ',']).all(is_as_number)
}

/// Whether the text formats can hold `name`: a word of one line, without commas
/// and comment signs, or AS numbers.
pub(crate) fn is_token(name: &str) -> bool {
    let ends = |c: char| matches!(c, ' ' | '\t' | ',' | '#' | ';');
    check(name).is_ok() && (!name.contains(ends) || is_as_list(name))
}

/// `text` without the braces around an AS set.
pub(crate) fn without_braces(text: &str) -> &str {
    let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    inner.unwrap_or(text)
}

/// Whether `text` is an AS number: a number of 32 bits, or two of 16 joined by a dot.
fn is_as_number(text: &str) -> bool {
    // Digits alone: `from_str` would take a sign.
    let digits = |n: &str| n.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        None => digits(text) && text.parse::<u32>().is_ok(),
        Some(halves) => [halves.0, halves.1]
            .iter()
            .all(|half| digits(half) && half.parse::<u16>().is_ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_alone_and_joined() {
        for list in ["1", "4294967295", "1.10", "{1}", "{1,2}", "1,2", "1_2,3"] {
            assert!(is_as_list(list), "{list}");
        }
        for other in [
            "",
            "{}",
            "{1",
            "1}",
            "1,",
            ",1",
            "{1,,2}",
            "AS1",
            "4294967296",
            "+1",
            "1 2",
        ] {
            assert!(!is_as_list(other), "{other}");
        }
    }
}
