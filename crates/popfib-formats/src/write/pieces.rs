//! A template in, its pieces out: texts, fields and commas.
//!
//! ```text
//! ip route {address} {mask} Null0      a text, a field, a text, a field, a text
//! ```
//! A field stands in braces; which there are, the caller says. `{{` and `}}` are braces themselves, `\n`, `\t` and `\\` a line
//! end, a tab and a backslash, and `{,}` is a comma after each route but the last. There are no conditions and no loops:
//! whoever needs them has JSON lines and a language for them.

use std::net::IpAddr;

use popfib::IpPrefix;

use super::bytes::{push, push_address, push_prefix};
use crate::error::quote;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum TemplatePiece<F> {
    Text(String),
    Field(F),
    /// A comma between this route and the next.
    Comma,
}

/// The pieces of a template; `field` knows what stands in braces.
///
/// # Errors
/// Single and nested braces, escapes that there are not, and what `field` does not know.
pub(super) fn parse<F>(
    template: &str,
    field: impl Fn(&str) -> Result<F, String>,
) -> Result<Vec<TemplatePiece<F>>, String> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = template;
    while let Some(place) = rest.find(['{', '}', '\\']) {
        let (before, from) = rest.split_at(place);
        text.push_str(before);
        let escape = ESCAPES.iter().find(|(escape, _)| from.starts_with(escape));
        if let Some((escape, meaning)) = escape {
            text.push_str(meaning);
            rest = &from[escape.len()..];
            continue;
        }
        let inside = from.strip_prefix('{').and_then(|from| from.split_once('}'));
        let Some((name, after)) = inside else {
            return Err(match from.chars().next() {
                Some('{') => "a { without a }; {{ is the brace itself",
                Some('}') => "a } without a {; }} is the brace itself",
                _ => r"a backslash without n or t after it; \\ is the backslash itself",
            }
            .to_owned());
        };
        if name.contains('{') {
            let name = quote(name);
            return Err(format!(
                "{name}: a {{ inside of braces; {{{{ is the brace itself"
            ));
        }
        if !text.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
        }
        pieces.push(match name {
            "," => TemplatePiece::Comma,
            name => TemplatePiece::Field(field(name)?),
        });
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(TemplatePiece::Text(text));
    }
    Ok(pieces)
}

/// What stands for characters that would mean something, or nothing, and these characters.
const ESCAPES: [(&str, &str); 5] = [
    ("{{", "{"),
    ("}}", "}"),
    ("\\n", "\n"),
    ("\\t", "\t"),
    ("\\\\", "\\"),
];

/// What a template can have of a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefixField {
    Prefix,
    Address,
    Length,
    Mask,
    Wildcard,
    Last,
    Family,
}

impl PrefixField {
    /// By their names in templates.
    pub(super) const ALL: [(&str, Self); 8] = [
        ("prefix", Self::Prefix),
        ("address", Self::Address),
        ("length", Self::Length),
        ("mask", Self::Mask),
        ("wildcard", Self::Wildcard),
        ("first", Self::Address),
        ("last", Self::Last),
        ("family", Self::Family),
    ];

    pub(super) fn by_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|&(_, field)| field)
    }

    /// Appends what `prefix` has of it.
    pub(super) fn write(self, prefix: IpPrefix, out: &mut Vec<u8>) {
        match self {
            Self::Prefix => push_prefix(out, prefix),
            Self::Address => push_address(out, prefix.first()),
            Self::Last => push_address(out, prefix.last()),
            Self::Length => push(out, format_args!("{}", prefix.len())),
            Self::Mask => push_address(out, masks(prefix).0),
            Self::Wildcard => push_address(out, masks(prefix).1),
            Self::Family => out.extend_from_slice(match prefix {
                IpPrefix::V4(_) => b"ipv4",
                IpPrefix::V6(_) => b"ipv6",
            }),
        }
    }
}

/// The mask of the prefix and that of its host bits.
fn masks(prefix: IpPrefix) -> (IpAddr, IpAddr) {
    popfib::by_family!(prefix, |prefix: Prefix<A>| {
        let hosts = prefix.first() ^ prefix.last();
        ((!hosts).ip(), hosts.ip())
    })
}
