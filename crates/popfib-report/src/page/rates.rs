//! Rates of all structures: on each table, under each traffic.

use popfib_draw::chart::{Axis, Bar, BarChart, Bars};

use super::format::{NONE, count, mean, mib, number, or_none, short};
use super::{Section, ahead, differs, id};
use crate::experiments::contest::{Contest, Row};
use crate::paper;
use crate::results::{Family, Results};
use crate::sheet::Sheet;

/// What the figures show: the paper's, and popfib's own.
const SHOWN: [&str; 8] = [
    "Poptrie18",
    "Poptrie16",
    "popfib18",
    "Radix",
    "Tree BitMap (64-ary)",
    "SAIL",
    "D16R",
    "D18R",
];

pub(super) fn all_structures(results: &Results) -> Section {
    let mut section = Section::new("structures", "All structures (Table 3)");
    for (place, (table, family, contest)) in results.contests().enumerate() {
        let title = format!(
            "{}, {}, {} routes",
            table.name,
            family.name(),
            count(contest.routes as u64)
        );
        let name = format!("table3-structures-{}", place + 1);
        let mut sheet = structures(contest, family, &name, &title);
        sheet.note += &differs::why(results, contest.routes, family);
        section.sheets.push(sheet);
        if place > 1 {
            continue;
        }
        let groups: Vec<&Row> = contest
            .rows
            .iter()
            .filter(|row| row.rate("random").is_some())
            .collect();
        let bar = |row: &Row| {
            let figures = row.rates.get("random")?;
            Some(Bar {
                value: figures.mean(),
                error: Some(figures.deviation().min(figures.mean())),
            })
        };
        let chart = BarChart {
            title: format!("Random addresses, {}, {}", table.name, family.name()),
            note: format!(
                "mean and standard deviation of {} passes, one core",
                results.runs
            ),
            x: String::new(),
            y: Axis::linear("million lookups a second"),
            groups: groups.iter().map(|row| row.name.clone()).collect(),
            series: vec![Bars::new("", groups.iter().map(|row| bar(row)).collect())],
        };
        let caption = format!(
            "Rates on random addresses, {}, {}",
            table.name,
            family.name()
        );
        section.figure(
            format!("table3-structures-{}", place + 1),
            caption,
            chart.to_svg(),
        );
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "Two structures stand here that the paper does not measure: DIR-24-8 buys its rate with 32 MiB and more, and \
             popfib in batches has many lookups under way at once. The others answer one after the other, but that SAIL \
             and DIR-24-8 ask early for the memory of addresses to come. Tree BitMap16 and 18 have an initial array that \
             the paper's Tree BitMap lacks.",
        );
        section.sheets.push(ahead::ratios(results));
    }
    section
}

fn structures(contest: &Contest, family: Family, id: &str, title: &str) -> Sheet {
    let columns = [
        "structure",
        "MiB",
        "paper's MiB",
        "build, ms",
        "random, Mlps (std)",
        "median",
        "paper's Mlps",
        "over the yardstick",
        "Poptrie18 / this",
        "paper's ratio",
    ];
    let mut sheet = Sheet::new(id, title, &columns);
    let own = contest.row("Poptrie18").and_then(|row| row.rate("random"));
    let paper = |name: &str| {
        let v4 = paper::ALGORITHMS.iter().find(|row| row.0 == name);
        let v6 = paper::ALGORITHMS_IPV6.iter().find(|row| row.0 == name);
        match family {
            Family::Ipv4 => (v4.map(|row| row.1), v4.map(|row| row.2)),
            Family::Ipv6 => {
                let bits = name
                    .strip_prefix("Poptrie")
                    .and_then(|bits| bits.parse().ok());
                let mut forms = paper::FORMS_IPV6.iter();
                let form = forms.find(|form| bits.is_some() && form.1 == bits);
                (form.map(|form| form.3), v6.map(|row| row.1))
            }
        }
    };
    let paper_own = paper("Poptrie18").1;
    let yardstick = contest.yardstick.median();
    for row in &contest.rows {
        let (bytes, rate) = paper(&row.name);
        if let Some(reason) = &row.cannot_build {
            let mut cells = vec![row.name.clone(), format!("cannot build: {reason}")];
            cells.resize(columns.len(), NONE.into());
            cells[6] = or_none(rate, |rate| number(rate, 2));
            cells[9] = or_none(paper_own.zip(rate), |(own, rate)| number(own / rate, 2));
            sheet.row(cells);
            continue;
        }
        let figures = row.rates.get("random");
        sheet.row(vec![
            row.name.clone(),
            mib(row.bytes),
            or_none(bytes, |mib| number(mib, 2)),
            number(row.build_ms, 1),
            or_none(figures, mean),
            or_none(figures, |figures| short(figures.median())),
            or_none(rate, |rate| number(rate, 2)),
            or_none(figures, |figures| number(figures.median() / yardstick, 3)),
            or_none(own.zip(row.rate("random")), |(own, rate)| {
                number(own / rate, 2)
            }),
            or_none(paper_own.zip(rate), |(own, rate)| number(own / rate, 2)),
        ]);
    }
    let pairs: Vec<(&str, f64, f64)> = contest
        .rows
        .iter()
        .filter_map(|row| {
            let ratio = paper_own? / paper(&row.name).1?;
            Some((row.name.as_str(), own? / row.rate("random")?, ratio))
        })
        .collect();
    sheet.note = format!(
        "Paper: {}, on a {}. The yardstick is a loop of one table load an address, {} million a second here.{}",
        differs::of_paper(family),
        paper::MACHINE,
        short(yardstick),
        differs::ratios(&pairs)
    );
    sheet
}

pub(super) fn all_tables(results: &Results) -> Section {
    let mut section = Section::new("all-tables", "All tables (Fig. 9)");
    let contests: Vec<_> = results.contests().collect();
    for family in [Family::Ipv4, Family::Ipv6] {
        let of_family: Vec<_> = contests
            .iter()
            .filter(|(_, other, _)| *other == family)
            .collect();
        if of_family.len() < 2 {
            continue;
        }
        let names: Vec<&str> = SHOWN
            .into_iter()
            .filter(|name| {
                of_family
                    .iter()
                    .any(|(_, _, contest)| contest.row(name).is_some_and(|r| !r.rates.is_empty()))
            })
            .collect();
        let bar = |contest: &Contest, name: &str| {
            let figures = contest.row(name)?.rates.get("random")?;
            Some(Bar {
                value: figures.mean(),
                error: Some(figures.deviation().min(figures.mean())),
            })
        };
        let chart = BarChart {
            title: format!("Random addresses, all {} tables", family.name()),
            note: format!(
                "mean and standard deviation of {} passes, one core",
                results.runs
            ),
            x: String::new(),
            y: Axis::linear("million lookups a second"),
            groups: of_family
                .iter()
                .map(|(table, _, _)| table.name.clone())
                .collect(),
            series: names
                .iter()
                .map(|name| {
                    let bars = of_family
                        .iter()
                        .map(|(_, _, contest)| bar(contest, name))
                        .collect();
                    Bars::new(*name, bars)
                })
                .collect(),
        };
        let what = format!("fig9-all-tables-{}", family.name().to_lowercase());
        section.figure(
            what,
            format!("All {} tables (the paper's Fig. 9)", family.name()),
            chart.to_svg(),
        );
    }
    if contests
        .iter()
        .filter(|(_, family, _)| *family == Family::Ipv4)
        .count()
        < 2
    {
        return section;
    }
    let columns = [
        "Poptrie18 over",
        "lowest",
        "highest",
        "paper's lowest",
        "paper's highest",
    ];
    let mut sheet = Sheet::new(
        "fig9-ratios",
        "Ratios of random rates over all IPv4 tables",
        &columns,
    );
    for (name, low, high) in paper::RATIO_RANGES {
        let ratios: Vec<f64> = contests
            .iter()
            .filter(|(_, family, _)| *family == Family::Ipv4)
            .filter_map(|(_, _, contest)| {
                let own = contest.row("Poptrie18")?.rate("random")?;
                Some(own / contest.row(name)?.rate("random")?)
            })
            .collect();
        let lowest = ratios.iter().copied().reduce(f64::min);
        let highest = ratios.iter().copied().reduce(f64::max);
        sheet.row(vec![
            name.to_owned(),
            or_none(lowest, |ratio| number(ratio, 2)),
            or_none(highest, |ratio| number(ratio, 2)),
            number(low, 2),
            number(high, 2),
        ]);
    }
    sheet.note = format!(
        "Paper: 35 tables of some 520,000 routes, on a {}. Tables of other times and sizes spread the ratios, and so does \
         another CPU: small tables fit into the first caches, where all structures are alike.",
        paper::MACHINE
    );
    section.sheets.push(sheet);
    section
}

pub(super) fn locality(results: &Results) -> Section {
    let mut section = Section::new("traffic", "Traffic patterns (section 4.5)");
    for (place, (table, family, contest)) in results.contests().enumerate() {
        let kinds: Vec<&String> = contest
            .traffic
            .iter()
            .filter(|name| !name.starts_with("trace "))
            .collect();
        let mut columns = vec!["structure".to_owned()];
        columns.extend(kinds.iter().map(|kind| format!("{kind}, Mlps")));
        let has_paper = family == Family::Ipv4 && kinds.iter().any(|kind| *kind == "repeated");
        if has_paper {
            columns.extend(["paper's sequential", "paper's repeated"].map(str::to_owned));
        }
        let mut sheet = Sheet {
            id: format!("traffic-{}", place + 1),
            title: format!("{}, {}: mean rates by traffic", table.name, family.name()),
            columns,
            ..Sheet::default()
        };
        for row in contest.rows.iter().filter(|row| !row.rates.is_empty()) {
            let mut cells = vec![row.name.clone()];
            cells.extend(kinds.iter().map(|kind| or_none(row.rate(kind), short)));
            if has_paper {
                let paper = paper::LOCALITY.iter().find(|other| other.0 == row.name);
                cells.push(or_none(paper, |row| number(row.1, 0)));
                cells.push(or_none(paper, |row| number(row.2, 0)));
            }
            sheet.row(cells);
        }
        if has_paper {
            sheet.note = "Paper: REAL-Tier1-B. Sequential addresses share their way down with the one before, so the first \
                          caches decide; structures with the fewest instructions win, SAIL in the paper too."
                .to_owned()
                + &differs::why(results, contest.routes, family);
        }
        if place < 2 && kinds.len() > 2 {
            section.figure(
                id("traffic", place, family),
                format!("Rates by traffic, {}, {}", table.name, family.name()),
                by_traffic(
                    contest,
                    &kinds,
                    format!("{}, {}, by traffic", table.name, family.name()),
                ),
            );
        }
        section.sheets.push(sheet);
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "random: uniform (IPv6: in 2000::/8). sequential: one after the other; the passes together go through all of \
             IPv4 where a structure is fast enough. repeated: each random address sixteen times. routes: a random host of \
             a random route, the hardest, for every route is as likely as any. zipf: such hosts by Zipf's law, nearest \
             to what a router sees. good-cache: one host of each route in the order of the routes; bad-cache: the same, \
             shuffled.",
        );
    }
    section
}

fn by_traffic(contest: &Contest, kinds: &[&String], title: String) -> String {
    let shown: Vec<&Row> = SHOWN
        .iter()
        .filter_map(|name| contest.row(name))
        .filter(|row| !row.rates.is_empty())
        .collect();
    let bar = |row: &Row, kind: &str| {
        let figures = row.rates.get(kind)?;
        Some(Bar {
            value: figures.mean(),
            error: Some(figures.deviation().min(figures.mean())),
        })
    };
    BarChart {
        title,
        note: String::new(),
        x: String::new(),
        y: Axis::log("million lookups a second"),
        groups: kinds.iter().map(|kind| (*kind).clone()).collect(),
        series: shown
            .iter()
            .map(|row| {
                Bars::new(
                    row.name.clone(),
                    kinds.iter().map(|kind| bar(row, kind)).collect(),
                )
            })
            .collect(),
    }
    .to_svg()
}

pub(super) fn traces(results: &Results) -> Section {
    let mut section = Section::new("traces", "Recorded traffic (Fig. 12)");
    for (place, (table, family, contest)) in results.contests().enumerate() {
        for (number_of, traffic) in contest
            .traffic
            .iter()
            .filter(|name| name.starts_with("trace "))
            .enumerate()
        {
            let columns = [
                "structure",
                "Mlps (std)",
                "Poptrie18 / this",
                "paper's ratio",
            ];
            let name = format!("fig12-trace-{}-{}", place + 1, number_of + 1);
            let title = format!("{}, {}: {traffic}", table.name, family.name());
            let mut sheet = Sheet::new(name.clone(), title.clone(), &columns);
            let own = contest.row("Poptrie18").and_then(|row| row.rate(traffic));
            let rows: Vec<&Row> = contest
                .rows
                .iter()
                .filter(|row| row.rates.contains_key(traffic))
                .collect();
            for row in &rows {
                let mut ratios = paper::TRACE_RATIOS.iter();
                let paper = ratios.find(|other| other.0 == row.name && family == Family::Ipv4);
                sheet.row(vec![
                    row.name.clone(),
                    mean(&row.rates[traffic]),
                    or_none(own.zip(row.rate(traffic)), |(own, rate)| {
                        number(own / rate, 2)
                    }),
                    or_none(paper, |row| number(row.1, 2)),
                ]);
            }
            let pairs: Vec<(&str, f64, f64)> = paper::TRACE_RATIOS
                .iter()
                .filter(|_| family == Family::Ipv4)
                .filter_map(|(name, ratio)| {
                    let here = own? / contest.row(name)?.rate(traffic)?;
                    Some((*name, here, *ratio))
                })
                .collect();
            sheet.note = format!(
                "Paper: 97 million packets of a transit link, with its own router's table.{}",
                differs::ratios(&pairs)
            );
            section.sheets.push(sheet);
            let bar = |row: &Row| {
                let figures = &row.rates[traffic];
                Some(Bar {
                    value: figures.mean(),
                    error: Some(figures.deviation().min(figures.mean())),
                })
            };
            let chart = BarChart {
                title: title.clone(),
                note: String::new(),
                x: String::new(),
                y: Axis::linear("million lookups a second"),
                groups: rows.iter().map(|row| row.name.clone()).collect(),
                series: vec![Bars::new("", rows.iter().map(|row| bar(row)).collect())],
            };
            if place < 2 {
                section.figure(
                    name,
                    format!("{title} (the paper's Fig. 12)"),
                    chart.to_svg(),
                );
            }
        }
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "A trace from elsewhere asks for other addresses than the paper's, and a short one, asked for again and again, \
             stays in the caches: these are the reasons where ratios differ.",
        );
    }
    section
}

pub(super) fn latency(results: &Results) -> Section {
    let mut section = Section::new("latency", "Latency and throughput");
    for (place, (table, family, contest)) in results.contests().enumerate() {
        let rows: Vec<&Row> = contest
            .rows
            .iter()
            .filter(|row| row.latency_ns.is_some())
            .collect();
        if rows.is_empty() {
            continue;
        }
        let columns = [
            "structure",
            "dependent, ns",
            "independent, ns",
            "empty loop, ns",
        ];
        let title = format!(
            "{}, {}: nanoseconds a lookup, random addresses",
            table.name,
            family.name()
        );
        let mut sheet = Sheet::new(format!("latency-{}", place + 1), title, &columns);
        for row in rows {
            let [dependent, independent, empty] = row.latency_ns.unwrap_or_default();
            sheet.row(vec![
                row.name.clone(),
                number(dependent, 2),
                number(independent, 2),
                number(empty, 2),
            ]);
        }
        section.sheets.push(sheet);
    }
    if !section.sheets.is_empty() {
        section.paragraph(
            "Dependent: an address is known once the answer before it is, so that nothing overlaps. Independent: lookups \
             overlap as CPU or kernel can make them. The empty loop is not subtracted. The paper has no such figures.",
        );
    }
    section
}
