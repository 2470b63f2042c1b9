//! All that a run has found, as `results.json` holds it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::experiments::Entry;
use crate::experiments::contest::Contest;
use crate::experiments::counters::Counted;
use crate::experiments::cycles::Cycles;
use crate::experiments::depth::Heat;
use crate::experiments::forms::Form;
use crate::experiments::series::Size;
use crate::experiments::threads::Scaling;
use crate::experiments::updates::Stream;
use crate::machine::Machine;

/// Everything behind the report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) machine: Machine,
    pub(crate) effort: String,
    pub(crate) runs: usize,
    pub(crate) pass_ms: f64,
    pub(crate) tables: Vec<TableFacts>,
    pub(crate) parts: Vec<Finished>,
    /// What is to be known, one line each: what was left out, among others.
    pub(crate) notes: Vec<String>,
}

/// A table, by its numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TableFacts {
    pub(crate) name: String,
    pub(crate) routes: [usize; 2],
    pub(crate) next_hops: [usize; 2],
}

/// A finished part.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finished {
    /// The table, by its place in the list.
    pub(crate) table: usize,
    pub(crate) family: Family,
    pub(crate) seconds: f64,
    pub(crate) outcome: Outcome,
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    Ipv4,
    Ipv6,
}

impl Family {
    /// The name in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
        }
    }
}

/// What a part found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "experiment", content = "found", rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// All structures on the table itself.
    Contest(Contest),
    /// Those of the scalability table, on what a rule makes of the table.
    Syn(String, Contest),
    Forms(Vec<Form>),
    Heat(Heat),
    Cycles(Cycles),
    Counters(Counted),
    Threads(Vec<Entry<Scaling>>),
    Updates(Vec<Stream>),
    Series(Vec<Size>),
}

/// What an outcome holds, if it is of that experiment: for [`Results::each`].
macro_rules! pick {
    ($outcome:expr, $experiment:ident) => {
        match $outcome {
            $crate::results::Outcome::$experiment(found) => Some(found),
            _ => None,
        }
    };
}
pub(crate) use pick;

impl Results {
    /// Results with one table and one part.
    #[cfg(test)]
    pub(crate) fn of(family: Family, outcome: Outcome) -> Self {
        Self {
            machine: Machine::this(),
            effort: "tiny".into(),
            runs: 2,
            pass_ms: 1.0,
            tables: vec![TableFacts {
                name: "one".into(),
                routes: [200_000, 200_000],
                next_hops: [7, 7],
            }],
            parts: vec![Finished {
                table: 0,
                family,
                seconds: 1.0,
                outcome,
            }],
            notes: Vec::new(),
        }
    }

    /// What was found by the parts that `pick` knows, in order of tables.
    pub(crate) fn each<'a, T>(
        &'a self,
        pick: impl Fn(&'a Outcome) -> Option<T>,
    ) -> impl Iterator<Item = (Place<'a>, T)> {
        self.parts.iter().filter_map(move |part| {
            let place = Place {
                index: part.table,
                table: self.tables.get(part.table)?,
                family: part.family,
            };
            Some((place, pick(&part.outcome)?))
        })
    }

    /// Tables and families with a contest, in order.
    pub(crate) fn contests(&self) -> impl Iterator<Item = (Place<'_>, &Contest)> {
        self.each(|outcome| pick!(outcome, Contest))
    }
}

/// A table and one of its families.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The table's place in the list.
    pub(crate) index: usize,
    pub(crate) table: &'a TableFacts,
    pub(crate) family: Family,
}

impl Place<'_> {
    /// The name of a file for something of it.
    pub(crate) fn id(&self, what: &str) -> String {
        let family = self.family.name().to_lowercase();
        format!("{what}-{family}-{}", self.index + 1)
    }

    /// Whether figures of it are drawn: those of all tables would be too many.
    pub(crate) fn is_first(&self) -> bool {
        self.index == 0
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.table.name, self.family.name())
    }
}
