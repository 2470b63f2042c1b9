//! The counts of `popfib count` in, bytes in the form that was asked for out: text, CSV, JSON lines or a picture.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::Write;
use std::mem;

use popfib_formats::text::{CellJson, csv_field};
use popfib_program::failure::Failure;
use popfib_table::Cell;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::text::CountText;
use super::weight::Sum;
use super::{AddressCounter, CountRow, picture, ratio};
use crate::forms::Form;
use crate::output::note;
use crate::records::{refuse_doubled, text};
use crate::screen::Screen;

impl AddressCounter<'_> {
    /// Refuses columns of which two have one name, where names are written.
    pub(super) fn refuse_doubled(&self) -> Result<(), Failure> {
        if self.args.form.form() == Form::Text {
            return Ok(());
        }
        let share = self.args.shares.then_some("share");
        let head = ["count"].into_iter().chain(share).map(str::to_owned);
        refuse_doubled(&head.chain(self.columns()).collect::<Vec<_>>())
    }

    /// The output: all counts, the most frequent first, in the form that was asked for.
    pub(super) fn lines(&self, screen: Screen) -> Vec<u8> {
        let mut rows = sorted(self.merged());
        let sum = |rows: &[CountRow<'_>]| {
            let mut sum = Sum::default();
            rows.iter().for_each(|row| sum += row.0);
            sum
        };
        let total = self.total();
        if self.args.shares && sum(&rows).as_f64() > total {
            note("a prefix counts for each of its values: shares add up to more than 100 %");
        }
        let columns = self.columns();
        if self.args.svg {
            let top = self.args.top.unwrap_or(picture::TOP);
            let none = match self.has_empty {
                true => "no match or no address",
                false => "no match",
            };
            return picture::draw(&self.args.counted(), &columns, &rows, total, (top, none));
        }
        // `(the rest)` has no bar: it may be more than the most frequent, whose is the longest.
        let bars = self.args.top.unwrap_or(rows.len());
        if let Some(top) = self.args.top
            && rows.len() > top
        {
            let rest = sum(&rows[top..]);
            rows.truncate(top);
            let mut cells = vec![None; columns.len()];
            cells[0] = Some(text("(the rest)"));
            rows.push((rest, cells));
        }
        let mut out = Vec::new();
        let form = self.args.form.form();
        if form == Form::Csv {
            out.extend(b"count");
            if self.args.shares {
                out.extend(b",share");
            }
            for name in &columns {
                out.push(b',');
                csv_field(name, b',', &mut out);
            }
            out.push(b'\n');
        }
        let most = rows.first().map_or(0.0, |row| row.0.as_f64());
        let mut text = CountText::new(screen, self.args.shares, most);
        if form == Form::Text && !rows.is_empty() {
            text.heading(&columns, &mut out);
        }
        for (at, (count, cells)) in rows.iter().enumerate() {
            let share = ratio(*count, total) * 100.0;
            let cells = cells.iter().copied();
            match form {
                Form::JsonLines => {
                    let rounded = (share * 1000.0).round() / 1000.0;
                    let names = columns.iter().map(String::as_str);
                    let line = CountLine {
                        count: *count,
                        share: self.args.shares.then_some(rounded),
                        cells: names.zip(cells).collect(),
                    };
                    serde_json::to_writer(&mut out, &line).expect("text is JSON");
                    out.push(b'\n');
                }
                Form::Csv => {
                    let _ = write!(out, "{count}");
                    if self.args.shares {
                        let _ = write!(out, ",{share:.3}");
                    }
                    for cell in cells {
                        out.push(b',');
                        csv_field(
                            &cell.map_or(Cow::Borrowed(""), Cell::to_text),
                            b',',
                            &mut out,
                        );
                    }
                    out.push(b'\n');
                }
                _ => text.row((*count, share), at < bars, cells, &mut out),
            }
        }
        text.finish(&mut out);
        out
    }
}

/// The rows, the most frequent first; equal counts by their texts.
fn sorted(mut rows: Vec<CountRow<'_>>) -> Vec<CountRow<'_>> {
    // With each row go the first bytes of its text, which nearly always decide: the texts themselves are far apart in memory.
    let keys = rows.iter().enumerate();
    let mut order: Vec<_> = keys
        .map(|(at, row)| (Reverse(row.0), start(row), at))
        .collect();
    order.sort_unstable_by(|(a, a_start, a_at), (b, b_start, b_at)| {
        let texts = |at: usize| rows[at].1.iter().map(|cell| cell.map(Cell::to_text));
        let by_start = a.cmp(b).then(a_start.cmp(b_start));
        by_start.then_with(|| texts(*a_at).cmp(texts(*b_at)))
    });
    order
        .into_iter()
        .map(|(_, _, at)| mem::take(&mut rows[at]))
        .collect()
}

/// The first bytes of a row's first text, as a number: numbers are in the order of texts.
fn start(row: &CountRow<'_>) -> u128 {
    let text = row.1.first().copied().flatten().map(Cell::to_text);
    let mut bytes = [0; 16];
    for (byte, of_text) in bytes
        .iter_mut()
        .zip(text.iter().flat_map(|text| text.bytes()))
    {
        *byte = of_text;
    }
    u128::from_be_bytes(bytes)
}

/// A row as JSON, its members in the order of the columns.
struct CountLine<'r> {
    count: Sum,
    share: Option<f64>,
    cells: Vec<(&'r str, Option<Cell<'r>>)>,
}

impl Serialize for CountLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("count", &self.count)?;
        if let Some(share) = self.share {
            object.serialize_entry("share", &share)?;
        }
        for (name, cell) in &self.cells {
            object.serialize_entry(name, &cell.map(CellJson))?;
        }
        object.end()
    }
}
