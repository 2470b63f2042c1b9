//! Routes in, an object of JSON a line out.
//!
//! ```text
//! {"prefix":"192.0.2.0/24","next_hop":"east"}
//! {"prefix":"192.0.2.0/24","country":"DE","asn":64500}
//! ```
//! The objects of a list have a prefix alone. Lines and not one array: each is whole by itself, so that a reader needs no
//! memory for all and a file that is cut off still has its beginning.

use popfib::{IpPrefix, NextHop};
use popfib_table::Records;

use super::bytes::push_prefix;
use super::form::{ColumnsForm, WriteEntry, WriteMethod};
use crate::cell_json::CellJson;

pub(super) static FORM: WriteEntry = WriteEntry {
    name: "json-lines",
    aliases: &["json", "jsonl"],
    description: "one JSON object a line: prefix, next_hop",
    method: WriteMethod::Columns(ColumnsForm {
        header: |_| Vec::new(),
        append: row,
    }),
};

/// A route with a member for each column that has a value, or for all columns if none has.
fn row(out: &mut Vec<u8>, prefix: IpPrefix, names: &[&str], records: &Records, number: NextHop) {
    out.extend_from_slice(b"{\"prefix\":\"");
    push_prefix(out, prefix);
    out.push(b'"');
    // Of a record without any value the members are null: without them it would be one of a list.
    let is_absent = || records.codes(number.get()).all(|code| code == 0);
    for (index, name) in names.iter().enumerate() {
        let cell = records.cell(number, index);
        if cell.is_some() || is_absent() {
            out.push(b',');
            // A string into memory cannot fail, nor can numbers.
            let _ = serde_json::to_writer(&mut *out, name);
            out.push(b':');
            let _ = serde_json::to_writer(&mut *out, &cell.map(CellJson));
        }
    }
    out.extend_from_slice(b"}\n");
}
