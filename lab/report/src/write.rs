//! The report's files.

use std::path::{Path, PathBuf};

use popfib_draw::Theme;

use crate::error::ReportError;
use crate::files;
use crate::page;
use crate::png::png;
use crate::results::Results;
use crate::template;

/// Pixels for each unit of a chart: sharp in print and on fine screens.
const SCALE: f64 = 2.0;

/// Writes everything that is made of `results`; the page last, so that what it leads to is there.
pub(crate) fn write(results: &Results, output: &Path) -> Result<PathBuf, ReportError> {
    let sections = page::sections(results);
    for section in &sections {
        for sheet in &section.sheets {
            let to = output.join("tables").join(&sheet.id);
            files::write(&to.with_added_extension("csv"), sheet.to_csv().as_bytes())?;
            files::write(
                &to.with_added_extension("md"),
                template::markdown(sheet).as_bytes(),
            )?;
        }
        for figure in &section.figures {
            let to = output.join("figures").join(&figure.id);
            files::write(&to.with_added_extension("svg"), figure.svg.as_bytes())?;
            let pixels = png(&figure.svg, SCALE, Theme::Light)
                .expect("charts are SVG of a few hundred units");
            files::write(&to.with_added_extension("png"), &pixels)?;
        }
    }
    let json = serde_json::to_vec(results).expect("results are numbers and text");
    files::write(&output.join("results.json"), &json)?;
    let path = output.join("report.html");
    files::write(&path, template::page(results, &sections).as_bytes())?;
    Ok(path)
}
