//! What came out, in short; how it was measured; what was verified.

use super::format::{NONE, count, listed, number, or_none, ratio, short};
use super::{Section, ahead, words};
use crate::experiments::Figures;
use crate::paper;
use crate::results::{Family, Results};
use crate::sheet::Sheet;

pub(super) fn summary(results: &Results) -> Section {
    let mut section = Section::new("summary", "Summary");
    let mut sheet = Sheet::new(
        "summary",
        "Random addresses, one core: million lookups a second",
        &[
            "table",
            "routes",
            "Poptrie18",
            "popfib18",
            "popfib, batches",
            "best other structure",
            "its rate",
            "Poptrie18 / D18R",
            "Poptrie18 / SAIL",
        ],
    );
    for (place, contest) in results.contests() {
        let rate = |name: &str| contest.rates_of(name, "random").map(Figures::median);
        let is = |name: &str, start: &str| name.starts_with(start);
        let mut rows = contest.rows.iter();
        let batch = rows.find(|row| is(&row.name, "popfib ("));
        let others = contest.rows.iter().map(|row| row.name.as_str());
        let others = others.filter(|name| !is(name, "pop") && !is(name, "Pop"));
        let best = others
            .filter_map(|name| Some((name, rate(name)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let over = |name: &str| ratio(contest.ratio("Poptrie18", name, "random"));
        sheet.row(vec![
            place.to_string(),
            count(contest.routes as u64),
            or_none(rate("Poptrie18"), short),
            or_none(rate("popfib18"), short),
            or_none(batch.and_then(|row| rate(&row.name)), short),
            or_none(best, |(name, _)| name.to_owned()),
            or_none(best, |(_, rate)| short(rate)),
            over("D18R"),
            over("SAIL"),
        ]);
    }
    sheet.note = format!("{} {}", words::SUMMARY, words::RATIOS);
    section.sheets.push(sheet);
    ahead::verdict(results, &mut section);
    section
}

pub(super) fn method(results: &Results) -> Section {
    let mut section = Section::new("method", "Machine, tables, method");
    section.sheets = vec![machine(results), tables(results), overhead(results)];
    section.paragraph(format!(
        "Figures are medians of {} passes of about {} ms, with quartiles, or means with the standard deviation where \
        stated. \
         Structures take turns, pass by pass, so that all see the same machine; ratios compare passes that ran next \
         to each other. \
         One pinned core, unless a number of threads is given. \
         The generic build; bit instructions are chosen at run time for all structures alike, and arrays of all \
         are on huge pages. Lookups are made in bursts of 256, and answers go to a small buffer that is reused.",
        results.runs,
        number(results.pass_ms, 0)
    ));
    section.about(words::STREAMS)
}

fn machine(results: &Results) -> Sheet {
    let machine = &results.machine;
    let mut sheet = Sheet::new("machine", "Machine and build", &["what", "here", "paper"]);
    let kind = if machine.is_virtual {
        ", a virtual machine"
    } else {
        ""
    };
    let version = format!("popfib {}, commit {}", machine.version, machine.commit);
    for (what, here, paper) in [
        ("CPU", format!("{}{kind}", machine.cpu), paper::MACHINE),
        ("cores", machine.cores.to_string(), "4"),
        ("caches", machine.caches.join(", "), paper::CACHES),
        ("memory", format!("{} MiB", machine.memory_mib), "32 GB"),
        ("system", machine.system.clone(), "Ubuntu 14.04"),
        ("huge pages", machine.huge_pages.clone(), "not said"),
        ("compiler", machine.compiler.clone(), "not said"),
        ("target", machine.target.clone(), "x86_64"),
        ("version", version, "reference implementation of 2015"),
        ("kernel for batches", machine.kernel.clone(), "none"),
        ("runs of each", results.runs.to_string(), "10"),
    ] {
        sheet.row(vec![what.to_owned(), here, paper.to_owned()]);
    }
    sheet
}

fn tables(results: &Results) -> Sheet {
    let columns = [
        "table",
        "IPv4 routes",
        "next hops",
        "IPv6 routes",
        "next hops (IPv6)",
    ];
    let mut sheet = Sheet::new("tables", "Tables (the paper's Table 1)", &columns);
    for table in &results.tables {
        let [ipv4, ipv6] = [0, 1].map(|family| [table.routes[family], table.next_hops[family]]);
        let mut cells = vec![table.name.clone()];
        cells.extend(
            [ipv4, ipv6]
                .concat()
                .iter()
                .map(|number| count(*number as u64)),
        );
        sheet.row(cells);
    }
    sheet.note = words::TABLES.into();
    sheet
}

fn overhead(results: &Results) -> Sheet {
    let mut sheet = Sheet::new(
        "overhead",
        "Cost of generating addresses (included in all rates)",
        &["table", "traffic", "ns an address", "paper, ns"],
    );
    for (place, contest) in results.contests().filter(|(place, _)| place.is_first()) {
        // The others are made beforehand.
        for traffic in ["random", "sequential", "repeated"] {
            let Some(ns) = contest.overhead_ns.get(traffic) else {
                continue;
            };
            let paper = match (traffic, place.family) {
                ("random", Family::Ipv4) => number(paper::XORSHIFT_NS, 2),
                _ => NONE.to_owned(),
            };
            sheet.row(vec![
                place.to_string(),
                traffic.to_owned(),
                number(*ns, 3),
                paper,
            ]);
        }
    }
    sheet.note = words::OVERHEAD.into();
    sheet
}

pub(super) fn verification(results: &Results) -> Section {
    let mut section = Section::new("verification", "Verification");
    let columns = [
        "table",
        "addresses of each structure",
        "structures right",
        "wrong answers",
        "cannot build",
    ];
    let mut sheet = Sheet::new("verification", "Answers compared with the routes", &columns);
    for (place, contest) in results.contests() {
        let (mut addresses, mut right, mut wrong, mut refused) = (0, 0, 0, Vec::new());
        for row in &contest.rows {
            let Some(found) = row.found() else {
                refused.push(row.name.clone());
                continue;
            };
            addresses = addresses.max(found.verified);
            right += usize::from(found.mismatches == 0);
            wrong += found.mismatches;
            if let Some(first) = &found.first_mismatch {
                section.paragraph(format!(
                    "{place}: {}: {} wrong answers, the first at {first}",
                    row.name, found.mismatches
                ));
            }
        }
        let refused = match refused.as_slice() {
            [] => "none".to_owned(),
            refused => listed(refused),
        };
        sheet.row(vec![
            place.to_string(),
            count(addresses),
            right.to_string(),
            count(wrong),
            refused,
        ]);
    }
    sheet.note = words::VERIFICATION.into();
    section.sheets.push(sheet);
    section
}

pub(super) fn left_out(results: &Results) -> Section {
    let mut section = Section::new("notes", "Notes");
    section.text.clone_from(&results.notes);
    let seconds: f64 = results.parts.iter().map(|part| part.seconds).sum();
    section.paragraph(format!(
        "Effort: {}. All parts together took {} minutes. Every figure of this page is in results.json.",
        results.effort,
        number(seconds / 60.0, 1)
    ));
    section
}
