//! Counts in, rows of text out: in a pipe counts and values, on a terminal also headings, shares and bars.

use popfib_formats::Escaped;
use popfib_table::Cell;

use super::ratio;
use super::weight::Sum;
use crate::records::CellText;
use crate::rows::{RIGHT, RowField, RowForm, RowWriter};
use crate::screen::{HEADING, Screen};

/// Writes counts as rows of text.
pub(super) struct CountText {
    rows: RowWriter,
    is_terminal: bool,
    with_shares: bool,
    /// The count whose bar is the longest.
    most: f64,
}

impl CountText {
    pub(super) fn new(screen: Screen, with_shares: bool, most: f64) -> Self {
        Self {
            rows: RowWriter::new(RowForm::tabs(&[RIGHT, RIGHT]), screen),
            is_terminal: screen.is_terminal,
            with_shares,
            most,
        }
    }

    /// The names of the columns, on a terminal.
    pub(super) fn heading(&mut self, columns: &[String], out: &mut Vec<u8>) {
        if !self.is_terminal {
            return;
        }
        let names = columns.iter().map(|name| Escaped(name).to_string());
        let heading = ["count", "share", ""].map(str::to_owned);
        let heading: Vec<_> = heading.into_iter().chain(names).collect();
        let fields = heading.iter().map(|name| RowField::styled(HEADING, name));
        // Writing to a Vec cannot fail.
        let _ = self.rows.row(fields, out);
    }

    /// Writes a count with its share in percent, on a terminal a bar if it has one, and the values that were counted.
    pub(super) fn row<'c>(
        &mut self,
        (count, share): (Sum, f64),
        has_bar: bool,
        cells: impl Iterator<Item = Option<Cell<'c>>>,
        out: &mut Vec<u8>,
    ) {
        let share = match self.is_terminal {
            true => Some(format!("{share:.1} %")),
            false => self.with_shares.then(|| format!("{share:.3}")),
        };
        let share = share.as_ref().map(|share| RowField::new(share));
        let bar = self.is_terminal.then(|| {
            RowField::Bar(if has_bar {
                ratio(count, self.most)
            } else {
                0.0
            })
        });
        let cells: Vec<_> = cells.map(CellText::new).collect();
        let fields = [Some(RowField::new(&count)), share, bar];
        let cells = cells.iter().map(|cell| RowField::new(cell));
        let _ = self
            .rows
            .row(fields.into_iter().flatten().chain(cells), out);
    }

    pub(super) fn finish(mut self, out: &mut Vec<u8>) {
        let _ = self.rows.settle(out);
    }
}
