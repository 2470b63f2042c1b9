//! Counts in, an SVG picture out: the most frequent as bars.

use popfib_draw::{Bar, BarChart, BarPanel, BarRow, bar_chart, counted, grouped};

use super::{CountRow, ratio};
use crate::records::said;

/// How many bars there are without `--top`.
pub(super) const TOP: usize = 20;

/// Draws the first `top` of the rows, which are sorted; `what` is counted in them, `total` of it in all. `none` is said where nothing is.
pub(super) fn draw(
    what: &str,
    columns: &[String],
    rows: &[CountRow<'_>],
    total: f64,
    (top, none): (usize, &str),
) -> Vec<u8> {
    let (shown, others) = rows.split_at(top.min(rows.len()));
    let share = |rows: &[CountRow<'_>]| {
        rows.iter()
            .map(|row| ratio(row.0, total) * 100.0)
            .sum::<f64>()
    };
    let note = match others {
        [] => counted(rows.len() as u64, "value"),
        others => format!(
            "{} of {}; the others have {:.1} %",
            grouped(shown.len() as u64),
            counted(rows.len() as u64, "value"),
            share(others)
        ),
    };
    let named = columns.iter().map(|name| name.replace('_', " "));
    let named: Vec<String> = named.collect();
    let name = |row: &CountRow<'_>| {
        let cells = named.iter().zip(&row.1);
        let texts = cells.filter_map(|(name, cell)| Some(said(name, (*cell)?)));
        match texts.collect::<Vec<_>>().join(", ") {
            text if text.is_empty() => none.to_owned(),
            text => text,
        }
    };
    let bar = |row: &CountRow<'_>| {
        let count = row.0.to_string();
        let count = count.parse().map_or(count, grouped);
        Bar {
            value: row.0.as_f64(),
            spread: None,
            label: format!("{count} ({:.1} %)", share(std::slice::from_ref(row))),
        }
    };
    let svg = bar_chart(&BarChart {
        title: &format!("{what} by {}", columns.join(", ")),
        note: &note,
        unit: &what.to_lowercase(),
        rows: shown
            .iter()
            .map(|row| BarRow {
                name: name(row),
                is_strong: row.1.iter().any(Option::is_some),
            })
            .collect(),
        panels: vec![BarPanel {
            name: String::new(),
            bars: shown.iter().map(|row| Some(bar(row))).collect(),
        }],
    });
    svg.into_bytes()
}
