//! What is written for people, from the templates in `templates/`: the page, one file that asks the network for nothing,
//! in light and dark, on screen and on paper; tables as Markdown.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use crate::page::Section;
use crate::results::Results;
use crate::sheet::Sheet;

static TEMPLATES: LazyLock<Environment<'_>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).keep_trailing_newline(true);
    templates.set_syntax(syntax.build().expect("the usual marks"));
    templates.add_filter("cell", cell);
    // The end of a name says what is escaped: all in HTML.
    for (name, text) in [
        ("page.html", include_str!("../templates/page.html")),
        ("sheet.html", include_str!("../templates/sheet.html")),
        ("sheet.md", include_str!("../templates/sheet.md")),
    ] {
        let added = templates.add_template(name, text);
        added.expect("the template is of this crate");
    }
    templates
});

/// The report as a page.
pub(crate) fn page(results: &Results, sections: &[Section]) -> String {
    let tables = results.tables.iter().map(|table| &table.name);
    let values = context! {
        tables => Value::from_iter(tables.cloned()), machine => Value::from(Serde(&results.machine)), effort => results.effort.clone(),
        style => include_str!("../templates/style.css"), sections => Value::from(Serde(sections)),
    };
    filled("page.html", values)
}

/// A table as Markdown.
pub(crate) fn markdown(sheet: &Sheet) -> String {
    filled("sheet.md", context! { sheet => Value::from(Serde(&sheet)) })
}

fn filled(name: &str, values: Value) -> String {
    let template = TEMPLATES.get_template(name);
    let filled = template.and_then(|template| template.render(values));
    filled.expect("the templates ask for what there is")
}

/// The text of a cell of Markdown, in one line.
fn cell(text: &str) -> String {
    let line = text.replace(char::is_control, " ");
    let line = line.replace('\\', "\\\\").replace('|', "\\|");
    line.replace('<', "\\<")
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
    fn markdown_keeps_its_columns() {
        let mut sheet = sheet();
        sheet.note = "A note.".into();
        let wanted = "**A \\<b>**\n\n| name | rate |\n| --- | --: |\n| x \\| \"y\", z | 12.5 |\n\
                      | \\<script> | – |\n\nA note.\n";
        assert_eq!(markdown(&sheet), wanted);
    }

    #[test]
    fn a_reason_takes_the_place_of_figures() {
        let mut sheet = Sheet::new("a", "A", &["name", "MiB", "rate", "paper"]);
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        sheet.row(row(["x", "1.0", "–", "7"]));
        sheet.row(row(["y", "cannot build: too many", "–", "8"]));
        let html = filled(
            "sheet.html",
            context! { sheet => Value::from(Serde(&sheet)) },
        );
        let wanted =
            "<td class=\"why\" colspan=\"2\">cannot build: too many</td><td class=\"n\">8</td>";
        assert!(html.contains(wanted), "{html}");
        assert!(html.contains("<td class=\"n\">–</td>"), "{html}");
    }

    #[test]
    fn html_lets_no_markup_in() {
        let html = filled(
            "sheet.html",
            context! { sheet => Value::from(Serde(&sheet())) },
        );
        assert!(!html.contains("<script>") && html.contains("&lt;script&gt;"));
        roxmltree::Document::parse(&html).unwrap();
    }
}
