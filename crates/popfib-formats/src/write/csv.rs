//! Routes in, comma-separated values out (RFC 4180).
//!
//! ```text
//! prefix,next_hop                       prefix,country,asn
//! 192.0.2.0/24,"east, second floor"     192.0.2.0/24,DE,64500
//! ```
//! A list has the column `prefix` alone. Lines end in LF and not in CRLF as the RFC has it: tools for lines want that, and
//! readers of CSV take both.

use popfib::{IpPrefix, NextHop};
use popfib_table::Records;

use super::bytes::push_prefix;
use super::form::{ColumnsForm, WriteEntry, WriteMethod};

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "csv",
    aliases: &[],
    description: "comma-separated values: prefix, next_hop",
    method: WriteMethod::Columns(ColumnsForm {
        header,
        append: row,
    }),
};

/// The names of the columns.
fn header(names: &[&str]) -> Vec<u8> {
    let mut header = b"prefix".to_vec();
    for name in names {
        header.push(b',');
        csv_field(name, b',', &mut header);
    }
    header.push(b'\n');
    header
}

/// A route with the values of all columns: none of one that is absent, and those of a list between commas.
fn row(out: &mut Vec<u8>, prefix: IpPrefix, names: &[&str], records: &Records, number: NextHop) {
    push_prefix(out, prefix);
    for column in 0..names.len() {
        out.push(b',');
        if let Some(text) = records.text(number, column) {
            csv_field(&text, b',', out);
        }
    }
    out.push(b'\n');
}

/// Appends a field of CSV to `out`, in quotes where it has a delimiter, a quote or a line end (RFC 4180), or blanks at its ends, which
/// some readers would trim.
pub fn csv_field(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    let special = |&byte: &u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    if text.as_bytes().iter().any(special) || text.trim() != text {
        out.push(b'"');
        out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}
