//! A table and a template of the user's in, text out: the lines of the template, those with a field once for each route.
//!
//! ```text
//! table ip blocked {                       table ip blocked {
//!   {prefix} : jump {country|none},   -->    192.0.2.0/24 : jump DE,
//! }                                          198.51.100.0/24 : jump none,
//!                                          }
//! ```
//! So there is a form for every program that popfib does not know. Fields are looked up in the table once, before the
//! first route: a misspelt column is an error with the names that there are, and nothing has been written.

use std::io::Write;
use std::str::FromStr;

use popfib::IpPrefix;
use popfib_table::Cell;

use super::blocks::write_blocks;
use super::csv::csv_field;
use super::error::WriteError;
use super::pieces::{PrefixField, TemplatePiece, parse};
use crate::cell_json::CellJson;
use crate::error::quote;
use crate::image::no_column_message;
use crate::load::RouteTable;
use crate::name_rule::is_forbidden;
use crate::values::ColumnSelection;

/// Lines with fields in braces, such as `{prefix} {country};`, in which tables are [written](write_template).
///
/// The lines from the first that has a field to the last that has one are written for each route, those before and after them
/// once. A field is one of the prefix (`prefix`, `address`, `length`, `mask`, `wildcard`, `first`, `last`, `family`) or a column
/// by its name; `value` is the value of a lookup. `{NAME:json}` and `{NAME:csv}` write it as a value of JSON and as a field of
/// CSV, `{NAME|TEXT}` writes TEXT where it is absent. `{,}` is a comma after each route but the last. `{{` and `}}` are
/// braces, `\n`, `\t` and `\\` a line end (which ends no line of the template), a tab and a backslash.
#[derive(Clone, Debug)]
pub struct Template {
    before: String,
    each: Vec<TemplatePiece<TemplateField>>,
    after: String,
}

/// A field of the user's: what stands in braces, `NAME`, `NAME:json`, `NAME|TEXT`.
#[derive(Clone, Debug)]
struct TemplateField {
    name: String,
    /// Which field of prefixes this is; else it is a column.
    of_prefix: Option<PrefixField>,
    filter: FieldFilter,
    /// What is written in place of an absent value.
    absent: Option<String>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldFilter {
    /// As it is; control characters are refused, as they could end a line.
    None,
    Json,
    Csv,
}

/// What the value of a lookup is called, whatever its column is.
const VALUE: &str = "value";

/// What is done with the routes of a table.
const ACTION: &str = "action";

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
        let lines = lines.map(|line| {
            let mut pieces = parse(line, field)?;
            pieces.push(TemplatePiece::Text("\n".to_owned()));
            Ok(pieces)
        });
        let lines: Vec<_> = lines.collect::<Result<_, String>>()?;
        let has_field = |line: &Vec<TemplatePiece<TemplateField>>| {
            let mut pieces = line.iter();
            pieces.any(|piece| !matches!(piece, TemplatePiece::Text(_)))
        };
        let Some(first) = lines.iter().position(has_field) else {
            let fields = fields();
            return Err(format!(
                "a template without a field; fields are {fields}, and the columns of the table"
            ));
        };
        let last = lines.iter().rposition(has_field).unwrap_or(first);
        let text = |lines: &[Vec<TemplatePiece<TemplateField>>]| {
            let texts = lines.iter().flatten().filter_map(|piece| match piece {
                TemplatePiece::Text(text) => Some(&text[..]),
                TemplatePiece::Field(_) | TemplatePiece::Comma => None,
            });
            texts.collect()
        };
        Ok(Self {
            before: text(&lines[..first]),
            each: lines[first..=last].concat(),
            after: text(&lines[last + 1..]),
        })
    }
}

/// The names of the fields that every table has.
fn fields() -> String {
    PrefixField::ALL.map(|(name, _)| name).join(", ")
}

/// A field as it stands in braces.
fn field(text: &str) -> Result<TemplateField, String> {
    let (text, absent) = match text.split_once('|') {
        Some((text, absent)) => (text, Some(absent.to_owned())),
        None => (text, None),
    };
    let (name, filter) = match text.rsplit_once(':') {
        None => (text, FieldFilter::None),
        Some((name, "json")) => (name, FieldFilter::Json),
        Some((name, "csv")) => (name, FieldFilter::Csv),
        Some((_, filter)) => {
            let filter = quote(filter);
            return Err(format!(
                "{filter}: not a way to write a field; there are json and csv"
            ));
        }
    };
    if name.is_empty() {
        return Err("{} names no field; {{ and }} are braces themselves".to_owned());
    }
    Ok(TemplateField {
        name: name.to_owned(),
        of_prefix: PrefixField::by_name(name),
        filter,
        absent,
    })
}

impl Template {
    /// Whether it names a column by another name than `value`, so that a table needs its [records](crate::ColumnSelection::All).
    pub fn names_columns(&self) -> bool {
        self.columns().any(|name| name != VALUE)
    }

    /// Whether it writes anything but prefixes.
    pub fn has_values(&self) -> bool {
        self.columns().next().is_some()
    }

    fn columns(&self) -> impl Iterator<Item = &str> {
        self.each.iter().filter_map(|piece| match piece {
            TemplatePiece::Field(field) => {
                let is_column = field.of_prefix.is_none() && field.name != ACTION;
                is_column.then_some(&field.name[..])
            }
            TemplatePiece::Text(_) | TemplatePiece::Comma => None,
        })
    }
}

/// Writes tables to `out` by `template`: of each the IPv4 routes, then the IPv6 routes, each in prefix order. O(routes and bytes)
/// time, O(1) memory. `out` is not flushed. What is before a table is done with it, which `{action}` writes; one without has `None`.
///
/// A value that is absent is an empty text, in JSON `null`, unless the template has another text for it.
///
/// # Errors
/// Those of `out`. Before anything is written: a column that the table has not, or whose name is that of a field of prefixes. A
/// value with a control character in a field that is written as it is; routes before it may have been written then.
pub fn write_template(
    tables: &[(Option<&str>, &RouteTable)],
    template: &Template,
    mut out: impl Write,
) -> Result<(), WriteError> {
    let pieces = |&(action, table)| {
        let pieces = template.each.iter();
        let pieces = pieces.map(|piece| find(action, table, piece));
        Ok((table, pieces.collect::<Result<Vec<_>, _>>()?))
    };
    let tables: Result<Vec<_>, _> = tables.iter().map(pieces).collect();
    let tables = tables.map_err(WriteError::Form)?;
    let mut left: usize = tables.iter().map(|(table, _)| table.route_count()).sum();
    let routes = tables.iter().flat_map(|(table, pieces)| {
        let routes = table.routes();
        routes.map(move |route| (*table, pieces, route))
    });
    write_blocks(
        template.before.as_bytes(),
        routes,
        &mut out,
        |block, (table, pieces, (prefix, number))| {
            left -= 1;
            for piece in pieces {
                match *piece {
                    ResolvedPiece::Text(text) => block.extend_from_slice(text.as_bytes()),
                    ResolvedPiece::Comma if left > 0 => block.push(b','),
                    ResolvedPiece::Comma => {}
                    ResolvedPiece::Action(action, field) => {
                        field.quoted(true, block, |out| out.extend_from_slice(action.as_bytes()))
                    }
                    ResolvedPiece::OfPrefix(of_prefix, field) => {
                        field.write_of(of_prefix, prefix, block)
                    }
                    ResolvedPiece::Column(column, field) => {
                        let cell = table.records.cell(number, column);
                        let written = field.write(cell, block);
                        written.map_err(|next_hop| WriteError::NextHop {
                            prefix,
                            next_hop,
                            reason: "a control character, for which a field needs :json or :csv",
                        })?;
                    }
                }
            }
            Ok(())
        },
    )?;
    out.write_all(template.after.as_bytes())?;
    Ok(())
}

/// A piece of a template once it is known where in the table its value is.
enum ResolvedPiece<'t> {
    Text(&'t str),
    Comma,
    Action(&'t str, &'t TemplateField),
    OfPrefix(PrefixField, &'t TemplateField),
    Column(usize, &'t TemplateField),
}

/// Where in the table a piece is.
fn find<'p>(
    action: Option<&'p str>,
    table: &RouteTable,
    piece: &'p TemplatePiece<TemplateField>,
) -> Result<ResolvedPiece<'p>, String> {
    let field = match piece {
        TemplatePiece::Text(text) => return Ok(ResolvedPiece::Text(text)),
        TemplatePiece::Comma => return Ok(ResolvedPiece::Comma),
        TemplatePiece::Field(field) => field,
    };
    let name = &field.name[..];
    if let (ACTION, Some(action)) = (name, action) {
        return Ok(ResolvedPiece::Action(action, field));
    }
    let quoted = || quote(name);
    // A list has no column, and one value for each route has no name but that of any value.
    let is_list = table.is_list();
    let is_named = table.columns != ColumnSelection::Value;
    let column = table.records.column(name).filter(|_| is_named);
    match (field.of_prefix, column) {
        (Some(_), Some(_)) => Err(format!(
            "a column is called {}, as a field of prefixes is",
            quoted()
        )),
        (Some(of_prefix), None) => Ok(ResolvedPiece::OfPrefix(of_prefix, field)),
        (None, Some(column)) => Ok(ResolvedPiece::Column(column, field)),
        (None, None) if name == VALUE && !is_list => {
            let column = table.records.value_column();
            Ok(ResolvedPiece::Column(column, field))
        }
        (None, None) => {
            let no_column = match is_list {
                true => format!("no column {} in a list without values", quoted()),
                false => no_column_message(name, Some(&table.records)),
            };
            Err(format!("{no_column}; other fields are {}", fields()))
        }
    }
}

impl TemplateField {
    /// Appends what `prefix` has of a field of prefixes.
    fn write_of(&self, of_prefix: PrefixField, prefix: IpPrefix, out: &mut Vec<u8>) {
        let is_text = of_prefix != PrefixField::Length;
        self.quoted(is_text, out, |out| of_prefix.write(prefix, out));
    }

    /// Appends what is written by `write`, of which no sign needs an escape.
    fn quoted(&self, is_text: bool, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let is_text = is_text && self.filter == FieldFilter::Json;
        let quote: &[u8] = if is_text { b"\"" } else { b"" };
        out.extend_from_slice(quote);
        write(out);
        out.extend_from_slice(quote);
    }

    /// Appends a value; the error is a value that the field does not hold.
    fn write(&self, cell: Option<Cell<'_>>, out: &mut Vec<u8>) -> Result<(), String> {
        match (cell, self.filter, &self.absent) {
            (None, _, Some(absent)) => out.extend_from_slice(absent.as_bytes()),
            (None, FieldFilter::Json, None) => out.extend_from_slice(b"null"),
            (None, _, None) => {}
            // A value into memory cannot fail.
            (Some(cell), FieldFilter::Json, _) => {
                let _ = serde_json::to_writer(&mut *out, &CellJson(cell));
            }
            (Some(cell), filter, _) => filter.append(&cell.to_text(), out)?,
        }
        Ok(())
    }
}

impl FieldFilter {
    /// Appends a text, as a field of CSV if that is asked for, else as it is; JSON was written before.
    fn append(self, text: &str, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Csv => csv_field(text, b',', out),
            _ if text.contains(is_forbidden) => return Err(text.to_owned()),
            _ => out.extend_from_slice(text.as_bytes()),
        }
        Ok(())
    }
}
