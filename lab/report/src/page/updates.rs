//! Changes of a live table.

use super::format::{NONE, count, number, or_none};
use super::{Section, words};
use crate::experiments::updates::Stream;
use crate::paper;
use crate::results::{Family, Results, pick};
use crate::sheet::Sheet;

const COLUMNS: [&str; 11] = [
    "updates",
    "announced",
    "withdrawn",
    "changed an answer",
    "mean, µs",
    "median, µs",
    "99 %, µs",
    "longest, µs",
    "all, ms",
    "verified",
    "wrong",
];

pub(super) fn updates(results: &Results) -> Section {
    let mut section = Section::new("updates", "Updates (section 4.9)");
    for (place, streams) in results.each(|outcome| pick!(outcome, Updates)) {
        let title = format!("{place}: updates one after the other");
        let mut sheet = Sheet::new(place.id("updates"), title, &COLUMNS);
        sheet.rows = streams.iter().map(measured).collect();
        let of_paper = match place.family {
            Family::Ipv4 => {
                let (updates, mean) = paper::UPDATES;
                let hour = "paper: RV-linx-p52, an hour";
                let full = "paper: REAL-Tier1-A, random order";
                sheet.row(of_paper(hour, Some(updates), mean));
                sheet.row(of_paper(full, None, paper::INSERTION_US));
                words::UPDATES_OF_PAPER
            }
            Family::Ipv6 => "The paper has no updates of IPv6.",
        };
        sheet.note = format!("{} {of_paper}", words::UPDATES);
        section.sheets.push(sheet);
    }
    section
}

fn measured(stream: &Stream) -> Vec<String> {
    vec![
        stream.name.clone(),
        count(stream.announced),
        count(stream.withdrawn),
        count(stream.changed),
        number(stream.mean_us, 3),
        number(stream.p50_us, 3),
        number(stream.p99_us, 3),
        number(stream.max_us, 1),
        number(stream.total_ms, 1),
        count(stream.verified),
        count(stream.mismatches),
    ]
}

/// A row of the paper's figures: updates, and microseconds each.
fn of_paper(name: &str, updates: Option<u32>, mean: f64) -> Vec<String> {
    let mut cells = vec![NONE.to_owned(); COLUMNS.len()];
    cells[0] = name.to_owned();
    cells[1] = or_none(updates, count);
    cells[4] = number(mean, 2);
    cells[8] = or_none(updates, |n| number(f64::from(n) * mean / 1e3, 1));
    cells
}
