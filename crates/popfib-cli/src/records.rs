//! Records in; the names of their columns and the texts of their values out, for rows, pictures and JSON.

use std::borrow::Cow;
use std::fmt::{self, Display};

use popfib_formats::Escaped;
use popfib_formats::text::CellJson;
use popfib_program::failure::{Failure, has_options_of};
use popfib_table::{Cell, Column, Records, Scalar};
use serde::{Serialize, Serializer};

/// A cell of this text.
pub(crate) fn text(text: &str) -> Cell<'_> {
    Cell::Scalar(Scalar::Text(text))
}

/// A cell of this number.
pub(crate) fn number(number: impl Into<i128>) -> Cell<'static> {
    Cell::Scalar(Scalar::Integer(number.into()))
}

/// The name of the only column of a table; `None` if it was given none.
pub(crate) fn own_name(column: &Column) -> Option<&str> {
    Some(column.name()).filter(|name| *name != "value")
}

/// What the only column of a table is called if it has no name.
pub(crate) const NEXT_HOP: &str = "next_hop";

/// A column by its name, and its value, if there is one.
pub(crate) type NamedCell<'a> = (&'a str, Option<Cell<'a>>);

/// The names of these columns of `records`.
pub(crate) fn names(records: &Records, columns: impl ExactSizeIterator<Item = usize>) -> Vec<&str> {
    let is_only = columns.len() == 1;
    let name = |column: usize| match &records.columns()[column] {
        column if is_only => own_name(column).unwrap_or(NEXT_HOP),
        column => Column::name(column),
    };
    columns.map(name).collect()
}

/// Refuses columns of answers of which two have one name, since readers of JSON and CSV would lose one.
pub(crate) fn refuse_doubled(names: &[impl AsRef<str>]) -> Result<(), Failure> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let doubled = |(index, name): &(usize, &&str)| names[..*index].contains(name);
    let Some((_, name)) = names.iter().enumerate().find(doubled) else {
        return Ok(());
    };
    let helps = [
        (
            "--not-in --table",
            "--table NAME=FILE gives columns another name",
        ),
        ("--columns", "--columns chooses others"),
    ];
    let help = helps.iter().find(|(options, _)| has_options_of(options));
    let help = help.map_or_else(String::new, |(_, help)| format!("; {help}"));
    Err(format!("two columns are called {}{help}", name.escape_debug()).into())
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

/// Values as an object with a member for each. A list without values has no next hops.
pub(crate) struct RecordMembers<I>(pub(crate) I);

impl<'a, I: Iterator<Item = NamedCell<'a>> + Clone> Serialize for RecordMembers<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_there = |(name, cell): &NamedCell<'_>| *cell != Some(text("")) || *name != NEXT_HOP;
        let members = self.0.clone().filter(is_there);
        serializer.collect_map(members.map(|(name, cell)| (name, cell.map(CellJson))))
    }
}
