//! All that a run has found, as `results.json` holds it.

use serde::{Deserialize, Serialize};

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
    Threads(Vec<Scaling>),
    Updates(Vec<Stream>),
    Series(Vec<Size>),
}

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

    /// What was found for a table and family, by `pick`.
    pub(crate) fn find<'a, T>(
        &'a self,
        table: usize,
        family: Family,
        pick: impl Fn(&'a Outcome) -> Option<T>,
    ) -> Option<T> {
        self.parts
            .iter()
            .filter(|part| part.table == table && part.family == family)
            .find_map(|part| pick(&part.outcome))
    }

    /// The contest on a table.
    pub(crate) fn contest(&self, table: usize, family: Family) -> Option<&Contest> {
        self.find(table, family, |outcome| match outcome {
            Outcome::Contest(contest) => Some(contest),
            _ => None,
        })
    }

    /// Tables and families with a contest, in order.
    pub(crate) fn contests(&self) -> impl Iterator<Item = (&TableFacts, Family, &Contest)> {
        let places = (0..self.tables.len())
            .flat_map(|table| [Family::Ipv4, Family::Ipv6].map(|family| (table, family)));
        places.filter_map(|(table, family)| {
            let contest = self.contest(table, family)?;
            Some((&self.tables[table], family, contest))
        })
    }
}
