//! More threads, and more routes.

use super::chart::{self, Words};
use super::format::{NONE, count, mean, median, mib, number, or_none, ratio};
use super::{Section, differs, words};
use crate::experiments::Figures;
use crate::experiments::contest::Contest;
use crate::experiments::series::Size;
use crate::paper;
use crate::results::{Outcome, Place, Results, pick};
use crate::sheet::Sheet;

pub(super) fn threads(results: &Results) -> Section {
    let mut section = Section::new("threads", "Several threads (Fig. 8)");
    for (place, scaling) in results.each(|outcome| pick!(outcome, Threads)) {
        let columns = ["structure", "threads", "Mlps of all", "over one thread"];
        let id = place.id("fig8-threads");
        let mut sheet = Sheet::new(id.clone(), format!("{place}: random addresses"), &columns);
        let mut lines = Vec::new();
        for row in scaling {
            let all = row.found().map_or(&[][..], Vec::as_slice);
            for (threads, rates) in (1..).zip(all) {
                let over = ratio(rates.over(&all[0]));
                let threads: usize = threads;
                sheet.row(vec![
                    row.name.clone(),
                    threads.to_string(),
                    median(rates),
                    over,
                ]);
            }
            let rates: Vec<Option<&Figures>> = all.iter().map(Some).collect();
            lines.push((row.name.clone(), rates));
        }
        let (four, one) = paper::THREADS;
        sheet.note = format!(
            "Paper: {} Mlps with four threads on four cores, {} times one thread. {} {}",
            number(four, 0),
            number(four / one, 2),
            words::THREADS,
            words::RATIOS
        );
        section.sheets.push(sheet);
        let most = lines.iter().map(|(_, rates)| rates.len()).max();
        if let Some(most @ 2..) = most {
            let title = format!("Random addresses, all threads together, {place}");
            let words = Words {
                x: "threads",
                ..Words::of_rates(title, results.runs)
            };
            let threads = (1..=most).map(|threads| threads.to_string());
            let svg = chart::lines(&words, threads.collect(), lines);
            let caption = format!("Rate by threads, {place} (the paper's Fig. 8)");
            section.figure(id, caption, svg);
        }
    }
    section
}

pub(super) fn tomorrow(results: &Results) -> Section {
    let mut section = Section::new("syn", "Tables of tomorrow (Table 5)");
    for (place, (name, contest)) in results.each(|outcome| match outcome {
        Outcome::Syn(name, contest) => Some((name, contest)),
        _ => None,
    }) {
        section.sheets.push(syn(place, name, contest));
    }
    section.about(words::SYN)
}

fn syn(place: Place<'_>, name: &str, contest: &Contest) -> Sheet {
    let columns = [
        "structure",
        "MiB",
        "build, ms",
        "Mlps (std)",
        "Poptrie18 / this",
        "paper's Mlps",
        "paper's ratio",
    ];
    let routes = count(contest.routes as u64);
    let title = format!("{name} of {}: {routes} routes", place.table.name);
    let id = place.id(&format!("table5-{}", name.to_lowercase()));
    let mut sheet = Sheet::new(id, title, &columns);
    let mut pairs = Vec::new();
    for row in &contest.rows {
        let paper = |structure: &str| paper::syn(structure, name);
        let there = (|| Some(paper("Poptrie18")?.ok()? / paper(&row.name)?.ok()?))();
        let here = contest.ratio("Poptrie18", &row.name, "random");
        pairs.extend(
            here.zip(there)
                .map(|(here, there)| (row.name.as_str(), here, there)),
        );
        let found = row.result().map(|found| {
            vec![
                mib(found.bytes),
                number(found.build_ms, 1),
                or_none(found.rates.get("random"), mean),
                ratio(here),
            ]
        });
        let mlps = or_none(paper(&row.name), |rate| {
            rate.map_or_else(str::to_owned, |rate| number(rate, 2))
        });
        sheet.entry(
            &[&row.name],
            found,
            &[mlps, or_none(there, |ratio| number(ratio, 2))],
        );
    }
    let theirs = paper::SYN_ROUTES[usize::from(name == "SYN2")];
    sheet.note = format!(
        "{} Paper: made of REAL-Tier1-A, {} routes, on a {}. This table has {} times as many; limits that the paper met with \
         SYN2 are met earlier by larger tables.{}",
        words::RATIOS,
        count(theirs as u64),
        paper::MACHINE,
        number(contest.routes as f64 / theirs as f64, 2),
        differs::ratios(&pairs)
    );
    sheet
}

pub(super) fn series(results: &Results) -> Section {
    let mut section = Section::new("series", "As many routes as the paper projects (section 5)");
    for (place, sizes) in results.each(|outcome| pick!(outcome, Series)) {
        let family = place.family.name();
        let id = format!("series-{}", family.to_lowercase());
        section.sheets.push(of_sizes(
            id.clone(),
            format!("Synthetic {family} tables"),
            sizes,
        ));
        // All built sizes have the same structures in the same order.
        let names = sizes.iter().find(|size| !size.rows.is_empty());
        let names = names.map_or(&[][..], |size| &size.rows);
        let lines = names.iter().enumerate().map(|(place, row)| {
            let line = sizes.iter().map(|size| rates_of(size, place));
            (row.name.clone(), line.collect())
        });
        let title = format!("Random addresses, synthetic {family} tables");
        let words = Words {
            x: "routes",
            ..Words::of_rates(title, results.runs)
        };
        let routes = sizes.iter().map(|size| count(size.routes as u64));
        let svg = chart::lines(&words, routes.collect(), lines.collect());
        section.figure(id, format!("Rate by size of the table, {family}"), svg);
    }
    section
}

/// The rates of a size's structure.
fn rates_of(size: &Size, place: usize) -> Option<&Figures> {
    size.rows.get(place)?.found()?.rates.get("random")
}

fn of_sizes(id: String, title: String, sizes: &[Size]) -> Sheet {
    let columns = [
        "routes",
        "structure",
        "MiB",
        "bytes a route",
        "build, ms",
        "Mlps",
        "verified addresses",
        "wrong",
    ];
    let mut sheet = Sheet::new(id, title, &columns);
    for size in sizes {
        let routes = count(size.routes as u64);
        if let Some(reason) = &size.left_out {
            let mut cells = vec![routes.clone(), format!("left out: {reason}")];
            cells.resize(columns.len(), NONE.into());
            sheet.row(cells);
        }
        for row in &size.rows {
            let found = row.result().map(|found| {
                vec![
                    mib(found.bytes),
                    number(found.bytes as f64 / size.routes as f64, 2),
                    number(found.build_ms, 0),
                    or_none(found.rates.get("random"), median),
                    count(found.verified),
                    count(found.mismatches),
                ]
            });
            sheet.entry(&[&routes, &row.name], found, &[]);
        }
    }
    if let Some(size) = sizes.iter().rfind(|size| size.left_out.is_none()) {
        let peak = size.peak_bytes.map_or_else(String::new, |bytes| {
            let most = mib(bytes as usize);
            format!(", and the whole run had taken at most {most} MiB until then")
        });
        sheet.note = format!(
            "The Rib of {} routes takes {} MiB, made route by route in {} s{peak}. The paper projects (section 5) that \
             Poptrie supports 100 million IPv4 and 7 million IPv6 routes, and builds none of these: there are no figures of \
             it to compare with.",
            count(size.routes as u64),
            mib(size.rib_bytes),
            number(size.rib_ms / 1e3, 1)
        );
    }
    sheet
}
