//! One route out of the several that a collector's peers have for a prefix.
//!
//! The shortest AS path wins, then the lowest index of a peer: two rules out of
//! BGP's many, but the two that a dump of many routers supports, and always the
//! same answer; of equal routes, the last. Routes for one prefix have to follow one another, as in every
//! dump that collectors write; so nothing but the best so far is kept. Where
//! they don't, each run of them has its best, and they count as replaced.

use std::mem;

use popfib::IpPrefix;

/// What decides between two routes for one prefix: the lower wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) path_length: u32,
    pub(crate) peer: usize,
}

/// The best route so far for the prefix at hand, and the last one handed out.
#[derive(Debug, Default)]
pub(crate) struct BestPath {
    best: Option<(IpPrefix, Rank)>,
    value: String,
    out: String,
}

impl BestPath {
    /// Takes a route with its `value`. The best route of the prefix before, if
    /// this is another, is what [`BestPath::handed_out`] then belongs to.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        prefix: IpPrefix,
        rank: Rank,
        value: &mut String,
    ) -> Option<IpPrefix> {
        match self.best {
            Some((held, best)) if held == prefix => {
                if rank <= best {
                    self.best = Some((prefix, rank));
                    mem::swap(&mut self.value, value);
                }
                None
            }
            _ => {
                let done = self.finish();
                self.best = Some((prefix, rank));
                mem::swap(&mut self.value, value);
                done
            }
        }
    }

    /// Hands out the route at hand, as nothing follows.
    pub(crate) fn finish(&mut self) -> Option<IpPrefix> {
        let (prefix, _) = self.best.take()?;
        mem::swap(&mut self.value, &mut self.out);
        Some(prefix)
    }

    /// The value of the route that was handed out last.
    pub(crate) fn handed_out(&self) -> &str {
        &self.out
    }
}
