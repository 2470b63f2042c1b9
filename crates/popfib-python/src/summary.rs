//! What a notebook shows of a table: its routes, columns and size, and a small map of IPv4, as some kilobytes of HTML.
//!
//! It has no style but the notebook's, in light and dark, and does without what a notebook that is opened again drops (`<style>`, SVG).
//! Every text of the table is escaped.

use std::collections::HashMap;
use std::fmt::Write;

use popfib::NextHop;
use popfib::family::Family;
use popfib_draw::{Thumbnail, XmlEscaped, grouped, thumbnail};
use popfib_table::Column;
use pyo3::prelude::*;

use crate::records::{self, VALUE};
use crate::state::{SharedState, TableState};

/// The most columns, and the most letters of a text, that are shown.
const COLUMNS: usize = 20;
const LETTERS: usize = 40;

/// A row of a table, as HTML.
type Row = [String; 3];

/// The HTML of a table of the class `name`; `None` for one that is closed.
pub(crate) fn html(table: &SharedState, py: Python<'_>, name: &str) -> PyResult<Option<String>> {
    let read = table.read(py, |state| {
        let families = [family::<u32>(state, "IPv4"), family::<u128>(state, "IPv6")];
        let map = SmallMap::of(state);
        Ok((
            state.bytes(),
            families,
            columns(state),
            map,
            state.values.places(),
        ))
    });
    let Ok((bytes, families, columns, map, values)) = read else {
        return Ok(None);
    };
    let mut html = format!(
        "<div><p><strong>{}</strong>, {} in memory</p>\n",
        XmlEscaped(name),
        match bytes {
            0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
            _ => format!("{:.1} MB", bytes as f64 / 1e6),
        }
    );
    rows(&mut html, ["family", "routes", "prefix lengths"], &families);
    let shown = &columns[..columns.len().min(COLUMNS)];
    rows(&mut html, ["column", "type", "different values"], shown);
    if columns.len() > COLUMNS {
        let _ = writeln!(html, "<p>and {} more columns</p>", columns.len() - COLUMNS);
    }
    if let Some(SmallMap { map, numbers }) = map {
        let side = map.side;
        let _ = writeln!(
            html,
            "<p>IPv4 along Hilbert's curve, a pixel is a /16:</p>\n\
             <div style=\"display:flex;flex-wrap:wrap;gap:1em;align-items:start\">\n<img src=\"{}\" width=\"{side}\" height=\"{side}\" \
             alt=\"Map of IPv4; the table beside it has the values with the largest shares\">",
            map.url,
        );
        let mut legend = Vec::new();
        for row in &map.legend {
            let number = numbers.get(&row.value).copied();
            let place = number.and_then(|number| values.get(number.get() as usize - 1));
            let said = match place.and_then(Option::as_ref) {
                Some(value) => value.bind(py).str()?.to_string_lossy().into_owned(),
                None => String::new(),
            };
            legend.push([
                format!("<span style=\"color:{}\">&#9632;</span>", row.colour),
                text(&said),
                match row.share {
                    ..0.000_1 => "&lt; 0.01 %".to_owned(),
                    share => format!("{:.2} %", 100.0 * share),
                },
            ]);
        }
        rows(&mut html, ["colour", "value", "share of the map"], &legend);
        html.push_str("</div>\n");
    }
    html.push_str("</div>\n");
    Ok(Some(html))
}

fn family<A: Family>(state: &TableState, name: &str) -> Row {
    let routes = state.routes.family::<A>();
    let lengths = routes.routes().map(|routes| {
        routes.fold(None, |span: Option<(u8, u8)>, (prefix, _)| {
            let len = prefix.len();
            Some(span.map_or((len, len), |(low, high)| (low.min(len), high.max(len))))
        })
    });
    let lengths = match lengths.flatten() {
        Some((low, high)) => format!("/{low} to /{high}"),
        None => String::new(),
    };
    [name.to_owned(), grouped(routes.len() as u64), lengths]
}

fn columns(state: &TableState) -> Vec<Row> {
    match state.routes.image().and_then(|image| image.table.records()) {
        Some(records) => {
            let columns = records.columns().iter();
            let row = |column: &Column| {
                [
                    text(column.name()),
                    records::type_of(column).name().to_owned(),
                    grouped(column.len() as u64),
                ]
            };
            columns.map(row).collect()
        }
        None => {
            let count = state.values.places().iter().flatten().count();
            vec![[
                VALUE.to_owned(),
                state.values.kind().name().to_owned(),
                grouped(count as u64),
            ]]
        }
    }
}

/// The map, and for each value in it the number of an object that says it.
struct SmallMap {
    map: Thumbnail,
    numbers: HashMap<u32, NextHop>,
}

impl SmallMap {
    /// `None` if there is no route of IPv4, or an image does not keep them.
    fn of(state: &TableState) -> Option<Self> {
        let routes = state.routes.family::<u32>();
        let records = state.routes.image().and_then(|image| image.table.records());
        // Of records, those with one value are one.
        let value = |number: NextHop| {
            records.map_or(number.get(), |records| {
                records.code(number.get(), records.value_column())
            })
        };
        let mut numbers = HashMap::new();
        let map = thumbnail(routes.routes()?.map(|(prefix, number)| {
            let value = value(number);
            numbers.entry(value).or_insert(number);
            (prefix, value)
        }));
        (!map.legend.is_empty()).then_some(Self { map, numbers })
    }
}

/// A text of the table, short enough and escaped.
fn text(text: &str) -> String {
    let mut short: String = text.chars().take(LETTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    XmlEscaped(&short).to_string()
}

/// Writes a table.
fn rows(html: &mut String, heads: [&str; 3], rows: &[Row]) {
    html.push_str("<table><thead><tr>");
    for head in heads {
        let _ = write!(html, "<th>{head}</th>");
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<td>{cell}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table>\n");
}
