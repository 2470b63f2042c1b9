//! Records in; the names of their columns and the texts of their values out, for rows, pictures and JSON.

use std::borrow::Cow;
use std::fmt::{self, Display};

use popfib_formats::Escaped;
use popfib_formats::text::CellJson;
use popfib_program::failure::Failure;
use popfib_table::{Cell, Column, Records, Scalar};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::output::StandardOutput;
use crate::table;

/// What the only column of a table is called if it has no name.
pub(crate) const NEXT_HOP: &str = "next_hop";

/// A column by its name, and its value, if there is one.
pub(crate) type NamedCell<'a> = (&'a str, Option<Cell<'a>>);

/// The names of these columns of `records`.
pub(crate) fn names(records: &Records, columns: impl ExactSizeIterator<Item = usize>) -> Vec<&str> {
    let is_only = columns.len() == 1;
    let name = |column: usize| match &records.columns()[column] {
        column if is_only => table::own_name(column).unwrap_or(NEXT_HOP),
        column => Column::name(column),
    };
    columns.map(name).collect()
}

/// What a picture says for AS 0.
pub(crate) const NO_AS: &str = "no AS";

/// What a picture says for a value: a number alone says nothing without the name of its column, and an AS number has its own form.
pub(crate) fn said(column: &str, cell: Cell<'_>) -> String {
    let value = cell.to_text();
    // In a joined table it is asn.asn.
    match column.rsplit('.').next().unwrap_or_default() {
        // Of a list.
        _ if value.is_empty() => "listed".to_owned(),
        _ if !value.bytes().all(|byte| byte.is_ascii_digit()) => value.into_owned(),
        "asn" if value == "0" => NO_AS.to_owned(),
        "asn" => format!("AS{value}"),
        _ => format!("{column} {value}"),
    }
}

/// A value as a field of a row: `-` if there is none, and escaped when it is printed.
pub(crate) struct CellText<'a>(pub(crate) Cow<'a, str>);

impl<'a> CellText<'a> {
    pub(crate) fn new(cell: Option<Cell<'a>>) -> Self {
        Self(cell.map_or(Cow::Borrowed("-"), Cell::to_text))
    }
}

impl Display for CellText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.0).fmt(f)
    }
}

/// What was asked and found, by its names, and the values of columns.
pub(crate) struct AnswerRecord<'a> {
    pub(crate) head: Vec<(&'static str, Option<String>)>,
    pub(crate) cells: &'a [NamedCell<'a>],
}

impl Serialize for AnswerRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, text) in &self.head {
            map.serialize_entry(name, text)?;
        }
        members(&mut map, self.cells)?;
        map.end()
    }
}

impl AnswerRecord<'_> {
    pub(crate) fn write(&self, output: &mut StandardOutput) -> Result<(), Failure> {
        output.record_of(self, || {
            let head = self.head.iter().map(|(_, text)| text.clone());
            let text = |cell: Cell<'_>| cell.to_text().into_owned();
            let cells = self.cells.iter().map(|(_, cell)| cell.map(text));
            head.chain(cells).map(Option::unwrap_or_default).collect()
        })
    }
}

/// Writes a member for each column. A list without values has no next hops.
pub(crate) fn members<M: SerializeMap>(
    map: &mut M,
    cells: &[NamedCell<'_>],
) -> Result<(), M::Error> {
    for &(name, cell) in cells {
        if cell != Some(Cell::Scalar(Scalar::Text(""))) || name != NEXT_HOP {
            map.serialize_entry(name, &cell.map(CellJson))?;
        }
    }
    Ok(())
}
