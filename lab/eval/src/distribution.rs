//! Numbers of ticks, counted one by one: mean, percentiles and the cumulative
//! distribution are exact up to a limit.

/// How often each number of ticks was seen.
///
/// What is longer than [`Distribution::LIMIT`] counts as that: a system that
/// takes the core away for a while would make the mean its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: Vec<u64>,
}

impl Distribution {
    /// The most ticks that are distinguished.
    pub const LIMIT: u32 = 4_095;

    /// No numbers yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, ticks: u32) {
        let place = ticks.min(Self::LIMIT) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many were at or beyond the limit.
    pub fn clipped(&self) -> u64 {
        self.counts.get(Self::LIMIT as usize).copied().unwrap_or(0)
    }

    /// The mean; 0 if there is no number.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.seen().map(|(ticks, count)| ticks * count).sum();
        sum as f64 / self.count().max(1) as f64
    }

    /// The lowest number that at least a `share` of all (0 to 1) do not exceed; 0 if there is none.
    pub fn percentile(&self, share: f64) -> u32 {
        let rank = ((self.count() as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (ticks, count) in self.seen() {
            seen += count;
            if seen >= rank {
                return ticks as u32;
            }
        }
        0
    }

    /// The share of all numbers that do not exceed each that was seen, in order; the last is 1.
    pub fn cumulative(&self) -> Vec<(u32, f64)> {
        let all = self.count() as f64;
        let mut seen = 0;
        self.seen()
            .map(|(ticks, count)| {
                seen += count;
                (ticks as u32, seen as f64 / all)
            })
            .collect()
    }

    /// Numbers that occur, and how often.
    fn seen(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = self.counts.iter().copied().enumerate();
        all.filter(|(_, count)| *count > 0)
            .map(|(ticks, count)| (ticks as u64, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_known_numbers() {
        let mut numbers = Distribution::new();
        assert_eq!((numbers.percentile(0.5), numbers.mean()), (0, 0.0));
        assert!(numbers.cumulative().is_empty());
        for ticks in 1..=100 {
            numbers.add(ticks);
        }
        assert_eq!(numbers.mean(), 50.5);
        for (share, expected) in [(0.0, 1), (0.5, 50), (0.75, 75), (0.99, 99), (1.0, 100)] {
            assert_eq!(numbers.percentile(share), expected);
        }
        assert_eq!(numbers.clipped(), 0);
        numbers.add(1_000_000);
        assert_eq!(numbers.percentile(1.0), Distribution::LIMIT);
        assert_eq!(numbers.clipped(), 1);
    }

    #[test]
    fn the_cumulative_distribution_rises_to_one() {
        let mut numbers = Distribution::new();
        for ticks in [5, 5, 5, 9, 30, 30, 4_000, 7] {
            numbers.add(ticks);
        }
        let cdf = numbers.cumulative();
        assert_eq!(cdf.first(), Some(&(5, 0.375)));
        assert_eq!(cdf.last(), Some(&(4_000, 1.0)));
        assert!(cdf.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
    }
}
