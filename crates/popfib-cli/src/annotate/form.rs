//! The forms of output that are lines of text: what stands before, between and
//! behind address, prefix and value.

use super::answers::Answer;

/// A form of output as lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As `popfib lookup` prints.
    Text,
    /// A table with a delimiter; the user's own if the input was one.
    Csv(Table),
    /// One JSON object a line.
    JsonLines,
}

/// What a CSV file looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) delimiter: u8,
    pub(super) is_crlf: bool,
    /// Whether the rows are those of the input, with their columns; else the address alone.
    pub(super) has_rows: bool,
    /// The names of the columns, as they stand in the file.
    pub(super) header: Option<Vec<u8>>,
}

impl Table {
    /// The table of addresses that come without one.
    pub(super) fn of_addresses() -> Self {
        Self {
            delimiter: b',',
            is_crlf: false,
            has_rows: false,
            header: Some(b"address".to_vec()),
        }
    }

    fn line_end(&self) -> &'static [u8] {
        if self.is_crlf { b"\r\n" } else { b"\n" }
    }
}

impl Form {
    /// What comes before everything.
    pub(super) fn head(&self, value_only: bool) -> Vec<u8> {
        let Self::Csv(table) = self else {
            return Vec::new();
        };
        let Some(header) = &table.header else {
            return Vec::new();
        };
        let mut head = header.clone();
        let names: &[&str] = if value_only {
            &["next_hop"]
        } else {
            &["prefix", "next_hop"]
        };
        for name in names {
            head.push(table.delimiter);
            head.extend_from_slice(name.as_bytes());
        }
        head.extend_from_slice(table.line_end());
        head
    }

    /// What comes before each address.
    pub(super) fn lead(&self) -> &'static [u8] {
        match self {
            Self::Text | Self::Csv(_) => b"",
            Self::JsonLines => b"{\"address\":\"",
        }
    }

    /// Writes what comes behind an address: the answer, `None` if there is no match.
    pub(super) fn tail(&self, answer: Option<&Answer<'_>>, value_only: bool, to: &mut Vec<u8>) {
        let next_hop = answer.map(|answer| answer.next_hop);
        let prefix = answer.and_then(|answer| answer.prefix);
        match self {
            Self::Text => {
                if !value_only {
                    to.push(b'\t');
                    to.extend_from_slice(prefix.unwrap_or("-").as_bytes());
                    to.push(b'\t');
                }
                to.extend_from_slice(next_hop.unwrap_or("-").as_bytes());
                to.push(b'\n');
            }
            Self::Csv(table) => {
                if !value_only {
                    to.push(table.delimiter);
                    cell(prefix.unwrap_or_default(), table.delimiter, to);
                }
                to.push(table.delimiter);
                cell(next_hop.unwrap_or_default(), table.delimiter, to);
                to.extend_from_slice(table.line_end());
            }
            Self::JsonLines => {
                let text = |text| serde_json::to_string(&text).expect("a string is JSON");
                to.push(b'"');
                if !value_only {
                    to.extend_from_slice(b",\"prefix\":");
                    to.extend_from_slice(text(prefix).as_bytes());
                }
                to.extend_from_slice(b",\"next_hop\":");
                to.extend_from_slice(text(next_hop).as_bytes());
                to.extend_from_slice(b"}\n");
            }
        }
    }

    /// Writes the whole line of a row that has no address.
    pub(super) fn missing(&self, value_only: bool) -> Vec<u8> {
        let mut line = Vec::new();
        match self {
            Self::Text if !value_only => line.push(b'-'),
            Self::Text | Self::Csv(_) => {}
            Self::JsonLines => line.extend_from_slice(b"{\"address\":null"),
        }
        let mut tail = Vec::new();
        self.tail(None, value_only, &mut tail);
        // The quote that ends an address.
        let quote = usize::from(*self == Self::JsonLines);
        line.extend_from_slice(&tail[quote..]);
        line
    }
}

/// A cell, in quotes where it has to be (RFC 4180).
fn cell(text: &str, delimiter: u8, to: &mut Vec<u8>) {
    let special = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    if text.bytes().any(|byte| special(&byte)) {
        to.push(b'"');
        to.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        to.push(b'"');
    } else {
        to.extend_from_slice(text.as_bytes());
    }
}
