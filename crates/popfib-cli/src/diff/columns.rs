//! The columns of two tables side by side, and what a record of either says in them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use popfib::NextHop;
use popfib_formats::{CellJson, Escaped};
use popfib_table::{Cell, Records};
use serde::ser::{Serialize, Serializer};

use crate::records::{self, NEXT_HOP, Named, shown};

/// The columns that either of two tables has.
pub(super) struct Columns {
    old: Records,
    new: Records,
    /// The name of each, and its index in both.
    columns: Vec<(String, Option<usize>, Option<usize>)>,
}

impl Columns {
    /// Columns of several belong together if they have the same name; one of each table are compared whatever they are
    /// called.
    pub(super) fn new(old: Records, new: Records) -> Self {
        let columns = if old.columns().len() == 1 && new.columns().len() == 1 {
            vec![(NEXT_HOP.to_owned(), Some(0), Some(0))]
        } else {
            let of_old = old.columns().iter().enumerate();
            let of_old = of_old.map(|(index, column)| {
                let name = column.name();
                (name.to_owned(), Some(index), new.column(name))
            });
            let of_new = new.columns().iter().enumerate();
            let of_new = of_new.filter(|(_, column)| old.column(column.name()).is_none());
            let of_new = of_new.map(|(index, c)| (c.name().to_owned(), None, Some(index)));
            of_old.chain(of_new).collect()
        };
        Self { old, new, columns }
    }

    pub(super) fn are_several(&self) -> bool {
        self.columns.len() > 1
    }

    /// What stands between the fields of a line.
    pub(super) fn separator(&self) -> char {
        if self.are_several() { '\t' } else { ' ' }
    }

    /// What a record of the old table says.
    pub(super) fn old(&self, number: Option<NextHop>) -> Said<'_> {
        let cell = |number, index: Option<usize>| self.old.cell(number, index?);
        let cells = self.columns.iter();
        Said(number.map(|number| {
            cells
                .map(|(n, old, _)| (&**n, cell(number, *old)))
                .collect()
        }))
    }

    /// What a record of the new table says.
    pub(super) fn new_one(&self, number: Option<NextHop>) -> Said<'_> {
        let cell = |number, index: Option<usize>| self.new.cell(number, index?);
        let cells = self.columns.iter();
        Said(number.map(|number| {
            cells
                .map(|(n, _, new)| (&**n, cell(number, *new)))
                .collect()
        }))
    }

    /// For each record of the new table, the number of the one of the old that says the same. O(records).
    pub(super) fn numbers_in_old(&self) -> Vec<Option<NextHop>> {
        let numbers = |records: &Records| (1..=records.len() as u32).filter_map(NextHop::new);
        let of_old = numbers(&self.old).map(|number| (self.old(Some(number)).key(), number));
        let of_old: HashMap<_, _> = of_old.collect();
        let of_new = numbers(&self.new);
        of_new
            .map(|number| of_old.get(&self.new_one(Some(number)).key()).copied())
            .collect()
    }
}

/// What a record says, column by column; `None` where there is no route.
pub(super) struct Said<'a>(pub(super) Option<Vec<Named<'a>>>);

impl<'a> Said<'a> {
    /// The texts of its columns, apart from each other; values are the same if they are written the same.
    fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        for (_, cell) in self.0.iter().flatten() {
            let text = cell.map(shown);
            let len = text.as_ref().map_or(u64::MAX, |text| text.len() as u64);
            key.extend(len.to_ne_bytes());
            key.extend(text.as_deref().unwrap_or_default().as_bytes());
        }
        key
    }

    /// The value of the only column.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        self.0.as_ref()?.first()?.1.map(shown)
    }

    /// The values of its columns, none where there is no route.
    pub(super) fn shown(&self) -> impl Iterator<Item = Shown<'a>> {
        let cells = self.0.iter().flatten();
        cells.map(|(_, cell)| Shown::new(*cell))
    }
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        match &self.0.as_deref() {
            None => serializer.serialize_none(),
            Some([(_, cell)]) => cell.map(CellJson).serialize(serializer),
            Some(cells) => {
                let mut map = serializer.serialize_map(None)?;
                records::members(&mut map, cells)?;
                map.end()
            }
        }
    }
}

/// A value as a line has it.
pub(super) struct Shown<'a>(pub(super) Cow<'a, str>);

impl<'a> Shown<'a> {
    fn new(cell: Option<Cell<'a>>) -> Self {
        Self(cell.map_or(Cow::Borrowed("-"), shown))
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.0).fmt(f)
    }
}

/// The columns in which two records differ: name, old and new value.
pub(super) fn changed<'a>(
    old: &Said<'a>,
    new: &Said<'a>,
) -> Vec<(Shown<'a>, Shown<'a>, Shown<'a>)> {
    let some = old.0.as_ref().or(new.0.as_ref()).into_iter().flatten();
    let at = |said: &Said<'a>, index: usize| said.0.as_ref().and_then(|cells| cells[index].1);
    let all = some.enumerate();
    let all = all.map(|(index, &(name, _))| (name, at(old, index), at(new, index)));
    let other =
        |(_, old, new): &(_, Option<Cell<'a>>, Option<Cell<'a>>)| old.map(shown) != new.map(shown);
    all.filter(other)
        .map(|(name, old, new)| (Shown(Cow::Borrowed(name)), Shown::new(old), Shown::new(new)))
        .collect()
}
