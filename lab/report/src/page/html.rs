//! One page: text, tables, pictures and style in a single file that asks the
//! network for nothing, in light and dark, on screen and on paper.

use std::fmt::Write;

use popfib_draw::Escaped;

use super::Section;
use crate::results::Results;

const STYLE: &str = include_str!("style.css");

/// The report as a page.
pub(crate) fn html(results: &Results, sections: &[Section]) -> String {
    let names: Vec<String> = results
        .tables
        .iter()
        .map(|table| table.name.clone())
        .collect();
    let title = format!("popfib evaluation: {}", names.join(", "));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/><title>{}</title><style>{STYLE}</style></head><body><main>\
         <h1>Longest-prefix match, evaluated</h1><p class=\"lead\">{}. Measured on {} by popfib {}, commit {}, effort {}. \
         Method and figures to compare with: Asai and Ohara, <cite>Poptrie: A Compressed Trie with Population Count for \
         Fast and Scalable Software IP Routing Table Lookup</cite>, SIGCOMM 2015.</p><nav><ol>",
        Escaped(&title),
        Escaped(&names.join(", ")),
        Escaped(&results.machine.cpu),
        Escaped(&results.machine.version),
        Escaped(&results.machine.commit),
        Escaped(&results.effort),
    );
    for section in sections {
        let _ = write!(
            page,
            "<li><a href=\"#{}\">{}</a></li>",
            section.id,
            Escaped(&section.title)
        );
    }
    page += "</ol></nav>";
    for section in sections {
        let _ = write!(
            page,
            "<section id=\"{}\"><h2>{}</h2>",
            section.id,
            Escaped(&section.title)
        );
        for paragraph in &section.text {
            let _ = write!(page, "<p>{}</p>", Escaped(paragraph));
        }
        for figure in &section.figures {
            let _ = write!(
                page,
                "<figure class=\"picture\" id=\"figure-{0}\">{1}<figcaption>{2} <span class=\"files\"><a href=\"figures/{0}.svg\">SVG</a> \
                 <a href=\"figures/{0}.png\">PNG</a></span></figcaption></figure>",
                Escaped(&figure.id),
                figure.svg,
                Escaped(&figure.caption)
            );
        }
        for sheet in &section.sheets {
            // Long ones are for who wants to look closer.
            if sheet.rows.len() > 40 {
                let title = Escaped(&sheet.title);
                let rows = sheet.rows.len();
                let _ = write!(
                    page,
                    "<details><summary>{title} ({rows} rows)</summary>{}</details>",
                    sheet.to_html()
                );
            } else {
                page += &sheet.to_html();
            }
        }
        page += "</section>";
    }
    page + "</main></body></html>\n"
}
