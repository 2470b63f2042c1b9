//! From figures to a report: sections with text, tables and charts, and the one
//! HTML page that holds them all.

mod ahead;
mod counters;
mod cycles;
mod differs;
mod format;
mod html;
mod overview;
mod rates;
mod scale;
mod structure;
mod updates;

pub(crate) use html::html;

use crate::results::{Family, Results, TableFacts};
use crate::sheet::Sheet;

/// A part of the report.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Paragraphs, in plain text.
    pub(crate) text: Vec<String>,
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) figures: Vec<Figure>,
}

/// A picture.
#[derive(Debug)]
pub(crate) struct Figure {
    /// The name of its files.
    pub(crate) id: String,
    /// What it shows, and which figure of the paper it stands for.
    pub(crate) caption: String,
    pub(crate) svg: String,
}

impl Section {
    fn new(id: &str, title: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            ..Self::default()
        }
    }

    fn paragraph(&mut self, text: impl Into<String>) {
        self.text.push(text.into());
    }

    fn figure(&mut self, id: impl Into<String>, caption: impl Into<String>, svg: String) {
        self.figures.push(Figure {
            id: id.into(),
            caption: caption.into(),
            svg,
        });
    }

    /// Whether there is anything to show.
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.sheets.is_empty() && self.figures.is_empty()
    }
}

/// The sections of a report, in order; none that is empty.
pub(crate) fn sections(results: &Results) -> Vec<Section> {
    let mut sections = vec![
        overview::summary(results),
        overview::method(results),
        overview::verification(results),
        structure::depths(results),
        structure::forms(results),
        rates::all_structures(results),
        rates::all_tables(results),
        rates::locality(results),
        rates::traces(results),
        rates::latency(results),
        cycles::cycles(results),
        counters::counters(results),
        scale::threads(results),
        scale::tomorrow(results),
        scale::series(results),
        updates::updates(results),
        overview::left_out(results),
    ];
    sections.retain(|section| !section.is_empty());
    sections
}

/// Each table that was looked at, with its families.
fn places(results: &Results) -> impl Iterator<Item = (usize, &TableFacts, Family)> {
    let tables = results.tables.iter().enumerate();
    tables.flat_map(|(place, table)| {
        [Family::Ipv4, Family::Ipv6].map(|family| (place, table, family))
    })
}

/// The name of a file for something of a table.
fn id(what: &str, table: usize, family: Family) -> String {
    format!("{what}-{}-{}", family.name().to_lowercase(), table + 1)
}
