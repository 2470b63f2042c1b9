//! One route out of the several that a collector's peers have for a prefix: candidates in, in the order of the file, and the best
//! of each prefix out.
//!
//! Of the [rules](crate::path_rank) those count that a dump of many routers supports: a next hop or none (of a route of the router
//! itself), the length of the AS path. Then the lowest index of a peer decides; of equal routes, the last.
//!
//! Routes for one prefix have to follow one another, as in every dump that collectors write; so nothing but the best so far is
//! kept. Where they do not, each run of them has its best, and all but the last count as replaced.

use std::mem;

use popfib::IpPrefix;

use crate::error::ReadError;
use crate::path_rank::PathRank;
use crate::path_record::{PathValue, PathValues};
use crate::peers::Peer;
use crate::route::{Route, RouteSource};
use crate::table_format::LoadOptions;
use crate::values::ValueBook;

/// The rank of a path and the index of its peer: the lower wins.
pub(crate) type DumpRank = (PathRank, usize);

/// One route of one peer, without its value, which has a buffer of its own.
#[derive(Debug)]
pub(crate) struct PathCandidate {
    pub(crate) prefix: IpPrefix,
    pub(crate) rank: DumpRank,
    /// The error if this is the best route of its prefix: it has no value.
    pub(crate) flaw: Option<ReadError>,
}

/// The error of a candidate whose value should be a next hop that it lacks.
pub(crate) const NO_NEXT_HOP: &str = "a route without a next hop";

/// The routes of several peers, in the order of their file.
pub(crate) trait CandidatePaths: Send {
    /// The next route that is wanted, its value in `value`; `None` at the end.
    fn next_path(&mut self, value: &mut PathValue) -> Result<Option<PathCandidate>, ReadError>;

    /// As [`RouteSource::notes`].
    fn notes(&self) -> Vec<String>;

    /// As [`RouteSource::peers`].
    fn peers(&self) -> &[Peer];
}

/// A [`RouteSource`] of the best paths.
#[derive(Debug)]
struct BestPaths<P> {
    paths: P,
    /// The best route so far for the prefix at hand.
    best: Option<PathCandidate>,
    /// Its value, and that of the route just read.
    value: PathValue,
    read: PathValue,
    values: PathValues,
    /// Found after a route that is still to be handed out.
    failed: Option<ReadError>,
}

/// The source of the best of these paths, for a format to open.
pub(crate) fn best_paths(
    paths: impl CandidatePaths + 'static,
    options: &LoadOptions,
) -> Result<Box<dyn RouteSource>, ReadError> {
    Ok(Box::new(BestPaths {
        paths,
        best: None,
        value: PathValue::default(),
        read: PathValue::default(),
        values: PathValues::new(options),
        failed: None,
    }))
}

impl<P: CandidatePaths> BestPaths<P> {
    /// Reads on until a prefix is done.
    fn next_prefix(&mut self) -> Result<Option<Route>, ReadError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            match self.paths.next_path(&mut self.read) {
                Ok(Some(candidate)) => {
                    if let Some(done) = self.offer(candidate) {
                        return done.map(Some);
                    }
                }
                Ok(None) => return self.finish().transpose(),
                // A route that is invalid says nothing about the one before it.
                Err(error) if error.is_invalid_line() => return Err(error),
                Err(error) => {
                    let Some(done) = self.finish() else {
                        return Err(error);
                    };
                    self.failed = Some(error);
                    return done.map(Some);
                }
            }
        }
    }

    /// Takes the route just read. The prefix before, if this is another, is done.
    #[inline]
    fn offer(&mut self, candidate: PathCandidate) -> Option<Result<Route, ReadError>> {
        let mut done = None;
        match &self.best {
            Some(best) if best.prefix == candidate.prefix => {
                if candidate.rank > best.rank {
                    return None;
                }
            }
            _ => done = self.finish(),
        }
        self.best = Some(candidate);
        mem::swap(&mut self.value, &mut self.read);
        done
    }

    /// Hands out the route at hand, as nothing follows.
    fn finish(&mut self) -> Option<Result<Route, ReadError>> {
        let PathCandidate { prefix, flaw, .. } = self.best.take()?;
        if let Some(flaw) = flaw {
            return Some(Err(flaw));
        }
        let value = self.values.number(&self.value);
        Some(Ok(Route { prefix, value }))
    }
}

impl<P: CandidatePaths> RouteSource for BestPaths<P> {
    fn says_none(&self) -> bool {
        false
    }

    fn next_route(&mut self) -> Result<Option<Route>, ReadError> {
        self.next_prefix()
    }

    fn values(&mut self) -> &mut ValueBook {
        &mut self.values.book
    }

    fn has_values(&self) -> bool {
        self.values.book.reads_columns()
    }

    fn notes(&self) -> Vec<String> {
        self.paths.notes()
    }

    fn peers(&self) -> &[Peer] {
        self.paths.peers()
    }
}
