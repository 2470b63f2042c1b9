//! More threads, and more routes.

use popfib_draw::chart::{Axis, LineChart, Series};

use super::format::{NONE, count, mean, mib, number, or_none};
use super::{Section, differs, id, places};
use crate::paper;
use crate::results::{Family, Outcome, Results};
use crate::sheet::Sheet;

pub(super) fn threads(results: &Results) -> Section {
    let mut section = Section::new("threads", "Several threads (Fig. 8)");
    for (place, table, family) in places(results) {
        let found = results.find(place, family, |outcome| match outcome {
            Outcome::Threads(scaling) => Some(scaling),
            _ => None,
        });
        let Some(scaling) = found else { continue };
        let at = format!("{}, {}", table.name, family.name());
        let columns = [
            "structure",
            "threads",
            "Mlps of all (std)",
            "over one thread",
        ];
        let mut sheet = Sheet::new(
            id("fig8-threads", place, family),
            format!("{at}: random addresses"),
            &columns,
        );
        for row in scaling {
            for (threads, rates) in (1..).zip(&row.mlps) {
                let one = row.mlps[0].mean();
                sheet.row(vec![
                    row.name.clone(),
                    threads.to_string(),
                    mean(rates),
                    number(rates.mean() / one, 2),
                ]);
            }
        }
        let (four, one) = paper::THREADS;
        sheet.note = format!(
            "Paper: {} Mlps with four threads on four cores, {} times one thread. Threads share one table, each on a core \
             of its own. Where cores are a host's hyperthreads, or other programs run, they share more than the table, and \
             gain less than in the paper.",
            number(four, 0),
            number(four / one, 2)
        );
        section.sheets.push(sheet);
        let chart = LineChart {
            title: format!("Random addresses, {at}"),
            note: "all threads together".into(),
            x: Axis::linear("threads").of_whole_numbers(),
            y: Axis::linear("million lookups a second"),
            series: scaling
                .iter()
                .map(|row| {
                    let points = (1..)
                        .zip(&row.mlps)
                        .map(|(n, rates): (u32, _)| (f64::from(n), rates.mean()));
                    Series::new(row.name.clone(), points.collect())
                })
                .collect(),
            marks: true,
            ..LineChart::default()
        };
        if scaling.iter().any(|row| row.mlps.len() > 1) {
            let caption = format!("Rate by threads, {at} (the paper's Fig. 8)");
            section.figure(id("fig8-threads", place, family), caption, chart.to_svg());
        }
    }
    section
}

pub(super) fn tomorrow(results: &Results) -> Section {
    let mut section = Section::new("syn", "Tables of tomorrow (Table 5)");
    for (place, table, family) in places(results) {
        for name in ["SYN1", "SYN2"] {
            let contest = results.find(place, family, |outcome| match outcome {
                Outcome::Syn(other, contest) if other == name => Some(contest),
                _ => None,
            });
            let Some(contest) = contest else { continue };
            let columns = [
                "structure",
                "MiB",
                "build, ms",
                "Mlps (std)",
                "Poptrie18 / this",
                "paper's Mlps",
                "paper's ratio",
            ];
            let title = format!(
                "{name} of {}: {} routes",
                table.name,
                count(contest.routes as u64)
            );
            let mut sheet = Sheet::new(
                id(&format!("table5-{}", name.to_lowercase()), place, family),
                title,
                &columns,
            );
            let own = contest.row("Poptrie18").and_then(|row| row.rate("random"));
            let paper = |structure: &str| {
                let row = paper::SYN.iter().find(|row| row.0 == structure)?;
                Some(if name == "SYN1" { row.1 } else { row.2 })
            };
            let paper_own = paper("Poptrie18").flatten();
            let mut pairs = Vec::new();
            for row in &contest.rows {
                let told = paper(&row.name);
                let cell = match told {
                    Some(Some(rate)) => number(rate, 2),
                    Some(None) => "cannot build".into(),
                    None => NONE.into(),
                };
                let ratio = or_none(paper_own.zip(told.flatten()), |(own, rate)| {
                    number(own / rate, 2)
                });
                if let Some(reason) = &row.cannot_build {
                    let mut cells = vec![row.name.clone(), format!("cannot build: {reason}")];
                    cells.resize(5, NONE.into());
                    cells.extend([cell, ratio]);
                    sheet.row(cells);
                    continue;
                }
                let here = own.zip(row.rate("random")).map(|(own, rate)| own / rate);
                if let Some(there) = paper_own.zip(told.flatten()).map(|(own, rate)| own / rate)
                    && let Some(here) = here
                {
                    pairs.push((row.name.as_str(), here, there));
                }
                sheet.row(vec![
                    row.name.clone(),
                    mib(row.bytes),
                    number(row.build_ms, 1),
                    or_none(row.rates.get("random"), mean),
                    or_none(here, |ratio| number(ratio, 2)),
                    cell,
                    ratio,
                ]);
            }
            let theirs = paper::SYN_ROUTES[usize::from(name == "SYN2")];
            sheet.note = format!(
                "Paper: made of REAL-Tier1-A, {} routes, on a {}. This table has {} times as many; limits that the paper met \
                 with SYN2 are met earlier by larger tables.{}",
                count(theirs as u64),
                paper::MACHINE,
                number(contest.routes as f64 / theirs as f64, 2),
                differs::ratios(&pairs)
            );
            section.sheets.push(sheet);
        }
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "SYN1 splits each prefix shorter than /24 into two and those shorter than /16 into four, SYN2 those shorter \
             than /24, /20 and /16 into two, four and eight; part i leads to next hop n + i.",
        );
    }
    section
}

pub(super) fn series(results: &Results) -> Section {
    let mut section = Section::new("series", "As many routes as the paper projects (section 5)");
    for family in [Family::Ipv4, Family::Ipv6] {
        let found = results.find(0, family, |outcome| match outcome {
            Outcome::Series(sizes) => Some(sizes),
            _ => None,
        });
        let Some(sizes) = found else { continue };
        let columns = [
            "routes",
            "structure",
            "MiB",
            "bytes a route",
            "build, ms",
            "Mlps (std)",
            "verified addresses",
            "wrong",
        ];
        let what = format!("series-{}", family.name().to_lowercase());
        let title = format!("Synthetic {} tables", family.name());
        let mut sheet = Sheet::new(what.clone(), title, &columns);
        let mut lines: Vec<Series> = Vec::new();
        for size in sizes {
            if let Some(reason) = &size.left_out {
                let mut cells = vec![count(size.routes as u64), format!("left out: {reason}")];
                cells.resize(columns.len(), NONE.into());
                sheet.row(cells);
                continue;
            }
            for row in &size.rows {
                if let Some(reason) = &row.cannot_build {
                    let mut cells = vec![
                        count(size.routes as u64),
                        row.name.clone(),
                        format!("cannot build: {reason}"),
                    ];
                    cells.resize(columns.len(), NONE.into());
                    sheet.row(cells);
                    continue;
                }
                sheet.row(vec![
                    count(size.routes as u64),
                    row.name.clone(),
                    mib(row.bytes),
                    number(row.bytes as f64 / size.routes as f64, 2),
                    number(row.build_ms, 0),
                    or_none(row.rates.get("random"), mean),
                    count(row.verified),
                    count(row.mismatches),
                ]);
                let Some(rate) = row.rate("random") else {
                    continue;
                };
                let point = (size.routes as f64, rate);
                match lines.iter_mut().find(|line| line.name == row.name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Series::new(row.name.clone(), vec![point])),
                }
            }
        }
        let largest = sizes.iter().rfind(|size| size.left_out.is_none());
        if let Some(size) = largest {
            let peak = size.peak_bytes.map_or_else(String::new, |bytes| {
                format!(
                    ", and the whole run had taken at most {} MiB until then",
                    mib(bytes as usize)
                )
            });
            sheet.note = format!(
                "The Rib of {} routes takes {} MiB, made route by route in {} s{peak}. The paper projects (section 5) that \
                 Poptrie supports 100 million IPv4 and 7 million IPv6 routes, and builds none of these: there are no figures \
                 of it to stand beside.",
                count(size.routes as u64),
                mib(size.rib_bytes),
                number(size.rib_ms / 1e3, 1)
            );
        }
        section.sheets.push(sheet);
        let chart = LineChart {
            title: format!("Random addresses, synthetic {} tables", family.name()),
            note: String::new(),
            x: Axis::log("routes"),
            y: Axis::linear("million lookups a second"),
            series: lines,
            marks: true,
            ..LineChart::default()
        };
        section.figure(
            what,
            format!("Rate by size of the table, {}", family.name()),
            chart.to_svg(),
        );
    }
    section
}
