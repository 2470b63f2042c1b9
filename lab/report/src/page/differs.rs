//! How figures differ from the paper's, and why, in words: a reader must not
//! have to find out.

use popfib_eval::Paired;

use super::format::{count, listed, number};
use crate::paper;
use crate::results::{Family, Results};

/// A ratio is named that is so many times the paper's, or the paper's so many times it.
const FAR: f64 = 1.25;

/// Says for which structures the rate of Poptrie18 over theirs is far from what it is in the paper,
/// where the passes carry that: names, ratios here, and in the paper. Empty where there are none to compare.
pub(super) fn ratios(pairs: &[(&str, Paired, f64)]) -> String {
    const WHAT: &str = "Poptrie18's rate over that of others";
    let others = || pairs.iter().filter(|(name, ..)| *name != "Poptrie18");
    if others().next().is_none() {
        return String::new();
    }
    let far: Vec<String> = others()
        .filter(|(_, here, paper)| here.low > FAR * paper || here.high * FAR < *paper)
        .map(|(name, here, paper)| {
            let (here, paper) = (number(here.median, 2), number(*paper, 2));
            format!("{name} ({here} here, {paper} there)")
        })
        .collect();
    if far.is_empty() {
        return format!(
            " For no structure do the passes show that {WHAT} differs by more than a quarter from the paper's."
        );
    }
    format!(
        " {WHAT} differs by more than a quarter from the paper's for {}.",
        listed(&far)
    )
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
        " Reasons: another table, with {} times as many routes, and another CPU{caches}; structures that fit into a \
        cache of only one of the two change places.",
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
        let exactly = |ratio: f64| Paired::of(&[ratio; 6], &[1.0; 6]).unwrap();
        assert_eq!(ratios(&[("Poptrie18", exactly(1.0), 1.0)]), "");
        let near = ratios(&[("a", exactly(1.2), 1.0), ("b", exactly(1.0), 1.2)]);
        assert!(near.starts_with(" For no structure"), "{near}");
        // Far by its median, and by what the passes carry not.
        let noisy = Paired::of(&[9.0, 1.1, 8.0, 7.0, 0.2, 5.0], &[1.0; 6]).unwrap();
        let far = ratios(&[
            ("a", exactly(1.3), 1.0),
            ("b", noisy, 1.0),
            ("c", exactly(1.0), 2.0),
        ]);
        assert_eq!(
            far,
            " Poptrie18's rate over that of others differs by more than a quarter from the paper's for a (1.30 here, \
            1.00 there) and c (1.00 here, 2.00 there)."
        );
    }
}
