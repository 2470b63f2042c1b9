//! Which of two things is faster, on a machine that does other things meanwhile.
//!
//! Passes of both take turns, and each is set against the other's pass of the
//! same turn: what slows the machine for longer than a turn slows both. The
//! median of these ratios is the figure. It carries a verdict where two things
//! agree: an interval that holds the true median in 95 of 100 cases whatever the
//! distribution (order statistics, as in the sign test) lies on one side of 1;
//! and so does the ratio of the fastest passes, the least disturbed ones. And the
//! figure is further from 1 than [`LEAST_DIFFERENCE`]: passes of one process share
//! its memory, so no number of them shows what another start would change.
//!
//! Rejected: means and standard deviations, which one pass of a hundred times the
//! usual length makes meaningless; medians of each side by itself, which differ
//! where a slow minute hit more passes of one side than of the other.

/// Half of the cases in which the interval may be wrong.
const HALF_OF_WRONG: f64 = 0.025;

/// The fewest pairs that can carry a verdict: of five, all on one side, chance makes one in sixteen.
pub const FEWEST_PAIRS: usize = 6;

/// The least difference from 1 that carries a verdict: the rates of one structure differ by as much from one start
/// of the same program to the next, by the memory that it is given.
pub const LEAST_DIFFERENCE: f64 = 0.05;

/// Whose passes are faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Those that the ratio has above the line.
    Faster,
    /// Those below it.
    Slower,
    /// The passes do not decide.
    Withheld,
}

/// The ratio of two rates, pass by pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The median of the ratios.
    pub median: f64,
    /// Where the true median begins, in 95 of 100 cases; the lowest ratio if pairs are few.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// What the passes show.
    pub verdict: Verdict,
}

impl Paired {
    /// The rates `ours` over `theirs`, those of one turn at the same index; what one of them has
    /// more is left out. `None` if there is no pair.
    pub fn of(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let pairs = ours.iter().zip(theirs);
        let mut ratios: Vec<f64> = pairs.map(|(ours, theirs)| ours / theirs).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let last = ratios.len().checked_sub(1)?;
        let outside = outside(ratios.len());
        let (low, high) = (ratios[outside], ratios[last - outside]);
        let fastest = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
        let best = fastest(&ours[..=last]) / fastest(&theirs[..=last]);
        let median = (ratios[last / 2] + ratios[ratios.len() / 2]) / 2.0;
        let least = 1.0 + LEAST_DIFFERENCE;
        let verdict = if ratios.len() < FEWEST_PAIRS {
            Verdict::Withheld
        } else if low > 1.0 && best > 1.0 && median >= least {
            Verdict::Faster
        } else if high < 1.0 && best < 1.0 && median <= 1.0 / least {
            Verdict::Slower
        } else {
            Verdict::Withheld
        };
        Some(Self {
            median,
            low,
            high,
            verdict,
        })
    }
}

/// How many of `count` sorted figures lie outside of the interval, on each side: the most whose
/// place chance reaches in less than [`HALF_OF_WRONG`] of all cases.
fn outside(count: usize) -> usize {
    let mut reached = 0.0;
    // The probability that k of `count` coins show heads, of all k from 0 on.
    let mut share = 0.5f64.powi(count.min(1_000) as i32);
    for k in 0..count / 2 {
        reached += share;
        if reached > HALF_OF_WRONG {
            return k.saturating_sub(1);
        }
        share *= (count - k) as f64 / (k + 1) as f64;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn intervals_are_those_of_the_sign_test() {
        // The usual tables for the median at 95 %: rank of the first figure inside, less one.
        for (count, expected) in [
            (1, 0),
            (5, 0),
            (6, 0),
            (8, 0),
            (9, 1),
            (10, 1),
            (12, 2),
            (20, 5),
        ] {
            assert_eq!(outside(count), expected, "{count}");
        }
    }

    #[test]
    fn what_is_clear_gets_a_verdict() {
        let paired = |ours: &[f64], theirs: &[f64]| Paired::of(ours, theirs).unwrap();
        let clear = paired(&[11.0, 12.0, 11.5, 12.5, 11.0, 12.0], &[10.0; 6]);
        assert_eq!((clear.low, clear.high), (1.1, 1.25));
        assert_eq!(clear.verdict, Verdict::Faster);
        assert!((clear.median - 1.175).abs() < 1e-9);
        let other = paired(&[10.0; 6], &[11.0, 12.0, 11.5, 12.5, 11.0, 12.0]);
        assert_eq!(other.verdict, Verdict::Slower);
        // Alike, or too few to tell.
        assert_eq!(paired(&[1.0; 9], &[1.0; 9]).verdict, Verdict::Withheld);
        assert_eq!(paired(&[3.0; 5], &[1.0; 5]).verdict, Verdict::Withheld);
        // Alike but for what another start of the program may turn around, however sure the passes are.
        for (rate, verdict) in [
            (104.0, Verdict::Withheld),
            (106.0, Verdict::Faster),
            (96.0, Verdict::Withheld),
            (94.0, Verdict::Slower),
        ] {
            assert_eq!(paired(&[rate; 9], &[100.0; 9]).verdict, verdict, "{rate}");
        }
        assert_eq!(Paired::of(&[], &[1.0]), None);
    }

    /// A machine whose speed halves and doubles: a clear difference is seen in the pairs.
    #[test]
    fn what_slows_both_changes_nothing() {
        let speed = [1.0, 0.5, 0.1, 0.4, 1.0, 0.05, 0.9, 0.3, 1.0];
        let ours = speed.map(|speed| 120.0 * speed);
        let theirs = speed.map(|speed| 100.0 * speed);
        let paired = Paired::of(&ours, &theirs).unwrap();
        assert_eq!(paired.verdict, Verdict::Faster);
        assert!((paired.median - 1.2).abs() < 1e-9);
    }

    /// As `evaluate` once saw: a few passes of one side were disturbed, and the means said
    /// that the other was many times as fast.
    #[test]
    fn what_was_disturbed_gets_none() {
        let disturbed = [12.0, 140.0, 11.0, 135.0, 13.0, 12.0, 138.0, 12.0, 139.0];
        let steady = [100.0; 9];
        let paired = Paired::of(&disturbed, &steady).unwrap();
        assert_eq!(paired.verdict, Verdict::Withheld);
        // Even where nearly every pass was hit: the fastest ones say otherwise.
        let hit = [12.0, 13.0, 11.0, 12.0, 13.0, 12.0, 11.0, 12.0, 139.0];
        let paired = Paired::of(&hit, &steady).unwrap();
        assert!(paired.high < 1.0);
        assert_eq!(paired.verdict, Verdict::Withheld);
    }

    /// Two equal things under heavy noise: a verdict in no more cases than the interval allows.
    #[test]
    fn noise_alone_is_rarely_taken_for_a_difference() {
        let mut random = Random::new(3);
        let mut pass = || 100.0 * (0.02 + random.fraction()).powi(2);
        let mut verdicts = 0;
        for _ in 0..2_000 {
            let ours: Vec<f64> = (0..10).map(|_| pass()).collect();
            let theirs: Vec<f64> = (0..10).map(|_| pass()).collect();
            let paired = Paired::of(&ours, &theirs).unwrap();
            verdicts += u32::from(paired.verdict != Verdict::Withheld);
        }
        assert!(verdicts < 100, "{verdicts} of 2,000");
    }
}
