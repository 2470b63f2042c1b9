//! Answers to addresses: a match in, a line or an object of JSON out, as `popfib lookup` prints them.

use std::io::{self, Write};
use std::net::IpAddr;

use popfib::{IpPrefix, NextHop};
use popfib_feed::Target;
use popfib_formats::Escaped;
use popfib_formats::text::CellJson;
use popfib_table::{Cell, IPV6_TEXT, PrefixText, Records, write_ip};
use serde::Serialize;

use super::questions::{BodyForm, QuestionError};

/// The name of the only column of live tables, and of tables without names of columns.
pub(super) const NEXT_HOP: &str = "next_hop";

/// The value of a match.
#[derive(Clone, Copy)]
pub(super) enum FoundValue<'a> {
    Live(&'a Target),
    /// The record of this number.
    Record(&'a Records, NextHop),
}

/// The columns that answers have.
pub(super) struct AnswerColumns {
    /// The beginning of each member of JSON, and the index of its column.
    members: Vec<(String, usize)>,
}

impl AnswerColumns {
    /// All of a table.
    pub(super) fn of(all: &[impl AsRef<str>]) -> Self {
        Self::new(all, all.iter().map(AsRef::as_ref)).expect("they are there")
    }

    /// Those of a table with the columns `all` that have these names.
    ///
    /// # Errors
    /// There is no such column.
    pub(super) fn new<'n>(
        all: &[impl AsRef<str>],
        some: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, &'static str> {
        let member = |name: &str| {
            let index = all.iter().position(|column| column.as_ref() == name)?;
            let name = serde_json::to_string(name).expect("a text");
            Some((format!(",{name}:"), index))
        };
        let members = some.into_iter().map(member).collect::<Option<_>>();
        members
            .map(|members| Self { members })
            .ok_or("no such column")
    }
}

/// Appends the answer to an address.
pub(super) fn write_answer(
    to: &mut Vec<u8>,
    form: BodyForm,
    columns: &AnswerColumns,
    address: IpAddr,
    found: Option<(IpPrefix, FoundValue<'_>)>,
) {
    let mut text = [0; IPV6_TEXT];
    let length = write_ip(address, &mut text);
    let address = &text[..length];
    let (prefix, value) = found.unzip();
    let prefix = prefix.map(PrefixText::new);
    let prefix = prefix.as_ref().map(PrefixText::as_bytes);
    // From a snapshot, and not confirmed since.
    let is_stale = matches!(value, Some(FoundValue::Live(value)) if value.is_restored());
    if form == BodyForm::Lines {
        to.extend_from_slice(address);
        to.push(b'\t');
        to.extend_from_slice(prefix.unwrap_or(b"-"));
        for (_, index) in &columns.members {
            to.push(b'\t');
            let written = match value {
                Some(FoundValue::Live(value)) => write!(to, "{value}"),
                Some(FoundValue::Record(records, number)) => {
                    write_cell(to, records.cell(number, *index))
                }
                None => to.write_all(b"-"),
            };
            written.expect("memory takes it");
        }
        to.extend_from_slice(if is_stale { b"\tstale" } else { b"" });
        return;
    }
    to.extend_from_slice(b"{\"address\":\"");
    to.extend_from_slice(address);
    to.extend_from_slice(b"\",\"prefix\":");
    match prefix {
        Some(prefix) => {
            to.push(b'"');
            to.extend_from_slice(prefix);
            to.push(b'"');
        }
        None => to.extend_from_slice(b"null"),
    }
    for (member, index) in &columns.members {
        to.extend_from_slice(member.as_bytes());
        match value {
            Some(FoundValue::Live(value)) => json(to, &value.to_string()),
            Some(FoundValue::Record(records, number)) => {
                json(to, &records.cell(number, *index).map(CellJson));
            }
            None => to.extend_from_slice(b"null"),
        }
    }
    to.extend_from_slice(if is_stale { b",\"stale\":true}" } else { b"}" });
}

fn write_cell(to: &mut Vec<u8>, cell: Option<Cell<'_>>) -> io::Result<()> {
    match cell {
        Some(cell) => write!(to, "{}", Escaped(&cell.to_text())),
        None => to.write_all(b"-"),
    }
}

/// All values of a record, as in a line.
pub(super) fn record_line(records: &Records, number: NextHop) -> String {
    let mut line = Vec::new();
    for index in 0..records.columns().len() {
        line.extend_from_slice(if index > 0 { b"\t" } else { b"" });
        write_cell(&mut line, records.cell(number, index)).expect("memory takes it");
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Appends what is wrong with an address or with all that follows.
pub(super) fn write_error(to: &mut Vec<u8>, form: BodyForm, error: &QuestionError) {
    let (address, error) = match error {
        QuestionError::Address(text) => (Some(&text[..]), "not an IP address"),
        QuestionError::Body(error) => (None, *error),
    };
    match form {
        BodyForm::Lines => {
            let address = address
                .map(|text| format!("{text:?}: "))
                .unwrap_or_default();
            write!(to, "error: {address}{error}").expect("memory takes it");
        }
        _ => json(to, &AnswerError { address, error }),
    }
}

/// An error of an address, as JSON.
#[derive(Serialize)]
struct AnswerError<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<&'a str>,
    error: &'a str,
}

fn json(to: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(to, value).expect("names are texts");
}

/// A line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::new();
    json(&mut line, value);
    line.push(b'\n');
    line
}
