//! Changes of a live table.

use super::format::{NONE, count, number, or_none};
use super::{Section, id, places};
use crate::paper;
use crate::results::{Family, Outcome, Results};
use crate::sheet::Sheet;

/// What is measured, whatever the family.
const NOTE: &str = "Poptrie with s = 18 in popfib's live form: Rib and Fib together, readers may look up meanwhile. Times \
                    include reading the clock, some 25 ns. Replaced entries, leaves and nodes are per update.";

pub(super) fn updates(results: &Results) -> Section {
    let mut section = Section::new("updates", "Updates (section 4.9)");
    let columns = [
        "updates",
        "announced",
        "withdrawn",
        "changed an answer",
        "mean, µs",
        "median, µs",
        "99 %, µs",
        "longest, µs",
        "all, ms",
        "top-level entries",
        "leaves",
        "nodes",
        "verified",
        "wrong",
    ];
    for (place, table, family) in places(results) {
        let found = results.find(place, family, |outcome| match outcome {
            Outcome::Updates(streams) => Some(streams),
            _ => None,
        });
        let Some(streams) = found else { continue };
        let title = format!(
            "{}, {}: updates one behind the other",
            table.name,
            family.name()
        );
        let mut sheet = Sheet::new(id("updates", place, family), title, &columns);
        for stream in streams {
            sheet.row(vec![
                stream.name.clone(),
                count(stream.announced),
                count(stream.withdrawn),
                count(stream.changed),
                number(stream.mean_us, 3),
                number(stream.p50_us, 3),
                number(stream.p99_us, 3),
                number(stream.max_us, 1),
                number(stream.total_ms, 1),
                number(stream.direct_entries, 3),
                number(stream.leaves, 2),
                number(stream.nodes, 2),
                count(stream.verified),
                count(stream.mismatches),
            ]);
        }
        if family == Family::Ipv6 {
            sheet.note = format!("{NOTE} The paper has no updates of IPv6.");
            section.sheets.push(sheet);
            continue;
        }
        let (updates, mean, [entries, leaves, nodes]) = paper::UPDATES;
        let paper_row =
            |name: &str, updates: Option<u32>, mean: f64, replaced: Option<[f64; 3]>| {
                let mut cells = vec![name.to_owned(), or_none(updates, count)];
                cells.extend([NONE.to_owned(), NONE.to_owned(), number(mean, 2)]);
                cells.resize(8, NONE.into());
                cells.push(or_none(updates, |n| number(f64::from(n) * mean / 1e3, 1)));
                match replaced {
                    Some(replaced) => cells.extend(replaced.map(|figure| number(figure, 3))),
                    None => cells.resize(12, NONE.into()),
                }
                cells.resize(14, NONE.into());
                cells
            };
        sheet.row(paper_row(
            "paper: RV-linx-p52, an hour",
            Some(updates),
            mean,
            Some([entries, leaves, nodes]),
        ));
        sheet.row(paper_row(
            "paper: REAL-Tier1-A, random order",
            None,
            paper::INSERTION_US,
            None,
        ));
        sheet.note = format!(
            "{NOTE} The paper's hour is of another table and other routes: how many replace nothing decides the mean. A \
             change builds the whole node that it is in anew, so leaves are more than in the paper."
        );
        section.sheets.push(sheet);
    }
    section
}
