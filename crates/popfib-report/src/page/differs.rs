//! How figures differ from the paper's, and why, in words: a reader must not
//! have to find out.

use super::format::{count, listed, number};
use crate::paper;
use crate::results::{Family, Results};

/// A ratio is named that is so many times the paper's, or the paper's so many times it.
const FAR: f64 = 1.25;

/// Says for which structures the rate of Poptrie18 over theirs is far from what it is in the paper:
/// names, ratios here, and in the paper. Empty where there are none to compare.
pub(super) fn ratios(pairs: &[(&str, f64, f64)]) -> String {
    const WHAT: &str = "Poptrie18's rate over that of others";
    let others = || pairs.iter().filter(|(name, ..)| *name != "Poptrie18");
    if others().next().is_none() {
        return String::new();
    }
    let far: Vec<String> = others()
        .filter(|(_, here, paper)| !(1.0 / FAR..=FAR).contains(&(here / paper)))
        .map(|(name, here, paper)| {
            format!(
                "{name} ({} here, {} there)",
                number(*here, 2),
                number(*paper, 2)
            )
        })
        .collect();
    if far.is_empty() {
        return format!(" {WHAT} is within a quarter of the paper's for all that it has.");
    }
    let listed = listed(&far);
    format!(" {WHAT} is farther than a quarter from the paper's for {listed}.")
}

/// Why figures of a table of so many routes differ from the paper's.
pub(super) fn why(results: &Results, routes: usize, family: Family) -> String {
    let theirs = match family {
        Family::Ipv4 => paper::ROUTES,
        Family::Ipv6 => paper::ROUTES_IPV6,
    };
    let caches = match results.machine.caches.as_slice() {
        [] => String::new(),
        caches => format!(" ({}; the paper's {})", caches.join(", "), paper::CACHES),
    };
    format!(
        " Why they differ: another table, of {} times as many routes, and another CPU{caches}; what fits into a cache of \
         the one and not of the other changes places.",
        number(routes as f64 / theirs as f64, 2)
    )
}

/// The paper's numbers of routes, for notes.
pub(super) fn of_paper(family: Family) -> String {
    match family {
        Family::Ipv4 => format!("REAL-Tier1-A, {} routes", count(paper::ROUTES as u64)),
        Family::Ipv6 => format!(
            "the IPv6 table of the same router, {} routes",
            count(paper::ROUTES_IPV6 as u64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_is_named() {
        assert_eq!(ratios(&[("Poptrie18", 1.0, 1.0)]), "");
        let near = ratios(&[("a", 1.2, 1.0), ("b", 1.0, 1.2)]);
        assert_eq!(
            near,
            " Poptrie18's rate over that of others is within a quarter of the paper's for all that it has."
        );
        let far = ratios(&[("a", 1.3, 1.0), ("b", 1.0, 1.0), ("c", 1.0, 2.0)]);
        assert_eq!(
            far,
            " Poptrie18's rate over that of others is farther than a quarter from the paper's for a (1.30 here, 1.00 there) and c (1.00 here, 2.00 there)."
        );
    }
}
