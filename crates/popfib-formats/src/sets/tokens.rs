//! The words and signs of languages with brackets: a line in, its tokens out.
//!
//! `elements = { 10.0.0.0/8, "a b" } # x` gives `elements`, `=`, `{`, `10.0.0.0/8`, `,`, `"a b"`, `}`.
//!
//! These languages allow what a line-by-line format does not: brackets and elements may stand on one line or on several.
//! So the grammars keep a state over lines and take one token after the other. None has a whole
//! parser: they look for sets, and all else may be as it likes.

/// The tokens of `line`, up to a comment: signs that stand for themselves, quoted text
/// with its quotes, and words between them. `signs` are those of the language, in ASCII. A quote that is not closed
/// reaches to the end of the line; of a comment over several lines only the first is known as one.
pub(super) fn tokens<'a>(line: &'a str, signs: &'a str) -> impl Iterator<Item = &'a str> {
    let is_sign = |c: char| signs.bytes().any(|sign| c == char::from(sign));
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let len = match first {
            '#' => return None,
            '/' if rest.starts_with("/*") || rest.starts_with("//") => return None,
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            first if is_sign(first) => 1,
            _ => {
                let is_end = |c: char| c.is_whitespace() || c == '"' || c == '#' || is_sign(c);
                rest.find(is_end).unwrap_or(rest.len())
            }
        };
        let token;
        (token, rest) = rest.split_at(len);
        Some(token)
    })
}

/// A name without the quotes or brackets around it.
pub(super) fn bare(name: &str) -> &str {
    name.trim_matches(['"', '<', '>'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_signs_and_quotes() {
        let all = |line| tokens(line, "{},=;").collect::<Vec<_>>();
        assert_eq!(
            all("set bl {a, \"b, c\" d=10.0.0.0/8;} # x"),
            [
                "set",
                "bl",
                "{",
                "a",
                ",",
                "\"b, c\"",
                "d",
                "=",
                "10.0.0.0/8",
                ";",
                "}"
            ]
        );
        assert_eq!(all("\"open"), ["\"open"]);
        assert_eq!(all("a // b"), ["a"]);
        assert!(all("  # x").is_empty());
        assert_eq!(bare("\"a\""), "a");
        assert_eq!(bare("<a>"), "a");
    }
}
