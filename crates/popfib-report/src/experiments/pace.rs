//! Passes of a wished length, and what their rates come to.

use std::time::{Duration, Instant};

use popfib::{Kernel, Rib};
use popfib_eval::{
    AnyFib, BURST, Buffer, Repeated, Sequential, Traffic, Traveller, Xorshift, generate,
    stream_pass,
};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;

/// The fewest addresses of a pass: several bursts.
const FEWEST: usize = 8 * BURST;

/// The most addresses of a pass.
const MOST: usize = 1 << 31;

/// Addresses of a kind, for passes of any length.
pub(crate) enum Pattern<A> {
    /// Random, made while they are looked up.
    Random,
    /// Each sixteen times, made so, too.
    Repeated,
    /// One after the other: pass k of n goes through the k-th n-th of all IPv4, or
    /// begins at the k-th of n routes.
    Sequential(Vec<A>),
    /// Made beforehand, or recorded.
    Prepared(String, Buffer<A>),
}

impl<A: Traveller> Pattern<A> {
    /// The pattern of one of the paper's or the project's kinds; `None` where the table is too
    /// small for it.
    pub(crate) fn of(
        traffic: &Traffic,
        rib: &Rib<A>,
        runs: usize,
        prepared: usize,
    ) -> Result<Option<Self>, ReportError> {
        Ok(Some(match traffic {
            Traffic::Random => Self::Random,
            Traffic::Repeated => Self::Repeated,
            Traffic::Sequential if A::WIDTH == 32 => {
                let part = (1u128 << 32) / runs as u128;
                let starts = (0..runs as u128).map(|run| A::truncate(run * part));
                Self::Sequential(starts.collect())
            }
            Traffic::Sequential => {
                let step = (rib.len() / runs).max(1);
                let firsts = rib.iter().step_by(step);
                Self::Sequential(firsts.map(|(prefix, _)| prefix.first()).collect())
            }
            _ => {
                let addresses = generate(traffic, rib, prepared, 1)
                    .expect("nothing is read for traffic that is made");
                match addresses {
                    Some(addresses) => Self::prepared(traffic.name(), &addresses)?,
                    None => return Ok(None),
                }
            }
        }))
    }

    /// Addresses that are there.
    pub(crate) fn prepared(name: String, addresses: &[A]) -> Result<Self, ReportError> {
        let buffer = Buffer::copy_of(addresses).map_err(ReportError::Memory)?;
        Ok(Self::Prepared(name, buffer))
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Random => "random",
            Self::Repeated => "repeated",
            Self::Sequential(_) => "sequential",
            Self::Prepared(name, _) => name,
        }
    }

    /// Looks up `count` addresses of pass `run`.
    pub(crate) fn pass(&self, fib: &dyn AnyFib<A>, kernel: Kernel, run: usize, count: usize) {
        let lookup = |burst: &[A]| fib.pass(kernel, burst);
        let seed = run as u32 + 1;
        match self {
            Self::Random => stream_pass(&mut Xorshift::new(seed), count, lookup),
            Self::Repeated => stream_pass(&mut Repeated::new(seed), count, lookup),
            Self::Sequential(firsts) => {
                let first = firsts.get(run % firsts.len().max(1)).copied();
                stream_pass(&mut Sequential::new(first.unwrap_or(A::MIN)), count, lookup);
            }
            Self::Prepared(_, addresses) => {
                let mut left = count;
                while left > 0 {
                    let some = &addresses[..left.min(addresses.len())];
                    fib.pass(kernel, some);
                    left -= some.len();
                }
            }
        }
    }

    /// How many addresses a pass has that takes as long as `wished`: at most an n-th of IPv4
    /// where passes share it out.
    pub(crate) fn count(&self, fib: &dyn AnyFib<A>, kernel: Kernel, wished: Duration) -> usize {
        let mut count = FEWEST;
        loop {
            let time = timed(|| self.pass(fib, kernel, 0, count));
            // Long enough to tell, but for the first touch of the table.
            if time * 8 >= wished || count >= MOST / 4 {
                let wished = wished.as_secs_f64() / time.as_secs_f64().max(1e-9);
                let count = (count as f64 * wished) as usize / BURST * BURST;
                let most = match self {
                    Self::Sequential(firsts) if A::WIDTH == 32 => {
                        ((1u64 << 32) / firsts.len() as u64) as usize
                    }
                    _ => usize::MAX,
                };
                return count.clamp(FEWEST, MOST).min(most);
            }
            count *= 4;
        }
    }
}

/// How long `work` takes.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Figures of one thing measured several times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures(pub(crate) Vec<f64>);

impl Figures {
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }

    /// Standard deviation of the figures; 0 for a single one.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|figure| (figure - mean).powi(2)).sum();
        (squares / (self.0.len().max(2) - 1) as f64).sqrt()
    }

    /// Standard deviation over the mean.
    pub(crate) fn relative(&self) -> f64 {
        self.deviation() / self.mean()
    }

    pub(crate) fn median(&self) -> f64 {
        popfib_eval::Spread::of(&self.0).median
    }
}

/// Million lookups a second.
pub(crate) fn mlps(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib_eval::Empty;
    use std::sync::Mutex;

    #[test]
    fn figures_of_known_numbers() {
        let figures = Figures(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((figures.mean(), figures.median()), (5.0, 4.5));
        assert!((figures.deviation() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Figures(vec![3.0]).deviation(), 0.0);
    }

    #[test]
    fn a_pass_has_its_count_whatever_the_pattern() {
        struct Counting(Mutex<Vec<u32>>);
        impl AnyFib<u32> for Counting {
            fn direct_bits(&self) -> u8 {
                0
            }
            fn node_count(&self) -> usize {
                0
            }
            fn leaf_count(&self) -> usize {
                0
            }
            fn bytes(&self) -> usize {
                0
            }
            fn check(&self) -> Result<(), String> {
                Ok(())
            }
            fn lookup(&self, _: u32) -> u32 {
                0
            }
            fn lookup_into(&self, _: Kernel, _: &[u32], _: &mut [u32]) {}
            fn pass(&self, _: Kernel, addresses: &[u32]) {
                self.0.lock().unwrap().extend_from_slice(addresses);
            }
            fn chain(&self, _: &[u32]) {}
        }
        let patterns = [
            Pattern::Random,
            Pattern::Repeated,
            Pattern::Sequential(vec![0, 1 << 31]),
            Pattern::prepared("ten".into(), &[7; 10]).unwrap(),
        ];
        for pattern in patterns {
            let fib = Counting(Mutex::new(Vec::new()));
            pattern.pass(&fib, Kernel::best(), 1, 1_003);
            let seen = fib.0.into_inner().unwrap();
            assert_eq!(seen.len(), 1_003, "{}", pattern.name());
            if pattern.name() == "sequential" {
                assert_eq!(seen[..2], [1 << 31, (1 << 31) + 1]);
            }
            let count = pattern.count(&Empty, Kernel::best(), Duration::from_micros(20));
            assert!(count >= FEWEST);
        }
    }
}
