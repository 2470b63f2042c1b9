//! Rates of all structures on random addresses: on each table, and on all tables.

use super::chart::{self, Words};
use super::format::{count, mean, mib, number, or_none, ratio, short};
use super::{Section, ahead, differs, words};
use crate::experiments::contest::Contest;
use crate::experiments::{Contender, Figures, Group};
use crate::paper;
use crate::results::{Family, Place, Results};
use crate::sheet::Sheet;

/// Names of the structures in figures of all: the Poptries first.
pub(super) fn shown() -> Vec<String> {
    let shown = Contender::of(Group::Shown).into_iter().rev();
    shown.map(|contender| contender.name).collect()
}

pub(super) fn all_structures(results: &Results) -> Section {
    let mut section = Section::new("structures", "All structures (Table 3)");
    for (place, contest) in results.contests() {
        let mut sheet = structures(contest, place);
        sheet.note += &differs::why(results, contest.routes, place.family);
        section.sheets.push(sheet);
        if !place.is_first() {
            continue;
        }
        let measured = contest.rows.iter().map(|row| row.name.clone());
        let names: Vec<String> = measured
            .filter(|name| contest.rates_of(name, "random").is_some())
            .collect();
        let words = Words::of_rates(format!("Random addresses, {place}"), results.runs);
        let rates = names.iter().map(|name| contest.rates_of(name, "random"));
        let series = vec![(String::new(), rates.collect())];
        let svg = chart::bars(&words, names.clone(), series);
        let caption = format!("Random addresses, all structures, {place}");
        section.figure(place.id("table3-structures"), caption, svg);
    }
    section.sheets.push(ahead::ratios(results));
    section
}

/// The paper's Table 3.
fn structures(contest: &Contest, place: Place<'_>) -> Sheet {
    let columns = [
        "structure",
        "MiB",
        "build, ms",
        "random, Mlps (std)",
        "median",
        "over the reference loop",
        "Poptrie18 / this",
        "paper's MiB",
        "paper's Mlps",
        "paper's ratio",
    ];
    let title = format!("{place}, {} routes", count(contest.routes as u64));
    let mut sheet = Sheet::new(place.id("table3-structures"), title, &columns);
    let of_paper = |name: &str| paper::structure(name, place.family == Family::Ipv4);
    let paper_ratio = |name: &str| Some(of_paper("Poptrie18").1? / of_paper(name).1?);
    let mut pairs = Vec::new();
    for row in &contest.rows {
        let rates = contest.rates_of(&row.name, "random");
        let here = contest.ratio("Poptrie18", &row.name, "random");
        let there = paper_ratio(&row.name);
        pairs.extend(
            here.zip(there)
                .map(|(here, there)| (row.name.as_str(), here, there)),
        );
        let over = rates.and_then(|rates| rates.over(&contest.reference));
        let found = row.result().map(|found| {
            vec![
                mib(found.bytes),
                number(found.build_ms, 1),
                or_none(rates, mean),
                or_none(rates, |rates| short(rates.median())),
                or_none(over, |over| number(over.median, 3)),
                ratio(here),
            ]
        });
        let (mib, mlps) = of_paper(&row.name);
        let paper = [mib, mlps, there].map(|figure| or_none(figure, |figure| number(figure, 2)));
        sheet.entry(&[&row.name], found, &paper);
    }
    sheet.note = format!(
        "{} Paper: {}, on a {}. The reference loop is one table load an address, {} million a second here.{}",
        words::RATIOS,
        differs::of_paper(place.family),
        paper::MACHINE,
        short(contest.reference.median()),
        differs::ratios(&pairs)
    );
    sheet
}

pub(super) fn all_tables(results: &Results) -> Section {
    let mut section = Section::new("all-tables", "All tables (Fig. 9)");
    for family in [Family::Ipv4, Family::Ipv6] {
        let contests: Vec<_> = results
            .contests()
            .filter(|(place, _)| place.family == family)
            .collect();
        if contests.len() < 2 {
            continue;
        }
        let series = shown().into_iter().map(|name| {
            let rates = contests.iter();
            let rates = rates.map(|(_, contest)| contest.rates_of(&name, "random"));
            let rates: Vec<Option<&Figures>> = rates.collect();
            (name, rates)
        });
        let series = series.filter(|(_, rates)| rates.iter().any(Option::is_some));
        let title = format!("Random addresses, all {} tables", family.name());
        let words = Words::of_rates(title, results.runs);
        let tables = contests.iter().map(|(place, _)| place.table.name.clone());
        let svg = chart::bars(&words, tables.collect(), series.collect());
        let id = format!("fig9-all-tables-{}", family.name().to_lowercase());
        let caption = format!("All {} tables (the paper's Fig. 9)", family.name());
        section.figure(id, caption, svg);
        if family == Family::Ipv4 {
            let contests: Vec<&Contest> = contests.iter().map(|(_, contest)| *contest).collect();
            section.sheets.push(ranges(&contests));
        }
    }
    section
}

/// The ratios of all IPv4 tables beside those of the paper's 35.
fn ranges(contests: &[&Contest]) -> Sheet {
    let columns = [
        "Poptrie18 over",
        "lowest",
        "highest",
        "paper's lowest",
        "paper's highest",
    ];
    let title = "Ratios of random rates over all IPv4 tables";
    let mut sheet = Sheet::new("fig9-ratios", title, &columns);
    for (name, low, high) in paper::RATIO_RANGES {
        let ratios = contests.iter();
        let ratios = ratios.filter_map(|contest| contest.ratio("Poptrie18", name, "random"));
        let ratios: Vec<f64> = ratios.map(|ratio| ratio.median).collect();
        let lowest = ratios.iter().copied().reduce(f64::min);
        let highest = ratios.iter().copied().reduce(f64::max);
        let figures = [lowest, highest, Some(low), Some(high)];
        let mut cells = vec![name.to_owned()];
        cells.extend(figures.map(|figure| or_none(figure, |figure| number(figure, 2))));
        sheet.row(cells);
    }
    sheet.note = format!(
        "Paper: 35 tables of some 520,000 routes, on a {}. Tables of other times and sizes spread the ratios, and so does \
         another CPU: small tables fit into the first caches, where all structures are alike.",
        paper::MACHINE
    );
    sheet
}
