//! Single lookups: distribution, percentiles, quartiles by depth.

use popfib_draw::chart::{Axis, BoxChart, Boxes, LineChart, Quartiles, Series};

use super::format::{NONE, count, number, or_none};
use super::{Section, id, places};
use crate::experiments::cycles::{Cycles, Times};
use crate::paper;
use crate::results::{Family, Outcome, Results};
use crate::sheet::Sheet;

/// Boxes of more structures than these would be too thin.
const IN_BOXES: [&str; 4] = ["SAIL", "D18R", "Poptrie18", "popfib18"];

pub(super) fn cycles(results: &Results) -> Section {
    let mut section = Section::new("cycles", "Cycles of a lookup (Table 4, Figs. 10 and 11)");
    let mut overheads = None;
    for (place, table, family) in places(results) {
        let found = results.find(place, family, |outcome| match outcome {
            Outcome::Cycles(cycles) => Some(cycles),
            _ => None,
        });
        let Some(cycles) = found else { continue };
        if let Some(reason) = &cycles.unavailable {
            section.paragraph(format!("Left out: {reason}."));
            return section;
        }
        let at = format!("{}, {}", table.name, family.name());
        overheads = Some((cycles.overhead, cycles.megahertz, cycles.lookups));
        section.sheets.push(percentiles(
            cycles,
            family,
            &id("table4-cycles", place, family),
            &at,
        ));
        section.sheets.push(quartiles(
            cycles,
            &id("fig11-quartiles", place, family),
            &at,
        ));
        section.figure(
            id("fig10-cdf", place, family),
            format!("Distribution of ticks a lookup, {at} (the paper's Fig. 10)"),
            cdf(cycles, &at),
        );
        section.figure(
            id("fig11-depth", place, family),
            format!("Ticks by binary radix depth, {at} (the paper's Fig. 11)"),
            by_depth(cycles, &at),
        );
    }
    if let Some((overhead, megahertz, lookups)) = overheads {
        section.paragraph(format!(
            "{} random lookups of each structure, the same for all, each alone between two readings of the CPU's timestamp \
             counter with fences around them. The counter ticks {} times a microsecond whatever the core's clock does: a \
             tick is time, where the paper counted core cycles. A reading with a lookup that does nothing takes {} \
             ticks; they are subtracted, as the paper subtracts its 83 cycles. The paper ran without an operating \
             system; here interrupts, and other guests of the machine, lengthen some lookups: what takes longer than \
             4,095 ticks counts as that.",
            count(lookups as u64),
            number(megahertz, 0),
            overhead
        ));
        section.paragraph(
            "Fences keep a lookup from overlapping with the next, and so hide what makes structures fast in a stream of \
             lookups; what remains is the latency of cache lines and of mispredicted branches.",
        );
    }
    section
}

fn percentiles(cycles: &Cycles, family: Family, id: &str, at: &str) -> Sheet {
    let mut columns = vec![
        "structure",
        "mean",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        "beyond 4,095",
    ];
    let has_paper = family == Family::Ipv4;
    if has_paper {
        columns.extend([
            "paper's mean",
            "paper's 50 %",
            "paper's 75 %",
            "paper's 95 %",
            "paper's 99 %",
        ]);
    }
    let beside = match has_paper {
        true => ", beside the paper's Table 4",
        false => "",
    };
    let title = format!("{at}: ticks a lookup{beside}");
    let mut sheet = Sheet::new(id, title, &columns);
    for row in &cycles.rows {
        let paper = paper::CYCLES.iter().find(|other| other.0 == row.name);
        let mut cells = vec![row.name.clone()];
        match &row.cannot_build {
            Some(reason) => {
                cells.push(format!("cannot build: {reason}"));
                cells.resize(7, NONE.into());
            }
            None => {
                cells.push(number(row.mean, 2));
                cells.extend(row.percentiles.iter().map(u32::to_string));
                cells.push(count(row.clipped));
            }
        }
        if has_paper {
            cells.push(or_none(paper, |row| number(row.1, 2)));
            for place in 0..4 {
                cells.push(or_none(paper, |row| row.2[place].to_string()));
            }
        }
        sheet.row(cells);
    }
    sheet.note = match has_paper {
        true => {
            "Paper: REAL-Tier1-A, core cycles at 3.9 GHz, without an operating system. Here ticks are time, the table is \
             another, and the last cache is farther from the core the more cores a CPU has."
        }
        false => "The paper has none of IPv6.",
    }
    .into();
    sheet
}

fn quartiles(cycles: &Cycles, id: &str, at: &str) -> Sheet {
    let columns = [
        "structure",
        "depth",
        "lookups",
        "5 %",
        "25 %",
        "50 %",
        "75 %",
        "95 %",
    ];
    let mut sheet = Sheet::new(id, format!("{at}: ticks by binary radix depth"), &columns);
    for row in &cycles.rows {
        for depth in &row.by_depth {
            let mut cells = vec![
                row.name.clone(),
                depth.depth.to_string(),
                count(depth.lookups),
            ];
            cells.extend(depth.percentiles.iter().map(u32::to_string));
            sheet.row(cells);
        }
    }
    sheet
}

fn built(cycles: &Cycles) -> impl Iterator<Item = &Times> {
    cycles.rows.iter().filter(|row| row.cannot_build.is_none())
}

fn cdf(cycles: &Cycles, at: &str) -> String {
    let longest = built(cycles)
        .map(|row| f64::from(row.percentiles[3]))
        .fold(10.0, f64::max);
    LineChart {
        title: format!("Ticks of a lookup, {at}"),
        note: "share of lookups that take no longer".into(),
        x: Axis::linear("ticks").between(0.0, longest * 1.25),
        y: Axis::linear("share of lookups").between(0.0, 1.0),
        series: built(cycles)
            .map(|row| {
                let points = row
                    .cdf
                    .iter()
                    .map(|(ticks, share)| (f64::from(*ticks), *share));
                Series::new(row.name.clone(), points.collect())
            })
            .collect(),
        steps: true,
        ..LineChart::default()
    }
    .to_svg()
}

fn by_depth(cycles: &Cycles, at: &str) -> String {
    let shown: Vec<&Times> = built(cycles)
        .filter(|row| IN_BOXES.contains(&row.name.as_str()))
        .collect();
    let mut depths: Vec<u8> = shown
        .iter()
        .flat_map(|row| row.by_depth.iter().map(|d| d.depth))
        .collect();
    depths.sort_unstable();
    depths.dedup();
    let quartiles = |row: &Times, depth: u8| {
        let found = row.by_depth.iter().find(|at| at.depth == depth)?;
        let [low, lower, median, upper, high] = found.percentiles.map(f64::from);
        Some(Quartiles {
            low,
            lower,
            median,
            upper,
            high,
        })
    };
    BoxChart {
        title: format!("Ticks by binary radix depth, {at}"),
        note: "box: quartiles and median; whiskers: 5th and 95th percentile".into(),
        x: "binary radix depth".into(),
        y: Axis::linear("ticks"),
        groups: depths.iter().map(u8::to_string).collect(),
        series: shown
            .iter()
            .map(|row| {
                Boxes::new(
                    row.name.clone(),
                    depths.iter().map(|depth| quartiles(row, *depth)).collect(),
                )
            })
            .collect(),
    }
    .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_steady_counter_there_is_a_note() {
        let none = Cycles {
            unavailable: Some("the CPU does not promise a steady counter".into()),
            lookups: 0,
            megahertz: 0.0,
            overhead: 0,
            rows: Vec::new(),
        };
        let section = cycles(&Results::of(Family::Ipv4, Outcome::Cycles(none)));
        assert_eq!(
            section.text,
            ["Left out: the CPU does not promise a steady counter."]
        );
        assert!(section.sheets.is_empty() && section.figures.is_empty());
    }
}
