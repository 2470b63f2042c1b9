//! Tables of figures: one content, as HTML, Markdown and CSV.

use std::fmt::Write;

use popfib_draw::Escaped;

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

impl Sheet {
    /// An empty table with these columns.
    pub(crate) fn new(id: impl Into<String>, title: impl Into<String>, columns: &[&str]) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            rows: Vec::new(),
            note: String::new(),
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
        let line = |cells: &[String]| {
            let quoted: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
            quoted.join(",") + "\n"
        };
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.columns) + &rows
    }

    pub(crate) fn to_markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", markdown_cell(&self.title));
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| markdown_cell(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        text += &line(&self.columns);
        let rules: Vec<String> = (0..self.columns.len())
            .map(|column| {
                if self.is_numeric(column) {
                    "--:"
                } else {
                    "---"
                }
                .to_owned()
            })
            .collect();
        text += &format!("| {} |\n", rules.join(" | "));
        for row in &self.rows {
            text += &line(row);
        }
        if !self.note.is_empty() {
            let _ = write!(text, "\n{}\n", self.note);
        }
        text
    }

    pub(crate) fn to_html(&self) -> String {
        let mut html = format!(
            "<figure class=\"sheet\" id=\"{0}\"><figcaption>{1} <span class=\"files\"><a href=\"tables/{0}.csv\">CSV</a> \
             <a href=\"tables/{0}.md\">Markdown</a></span></figcaption><div class=\"scroll\"><table><thead><tr>",
            Escaped(&self.id),
            Escaped(&self.title)
        );
        let class = |column: usize| match self.is_numeric(column) {
            true => " class=\"n\"",
            false => "",
        };
        for (column, name) in self.columns.iter().enumerate() {
            let _ = write!(html, "<th{}>{}</th>", class(column), Escaped(name));
        }
        html += "</tr></thead><tbody>";
        for row in &self.rows {
            html += "<tr>";
            let mut column = 0;
            while let Some(cell) = row.get(column) {
                if is_reason(cell) {
                    // It stands in the place of all figures that are not there.
                    let missing = row[column + 1..].iter().take_while(|cell| is_none(cell));
                    let span = 1 + missing.count();
                    let cell = Escaped(cell);
                    let _ = write!(html, "<td class=\"why\" colspan=\"{span}\">{cell}</td>");
                    column += span;
                    continue;
                }
                let _ = write!(html, "<td{}>{}</td>", class(column), Escaped(cell));
                column += 1;
            }
            html += "</tr>";
        }
        html += "</tbody></table></div>";
        if !self.note.is_empty() {
            let _ = write!(html, "<p class=\"note\">{}</p>", Escaped(&self.note));
        }
        html + "</figure>"
    }

    /// Whether a column holds figures, which stand to the right, apart from reasons why there is none.
    fn is_numeric(&self, column: usize) -> bool {
        let is_figure = |cell: &str| {
            let cell = cell.trim_start_matches("< ");
            cell.starts_with(|c: char| c.is_ascii_digit())
        };
        // The first column has names, also where one is missing.
        let may_miss = |cell: &str| column > 0 && (is_none(cell) || is_reason(cell));
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| is_figure(cell) || may_miss(cell))
    }
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
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn markdown_cell(cell: &str) -> String {
    let line: String = cell
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    line.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new("a", "A <b>", &["name", "rate"]);
        sheet.row(vec!["x | \"y\", z".into(), "12.5".into()]);
        sheet.row(vec!["<script>".into(), "–".into()]);
        sheet
    }

    #[test]
    fn csv_quotes_what_it_must() {
        let csv = "name,rate\n\"x | \"\"y\"\", z\",12.5\n<script>,–\n";
        assert_eq!(sheet().to_csv(), csv);
    }

    #[test]
    fn markdown_keeps_its_columns() {
        let text = sheet().to_markdown();
        assert!(text.contains("| x \\| \"y\", z | 12.5 |"), "{text}");
        assert!(text.contains("| --- | --: |"), "{text}");
    }

    #[test]
    fn a_reason_takes_the_place_of_figures() {
        let mut sheet = Sheet::new("a", "A", &["name", "MiB", "rate", "paper"]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        sheet.row(row(["x", "1.0", "–", "7"]));
        sheet.row(row(["y", "cannot build: too many", "–", "8"]));
        let html = sheet.to_html();
        let wanted =
            "<td class=\"why\" colspan=\"2\">cannot build: too many</td><td class=\"n\">8</td>";
        assert!(html.contains(wanted), "{html}");
        assert!(html.contains("<td class=\"n\">–</td>"), "{html}");
        assert!(sheet.to_csv().ends_with("y,cannot build: too many,–,8\n"));
    }

    #[test]
    fn html_lets_no_markup_in() {
        let html = sheet().to_html();
        assert!(!html.contains("<script>") && html.contains("&lt;script&gt;"));
        roxmltree::Document::parse(&html).unwrap();
    }
}
