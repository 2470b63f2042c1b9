//! Times of many short events, as a histogram of fixed size.
//!
//! A bucket is a thirty-second of a power of two wide, so a percentile is at
//! most 3 % too high; count, sum and maximum are exact. A million times as a
//! list would take memory that the measured code shares its caches with.

use std::time::Duration;

/// Buckets in each power of two.
const PARTS: u64 = 32;

/// Times of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

impl Latencies {
    /// No times yet. Takes 15 KiB.
    pub fn new() -> Self {
        Self {
            buckets: vec![0; bucket(u64::MAX) + 1],
            count: 0,
            sum: 0,
            max: 0,
        }
    }

    /// Adds the time of one event.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(nanoseconds)] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(nanoseconds);
        self.max = self.max.max(nanoseconds);
    }

    /// Adds the times of `other`.
    pub fn append(&mut self, other: &Self) {
        for (to, from) in self.buckets.iter_mut().zip(&other.buckets) {
            *to += from;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// The number of events.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean time in microseconds; 0 if there were no events.
    pub fn mean_us(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64 / 1e3
    }

    /// The longest time in microseconds.
    pub fn max_us(&self) -> f64 {
        self.max as f64 / 1e3
    }

    /// The time in microseconds that a `share` of the events (0 to 1) took at most.
    pub fn percentile_us(&self, share: f64) -> f64 {
        let rank = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank.max(1) {
                return last_of(index).min(self.max) as f64 / 1e3;
            }
        }
        0.0
    }
}

/// The bucket of a number.
fn bucket(number: u64) -> usize {
    if number < PARTS {
        return number as usize;
    }
    let shift = number.ilog2() - PARTS.ilog2();
    (u64::from(shift) * PARTS + (number >> shift)) as usize
}

/// The highest number of a bucket.
fn last_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    let part = bucket % PARTS + PARTS;
    (part << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_at_most_the_last_of_its_bucket() {
        let mut last = None;
        for exponent in 0..64 {
            for offset in [0, 1, 2, 3, 5, 1 << (exponent / 2)] {
                let number = (1u64 << exponent).saturating_add(offset);
                let index = bucket(number);
                assert!(number <= last_of(index));
                assert!(index == 0 || last_of(index - 1) < number);
                assert!(last_of(index) as f64 <= number as f64 * (1.0 + 1.0 / PARTS as f64));
                last = last.max(Some(index));
            }
        }
        assert!(last.is_some_and(|last| last < Latencies::new().buckets.len()));
    }

    #[test]
    fn percentiles_of_known_times() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.percentile_us(0.5), 0.0);
        for n in 1..=100 {
            latencies.add(Duration::from_nanos(n * 10));
        }
        assert_eq!(latencies.count(), 100);
        assert_eq!(latencies.mean_us(), 0.505);
        assert_eq!(latencies.max_us(), 1.0);
        assert_eq!(latencies.percentile_us(1.0), 1.0);
        let median = latencies.percentile_us(0.5);
        assert!((0.5..0.52).contains(&median), "{median}");
        let mut twice = latencies.clone();
        twice.append(&latencies);
        assert_eq!(twice.count(), 200);
        assert_eq!(twice.percentile_us(0.5), median);
    }
}
