//! What stands in a line of output around the answers: the line of the input, or the address.

use super::form::Form;
use super::page::Page;

/// How a line begins, and so how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// Nothing: the answers alone.
    Nothing,
    /// The address.
    Address,
    /// The same of objects that end with the line of the input.
    AddressOfLine,
    /// The line or record of the input.
    Row,
}

/// The place in a row of the input where the answers come.
pub(super) struct Row<'r> {
    before: &'r [u8],
    after: &'r [u8],
    /// Of a JSON object without members.
    is_empty_object: bool,
}

impl<'r> Row<'r> {
    /// Cuts `row`; `None` if it is no JSON object where one has to be, so that it stays as it is.
    #[inline(always)]
    pub(super) fn new(row: &'r [u8], form: &Form) -> Option<Self> {
        let cut = match form {
            Form::Csv(_) => row.len(),
            Form::Text { .. } | Form::Headed { .. } => {
                row.len() - usize::from(row.ends_with(b"\r"))
            }
            Form::Json => {
                let end = row.trim_ascii_end();
                let is_object = end.ends_with(b"}") && begin(end).starts_with(b"{");
                if !is_object {
                    return None;
                }
                end.len() - 1
            }
        };
        let (before, after) = row.split_at(cut);
        let is_empty_object = *form == Form::Json && begin(before).trim_ascii_end() == b"{";
        Some(Self {
            before,
            after,
            is_empty_object,
        })
    }

    /// Writes the line, the answers by `answers`.
    #[inline(always)]
    pub(super) fn write(&self, form: &Form, page: &mut Page, answers: impl FnOnce(&mut Page)) {
        page.put(self.before);
        let start = page.bytes().len();
        match form.comment(self.before) {
            Some(text) => page.put(text),
            None => answers(page),
        }
        if self.is_empty_object && page.bytes().len() > start {
            // The comma between members.
            page.remove(start);
        }
        if !self.after.is_empty() {
            page.put(self.after);
        }
        page.put(match form {
            Form::Json => b"\n",
            form => form.end(),
        });
    }
}

/// A line from its first byte on that means something: a byte order mark may be before.
#[inline(always)]
fn begin(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_before_the_end_of_a_line_or_object() {
        let written = |row: &str, form: &Form| {
            let mut page = Page::new();
            match Row::new(row.as_bytes(), form) {
                Some(row) => row.write(form, &mut page, |page| page.put(b",A")),
                None => page.put(b"none"),
            }
            String::from_utf8(page.bytes().to_vec()).unwrap()
        };
        for (row, expected) in [
            ("", ",A\n"),
            ("a b", "a b,A\n"),
            ("a\r", "a,A\r\n"),
            ("\r", ",A\r\n"),
        ] {
            assert_eq!(written(row, &Form::Text { is_crlf: false }), expected);
        }
        for (row, expected) in [
            ("{\"a\":1}", "{\"a\":1,A}\n"),
            (" {\"a\": {} } \r", " {\"a\": {} ,A} \r\n"),
            ("{}", "{A}\n"),
            ("\u{feff}{}", "\u{feff}{A}\n"),
            ("\u{feff}{\"a\":1}", "\u{feff}{\"a\":1,A}\n"),
            ("{ }", "{ A}\n"),
            ("[1]", "none"),
            ("{\"cut\":", "none"),
            ("", "none"),
            ("}", "none"),
        ] {
            assert_eq!(written(row, &Form::Json), expected);
        }
    }
}
