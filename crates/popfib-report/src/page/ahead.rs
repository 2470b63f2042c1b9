//! Where Poptrie is ahead, where it is not, and how far the passes can be
//! trusted: in words, on top of the report.

use super::Section;
use super::format::{count, mib, number, or_none, percent, short};
use crate::experiments::Figures;
use crate::experiments::contest::{Contest, Loss, Row};
use crate::results::Results;
use crate::sheet::Sheet;

/// From how many routes on a table counts as one of a router with full routes.
const FULL_TABLE: usize = 100_000;

/// Passes of a quiet machine differ by less: the median structure's deviation over its mean.
const QUIET: f64 = 0.05;

/// What is to be said of all contests.
pub(super) fn verdict(results: &Results, section: &mut Section) {
    if let Some(deviation) = deviation(results)
        && deviation > QUIET
    {
        section.paragraph(format!(
            "The machine was not quiet: the passes of a structure differ by {} (standard deviation over mean, median of all \
             structures). Differences of that size mean nothing.",
            percent(deviation)
        ));
    }
    let full = results
        .contests()
        .filter(|(_, _, contest)| contest.routes >= FULL_TABLE)
        .count();
    let columns = [
        "table",
        "structure",
        "its Mlps",
        "Poptrie",
        "its Mlps",
        "Poptrie / structure",
    ];
    let mut sheet = Sheet::new("not-ahead", "Where Poptrie is not ahead", &columns);
    let (mut behind, mut behind_in_small, mut behind_dir) = (Vec::new(), Vec::new(), Vec::new());
    for (table, family, contest) in results.contests() {
        let at = format!("{}, {}", table.name, family.name());
        for loss in contest.losses("random") {
            let words = in_words(&at, contest, &loss);
            // The paper asks for structures that a cache can hold.
            if loss.other.name == "DIR-24-8" {
                behind_dir.push(words);
            } else if contest.routes < FULL_TABLE {
                behind_in_small.push(words);
            } else {
                behind.push(words);
            }
            sheet.row(vec![
                at.clone(),
                loss.other.name.clone(),
                or_none(median(loss.other), short),
                loss.own.name.clone(),
                or_none(median(loss.own), short),
                number(loss.ratio, 2),
            ]);
        }
    }
    section.paragraph(match (full, behind.is_empty()) {
        (0, _) => "No table has 100,000 routes: where a table fits into the first caches, the paper's comparison says \
                   little."
            .to_owned(),
        (_, true) => format!(
            "On all {full} tables with 100,000 routes or more, Poptrie looked up one address after the other is ahead of \
             the radix tree, Patricia, Tree BitMap, SAIL and DXR on random addresses, as in the paper.",
        ),
        (_, false) => format!(
            "Unlike in the paper, Poptrie looked up one address after the other is not ahead of every structure on random \
             addresses. The exceptions on tables with 100,000 routes or more: {}.",
            behind.join("; ")
        ),
    });
    if !behind_in_small.is_empty() {
        section.paragraph(format!(
            "On smaller tables, which fit into the first caches, it is not ahead here: {}.",
            behind_in_small.join("; ")
        ));
    }
    if !behind_dir.is_empty() {
        section.paragraph(format!(
            "DIR-24-8, which the paper does not compare, is faster here: {}.",
            behind_dir.join("; ")
        ));
    }
    let other = other_traffic(results);
    if !other.is_empty() {
        section.paragraph(format!(
            "Under other traffic than random some structures outrun both a Poptrie and a popfib of the same s; by so many times \
             the faster of these: {}.",
            other.join("; ")
        ));
    }
    if !sheet.rows.is_empty() {
        section.sheets.push(sheet);
    }
}

/// For each contest the structures that outrun Poptrie and popfib under traffic that is not random.
fn other_traffic(results: &Results) -> Vec<String> {
    let mut all = Vec::new();
    for (table, family, contest) in results.contests() {
        let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
        for traffic in contest.traffic.iter().filter(|name| *name != "random") {
            let losses = contest.losses(traffic);
            // Both losses of a structure stand side by side.
            for pair in losses
                .windows(2)
                .filter(|pair| pair[0].other.name == pair[1].other.name)
            {
                let times = 1.0 / pair[0].ratio.max(pair[1].ratio);
                let words = format!("{traffic} {}", number(times, 2));
                let name = pair[0].other.name.as_str();
                match ahead.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, list)) => list.push(words),
                    None => ahead.push((name, vec![words])),
                }
            }
        }
        if !ahead.is_empty() {
            let listed = ahead
                .iter()
                .map(|(name, list)| format!("{name} ({})", list.join(", ")));
            let listed: Vec<String> = listed.collect();
            all.push(format!(
                "{}, {}: {}",
                table.name,
                family.name(),
                listed.join(", ")
            ));
        }
    }
    all
}

/// One case: who is ahead of whom, by how much, for what memory.
fn in_words(at: &str, contest: &Contest, loss: &Loss<'_>) -> String {
    let Loss { other, own, ratio } = loss;
    let spread = [other, own].map(|row| row.rates.get("random").map_or(0.0, Figures::relative));
    let doubt = match 1.0 / ratio - 1.0 < spread[0].max(spread[1]) {
        true => ", which is within the spread of its passes",
        false => "",
    };
    let memory = match other.bytes > 4 * own.bytes {
        true => format!(", with {} MiB for {}", mib(other.bytes), mib(own.bytes)),
        false => String::new(),
    };
    format!(
        "{at} ({} routes): {} is {} times as fast as {}{memory}{doubt}",
        count(contest.routes as u64),
        other.name,
        number(1.0 / ratio, 2),
        own.name
    )
}

fn median(row: &Row) -> Option<f64> {
    row.rates.get("random").map(Figures::median)
}

/// The median structure's standard deviation over its mean, on random addresses.
fn deviation(results: &Results) -> Option<f64> {
    let mut all: Vec<f64> = results
        .contests()
        .flat_map(|(_, _, contest)| &contest.rows)
        .filter_map(|row| Some(row.rates.get("random")?.relative()))
        .collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// All ratios of all tables, in one sheet for who wants to reckon with them.
pub(super) fn ratios(results: &Results) -> Sheet {
    let columns = [
        "table",
        "family",
        "routes",
        "structure",
        "Mlps, median",
        "Poptrie",
        "Poptrie / structure",
        "popfib / structure",
    ];
    let title = "Random addresses: a Poptrie of the same s over each structure, by medians";
    let mut sheet = Sheet::new("ratios", title, &columns);
    for (table, family, contest) in results.contests() {
        for row in &contest.rows {
            let bits = row.opponents_bits();
            let poptrie = format!("Poptrie{bits}");
            let over = |name: &str| {
                let ratio = median(contest.row(name)?)? / median(row)?;
                Some(number(ratio, 3))
            };
            let ratio = over(&poptrie);
            let of_popfib = over(&format!("popfib{bits}"));
            sheet.row(vec![
                table.name.clone(),
                family.name().to_owned(),
                contest.routes.to_string(),
                row.name.clone(),
                or_none(median(row), |rate| number(rate, 3)),
                poptrie,
                or_none(ratio, |ratio| ratio),
                or_none(of_popfib, |ratio| ratio),
            ]);
        }
    }
    sheet.note =
        "A dash: the structure cannot be built from that table; the table of structures says why."
            .into();
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Family, Outcome};

    fn row(name: &str, direct_bits: u8, bytes: usize, rates: &[f64]) -> Row {
        Row {
            name: name.into(),
            direct_bits,
            bytes,
            rates: [("random".to_owned(), Figures(rates.to_vec()))].into(),
            ..Row::default()
        }
    }

    fn contest(routes: usize, rows: Vec<Row>, traffic: &[&str]) -> Contest {
        Contest {
            routes,
            rows,
            overhead_ns: [].into(),
            yardstick: Figures(vec![1.0]),
            traffic: traffic.iter().map(|&name| name.into()).collect(),
        }
    }

    fn told(routes: usize, others: &[Row]) -> Section {
        let mut rows = vec![
            row("Poptrie16", 16, 2 << 20, &[90.0, 90.0]),
            row("Poptrie18", 18, 2 << 20, &[100.0, 100.0]),
            row("popfib18", 18, 2 << 20, &[120.0, 120.0]),
        ];
        rows.extend_from_slice(others);
        let contest = contest(routes, rows, &["random"]);
        let results = Results::of(Family::Ipv4, Outcome::Contest(contest));
        let mut section = Section::new("summary", "Summary");
        verdict(&results, &mut section);
        section
    }

    #[test]
    fn who_is_ahead_is_told_in_words() {
        let slower = row("SAIL", 16, 9, &[80.0, 80.0]);
        let section = told(100_000, &[slower]);
        assert_eq!(section.text.len(), 1);
        assert!(section.text[0].contains("ahead of the radix tree"));
        assert!(section.sheets.is_empty());

        // Compared with the same s: ahead of 16 bits, behind 18.
        let section = told(100_000, &[row("SAIL", 16, 9, &[95.0, 95.0])]);
        let wanted = "one, IPv4 (100,000 routes): SAIL is 1.06 times as fast as Poptrie16.";
        assert!(
            section.text[0].starts_with("Unlike in the paper"),
            "{:?}",
            section.text
        );
        assert!(section.text[0].ends_with(wanted), "{:?}", section.text);
        assert_eq!(section.sheets[0].rows.len(), 1);

        let section = told(100_000, &[row("D18R", 18, 9, &[130.0, 130.0])]);
        for name in ["Poptrie18", "popfib18"] {
            assert!(
                section.text[0].contains(&format!("as fast as {name}")),
                "{:?}",
                section.text
            );
        }
        let section = told(99_999, &[row("D18R", 18, 9, &[130.0, 130.0])]);
        assert!(
            section.text[0].starts_with("No table"),
            "{:?}",
            section.text
        );
        assert!(
            section.text[1].contains("D18R is 1.30"),
            "{:?}",
            section.text
        );
    }

    #[test]
    fn other_traffic_is_told_too() {
        let of = |name: &str, bits, zipf: f64| {
            let mut row = row(name, bits, 9, &[1.0, 1.0]);
            row.rates.insert("zipf".into(), Figures(vec![zipf, zipf]));
            row
        };
        let rows = vec![
            of("Poptrie16", 16, 50.0),
            of("popfib16", 16, 100.0),
            of("Poptrie18", 18, 50.0),
            of("popfib18", 18, 100.0),
            of("SAIL", 16, 150.0),
            of("D18R", 18, 80.0),
        ];
        let contest = contest(100_000, rows, &["random", "zipf"]);
        let results = Results::of(Family::Ipv4, Outcome::Contest(contest));
        // D18R outruns one of both only.
        assert_eq!(other_traffic(&results), ["one, IPv4: SAIL (zipf 1.50)"]);
    }

    #[test]
    fn memory_and_doubt_are_told() {
        let section = told(100_000, &[row("DIR-24-8", 24, 32 << 20, &[110.0, 110.0])]);
        assert!(
            section.text[0].contains("ahead of the radix tree"),
            "{:?}",
            section.text
        );
        assert!(
            section.text[1].contains("with 32.00 MiB for 2.00"),
            "{:?}",
            section.text
        );
        // Four of five differ by much more than a quiet machine lets them.
        let wild = |name| row(name, 18, 9, &[60.0, 160.0]);
        let section = told(100_000, &["a", "b", "c", "d"].map(wild));
        assert!(
            section.text[0].starts_with("The machine was not quiet: "),
            "{:?}",
            section.text
        );
        assert!(
            section.text[1].contains("within the spread"),
            "{:?}",
            section.text
        );
    }

    #[test]
    fn ratios_are_of_the_same_s() {
        let rows = vec![
            row("Poptrie16", 16, 1, &[50.0]),
            row("Poptrie18", 18, 1, &[100.0]),
            row("D16R", 16, 1, &[40.0]),
            row("D18R", 18, 1, &[40.0]),
        ];
        let contest = contest(9, rows, &["random"]);
        let results = Results::of(Family::Ipv6, Outcome::Contest(contest));
        let csv = ratios(&results).to_csv();
        assert!(
            csv.contains("\none,IPv6,9,D16R,40.000,Poptrie16,1.250,–\n"),
            "{csv}"
        );
        assert!(
            csv.contains("\none,IPv6,9,D18R,40.000,Poptrie18,2.500,–\n"),
            "{csv}"
        );
    }
}
