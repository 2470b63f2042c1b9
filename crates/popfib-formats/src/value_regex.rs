//! The regular expression that says what the values are of prefixes anywhere in a text: lines in, the value at each place out.
//!
//! ```text
//! config firewall address
//!     edit "lan"                           --value-regex 'edit "(.*)"'
//!         set subnet 10.0.0.0 255.0.0.0    10.0.0.0/8 has the value lan
//! ```

use std::str::FromStr;

use regex_lite::Regex;

/// How many matches of a line are looked at, so that the time stays in proportion to it.
const MOST: usize = 1000;

/// A regular expression whose matches are the values of prefixes in a text: its group if it has one, else all of the match.
///
/// The value of a prefix is the last match before it in its line, else the first after it there, else the last of the lines
/// above. Where a match is empty, the value is not known.
///
/// ```
/// assert!("edit \"(.*)\"".parse::<popfib_formats::ValueRegex>().is_ok());
/// assert!("(a)(b)".parse::<popfib_formats::ValueRegex>().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct ValueRegex(Regex);

impl PartialEq for ValueRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for ValueRegex {}

impl FromStr for ValueRegex {
    type Err = String;

    fn from_str(pattern: &str) -> Result<Self, String> {
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        match regex.captures_len() {
            1 | 2 => Ok(Self(regex)),
            _ => Err("one group at most; (?:...) is none".to_owned()),
        }
    }
}

/// The values in the line at hand, and the last of the lines above.
#[derive(Debug)]
pub(crate) struct RegexValues {
    regex: ValueRegex,
    above: Option<String>,
    /// Where each match of the line begins, and its text.
    here: Vec<(usize, String)>,
}

impl RegexValues {
    /// Before the first line.
    pub(crate) fn of(regex: ValueRegex) -> Self {
        Self {
            regex,
            above: None,
            here: Vec::new(),
        }
    }

    /// Goes to the next line, which is `line`.
    ///
    /// # Errors
    /// More matches in it than are looked at.
    pub(crate) fn advance(&mut self, line: &str) -> Result<(), String> {
        if let Some((_, last)) = self.here.pop() {
            self.above = Some(last);
        }
        self.here.clear();
        // The group, or all of the match.
        let group = self.regex.0.captures_len() - 1;
        for found in self.regex.0.captures_iter(line).take(MOST + 1) {
            let Some(whole) = found.get(0) else { continue };
            // One that took no part is empty.
            let value = found.get(group).map_or("", |value| value.as_str().trim());
            self.here.push((whole.start(), value.to_owned()));
        }
        match self.here.len() > MOST {
            true => Err(format!(
                "more than {MOST} matches of `value_regex` in a line"
            )),
            false => Ok(()),
        }
    }

    /// The value of what begins at `begin` in the line; `None` if it is not known.
    pub(crate) fn at(&self, begin: usize) -> Option<&str> {
        let after = self.here.partition_point(|(start, _)| *start < begin);
        let nearest = after.checked_sub(1).unwrap_or(after);
        let here = self.here.get(nearest).map(|(_, value)| value);
        let value = here.or(self.above.as_ref())?;
        (!value.is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the values at each `*` are, the lines one after the other.
    fn values(regex: &str, lines: &[&str]) -> Vec<String> {
        let mut values = RegexValues::of(regex.parse().unwrap());
        let mut found = Vec::new();
        for line in lines {
            values.advance(line).unwrap();
            let stars = line.match_indices('*');
            found.extend(stars.map(|(at, _)| values.at(at).unwrap_or("-").to_owned()));
        }
        found
    }

    #[test]
    fn the_nearest_match_is_the_value() {
        for (regex, lines, wanted) in [
            // The last before it in the line, else the first after it, else that of the lines above.
            (r"n(\d)", &["*", "n1 * n2 *", "*"][..], "- 1 2 2"),
            (r"n(\d)", &["* n1 n2", "* *"], "1 2 2"),
            // All of a match without a group; blanks at its ends are none of it.
            (r"n\d", &["n1", "*"], "n1"),
            (r"n(.*)$", &["n a_b ", "*"], "a_b"),
            // An empty match, a group that takes no part: not known.
            (r"n(\d*)", &["n1", "*", "n", "*"], "1 -"),
            (r"n(\d)|end", &["n1", "*", "end", "*"], "1 -"),
            (r"ü(\w)", &["üa * üb"], "a"),
        ] {
            assert_eq!(values(regex, lines).join(" "), wanted, "{regex} {lines:?}");
        }
    }

    #[test]
    fn what_is_no_expression_of_one_value() {
        for (regex, reason) in [
            ("(a)(b)", "one group"),
            ("(", "group"),
            ("a{1000}{1000}{1000}", "exceed"),
        ] {
            let error = regex.parse::<ValueRegex>().unwrap_err();
            assert!(error.contains(reason) && !error.contains('\n'), "{error}");
        }
        assert!("(?:a)(b)|(?i)c".parse::<ValueRegex>().is_ok());
    }

    #[test]
    fn many_matches_are_an_error() {
        let mut values = RegexValues::of("a(.*z)?".parse().unwrap());
        let error = values.advance(&"a".repeat(10_000)).unwrap_err();
        assert!(error.starts_with("more than 1000 matches"), "{error}");
        assert_eq!(values.advance(&"a".repeat(1000)), Ok(()));
    }
}
