//! The columns of two tables side by side: records of both in, the value of a route in the columns of both out.

use std::borrow::Cow;
use std::collections::HashMap;

use popfib::NextHop;
use popfib_formats::text::CellJson;
use popfib_table::{Cell, Column, Records};
use serde::ser::{Serialize, Serializer};

use crate::records::{CellText, NEXT_HOP, NamedCell, RecordMembers};

/// Which of the two tables.
#[derive(Clone, Copy)]
pub(super) enum DiffSide {
    Old,
    New,
}

/// The columns that one of two tables has, or both.
pub(super) struct ComparedColumns {
    /// By [`DiffSide`].
    records: [Records; 2],
    /// The name of each, and its index by [`DiffSide`].
    columns: Vec<(String, [Option<usize>; 2])>,
}

impl ComparedColumns {
    /// Columns of both tables belong together if they have the same name. If each table has only one, these belong together whatever
    /// their names are.
    pub(super) fn new(old: Records, new: Records) -> Self {
        let columns = if old.columns().len() == 1 && new.columns().len() == 1 {
            vec![(NEXT_HOP.to_owned(), [Some(0), Some(0)])]
        } else {
            let name = Column::name;
            let of_old = old.columns().iter().map(name);
            let of_new = new.columns().iter().map(name);
            let names = of_old.chain(of_new.filter(|name| old.column(name).is_none()));
            let both = |name: &str| [old.column(name), new.column(name)];
            names.map(|name| (name.to_owned(), both(name))).collect()
        };
        Self {
            records: [old, new],
            columns,
        }
    }

    pub(super) fn are_several(&self) -> bool {
        self.columns.len() > 1
    }

    /// What stands between the fields of a line.
    pub(super) fn separator(&self) -> char {
        if self.are_several() { '\t' } else { ' ' }
    }

    /// The value of a route with this record; that of no route for `None`.
    pub(super) fn value(&self, side: DiffSide, number: Option<NextHop>) -> DiffValue<'_> {
        let records = &self.records[side as usize];
        let cells = |number| {
            let columns = self.columns.iter();
            columns.map(move |(name, of)| {
                let column = of[side as usize];
                (
                    &**name,
                    column.and_then(|column| records.cell(number, column)),
                )
            })
        };
        DiffValue(number.map(|number| cells(number).collect()))
    }

    /// For each record of the new table, the number of the equal one of the old. O(records).
    pub(super) fn numbers_in_old(&self) -> Vec<Option<NextHop>> {
        let keys = |side: DiffSide| {
            let count = self.records[side as usize].len() as u32;
            let numbers = (1..=count).filter_map(NextHop::new);
            numbers.map(move |number| (self.value(side, Some(number)).key(), number))
        };
        let of_old: HashMap<_, _> = keys(DiffSide::Old).collect();
        keys(DiffSide::New)
            .map(|(key, _)| of_old.get(&key).copied())
            .collect()
    }
}

/// The value of a route, column by column; `None` if there is no route.
pub(super) struct DiffValue<'a>(pub(super) Option<Vec<NamedCell<'a>>>);

impl<'a> DiffValue<'a> {
    /// A key that equal values share: the texts of the columns with their lengths, since values are equal if they are written the
    /// same.
    fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        for (_, cell) in self.0.iter().flatten() {
            let text = cell.map(Cell::to_text);
            let len = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
            key.extend(len.to_ne_bytes());
            key.extend(text.as_deref().unwrap_or_default().as_bytes());
        }
        key
    }

    /// The value of the only column.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        self.0.as_ref()?.first()?.1.map(Cell::to_text)
    }

    /// The values of its columns, as they are shown; none if there is no route.
    pub(super) fn shown(&self) -> impl Iterator<Item = CellText<'a>> {
        let cells = self.0.iter().flatten();
        cells.map(|(_, cell)| CellText::new(*cell))
    }
}

impl Serialize for DiffValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.as_deref() {
            None => serializer.serialize_none(),
            Some([(_, cell)]) => cell.map(CellJson).serialize(serializer),
            Some(cells) => RecordMembers(cells.iter().copied()).serialize(serializer),
        }
    }
}

/// The columns in which two records differ: name, old and new value.
pub(super) fn changed<'a>(
    old: &DiffValue<'a>,
    new: &DiffValue<'a>,
) -> Vec<(CellText<'a>, CellText<'a>, CellText<'a>)> {
    let some = old.0.as_ref().or(new.0.as_ref()).into_iter().flatten();
    let at =
        |value: &DiffValue<'a>, index: usize| value.0.as_ref().and_then(|cells| cells[index].1);
    let all = some.enumerate();
    let all = all.map(|(index, &(name, _))| (name, at(old, index), at(new, index)));
    let other = |(_, old, new): &(_, Option<Cell<'a>>, Option<Cell<'a>>)| {
        old.map(Cell::to_text) != new.map(Cell::to_text)
    };
    all.filter(other)
        .map(|(name, old, new)| {
            (
                CellText(Cow::Borrowed(name)),
                CellText::new(old),
                CellText::new(new),
            )
        })
        .collect()
}
