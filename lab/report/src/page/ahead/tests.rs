//! Verdicts on rates that are made up: clear ones, noisy ones, and too few.

use super::*;
use crate::experiments::contest::Measured;
use crate::experiments::{Entry, Figures};
use crate::results::{Family, Outcome};

/// The passes of one structure.
type Row = (&'static str, u8, usize, Vec<f64>);

fn contest(routes: usize, rows: &[Row], traffic: &[&str]) -> Contest {
    let row = |(name, direct_bits, bytes, rates): &Row| {
        let of_each = traffic.iter().map(|traffic| {
            let figures = Figures(rates.clone());
            ((*traffic).to_owned(), figures)
        });
        let measured = Measured {
            direct_bits: *direct_bits,
            bytes: *bytes,
            rates: of_each.collect(),
            ..Measured::default()
        };
        Entry::new(name, Ok(measured))
    };
    Contest {
        routes,
        rows: rows.iter().map(row).collect(),
        overhead_ns: [].into(),
        reference: Figures(vec![1.0]),
        traffic: traffic.iter().map(|&name| name.into()).collect(),
    }
}

fn section_of(contest: Contest) -> Section {
    let mut results = Results::of(Family::Ipv4, Outcome::Contest(contest));
    results.runs = 6;
    let mut section = Section::new("summary", "Summary");
    verdict(&results, &mut section);
    section
}

fn told(routes: usize, others: &[Row]) -> Section {
    let mut rows = vec![
        ("Poptrie16", 16, 2 << 20, vec![90.0; 6]),
        ("Poptrie18", 18, 2 << 20, vec![100.0; 6]),
        ("popfib18", 18, 2 << 20, vec![120.0; 6]),
    ];
    rows.extend_from_slice(others);
    section_of(contest(routes, &rows, &["random"]))
}

#[test]
fn who_is_ahead_is_told_in_words() {
    let section = told(100_000, &[("SAIL", 16, 9, vec![80.0; 6])]);
    assert_eq!(section.text.len(), 1);
    assert!(
        section.text[0].starts_with("On all 1 tables"),
        "{:?}",
        section.text
    );
    assert!(section.sheets.is_empty());

    // Compared with the same s: ahead of 16 bits, slower than 18.
    let section = told(100_000, &[("SAIL", 16, 9, vec![95.0; 6])]);
    let wanted =
        "one, IPv4 (100,000 routes): SAIL is 1.06 times (1.06 to 1.06) as fast as Poptrie16.";
    assert!(
        section.text[0].starts_with("Unlike in the paper"),
        "{:?}",
        section.text
    );
    assert!(section.text[0].ends_with(wanted), "{:?}", section.text);
    assert_eq!(section.sheets[0].rows.len(), 1);

    let d18r = [("D18R", 18, 9, vec![130.0; 6])];
    let section = told(100_000, &d18r);
    for name in ["Poptrie18", "popfib18"] {
        assert!(
            section.text[0].contains(&format!("as fast as {name}")),
            "{:?}",
            section.text
        );
    }
    let section = told(99_999, &d18r);
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

/// What was once printed on a busy machine: a structure many times as fast as Poptrie18, by the
/// median of passes of which most were disturbed.
#[test]
fn a_verdict_that_the_passes_do_not_carry_is_withheld() {
    let rows = [
        (
            "Poptrie18",
            18,
            9,
            vec![12.0, 110.0, 14.0, 13.0, 12.0, 115.0],
        ),
        ("D18R", 18, 9, vec![104.0, 101.0, 103.0, 99.0, 102.0, 100.0]),
        ("Radix", 0, 9, vec![2.0, 6.0, 1.5, 2.0, 1.0, 7.0]),
    ];
    let section = section_of(contest(100_000, &rows, &["random"]));
    let text = section.text.join("\n");
    assert!(text.starts_with("The machine was not quiet: "), "{text}");
    assert!(!text.contains("times"), "{text}");
    assert!(
        text.contains("is faster in 1 of 2 comparisons with"),
        "{text}"
    );
    assert!(
        text.contains("No verdict, because the passes do not decide"),
        "{text}"
    );
    assert!(text.ends_with("one, IPv4: D18R and Poptrie18."), "{text}");
    let csv = section.sheets[0].to_csv();
    assert!(csv.contains("D18R,101.5") && csv.ends_with(" ?\n"), "{csv}");
}

/// All of a machine slows down and recovers: the pairs still say who is faster.
#[test]
fn a_verdict_that_they_carry_is_given() {
    let slow = [1.0, 0.2, 0.9, 0.1, 0.5, 1.0];
    let rows = [
        ("Poptrie18", 18, 9, slow.map(|speed| 100.0 * speed).to_vec()),
        ("D18R", 18, 9, slow.map(|speed| 125.0 * speed).to_vec()),
        ("SAIL", 16, 9, slow.map(|speed| 50.0 * speed).to_vec()),
    ];
    let section = section_of(contest(100_000, &rows, &["random"]));
    let text = section.text.join("\n");
    assert!(text.starts_with("The machine was not quiet: "), "{text}");
    assert!(
        text.ends_with("D18R is 1.25 times (1.25 to 1.25) as fast as Poptrie18."),
        "{text}"
    );
    assert!(
        !text.contains("SAIL") && !text.contains("No verdict"),
        "{text}"
    );
}

#[test]
fn few_passes_carry_none() {
    let rows = [
        ("Poptrie18", 18, 9, vec![9.0; 2]),
        ("D18R", 18, 9, vec![99.0; 2]),
    ];
    let contest = contest(100_000, &rows, &["random"]);
    let results = Results::of(Family::Ipv4, Outcome::Contest(contest));
    let mut section = Section::new("summary", "Summary");
    verdict(&results, &mut section);
    assert!(
        section.text[0].starts_with("The passes do not decide whether"),
        "{:?}",
        section.text
    );
    assert!(
        section.text[1].starts_with("No verdicts: 2 passes are too few"),
        "{:?}",
        section.text
    );
}

#[test]
fn other_traffic_and_memory_are_told_too() {
    let of = |name, bits, rate| (name, bits, 9, vec![rate; 6]);
    let rows = [
        of("Poptrie16", 16, 50.0),
        of("popfib16", 16, 100.0),
        of("Poptrie18", 18, 50.0),
        of("popfib18", 18, 100.0),
        of("SAIL", 16, 150.0),
        of("D18R", 18, 80.0),
    ];
    let contest = contest(100_000, &rows, &["zipf"]);
    let results = Results::of(Family::Ipv4, Outcome::Contest(contest));
    // D18R outruns one of both only.
    assert_eq!(other_traffic(&results), ["one, IPv4: SAIL (zipf 1.50)"]);

    let section = told(100_000, &[("DIR-24-8", 24, 32 << 20, vec![110.0; 6])]);
    assert!(
        section.text[1].contains("with 32.00 MiB for 2.00"),
        "{:?}",
        section.text
    );
}

#[test]
fn ratios_are_of_the_same_s() {
    let rows = [
        ("Poptrie16", 16, 1, vec![50.0]),
        ("Poptrie18", 18, 1, vec![100.0]),
        ("D16R", 16, 1, vec![40.0]),
        ("D18R", 18, 1, vec![40.0]),
    ];
    let contest = contest(9, &rows, &["random"]);
    let results = Results::of(Family::Ipv6, Outcome::Contest(contest));
    let csv = ratios(&results).to_csv();
    let wanted = "\none,IPv6,9,D16R,40.000,Poptrie16,1.250,1.250,1.250,–,–,–\n";
    assert!(csv.contains(wanted), "{csv}");
    assert!(
        csv.contains("\none,IPv6,9,D18R,40.000,Poptrie18,2.500,"),
        "{csv}"
    );
}
