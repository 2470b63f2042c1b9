//! Why messages were left out: counts of each connection in, sums by feed and reason out, for metrics and for notes.

use std::collections::BTreeMap;

use popfib_feed::info::LeftOutMessages;

/// A feed, and a reason for which its messages were left out.
type FeedReason = (String, &'static str);

/// How many messages were left out, and how many of them were reported.
struct LeftOutCount {
    all: u64,
    reported: u64,
    /// The first of those that are not reported.
    first: String,
}

/// The maximum number of feeds and reasons that are counted by themselves, as feeds may be as many as addresses.
const MAX_REASONS: usize = 1024;

/// The reasons of all feeds.
#[derive(Default)]
pub(super) struct AllReasons(BTreeMap<FeedReason, LeftOutCount>);

impl AllReasons {
    /// Adds what a connection of a feed has left out so far. `before` is how many it had left out at the last call, for each reason.
    pub(super) fn add(&mut self, feed: &str, before: &mut Vec<u64>, now: &[LeftOutMessages]) {
        before.resize(now.len(), 0);
        for (before, left_out) in before.iter_mut().zip(now) {
            let more = left_out.count - std::mem::replace(before, left_out.count);
            if more == 0 {
                continue;
            }
            let mut key = (feed.to_owned(), left_out.reason);
            if self.0.len() >= MAX_REASONS && !self.0.contains_key(&key) {
                key.0 = "others".to_owned();
            }
            let count = self.0.entry(key).or_insert_with(|| LeftOutCount {
                all: 0,
                reported: 0,
                first: left_out.first.clone(),
            });
            count.all += more;
        }
    }

    /// How many messages were left out, by feed and reason.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&str, &'static str, u64)> {
        let counts = self.0.iter();
        counts.map(|((feed, reason), count)| (feed.as_str(), *reason, count.all))
    }

    /// How many messages were left out for any reason.
    pub(super) fn sum(&self) -> u64 {
        self.0.values().map(|count| count.all).sum()
    }

    /// A line for each reason for which messages were left out since the last call.
    pub(super) fn report(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for ((feed, reason), count) in &mut self.0 {
            let more = count.all - std::mem::replace(&mut count.reported, count.all);
            if more > 0 {
                let first = std::mem::take(&mut count.first);
                let example = match first.is_empty() {
                    true => first,
                    false => format!("; the first: {first}"),
                };
                lines.push(format!(
                    "{feed}: {more} messages left out: {reason}{example}"
                ));
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
        let mut reasons = AllReasons::default();
        let left_out = |count| LeftOutMessages {
            reason: "odd",
            count,
            first: String::new(),
        };
        for feed in 0..2 * MAX_REASONS {
            reasons.add(&feed.to_string(), &mut Vec::new(), &[left_out(3)]);
        }
        reasons.add("7", &mut vec![3], &[left_out(4)]);
        assert_eq!(reasons.counts().count(), MAX_REASONS + 1);
        assert_eq!(reasons.sum(), 3 * 2 * MAX_REASONS as u64 + 1);
        assert!(
            reasons
                .counts()
                .any(|count| count == ("others", "odd", 3 * MAX_REASONS as u64))
        );
        assert!(reasons.counts().any(|count| count == ("7", "odd", 4)));
    }
}
