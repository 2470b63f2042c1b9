//! Fields of a line of CSV or TSV, quoted or not.
//!
//! A quoted field is taken as it stands between its quotes, of which two stand for one; blanks around the
//! quotes, and around a field without any, are not part of it. A quote inside of other text is text. csv-core,
//! which is at hand, keeps the quotes of a field that begins with a blank and does not say which fields had some.
//!
//! One line at a time: a record that goes on over lines, as CSV allows, would need memory without bound where
//! a quote is never closed. None of the known tables has such a thing.

use crate::error::quote;

/// The fields of the line at hand.
pub(crate) struct CsvFields {
    separator: u8,
    text: String,
    /// Where each field ends in `text`.
    ends: Vec<usize>,
}

impl CsvFields {
    pub(crate) fn new(separator: u8) -> Self {
        Self {
            separator,
            text: String::new(),
            ends: Vec::new(),
        }
    }

    /// Takes the fields of `line`, which holds no control characters but tabs.
    pub(crate) fn split(&mut self, line: &str) -> Result<(), String> {
        self.text.clear();
        self.ends.clear();
        let mut rest = line;
        loop {
            // What begins and ends with a sign of ASCII has no blanks to look for.
            let field = match rest.as_bytes() {
                [b'!'..=b'~', ..] => rest,
                _ => rest.trim_start_matches(|c| self.is_blank(c)),
            };
            rest = match field.strip_prefix('"') {
                Some(quoted) => self.quoted(quoted)?,
                None => {
                    let end = field.bytes().position(|byte| byte == self.separator);
                    let (text, rest) = field.split_at(end.unwrap_or(field.len()));
                    self.text.push_str(match text.as_bytes() {
                        [.., b'!'..=b'~'] => text,
                        _ => text.trim_end(),
                    });
                    rest
                }
            };
            self.ends.push(self.text.len());
            // What is left begins with the separator.
            match rest.get(1..) {
                Some(next) => rest = next,
                None => return Ok(()),
            }
        }
    }

    /// Whether a character is a blank around a field: any of Unicode, but for the separator, which may be a tab.
    fn is_blank(&self, c: char) -> bool {
        c.is_whitespace() && c != char::from(self.separator)
    }

    /// Takes the field that `text` begins with, after its first quote; returns what comes after it.
    fn quoted<'a>(&mut self, mut text: &'a str) -> Result<&'a str, String> {
        loop {
            let Some((before, after)) = text.split_once('"') else {
                return Err("a quote is not closed on this line".to_owned());
            };
            self.text.push_str(before);
            let Some(next) = after.strip_prefix('"') else {
                let rest = after.trim_start_matches(|c| self.is_blank(c));
                if rest.is_empty() || rest.starts_with(char::from(self.separator)) {
                    return Ok(rest);
                }
                return Err(format!(
                    "text after the closing quote of a field: {}",
                    quote(rest)
                ));
            };
            self.text.push('"');
            text = next;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The field at `index`; empty if there is none.
    pub(crate) fn get(&self, index: usize) -> &str {
        let Some(&end) = self.ends.get(index) else {
            return "";
        };
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        for (line, wanted) in [
            ("a,b", &["a", "b"][..]),
            (
                "1.0.0.0/24, 13335 ,\"Cloudflare, Inc.\",\"say \"\"x\"\"\"",
                &["1.0.0.0/24", "13335", "Cloudflare, Inc.", "say \"x\""],
            ),
            ("a,,", &["a", "", ""]),
            ("", &[""]),
            ("Zürich", &["Zürich"]),
            // Blanks inside of quotes are meant, those around them are not.
            ("a, \" b \" ,\"\"", &["a", " b ", ""]),
            ("\"\"\"\",\"a\tb\"", &["\"", "a\tb"]),
            // A quote inside of text is text.
            ("5\" disk,a\"b\"c,x", &["5\" disk", "a\"b\"c", "x"]),
        ] {
            let mut fields = CsvFields::new(b',');
            fields.split("not,of,the,line,before").unwrap();
            fields.split(line).unwrap();
            let all: Vec<_> = (0..fields.len()).map(|n| fields.get(n)).collect();
            assert_eq!(all, wanted, "{line}");
            assert_eq!(fields.get(fields.len()), "");
        }
        let mut fields = CsvFields::new(b'\t');
        fields.split("a b\t\t \"c\td\"\t").unwrap();
        let all: Vec<_> = (0..fields.len()).map(|n| fields.get(n)).collect();
        assert_eq!(all, ["a b", "", "c\td", ""]);
        for line in ["\"a,b", "a,\"b\"c", "\"", "\"a\"\""] {
            assert!(CsvFields::new(b',').split(line).is_err(), "{line}");
        }
    }
}
