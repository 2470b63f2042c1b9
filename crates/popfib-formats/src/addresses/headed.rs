//! Lines of text whose fields have names, in a line of the file: logs of Zeek, of IIS and other servers, of flows.
//!
//! ```text
//! #fields    ts    id.orig_h
//! #Fields: date time s-ip c-ip
//! version account-id interface-id srcaddr dstaddr
//! ```
//! Zeek separates by tabs. The others are separated by blanks, however many: W3C's extended logs have the names in `#Fields`,
//! flow logs of AWS VPC in the first line, where they are looked for if a column is asked for by its name.

use super::choice::LineMembers;
use super::field_names::{FieldNames, W3C};
use super::head::has_line;
use super::options::{AddressOptions, ColumnId, LinePart};
use super::source::{AddressEntry, AddressSource};
use super::text::LineAddresses;
use crate::error::{ReadError, no_name};
use crate::input::Input;

pub(super) static ZEEK: AddressEntry = AddressEntry {
    name: "zeek",
    description: "logs of Zeek: columns by their names in #fields",
    can: &[],
    detect: |head| head.starts_with(b"#separator"),
    open: |input, options| open(input, b"#fields\t", Some(b'\t'), options),
};

pub(super) static FIELDS: AddressEntry = AddressEntry {
    name: "fields",
    description: "lines of fields between blanks: columns by their names in #Fields (W3C, IIS), or in the first line (AWS VPC)",
    can: &[],
    detect: |head| {
        let mut lines = head.split(|&byte| byte == b'\n');
        let mut comments = lines.by_ref().take_while(|line| line.starts_with(b"#"));
        comments.any(|line| line.starts_with(W3C))
    },
    open: |input, options| open(input, W3C, None, options),
};

/// Whether a column is asked for by its name where the first line has words between blanks.
pub(super) fn is_named_between_blanks(head: &[u8], columns: &[ColumnId]) -> bool {
    let heading = FieldNames::of(head, W3C, None);
    let is_several = || heading.is_some_and(|heading| heading.names().len() > 1);
    let mut columns = columns.iter();
    let is_name = |column: &ColumnId| matches!(column, ColumnId::Name(name) if !name.contains(' '));
    columns.any(is_name) && is_several()
}

/// Opens lines whose names of fields follow `mark`. Columns become parts of lines, so that lines are read as those of any text.
fn open(
    mut input: Input,
    mark: &[u8],
    delimiter: Option<u8>,
    options: &AddressOptions,
) -> Result<Box<dyn AddressSource>, ReadError> {
    // How much of the input has to be there: no more, as the lines may come live.
    let is_enough = |head: &[u8]| match mark {
        // The first line is the last where names may be.
        W3C => has_line(head),
        mark => FieldNames::of(head, mark, delimiter).is_some(),
    };
    let mut heading = FieldNames::of(input.peek(is_enough), mark, delimiter);
    let part = |column: &ColumnId| match column {
        ColumnId::Number(number) => Ok(LinePart::Field(*number, delimiter)),
        ColumnId::Name(name) => {
            let found = heading.as_ref().and_then(|heading| heading.field(name));
            found.ok_or_else(|| {
                let names = heading.as_ref().map(FieldNames::names).unwrap_or_default();
                let names: Vec<_> = names.into_iter().map(String::from_utf8_lossy).collect();
                let reason = no_name(name, names.iter().map(|name| &**name));
                ReadError::file(input.name(), reason)
            })
        }
    };
    let parts: Result<Vec<_>, ReadError> = options.columns.iter().map(part).collect();
    let parts = parts?;
    // Names that change later matter only if columns were asked for by them, or are chosen.
    if let Some(heading) = &mut heading {
        heading.is_used = !parts.is_empty() || options.chooses;
    }
    let members = match &heading {
        Some(heading) if heading.line != heading.mark => LineMembers::Fields(heading.clone()),
        _ => LineMembers::None,
    };
    let options = AddressOptions {
        parts: match parts.is_empty() {
            true => options.parts.clone(),
            false => parts,
        },
        comments: true,
        ..options.clone()
    };
    Ok(Box::new(LineAddresses::headed(
        input, &options, heading, members,
    )))
}
