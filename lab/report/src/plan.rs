//! What is to be evaluated, and how thoroughly.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use popfib::{Address, Rib};
use popfib_eval::{Trace, Update};
use popfib_formats::RouteTable;

/// Tables, traffic and effort of a run.
#[derive(Debug)]
pub struct Plan {
    /// The tables, at least one. The first is looked at most closely.
    pub tables: Vec<Table>,
    /// Recorded traffic.
    pub traces: Vec<NamedTrace>,
    /// Recorded changes of the first table.
    pub updates: Vec<NamedUpdates>,
    /// How long to measure.
    pub effort: Effort,
}

/// A table with a name for the report.
#[derive(Debug)]
pub struct Table {
    /// A short name, unique among the tables.
    pub name: String,
    /// Its routes.
    pub routes: RouteTable,
}

/// Recorded traffic with a name for the report.
#[derive(Debug)]
pub struct NamedTrace {
    /// A short name.
    pub name: String,
    /// The addresses.
    pub trace: Trace,
}

/// Recorded changes with a name for the report.
#[derive(Debug)]
pub struct NamedUpdates {
    /// A short name.
    pub name: String,
    /// Those of IPv4 routes, in their order.
    pub ipv4: Vec<Update<u32>>,
    /// Those of IPv6 routes.
    pub ipv6: Vec<Update<u128>>,
}

/// How long to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// Its name in the report.
    pub name: &'static str,
    /// How long a pass takes.
    pub pass: Duration,
    /// Passes of each kind, six at least to tell which of two structures is faster.
    pub runs: usize,
    /// How often a form is built to time that.
    pub builds: usize,
    /// Random addresses that each structure is verified with beyond the boundaries.
    pub verified: usize,
    /// Lookups that are timed one by one, for each structure.
    pub timed: usize,
    /// Addresses of traffic that is made beforehand.
    pub prepared: usize,
    /// The largest synthetic table, in routes: IPv4, IPv6.
    pub largest: (usize, usize),
    /// Whether tables after the first are looked at as closely as the first.
    pub is_thorough: bool,
    /// When no new part is begun any more.
    pub budget: Option<Duration>,
}

impl Effort {
    /// The paper's: ten runs, everything on every table. Some 80 minutes for tables of both families.
    pub fn full() -> Self {
        Self {
            name: "full",
            pass: Duration::from_secs(1),
            runs: 10,
            builds: 10,
            verified: 1 << 20,
            timed: 1 << 24,
            prepared: 1 << 24,
            largest: (100_000_000, 7_000_000),
            is_thorough: true,
            budget: None,
        }
    }

    /// For a look: within three minutes on two cores.
    pub fn quick() -> Self {
        Self {
            name: "quick",
            pass: Duration::from_millis(20),
            runs: 9,
            builds: 3,
            verified: 1 << 16,
            timed: 1 << 20,
            prepared: 1 << 22,
            largest: (2_000_000, 500_000),
            is_thorough: false,
            budget: Some(Duration::from_secs(150)),
        }
    }

    /// For tests: figures that mean nothing, in no time.
    pub fn tiny() -> Self {
        Self {
            name: "tiny",
            pass: Duration::from_micros(50),
            runs: 2,
            builds: 2,
            verified: 64,
            timed: 512,
            prepared: 512,
            largest: (0, 0),
            is_thorough: false,
            budget: None,
        }
    }
}

/// A number that stands for the routes of a table.
pub(crate) fn digest<A: Address>(rib: &Rib<A>) -> u64 {
    let routes = rib.iter();
    digest_of(routes.map(|(prefix, hop)| (prefix.address().to_u128(), prefix.len(), hop)))
}

/// A number that stands for addresses, routes or updates in their order, for builds of one
/// compiler: what is kept under it is used again by the same build only.
pub(crate) fn digest_of(items: impl Iterator<Item = impl Hash>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for item in items {
        item.hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;

    #[test]
    fn a_digest_sees_every_part_of_a_route() {
        let of = |text: &str, next_hop: u32| {
            let mut rib = Rib::<u32>::new();
            rib.insert(text.parse().unwrap(), NextHop::new(next_hop).unwrap());
            digest(&rib)
        };
        let all = [
            of("10.0.0.0/8", 1),
            of("10.0.0.0/9", 1),
            of("11.0.0.0/8", 1),
            of("10.0.0.0/8", 2),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        assert_eq!(of("10.0.0.0/8", 1), all[0]);
        assert_ne!(digest_of([1, 2].into_iter()), digest_of([2, 1].into_iter()));
    }
}
