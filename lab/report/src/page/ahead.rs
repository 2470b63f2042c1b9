//! Where Poptrie is ahead, where it is not, and where the passes do not decide: in
//! words, on top of the report.

use popfib_eval::{FEWEST_PAIRS, LEAST_DIFFERENCE, Verdict};

use super::format::{count, listed, mib, number, or_none, percent, ratio, short};
use super::{Section, words};
use crate::experiments::contest::{Contest, Duel};
use crate::results::{Place, Results};
use crate::sheet::Sheet;

/// From how many routes on a table counts as one of a router with full routes.
const FULL_TABLE: usize = 100_000;

/// The quartiles of passes on a quiet machine are closer together: those of the median structure, over its median.
const QUIET: f64 = 0.05;

/// What all comparisons on random addresses come to, in words.
#[derive(Default)]
struct Cases {
    /// Tables of a router, comparisons on them as in the paper that Poptrie wins, and those of which
    /// the passes do not decide.
    full: usize,
    won: usize,
    open: usize,
    /// Comparisons that it loses: on tables of a router, on smaller ones, and with a structure
    /// that the paper does not compare, for it is meant for structures that a cache can hold.
    lost: Vec<String>,
    lost_in_small: Vec<String>,
    lost_to_dir: Vec<String>,
    /// Comparisons that the passes do not decide, by table.
    withheld: Vec<String>,
}

/// What is to be said of all contests.
pub(super) fn verdict(results: &Results, section: &mut Section) {
    if let Some(spread) = spread(results)
        && spread > QUIET
    {
        section.paragraph(format!(
            "The machine was not quiet: the quartiles of a structure's passes are {} of its median apart (median of all \
             structures). So compare no rates; what is said below is what passes that ran next to each other agree on.",
            percent(spread)
        ));
    }
    let (cases, sheet) = cases(results);
    section.paragraph(cases.of_full_tables());
    let further = [
        (
            "On smaller tables, which fit into the first caches, it is not faster here",
            &cases.lost_in_small,
        ),
        (
            "DIR-24-8, which the paper does not compare, is faster here",
            &cases.lost_to_dir,
        ),
        (
            "Under traffic other than random, some structures are faster than both Poptrie and popfib with the same \
            s; the factors are relative to the faster of the two",
            &other_traffic(results),
        ),
    ];
    for (what, list) in further {
        if !list.is_empty() {
            section.paragraph(format!("{what}: {}.", list.join("; ")));
        }
    }
    if results.runs < FEWEST_PAIRS {
        section.paragraph(format!(
            "No verdicts: {} passes are too few to decide which of two structures is faster; {FEWEST_PAIRS} are \
            needed.",
            results.runs
        ));
    } else if !cases.withheld.is_empty() {
        section.paragraph(format!(
            "No verdict, because the passes do not decide which is faster (the interval of the ratio contains 1, the \
            fastest passes disagree, or the ratio is within {LEAST_DIFFERENCE} of 1, as rates of one structure differ between runs): \
            {}.",
            cases.withheld.join("; ")
        ));
    }
    if !sheet.rows.is_empty() {
        section.sheets.push(sheet);
    }
}

/// All comparisons on random addresses; those that are not won in a table as well.
fn cases(results: &Results) -> (Cases, Sheet) {
    let columns = [
        "table",
        "structure",
        "its Mlps",
        "Poptrie",
        "its Mlps",
        "Poptrie / structure",
    ];
    let title = "Where Poptrie is not faster, or the passes do not decide";
    let mut sheet = Sheet::new("not-ahead", title, &columns);
    let mut cases = Cases::default();
    for (place, contest) in results.contests() {
        let is_full = contest.routes >= FULL_TABLE;
        cases.full += usize::from(is_full);
        let mut withheld = Vec::new();
        for duel in contest.duels("random") {
            let is_dir = duel.other == "DIR-24-8";
            let counts = usize::from(is_full && !is_dir);
            match duel.ratio.verdict {
                Verdict::Faster => {
                    cases.won += counts;
                    continue;
                }
                Verdict::Withheld => {
                    cases.open += counts;
                    withheld.push(format!("{} and {}", duel.other, duel.own));
                }
                Verdict::Slower => {
                    let list = if is_dir {
                        &mut cases.lost_to_dir
                    } else if is_full {
                        &mut cases.lost
                    } else {
                        &mut cases.lost_in_small
                    };
                    list.push(in_words(place, contest, &duel));
                }
            }
            let rate = |name| or_none(contest.rates_of(name, "random"), |r| short(r.median()));
            sheet.row(vec![
                place.to_string(),
                duel.other.to_owned(),
                rate(duel.other),
                duel.own.clone(),
                rate(&duel.own),
                ratio(Some(duel.ratio)),
            ]);
        }
        if !withheld.is_empty() {
            cases
                .withheld
                .push(format!("{place}: {}", withheld.join(", ")));
        }
    }
    sheet.note = words::RATIOS.to_owned();
    (cases, sheet)
}

impl Cases {
    fn of_full_tables(&self) -> String {
        const WHO: &str = "Poptrie with single lookups";
        const OTHERS: &str =
            "the radix tree, Patricia, Tree BitMap, SAIL and DXR on random addresses";
        let full = self.full;
        if full == 0 {
            words::SMALL_TABLES.to_owned()
        } else if !self.lost.is_empty() {
            format!(
                "Unlike in the paper, {WHO} is not faster than every structure on random addresses. The exceptions \
                on tables \
                 with 100,000 routes or more: {}.",
                self.lost.join("; ")
            )
        } else if self.won == 0 {
            format!(
                "The passes do not decide whether {WHO} is faster than {OTHERS}, as in the paper."
            )
        } else if self.open > 0 {
            format!(
                "On tables with 100,000 routes or more, {WHO} is faster in {} of {} comparisons with {OTHERS}, as in \
                the paper; the passes do not decide the others.",
                self.won,
                self.won + self.open
            )
        } else {
            format!(
                "On all {full} tables with 100,000 routes or more, {WHO} is faster than {OTHERS}, as in the paper."
            )
        }
    }
}

/// For each contest the structures that outrun Poptrie and popfib under traffic that is not random.
fn other_traffic(results: &Results) -> Vec<String> {
    let mut all = Vec::new();
    for (place, contest) in results.contests() {
        let mut ahead: Vec<(&str, Vec<String>)> = Vec::new();
        for traffic in contest.traffic.iter().filter(|name| *name != "random") {
            let mut duels = contest.duels(traffic);
            duels.retain(|duel| duel.ratio.verdict == Verdict::Slower);
            // Both of a structure stand side by side.
            for pair in duels
                .windows(2)
                .filter(|pair| pair[0].other == pair[1].other)
            {
                let times = 1.0 / pair[0].ratio.median.max(pair[1].ratio.median);
                let words = format!("{traffic} {}", number(times, 2));
                match ahead.iter_mut().find(|(other, _)| *other == pair[0].other) {
                    Some((_, list)) => list.push(words),
                    None => ahead.push((pair[0].other, vec![words])),
                }
            }
        }
        let names = ahead.iter();
        let names: Vec<String> = names
            .map(|(name, list)| format!("{name} ({})", list.join(", ")))
            .collect();
        if !names.is_empty() {
            all.push(format!("{place}: {}", listed(&names)));
        }
    }
    all
}

/// One case: who is ahead of whom, by how much, for what memory.
fn in_words(place: Place<'_>, contest: &Contest, duel: &Duel<'_>) -> String {
    let Duel { other, own, ratio } = duel;
    let bytes = |name: &str| contest.row(name).map_or(0, |row| row.bytes);
    let (theirs, ours) = (bytes(other), bytes(own));
    let memory = match theirs > 4 * ours {
        true => format!(", with {} MiB for {}", mib(theirs), mib(ours)),
        false => String::new(),
    };
    let [times, low, high] = [ratio.median, ratio.high, ratio.low].map(|r| number(1.0 / r, 2));
    let routes = count(contest.routes as u64);
    format!(
        "{place} ({routes} routes): {other} is {times} times ({low} to {high}) as fast as {own}{memory}"
    )
}

/// How far the quartiles of the median structure's passes are apart, on random addresses.
fn spread(results: &Results) -> Option<f64> {
    let contests = results.contests();
    let mut all: Vec<f64> = contests
        .flat_map(|(_, contest)| &contest.rows)
        .filter_map(|row| Some(row.found()?.rates.get("random")?.spread()))
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
        "from",
        "to",
        "popfib / structure",
        "from",
        "to",
    ];
    let title = "Random addresses: a Poptrie of the same s over each structure, pass by pass";
    let mut sheet = Sheet::new("ratios", title, &columns);
    for (place, contest) in results.contests() {
        for row in &contest.rows {
            let found = row.found().cloned().unwrap_or_default();
            let rate = contest.rates_of(&row.name, "random");
            let mut cells = vec![
                place.table.name.clone(),
                place.family.name().to_owned(),
                contest.routes.to_string(),
                row.name.clone(),
                or_none(rate, |rate| number(rate.median(), 3)),
                found.poptrie(),
            ];
            for own in [found.poptrie(), found.popfib()] {
                let ratio = contest.ratio(&own, &row.name, "random");
                let figures = [
                    ratio.map(|r| r.median),
                    ratio.map(|r| r.low),
                    ratio.map(|r| r.high),
                ];
                cells.extend(figures.map(|figure| or_none(figure, |figure| number(figure, 3))));
            }
            sheet.row(cells);
        }
    }
    sheet.note = format!(
        "{} A dash: the structure cannot be built from that table; the table of structures says why.",
        words::RATIOS
    );
    sheet
}

#[cfg(test)]
mod tests;
