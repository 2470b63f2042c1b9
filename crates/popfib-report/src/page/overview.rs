//! What came out, in short; how it was measured; what was verified.

use super::format::{NONE, count, listed, number, or_none, short};
use super::{Section, ahead};
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
    for (table, family, contest) in results.contests() {
        let rate = |name: &str| contest.row(name).and_then(|row| row.rate("random"));
        let batch = contest
            .rows
            .iter()
            .find(|row| row.name.starts_with("popfib ("));
        let others = contest
            .rows
            .iter()
            .filter(|row| !row.name.to_lowercase().starts_with("pop"));
        let best = others
            .filter_map(|row| Some((row.name.clone(), row.rate("random")?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let over = |name: &str| Some(rate("Poptrie18")? / rate(name)?);
        sheet.row(vec![
            format!("{}, {}", table.name, family.name()),
            count(contest.routes as u64),
            or_none(rate("Poptrie18"), short),
            or_none(rate("popfib18"), short),
            or_none(batch.and_then(|row| row.rate("random")), short),
            or_none(best.clone(), |best| best.0),
            or_none(best, |best| short(best.1)),
            or_none(over("D18R"), |ratio| number(ratio, 2)),
            or_none(over("SAIL"), |ratio| number(ratio, 2)),
        ]);
    }
    sheet.note = "Poptrie18 is the paper's layout and popfib18 this project's, both looked up one address after the \
                  other as the paper does; \"batches\" is how popfib is meant to be used. In the paper Poptrie18 is \
                  1.34 times D18R and 1.52 times SAIL on REAL-Tier1-A."
        .into();
    section.sheets.push(sheet);
    ahead::verdict(results, &mut section);
    section
}

pub(super) fn method(results: &Results) -> Section {
    let mut section = Section::new("method", "Machine, tables, method");
    let machine = &results.machine;
    let mut sheet = Sheet::new("machine", "Machine and build", &["what", "here", "paper"]);
    let mut row = |what: &str, here: String, paper: &str| {
        sheet.row(vec![what.to_owned(), here, paper.to_owned()]);
    };
    let kind = if machine.is_virtual {
        ", a virtual machine"
    } else {
        ""
    };
    row("CPU", format!("{}{kind}", machine.cpu), paper::MACHINE);
    row("cores", machine.cores.to_string(), "4");
    row("caches", machine.caches.join(", "), paper::CACHES);
    row("memory", format!("{} MiB", machine.memory_mib), "32 GB");
    row("system", machine.system.clone(), "Ubuntu 14.04");
    row("huge pages", machine.huge_pages.clone(), "not said");
    row("compiler", machine.compiler.clone(), "not said");
    row("target", machine.target.clone(), "x86_64");
    let version = format!("popfib {}, commit {}", machine.version, machine.commit);
    row("version", version, "reference implementation of 2015");
    row("kernel for batches", machine.kernel.clone(), "none");
    row("runs of each", results.runs.to_string(), "10");
    section.sheets.push(sheet);
    let columns = [
        "table",
        "IPv4 routes",
        "next hops",
        "IPv6 routes",
        "next hops (IPv6)",
    ];
    let mut sheet = Sheet::new("tables", "Tables (the paper's Table 1)", &columns);
    for table in &results.tables {
        sheet.row(vec![
            table.name.clone(),
            count(table.routes[0] as u64),
            count(table.next_hops[0] as u64),
            count(table.routes[1] as u64),
            count(table.next_hops[1] as u64),
        ]);
    }
    sheet.note = "The paper has 35 IPv4 tables of 508,700 to 532,637 routes with 9 to 530 next hops, of 2014 and 2015. \
                  Tables have doubled since, and most new routes are /24."
        .into();
    section.sheets.push(sheet);
    section.paragraph(format!(
        "Each figure is the mean of {} passes of about {} ms; the standard deviation stands beside it in parentheses. \
         Structures take turns, pass by pass, so that all see the same machine. One pinned core unless threads are told. \
         The generic build; bit instructions are chosen at run time for all structures alike, and arrays of all \
         lie on huge pages. Lookups are called for bursts of 256, answers go to a small buffer that is used again.",
        results.runs,
        number(results.pass_ms, 0)
    ));
    section.paragraph(
        "Random, repeated and sequential addresses are made while they are looked up, as in the paper, so that no array \
         of them competes for the cache; the time that takes is shown below and not subtracted. A machine is never \
         the paper's: read ratios between structures, not rates.",
    );
    let mut sheet = Sheet::new(
        "overhead",
        "What making addresses takes (included in all rates)",
        &["table", "traffic", "ns an address", "paper, ns"],
    );
    let first = results.contests().collect::<Vec<_>>();
    for (table, family, contest) in first.iter().take(2) {
        for traffic in &contest.traffic {
            let Some(ns) = contest.overhead_ns.get(traffic) else {
                continue;
            };
            let paper = match (traffic.as_str(), family) {
                ("random", Family::Ipv4) => number(paper::XORSHIFT_NS, 2),
                // The others are made beforehand.
                ("random" | "sequential" | "repeated", _) => NONE.to_owned(),
                _ => continue,
            };
            let at = format!("{}, {}", table.name, family.name());
            sheet.row(vec![at, traffic.clone(), number(*ns, 3), paper]);
        }
    }
    sheet.note = "The paper makes each address right before its lookup; here 256 are made and stored, then looked up. \
                  Another CPU, and the loop with its reading of stored addresses, make the difference."
        .into();
    section.sheets.push(sheet);
    section
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
    let mut sheet = Sheet::new("verification", "Answers held against the routes", &columns);
    let mut wrong = Vec::new();
    for (table, family, contest) in results.contests() {
        let at = format!("{}, {}", table.name, family.name());
        let built = || contest.rows.iter().filter(|row| row.cannot_build.is_none());
        let refused: Vec<String> = contest
            .rows
            .iter()
            .filter(|row| row.cannot_build.is_some())
            .map(|row| row.name.clone())
            .collect();
        for row in built().filter(|row| row.mismatches > 0) {
            let first = row.first_mismatch.clone().unwrap_or_default();
            wrong.push(format!(
                "{at}: {}: {} wrong answers, the first at {first}",
                row.name, row.mismatches
            ));
        }
        sheet.row(vec![
            at,
            count(built().map(|row| row.verified).max().unwrap_or(0)),
            built()
                .filter(|row| row.mismatches == 0)
                .count()
                .to_string(),
            count(built().map(|row| row.mismatches).sum::<u64>()),
            if refused.is_empty() {
                "none".into()
            } else {
                listed(&refused)
            },
        ]);
    }
    sheet.note = "Before anything is timed, every structure is asked for both ends of every stretch of addresses with \
                  one longest match, and so for each address where an answer can change and its neighbours, for one \
                  address inside, and for random ones. The paper asks for all of IPv4. What answers wrong is not timed."
        .into();
    section.sheets.push(sheet);
    section.text.extend(wrong);
    section
}

pub(super) fn left_out(results: &Results) -> Section {
    let mut section = Section::new("notes", "Notes");
    for note in &results.notes {
        section.paragraph(note.clone());
    }
    let seconds: f64 = results.parts.iter().map(|part| part.seconds).sum();
    section.paragraph(format!(
        "Effort: {}. All parts together took {} minutes. Every figure behind this page is in results.json.",
        results.effort,
        number(seconds / 60.0, 1)
    ));
    section
}
