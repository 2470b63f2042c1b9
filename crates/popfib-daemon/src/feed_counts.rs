//! What feeds have sent, and why messages were left out: counts of each connection in, sums by feed and reason out, for metrics and for
//! notes.

use std::collections::BTreeMap;
use std::mem;

use popfib_feed::info::{LeftOutMessages, MessageCounts};

/// The maximum number of feeds with counts of their own: a router is one by its address, and addresses are many. The name of all others.
const MAX_FEEDS: usize = 1024;
const OTHERS: &str = "others";

/// The counts of a feed.
#[derive(Default)]
pub(super) struct FeedCounts {
    pub(super) messages: MessageCounts,
    left_out: BTreeMap<&'static str, LeftOutCount>,
}

/// How many messages were left out for a reason, and how many of them were reported.
#[derive(Default)]
struct LeftOutCount {
    all: u64,
    reported: u64,
    /// The first of those that are not reported.
    first: String,
}

/// Which counts of a connection are among those of its feed: those of messages, and of messages left out by reason.
pub(super) type SeenCounts = (MessageCounts, Vec<u64>);

/// The counts of all feeds.
#[derive(Default)]
pub(super) struct AllFeedCounts(pub(super) BTreeMap<String, FeedCounts>);

impl AllFeedCounts {
    /// Adds what a connection of a feed has sent since it was last `seen`.
    pub(super) fn add(
        &mut self,
        feed: &str,
        seen: &mut SeenCounts,
        now: MessageCounts,
        left_out: &[LeftOutMessages],
    ) {
        let Self(all) = self;
        let has_own = all.contains_key(feed) || all.len() < MAX_FEEDS;
        let feed = if has_own { feed } else { OTHERS };
        let counts = all.entry(feed.to_owned()).or_default();
        let (seen_messages, seen_left_out) = seen;
        let before = mem::replace(seen_messages, now);
        let total = &mut counts.messages;
        total.messages += now.messages - before.messages;
        total.invalid += now.invalid - before.invalid;
        total.other += now.other - before.other;
        total.unknown_next_hops += now.unknown_next_hops - before.unknown_next_hops;
        seen_left_out.resize(left_out.len(), 0);
        for (before, now) in seen_left_out.iter_mut().zip(left_out) {
            let more = now.count - mem::replace(before, now.count);
            if more > 0 {
                let count = counts.left_out.entry(now.reason);
                let count = count.or_insert_with(|| LeftOutCount {
                    first: now.first.clone(),
                    ..LeftOutCount::default()
                });
                count.all += more;
            }
        }
    }

    /// How many messages were left out, by feed and reason.
    pub(super) fn left_out(&self) -> impl Iterator<Item = (&str, &'static str, u64)> {
        self.0.iter().flat_map(|(feed, counts)| {
            let reasons = counts.left_out.iter();
            reasons.map(|(reason, count)| (feed.as_str(), *reason, count.all))
        })
    }

    /// The sum of a count over all feeds.
    pub(super) fn sum(&self, of: fn(&MessageCounts) -> u64) -> u64 {
        self.0.values().map(|counts| of(&counts.messages)).sum()
    }

    /// A line for each reason for which messages were left out since the last call.
    pub(super) fn report(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for (feed, counts) in &mut self.0 {
            for (reason, count) in &mut counts.left_out {
                let more = count.all - mem::replace(&mut count.reported, count.all);
                if more > 0 {
                    let example = match mem::take(&mut count.first) {
                        first if first.is_empty() => first,
                        first => format!("; the first: {first}"),
                    };
                    lines.push(format!(
                        "{feed}: {more} messages left out: {reason}{example}"
                    ));
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feeds_beyond_the_most_are_one() {
        let mut feeds = AllFeedCounts::default();
        let mut add = |feed: usize, before, now| {
            let mut seen = (MessageCounts::default(), before);
            let left_out = LeftOutMessages {
                reason: "odd",
                count: now,
                first: String::new(),
            };
            let messages = MessageCounts {
                messages: 2,
                ..MessageCounts::default()
            };
            feeds.add(&feed.to_string(), &mut seen, messages, &[left_out]);
        };
        (0..2 * MAX_FEEDS).for_each(|feed| add(feed, Vec::new(), 3));
        add(7, vec![3], 4);
        assert_eq!(feeds.left_out().count(), MAX_FEEDS + 1);
        let has = |expected| feeds.left_out().any(|count| count == expected);
        assert!(has((OTHERS, "odd", 3 * MAX_FEEDS as u64)));
        assert!(has(("7", "odd", 4)));
        assert_eq!(
            feeds.sum(|counts| counts.messages),
            4 * MAX_FEEDS as u64 + 2
        );
    }
}
