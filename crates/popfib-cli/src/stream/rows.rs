//! What stands around the answers in a line of output: a row of the input in, its parts before and after the answers out; or the
//! address alone.

use super::form::LineForm;
use super::output_buffer::OutputBuffer;

/// What a line of output begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineLead {
    /// Nothing: it has the answers alone.
    Nothing,
    /// The address.
    Address,
    /// The address; the line of the input is the last member of the object.
    AddressOfLine,
    /// The line or record of the input.
    Row,
}

/// A row of the input, split at the place where the answers come.
pub(super) struct SplitRow<'r> {
    before: &'r [u8],
    after: &'r [u8],
    /// Whether it is a JSON object without members, so that the answers have no comma before them.
    is_empty_object: bool,
}

impl<'r> SplitRow<'r> {
    /// Splits `row`. `None` if the form is JSON and the row is no object: it is copied as it is.
    #[inline(always)]
    pub(super) fn new(row: &'r [u8], form: &LineForm) -> Option<Self> {
        let cut = match form {
            LineForm::Csv(_) => row.len(),
            LineForm::Text { .. } | LineForm::Headed { .. } => {
                row.len() - usize::from(row.ends_with(b"\r"))
            }
            LineForm::Json => {
                let end = row.trim_ascii_end();
                let is_object = end.ends_with(b"}") && begin(end).starts_with(b"{");
                if !is_object {
                    return None;
                }
                end.len() - 1
            }
        };
        let (before, after) = row.split_at(cut);
        let is_empty_object = *form == LineForm::Json && begin(before).trim_ascii_end() == b"{";
        Some(Self {
            before,
            after,
            is_empty_object,
        })
    }

    /// Writes the line; `answers` writes the answers.
    #[inline(always)]
    pub(super) fn write(
        &self,
        form: &LineForm,
        out: &mut OutputBuffer,
        answers: impl FnOnce(&mut OutputBuffer),
    ) {
        out.put(self.before);
        let start = out.bytes().len();
        match form.comment(self.before) {
            Some(text) => out.put(text),
            None => answers(out),
        }
        if self.is_empty_object && out.bytes().len() > start {
            // The comma that answers begin with.
            out.remove(start);
        }
        if !self.after.is_empty() {
            out.put(self.after);
        }
        out.put(match form {
            LineForm::Json => b"\n",
            form => form.end(),
        });
    }
}

/// The line without what means nothing at its beginning: a byte order mark and blanks.
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
        let written = |row: &str, form: &LineForm| {
            let mut out = OutputBuffer::default();
            match SplitRow::new(row.as_bytes(), form) {
                Some(row) => row.write(form, &mut out, |out| out.put(b",A")),
                None => out.put(b"none"),
            }
            String::from_utf8(out.bytes().to_vec()).unwrap()
        };
        for (row, expected) in [
            ("", ",A\n"),
            ("a b", "a b,A\n"),
            ("a\r", "a,A\r\n"),
            ("\r", ",A\r\n"),
        ] {
            assert_eq!(written(row, &LineForm::Text { is_crlf: false }), expected);
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
            assert_eq!(written(row, &LineForm::Json), expected);
        }
    }
}
