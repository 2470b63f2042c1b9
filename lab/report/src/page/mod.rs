//! From figures to a report: sections with text, tables and charts.

mod ahead;
mod chart;
mod counters;
mod cycles;
mod differs;
mod format;
mod overview;
mod scale;
mod structure;
mod structures;
mod traffic;
mod updates;
mod words;

use serde::Serialize;

use crate::results::Results;
use crate::sheet::Sheet;

/// A part of the report.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Paragraphs, in plain text.
    pub(crate) text: Vec<String>,
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) figures: Vec<Figure>,
}

/// A picture.
#[derive(Debug, Serialize)]
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

    /// A paragraph about what there is to show, if there is any.
    fn about(mut self, text: &str) -> Self {
        if !self.sheets.is_empty() {
            self.paragraph(text);
        }
        self
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
        structures::all_structures(results),
        structures::all_tables(results),
        traffic::locality(results),
        traffic::traces(results),
        traffic::latency(results),
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
