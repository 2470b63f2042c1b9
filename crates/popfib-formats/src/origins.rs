//! How the origins of a route are written where they are several ASes: the text of a value in, its [`Origin`]s out.
//!
//! ```text
//! 64500            one AS
//! {64500,64501}    an AS set: one of them, and nobody knows which
//! 64500_64501      two origins: some routers have a route of the one, some of the other
//! ```
//! An AS set has its members joined by `,`, in braces or without; origins that
//! differ between routes are joined by `_`. These are the only next hops that have commas in the
//! text format: dumps of every collector have some.

use crate::as_path::{self, as_number};
use crate::name_rule::check;

/// Whether `text` is an AS number, or several as at the top of this file.
pub(crate) fn is_as_list(text: &str) -> bool {
    without_braces(text)
        .split(['_', ','])
        .all(|text| as_number(text).is_some())
}

/// Whether the text formats of tables and updates can hold the next hop `name`: a word of one line, without commas,
/// that no comment is in, or AS numbers.
pub fn is_token(name: &str) -> bool {
    check(name).is_ok() && is_word(name)
}

/// The same of a name that was [checked](check).
pub(crate) fn is_word(name: &str) -> bool {
    let is_comment = name.starts_with(['#', ';']) || name.ends_with(';');
    !is_comment && !name.contains([' ', '\t', ',']) || is_as_list(name)
}

/// `text` without the braces around an AS set.
pub(crate) fn without_braces(text: &str) -> &str {
    let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    inner.unwrap_or(text)
}

/// `text` without `AS` in front of a number.
pub(crate) fn without_as(text: &str) -> &str {
    match text.get(..2) {
        Some(start) if start.eq_ignore_ascii_case("AS") => &text[2..],
        _ => text,
    }
}

/// Where a route comes from, as far as its value says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// This AS.
    As(u32),
    /// An AS set, of which nobody knows which.
    Set,
}

/// The origins in a value, if it has any, and how each is written: `64500`, `AS64500`, `1.10`; an AS set
/// (`{64500,64501}`, also without braces) is one origin, and those joined by `_` are several. The value of a live route of BGP
/// (`192.0.2.1 as-path 64500 64501`) has the origin of its path.
///
/// ```
/// use popfib_formats::bgp::{Origin, origins};
///
/// let of = |value| origins(value).map(|all| all.into_iter().map(|(origin, _)| origin).collect::<Vec<_>>());
/// assert_eq!(of("AS64500"), Some(vec![Origin::As(64500)]));
/// assert_eq!(of("64500_{1,2}"), Some(vec![Origin::As(64500), Origin::Set]));
/// assert_eq!(of("192.0.2.1 as-path 64500 64501 med 5"), Some(vec![Origin::As(64501)]));
/// assert_eq!(of("192.0.2.1"), None);
/// ```
pub fn origins(value: &str) -> Option<Vec<(Origin, String)>> {
    let one = |text: &str| {
        let origin = match as_number(without_as(text)) {
            Some(number) => Origin::As(number),
            None => is_as_list(text).then_some(Origin::Set)?,
        };
        Some((origin, text.to_owned()))
    };
    if let Some((_, path)) = value.split_once(" as-path ") {
        let end = |word| path.find(word).unwrap_or(path.len());
        let end = [" local-pref ", " med ", " communities "].map(end);
        let path = &path[..end.into_iter().min()?];
        // A confederation alone names no AS outside.
        if as_path::length(path).ok()? == 0 {
            return None;
        }
        let mut origin = String::new();
        as_path::write_origin_of(path, 0, &mut origin).ok()?;
        return one(&origin).map(|origin| vec![origin]);
    }
    value.split('_').map(one).collect()
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
