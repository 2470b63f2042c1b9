//! Zipf's law: rank k is drawn with a probability proportional to 1/k^s.
//!
//! Walker's alias method (1977, in Vose's form of 1991): each of n columns
//! holds at most two ranks, so a draw is one random column and one comparison,
//! exact and in constant time. A search in the cumulative sums would take
//! twenty steps a draw, and 2^24 draws are made before anything is measured.

use crate::random::Random;

/// Ranks `0..n`, rank `k` with a weight of `1 / (k + 1)^exponent`.
#[derive(Debug)]
pub struct Zipf {
    columns: Vec<Column>,
}

/// One rank below the threshold, another above it.
#[derive(Clone, Copy, Debug)]
struct Column {
    threshold: f64,
    alias: u32,
}

impl Zipf {
    /// The law over `n` ranks; linear in `n`, which is at least 1.
    pub fn new(n: usize, exponent: f64) -> Self {
        // `powf(1.0)` is exact, so the law with exponent 1 has no rounding of its own.
        let weight = |k: usize| (k as f64).powf(exponent).recip();
        let total: f64 = (1..=n).map(weight).sum();
        let mut columns: Vec<Column> = (0..n)
            .map(|k| Column {
                threshold: n as f64 * weight(k + 1) / total,
                alias: k as u32,
            })
            .collect();
        // Weights fall with the rank: those above the mean come first.
        let split = columns.partition_point(|column| column.threshold >= 1.0);
        let mut large: Vec<usize> = (0..split).collect();
        let mut small: Vec<usize> = (split..n).collect();
        // Fill each column that has room with what a column has too much.
        while let (Some(&donor), Some(column)) = (large.last(), small.pop()) {
            columns[column].alias = donor as u32;
            columns[donor].threshold -= 1.0 - columns[column].threshold;
            if columns[donor].threshold < 1.0 {
                large.pop();
                small.push(donor);
            }
        }
        // What remains is full but for rounding: its alias is itself.
        Self { columns }
    }

    /// Draws a rank.
    pub fn rank(&self, random: &mut Random) -> usize {
        let index = random.below(self.columns.len());
        let column = self.columns[index];
        if random.fraction() < column.threshold {
            index
        } else {
            column.alias as usize
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_the_law_exactly() {
        for (n, exponent) in [
            (1, 1),
            (2, 1),
            (3, 2),
            (10, 1),
            (500, 2),
            (1_000, 1),
            (65_537, 1),
        ] {
            let zipf = Zipf::new(n, f64::from(exponent));
            let power = |k: usize| (k as f64).powi(exponent);
            let mut weight = vec![0.0; n];
            for (rank, column) in zipf.columns.iter().enumerate() {
                let own = column.threshold.min(1.0);
                weight[rank] += own;
                weight[column.alias as usize] += 1.0 - own;
            }
            let total: f64 = (1..=n).map(|k| 1.0 / power(k)).sum();
            for (rank, weight) in weight.iter().enumerate() {
                let law = 1.0 / (power(rank + 1) * total);
                assert!((weight / n as f64 - law).abs() < 1e-9, "{n}: rank {rank}");
            }
        }
    }

    #[test]
    fn draws_follow_the_columns() {
        let zipf = Zipf::new(4, 1.0);
        let mut random = Random::new(1);
        let mut times = [0; 4];
        for _ in 0..25_000 {
            times[zipf.rank(&mut random)] += 1;
        }
        // 12, 6, 4 and 3 parts of 25.
        for (times, expected) in times.into_iter().zip([12_000, 6_000, 4_000, 3_000]) {
            assert!((expected - 400..expected + 400).contains(&times), "{times}");
        }
    }
}
