//! Tables of figures: one content, for the templates and as CSV.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A table with a name and remarks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// The name of its files.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// How figures came about, in a sentence or two; may be empty.
    pub(crate) note: String,
}

/// A cell as a page has it: one in the place of several has their number.
#[derive(Serialize)]
struct Cell<'a> {
    text: &'a str,
    kind: &'static str,
    span: Option<usize>,
}

impl Sheet {
    /// An empty table with these columns.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Adds the row of a structure: its names, what was found of it or why it could not be built,
    /// and what the paper has.
    pub(crate) fn entry(
        &mut self,
        names: &[&str],
        found: Result<Vec<String>, &str>,
        paper: &[String],
    ) {
        let mut cells: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match found {
            Ok(found) => cells.extend(found),
            Err(reason) => cells.push(format!("cannot build: {reason}")),
        }
        cells.resize(self.columns.len() - paper.len(), "–".to_owned());
        cells.extend_from_slice(paper);
        self.row(cells);
    }

    pub(crate) fn to_csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            let quoted: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
            quoted.join(",") + "\n"
        };
        line(&self.columns) + &self.rows.iter().map(line).collect::<String>()
    }

    /// `n` for a column of figures, which stand to the right, apart from reasons why there is none; else nothing.
    fn kind(&self, column: usize) -> &'static str {
        let is_figure = |cell: &str| {
            let cell = cell.trim_start_matches("< ");
            cell.starts_with(|c: char| c.is_ascii_digit())
        };
        // The first column has names, also where one is missing.
        let may_miss = |cell: &str| column > 0 && (is_none(cell) || is_reason(cell));
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        match cells.all(|cell| is_figure(cell) || may_miss(cell)) {
            true => "n",
            false => "",
        }
    }
}

impl Serialize for Sheet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kinds: Vec<_> = (0..self.columns.len()).map(|c| self.kind(c)).collect();
        let rows = self.rows.iter();
        let cells: Vec<_> = rows.map(|row| cells(row, &kinds)).collect();
        let mut all = serializer.serialize_struct("Sheet", 7)?;
        all.serialize_field("id", &self.id)?;
        all.serialize_field("title", &self.title)?;
        all.serialize_field("columns", &self.columns)?;
        all.serialize_field("kinds", &kinds)?;
        all.serialize_field("rows", &self.rows)?;
        all.serialize_field("cells", &cells)?;
        all.serialize_field("note", &self.note)?;
        all.end()
    }
}

/// The cells of a row; a reason stands in the place of all figures that are not there.
fn cells<'a>(row: &'a [String], kinds: &[&'static str]) -> Vec<Cell<'a>> {
    let (mut cells, mut column) = (Vec::new(), 0);
    while let Some(text) = row.get(column) {
        let missing = row[column + 1..].iter().take_while(|cell| is_none(cell));
        let span = is_reason(text).then(|| 1 + missing.count());
        let kind = kinds[column];
        cells.push(Cell { text, kind, span });
        column += span.unwrap_or(1);
    }
    cells
}

/// Whether a cell has nothing in it.
fn is_none(cell: &str) -> bool {
    cell.is_empty() || cell == "–"
}

/// Whether a cell says why there are no figures.
fn is_reason(cell: &str) -> bool {
    cell.starts_with("cannot build") || cell.starts_with("left out: ")
}

fn csv_cell(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_it_must() {
        let mut sheet = Sheet::new("a", "A", &["name", "rate"]);
        sheet.row(vec!["x | \"y\", z".into(), "12.5".into()]);
        sheet.row(vec!["<script>".into(), "–".into()]);
        let csv = "name,rate\n\"x | \"\"y\"\", z\",12.5\n<script>,–\n";
        assert_eq!(sheet.to_csv(), csv);
    }
}
