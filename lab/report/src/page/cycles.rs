//! Single lookups: distribution, percentiles, quartiles by depth.

use super::chart::{self, Words};
use super::format::{count, number, or_none};
use super::{Section, words};
use crate::experiments::cycles::{Cycles, Times};
use crate::experiments::{Contender, Group};
use crate::paper;
use crate::results::{Family, Place, Results, pick};
use crate::sheet::Sheet;

pub(super) fn cycles(results: &Results) -> Section {
    let mut section = Section::new("cycles", "Cycles of a lookup (Table 4, Figs. 10 and 11)");
    let mut last = None;
    for (place, cycles) in results.each(|outcome| pick!(outcome, Cycles)) {
        if let Some(reason) = &cycles.unavailable {
            section.paragraph(format!("Left out: {reason}."));
            return section;
        }
        last = Some(cycles);
        section.sheets.push(percentiles(cycles, place));
        section.sheets.push(quartiles(cycles, place));
        let caption = format!("Distribution of ticks a lookup, {place} (the paper's Fig. 10)");
        section.figure(place.id("fig10-cdf"), caption, cdf(cycles, place));
        let caption = format!("Ticks by binary radix depth, {place} (the paper's Fig. 11)");
        section.figure(place.id("fig11-depth"), caption, by_depth(cycles, place));
    }
    if let Some(cycles) = last {
        section.paragraph(format!(
            "{} random lookups of each structure, the same for all, each alone between two readings of the CPU's timestamp \
             counter with fences around them. The counter ticks {} times a microsecond whatever the core's clock does: a \
             tick is time, where the paper counted core cycles. A reading with a lookup that does nothing takes {} \
             ticks; they are subtracted, as the paper subtracts its 83 cycles. The paper ran without an operating \
             system; here interrupts, and other guests of the machine, lengthen some lookups: what takes longer than \
             4,095 ticks counts as that.",
            count(cycles.lookups as u64),
            number(cycles.megahertz, 0),
            cycles.overhead
        ));
    }
    section.about(words::FENCES)
}

fn percentiles(cycles: &Cycles, place: Place<'_>) -> Sheet {
    let has_paper = place.family == Family::Ipv4;
    let columns = [
        "structure",
        "mean",
        "50 %",
        "75 %",
        "95 %",
        "99 %",
        "beyond 4,095",
        "paper's mean",
        "paper's 50 %",
        "paper's 75 %",
        "paper's 95 %",
        "paper's 99 %",
    ];
    let (columns, beside, note) = match has_paper {
        true => (&columns[..], ", beside the paper's Table 4", words::TICKS),
        false => (&columns[..7], "", "The paper has none of IPv6."),
    };
    let title = format!("{place}: ticks a lookup{beside}");
    let mut sheet = Sheet::new(place.id("table4-cycles"), title, columns);
    for row in &cycles.rows {
        let found = row.result().map(|times| {
            let mut cells = vec![number(times.mean, 2)];
            cells.extend(times.percentiles.iter().map(u32::to_string));
            cells.push(count(times.clipped));
            cells
        });
        let mut of_paper = Vec::new();
        if has_paper {
            let paper = paper::CYCLES.iter().find(|other| other.0 == row.name);
            of_paper.push(or_none(paper, |row| number(row.1, 2)));
            of_paper.extend((0..4).map(|share| or_none(paper, |row| row.2[share].to_string())));
        }
        sheet.entry(&[&row.name], found, &of_paper);
    }
    sheet.note = note.into();
    sheet
}

fn quartiles(cycles: &Cycles, place: Place<'_>) -> Sheet {
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
    let title = format!("{place}: ticks by binary radix depth");
    let mut sheet = Sheet::new(place.id("fig11-quartiles"), title, &columns);
    for (name, times) in built(cycles) {
        for depth in &times.by_depth {
            let mut cells = vec![
                name.to_owned(),
                depth.depth.to_string(),
                count(depth.lookups),
            ];
            cells.extend(depth.percentiles.iter().map(u32::to_string));
            sheet.row(cells);
        }
    }
    sheet
}

fn built(cycles: &Cycles) -> impl Iterator<Item = (&str, &Times)> {
    let rows = cycles.rows.iter();
    rows.filter_map(|row| Some((row.name.as_str(), row.found()?)))
}

fn cdf(cycles: &Cycles, place: Place<'_>) -> String {
    let ends = built(cycles).map(|(_, times)| f64::from(times.percentiles[3]));
    let longest = ends.fold(10.0, f64::max);
    let line = |(name, times): (&str, &Times)| {
        let points = times
            .cdf
            .iter()
            .map(|(ticks, share)| (f64::from(*ticks), *share));
        (name.to_owned(), points.collect())
    };
    let words = Words {
        title: format!("Ticks of a lookup, {place}"),
        note: "share of lookups that take no longer".into(),
        x: "ticks",
        y: "share of lookups",
    };
    chart::shares(&words, longest * 1.25, built(cycles).map(line).collect())
}

fn by_depth(cycles: &Cycles, place: Place<'_>) -> String {
    let boxes = Contender::of(Group::Boxes);
    let is_shown = |name: &str| boxes.iter().any(|contender| contender.name == name);
    let shown: Vec<_> = built(cycles).filter(|(name, _)| is_shown(name)).collect();
    // The same addresses for all, and so the same depths.
    let depths = shown.first().map_or(&[][..], |(_, times)| &times.by_depth);
    let boxes = shown.iter().map(|(name, times)| {
        let boxes = times.by_depth.iter();
        let boxes = boxes.map(|at| at.percentiles.map(f64::from));
        ((*name).to_owned(), boxes.collect())
    });
    let words = Words {
        title: format!("Ticks by binary radix depth, {place}"),
        note: "box: quartiles and median; whiskers: 5th and 95th percentile".into(),
        x: "binary radix depth",
        y: "ticks",
    };
    let depths = depths.iter().map(|at| at.depth.to_string());
    chart::boxes(&words, depths.collect(), boxes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Outcome;

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
