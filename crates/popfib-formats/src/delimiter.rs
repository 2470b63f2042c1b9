//! What separates the cells of a table: its first line in, a byte out. Quotes hide what is between them.

/// How often `byte` stands in `line` outside of quotes.
fn count(line: &[u8], byte: u8) -> usize {
    let parts = line.split(|&b| b == b'"').step_by(2);
    parts
        .map(|part| memchr::memchr_iter(byte, part).count())
        .sum()
}

/// The delimiter of a table whose first line is `line`: a tab if it has any, a
/// semicolon if it has more of them than commas, as spreadsheets write it where
/// the comma is the decimal point, else a comma; `None` if it has none of all.
pub(crate) fn delimiter(line: &[u8]) -> Option<u8> {
    let [tabs, semicolons, commas] = [b'\t', b';', b','].map(|byte| count(line, byte));
    match (tabs, semicolons, commas) {
        (1.., _, _) => Some(b'\t'),
        (_, semicolons, commas) if semicolons > commas => Some(b';'),
        (_, _, 1..) => Some(b','),
        _ => None,
    }
}

/// The delimiter that `line`, the first, declares as Excel writes and reads it: `sep=;`.
pub(crate) fn declared(line: &[u8]) -> Option<u8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (mark, delimiter) = line.split_at_checked(b"sep=".len())?;
    match delimiter {
        [delimiter] if mark.eq_ignore_ascii_case(b"sep=") => Some(*delimiter),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_delimiters() {
        for (line, found) in [
            ("a,b", Some(b',')),
            ("a\tb,c", Some(b'\t')),
            ("a;b,c;d", Some(b';')),
            ("a;b,c,d", Some(b',')),
            ("ip;\"note, more\"", Some(b';')),
            ("10.0.0.1,\"a\tb\"", Some(b',')),
            ("\"a\"\"\t\";b", Some(b';')),
            ("\"a;b\"", None),
            ("", None),
        ] {
            assert_eq!(delimiter(line.as_bytes()), found, "{line}");
        }
    }
}
