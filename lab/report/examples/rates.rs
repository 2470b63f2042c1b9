//! Draws the rates of docs/performance.md's first table as bars, as an SVG on standard output.
//!
//!     cargo run -p popfib-report --example rates >../docs/pictures/rates.svg
//!
//! The table is copied from what `bench/peers` prints, so the picture shows what was measured and nothing else.

use std::error::Error;

use popfib_draw::{Bar, BarChart, BarPanel, BarRow, bar_chart};

fn main() -> Result<(), Box<dyn Error>> {
    let page = include_str!("../../../docs/performance.md");
    let (_, rest) = page
        .split_once("<!-- figures: begin -->\n")
        .ok_or("no table")?;
    let (table, _) = rest
        .split_once("<!-- figures: end -->")
        .ok_or("no end of the table")?;
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|').replace(['*', '`'], "");
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let head = cells(table.lines().next().ok_or("an empty table")?);
    // The family stands before its first column.
    let mut family = "";
    let mut names = Vec::new();
    for (column, name) in head.iter().enumerate().skip(1) {
        let (of, traffic) = name.split_once(' ').unwrap_or((family, name));
        family = of;
        if traffic != "MiB" {
            names.push((column, format!("{family} {traffic}")));
        }
    }
    let mut rows = Vec::new();
    let mut panels: Vec<BarPanel> = names
        .iter()
        .map(|(_, name)| BarPanel {
            name: name.clone(),
            bars: Vec::new(),
        })
        .collect();
    for line in table.lines().skip(2) {
        let row = cells(line);
        for ((column, _), panel) in names.iter().zip(&mut panels) {
            let (rate, _) = row[*column].split_once(' ').ok_or("no ratio")?;
            panel.bars.push(Some(Bar {
                value: rate.parse()?,
                spread: None,
                label: rate.to_owned(),
            }));
        }
        rows.push(BarRow {
            name: row[0].clone(),
            is_strong: line.contains("**"),
        });
    }
    let picture = bar_chart(&BarChart {
        title: "Million lookups a second",
        note: "one core; the figures of the table in docs/performance.md",
        unit: "million lookups a second",
        rows,
        panels,
    });
    print!("{picture}");
    Ok(())
}
