//! How figures differ from the paper's, and why, in words: a reader must not
//! have to find out.

use super::format::{count, listed, number};
use crate::paper;
use crate::results::{Family, Results};

/// A ratio is named that is so many times the paper's, or the paper's so many times it.
const FAR: f64 = 1.25;

/// Says which of the ratios `what` are far from the paper's: names, ratios here, and in the paper.
/// Empty where there are none.
pub(super) fn ratios(what: &str, pairs: &[(&str, f64, f64)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let far: Vec<String> = pairs
        .iter()
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
        return format!(" {what} is within a quarter of the paper's for all that it has.");
    }
    let listed = listed(&far);
    format!(" {what} is farther than a quarter from the paper's for {listed}.")
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
        assert_eq!(ratios("R", &[]), "");
        let near = ratios("R", &[("a", 1.2, 1.0), ("b", 1.0, 1.2)]);
        assert_eq!(
            near,
            " R is within a quarter of the paper's for all that it has."
        );
        let far = ratios("R", &[("a", 1.3, 1.0), ("b", 1.0, 1.0), ("c", 1.0, 2.0)]);
        assert_eq!(
            far,
            " R is farther than a quarter from the paper's for a (1.30 here, 1.00 there) and c (1.00 here, 2.00 there)."
        );
    }
}
