//! Rates under each traffic, under recorded traffic, and the time of a lookup in three ways.

use super::chart::{self, Words};
use super::format::{mean, number, or_none, ratio, short};
use super::structures::shown;
use super::{Section, differs, words};
use crate::experiments::Figures;
use crate::experiments::contest::Contest;
use crate::paper;
use crate::results::{Family, Place, Results};
use crate::sheet::Sheet;

fn is_trace(traffic: &str) -> bool {
    traffic.starts_with("trace ")
}

pub(super) fn locality(results: &Results) -> Section {
    let mut section = Section::new("traffic", "Traffic patterns (section 4.5)");
    for (place, contest) in results.contests() {
        let kinds = contest.traffic.iter().filter(|name| !is_trace(name));
        let kinds: Vec<String> = kinds.cloned().collect();
        let mut sheet = by_traffic(contest, place, &kinds);
        if !sheet.note.is_empty() {
            sheet.note += &differs::why(results, contest.routes, place.family);
        }
        section.sheets.push(sheet);
        if place.is_first() && kinds.len() > 2 {
            let mut names = shown();
            names.retain(|name| contest.rates_of(name, "random").is_some());
            let series = names.into_iter().map(|name| {
                let rates = kinds.iter().map(|kind| contest.rates_of(&name, kind));
                let rates = rates.collect();
                (name, rates)
            });
            let series = series.collect();
            let words = Words::of_rates(format!("{place}, by traffic"), results.runs);
            let svg = chart::bars(&words, kinds.clone(), series);
            let caption = format!("Rates by traffic, {place}");
            section.figure(place.id("traffic"), caption, svg);
        }
    }
    section.about(words::TRAFFIC)
}

/// The rates of a contest; with a note where the paper has some of them.
fn by_traffic(contest: &Contest, place: Place<'_>, kinds: &[String]) -> Sheet {
    let title = format!("{place}: median rates by traffic");
    let mut sheet = Sheet::new(place.id("traffic"), title, &["structure"]);
    sheet
        .columns
        .extend(kinds.iter().map(|kind| format!("{kind}, Mlps")));
    let has_paper = place.family == Family::Ipv4 && kinds.iter().any(|kind| kind == "repeated");
    if has_paper {
        sheet
            .columns
            .extend(["paper's sequential", "paper's repeated"].map(str::to_owned));
        sheet.note = words::LOCALITY.to_owned();
    }
    for row in &contest.rows {
        let Some(found) = row.found().filter(|found| !found.rates.is_empty()) else {
            continue;
        };
        let mut cells = vec![row.name.clone()];
        let rates = kinds.iter().map(|kind| found.rates.get(kind));
        cells.extend(rates.map(|rates| or_none(rates, |rates| short(rates.median()))));
        if has_paper {
            let paper = paper::LOCALITY.iter().find(|other| other.0 == row.name);
            cells.push(or_none(paper, |row| number(row.1, 0)));
            cells.push(or_none(paper, |row| number(row.2, 0)));
        }
        sheet.row(cells);
    }
    sheet
}

pub(super) fn traces(results: &Results) -> Section {
    let mut section = Section::new("traces", "Recorded traffic (Fig. 12)");
    for (place, contest) in results.contests() {
        let traces = contest.traffic.iter().filter(|name| is_trace(name));
        for (number_of, traffic) in traces.enumerate() {
            let id = place.id(&format!("fig12-trace-{}", number_of + 1));
            let title = format!("{place}: {traffic}");
            section
                .sheets
                .push(of_trace(contest, place, traffic, id.clone(), title.clone()));
            if !place.is_first() {
                continue;
            }
            let names = contest.rows.iter().map(|row| row.name.clone());
            let rates = |name: &String| contest.rates_of(name, traffic);
            let names: Vec<String> = names.filter(|name| rates(name).is_some()).collect();
            let series = vec![(String::new(), names.iter().map(rates).collect())];
            let words = Words::of_rates(title.clone(), results.runs);
            let svg = chart::bars(&words, names, series);
            section.figure(id, format!("{title} (the paper's Fig. 12)"), svg);
        }
    }
    section.about(words::TRACES)
}

fn of_trace(
    contest: &Contest,
    place: Place<'_>,
    traffic: &str,
    id: String,
    title: String,
) -> Sheet {
    let columns = [
        "structure",
        "Mlps (std)",
        "median",
        "Poptrie18 / this",
        "paper's ratio",
    ];
    let mut sheet = Sheet::new(id, title, &columns);
    let mut pairs = Vec::new();
    for row in &contest.rows {
        let Some(rates) = contest.rates_of(&row.name, traffic) else {
            continue;
        };
        let mut ratios = paper::TRACE_RATIOS.iter();
        let paper = ratios.find(|other| other.0 == row.name && place.family == Family::Ipv4);
        let here = contest.ratio("Poptrie18", &row.name, traffic);
        pairs.extend(
            here.zip(paper)
                .map(|(here, paper)| (paper.0, here, paper.1)),
        );
        sheet.row(vec![
            row.name.clone(),
            mean(rates),
            short(Figures::median(rates)),
            ratio(here),
            or_none(paper, |row| number(row.1, 2)),
        ]);
    }
    sheet.note = format!(
        "{} Paper: 97 million packets of a transit link, with its own router's table.{}",
        words::RATIOS,
        differs::ratios(&pairs)
    );
    sheet
}

pub(super) fn latency(results: &Results) -> Section {
    let mut section = Section::new("latency", "Latency and throughput");
    for (place, contest) in results.contests() {
        let columns = [
            "structure",
            "dependent, ns",
            "independent, ns",
            "empty loop, ns",
        ];
        let title = format!("{place}: nanoseconds a lookup, random addresses");
        let mut sheet = Sheet::new(place.id("latency"), title, &columns);
        for row in &contest.rows {
            if let Some(all) = row.found().and_then(|found| found.latency_ns) {
                let mut cells = vec![row.name.clone()];
                cells.extend(all.map(|nanoseconds| number(nanoseconds, 2)));
                sheet.row(cells);
            }
        }
        if !sheet.rows.is_empty() {
            section.sheets.push(sheet);
        }
    }
    section.about(words::LATENCY)
}
