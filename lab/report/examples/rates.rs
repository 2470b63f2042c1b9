//! Draws the rates of README.md's table as bars, as an SVG on standard output.
//!
//!     cargo run -p popfib-report --example rates >../docs/pictures/rates.svg
//!
//! The table is copied from what `bench/peers` prints, so the picture shows what was measured and nothing else.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let readme = include_str!("../../../README.md");
    let (_, rest) = readme
        .split_once("<!-- figures: begin -->\n")
        .ok_or("no table")?;
    let (table, _) = rest
        .split_once("<!-- figures: end -->")
        .ok_or("no end of the table")?;
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|').replace(['*', '`'], "");
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = table.lines().map(cells);
    let head = lines.next().ok_or("an empty table")?;
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
    let mut series = Vec::new();
    for row in lines.skip(1) {
        let rate = |(column, _): &(usize, _)| {
            let (rate, _) = row[*column].split_once(' ').ok_or("no ratio")?;
            Ok(rate.parse()?)
        };
        let rates: Result<Vec<f64>, Box<dyn Error>> = names.iter().map(rate).collect();
        series.push((row[0].clone(), rates?));
    }
    let names = names.into_iter().map(|(_, name)| name).collect();
    let note = "one core; the figures of the table in README.md";
    print!(
        "{}",
        popfib_report::bars("Million lookups a second", note, names, series)
    );
    Ok(())
}
