//! `popfib diff --summary`: changes of routes in, counts for each next hop out: how many routes it gained and lost.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use popfib_formats::Escaped;
use popfib_program::failure::Failure;
use serde::Serialize;

use crate::output::StandardOutput;
use crate::rows::{LEFT, RIGHT, RowField, RowForm};
use crate::screen::HEADING;

/// The changes of routes, counted by next hop.
#[derive(Default)]
pub(super) struct DiffSummary<'a> {
    counts: HashMap<Cow<'a, str>, DiffCounts>,
}

/// The changes of the routes to one next hop.
#[derive(Clone, Copy, Default, Serialize)]
struct DiffCounts {
    /// Routes to it whose prefix the old table does not have.
    added: u64,
    /// Routes to it whose prefix the new table does not have.
    removed: u64,
    /// Routes that went to another next hop before.
    gained: u64,
    /// Routes that go to another next hop now.
    lost: u64,
}

/// A next hop as JSON.
#[derive(Serialize)]
struct DiffSummaryLine<'a> {
    next_hop: &'a str,
    #[serde(flatten)]
    counts: DiffCounts,
}

impl<'a> DiffSummary<'a> {
    /// Counts a route whose next hop was `old` and is `new`.
    pub(super) fn count(&mut self, old: Option<Cow<'a, str>>, new: Option<Cow<'a, str>>) {
        let is_other = old.is_some() && new.is_some();
        if let Some(name) = old {
            let counts = self.counts.entry(name).or_default();
            *(if is_other {
                &mut counts.lost
            } else {
                &mut counts.removed
            }) += 1;
        }
        if let Some(name) = new {
            let counts = self.counts.entry(name).or_default();
            *(if is_other {
                &mut counts.gained
            } else {
                &mut counts.added
            }) += 1;
        }
    }

    /// Prints the next hops, those with most changes first.
    pub(super) fn print(self, output: &mut StandardOutput, json: bool) -> Result<(), Failure> {
        let mut lines: Vec<_> = self.counts.into_iter().collect();
        let total = |c: &DiffCounts| c.added + c.removed + c.gained + c.lost;
        lines.sort_unstable_by(|(a, of_a), (b, of_b)| {
            Reverse(total(of_a))
                .cmp(&Reverse(total(of_b)))
                .then_with(|| a.cmp(b))
        });
        if !json && !lines.is_empty() {
            output.begin_rows(RowForm::tabs(&[LEFT, RIGHT, RIGHT, RIGHT, RIGHT]))?;
            let heading = ["next_hop", "added", "removed", "gained", "lost"];
            output.row(heading.iter().map(|name| RowField::styled(HEADING, name)))?;
        }
        for (next_hop, counts) in lines {
            if json {
                let next_hop = &next_hop;
                output.json(&DiffSummaryLine { next_hop, counts })?;
                continue;
            }
            let DiffCounts {
                added,
                removed,
                gained,
                lost,
            } = counts;
            output.row([
                RowField::new(&Escaped(&next_hop)),
                RowField::new(&added),
                RowField::new(&removed),
                RowField::new(&gained),
                RowField::new(&lost),
            ])?;
        }
        Ok(())
    }
}
