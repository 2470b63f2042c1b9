//! `popfib diff --summary`: changes of routes in, counts for each next hop out: how many routes it gained and lost.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use popfib_formats::Escaped;
use popfib_program::failure::Failure;
use serde::Serialize;

use crate::output::StandardOutput;
use crate::rows::{LEFT, RIGHT, RowForm};

/// The changes of routes, counted by next hop.
#[derive(Default)]
pub(super) struct DiffSummary<'a> {
    counts: HashMap<Cow<'a, str>, DiffCounts>,
}

/// The changes of the routes to one next hop.
#[derive(Clone, Copy, Default, Serialize)]
struct DiffCounts {
    /// Routes to it whose prefix the old table does not have.
    added: u128,
    /// Routes to it whose prefix the new table does not have.
    removed: u128,
    /// Routes that went to another next hop before.
    gained: u128,
    /// Routes that go to another next hop now.
    lost: u128,
}

/// A next hop as JSON.
#[derive(Serialize)]
struct DiffSummaryLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    next_hop: &'a str,
    #[serde(flatten)]
    counts: DiffCounts,
}

impl<'a> DiffSummary<'a> {
    /// Counts so many routes or addresses whose next hop was `old` and is `new`.
    pub(super) fn count(
        &mut self,
        old: Option<Cow<'a, str>>,
        new: Option<Cow<'a, str>>,
        amount: u128,
    ) {
        let is_other = old.is_some() && new.is_some();
        if let Some(name) = old {
            let counts = self.counts.entry(name).or_default();
            let count = match is_other {
                true => &mut counts.lost,
                false => &mut counts.removed,
            };
            *count = count.saturating_add(amount);
        }
        if let Some(name) = new {
            let counts = self.counts.entry(name).or_default();
            let count = match is_other {
                true => &mut counts.gained,
                false => &mut counts.added,
            };
            *count = count.saturating_add(amount);
        }
    }

    /// Prints the next hops, those with most changes first.
    pub(super) fn print(
        self,
        output: &mut StandardOutput,
        family: Option<&'static str>,
    ) -> Result<(), Failure> {
        let mut lines: Vec<_> = self.counts.into_iter().collect();
        let total = |c: &DiffCounts| {
            let counts = [c.added, c.removed, c.gained, c.lost];
            counts.into_iter().fold(0, u128::saturating_add)
        };
        lines.sort_unstable_by(|(a, of_a), (b, of_b)| {
            Reverse(total(of_a))
                .cmp(&Reverse(total(of_b)))
                .then_with(|| a.cmp(b))
        });
        let is_text = output.is_text();
        if is_text && !lines.is_empty() {
            output.begin_rows(RowForm::tabs(&[LEFT, RIGHT, RIGHT, RIGHT, RIGHT]))?;
            let name = family.unwrap_or("next_hop");
            output.heading(&[name, "added", "removed", "gained", "lost"])?;
        }
        for (next_hop, counts) in lines {
            if !is_text {
                let next_hop = &next_hop;
                let line = DiffSummaryLine {
                    family,
                    next_hop,
                    counts,
                };
                output.record(&line)?;
                continue;
            }
            let (next_hop, c) = (Escaped(&next_hop), counts);
            output.cells(&[&next_hop, &c.added, &c.removed, &c.gained, &c.lost])?;
        }
        Ok(())
    }
}
