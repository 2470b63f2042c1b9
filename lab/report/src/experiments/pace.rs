//! Passes of a wished length.

use std::time::{Duration, Instant};

use popfib::Rib;
use popfib_eval::{
    BURST, Buffer, Repeated, Sequential, Traffic, TrafficAddress, Xorshift, generate, stream_pass,
};

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

impl<A: TrafficAddress> Pattern<A> {
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

    /// Calls `lookup` with `count` addresses of pass `run`, a burst at a time.
    pub(crate) fn pass(&self, run: usize, count: usize, mut lookup: impl FnMut(&[A])) {
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
                    lookup(some);
                    left -= some.len();
                }
            }
        }
    }

    /// Million lookups a second of such a pass.
    pub(crate) fn rate(&self, run: usize, count: usize, lookup: impl FnMut(&[A])) -> f64 {
        mlps(count, timed(|| self.pass(run, count, lookup)))
    }

    /// How many addresses a pass has that takes as long as `wished`: at most an n-th of IPv4
    /// where passes share it out.
    pub(crate) fn count(&self, wished: Duration, mut lookup: impl FnMut(&[A])) -> usize {
        let mut count = FEWEST;
        loop {
            let time = timed(|| self.pass(0, count, &mut lookup));
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

/// Million lookups a second.
pub(crate) fn mlps(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_has_its_count_whatever_the_pattern() {
        let patterns = [
            Pattern::Random,
            Pattern::Repeated,
            Pattern::Sequential(vec![0, 1 << 31]),
            Pattern::prepared("ten".into(), &[7u32; 10]).unwrap(),
        ];
        for pattern in patterns {
            let mut seen = Vec::new();
            pattern.pass(1, 1_003, |burst| seen.extend_from_slice(burst));
            assert_eq!(seen.len(), 1_003, "{}", pattern.name());
            if pattern.name() == "sequential" {
                assert_eq!(seen[..2], [1 << 31, (1 << 31) + 1]);
            }
            assert!(pattern.count(Duration::from_micros(20), |_| ()) >= FEWEST);
        }
    }
}
