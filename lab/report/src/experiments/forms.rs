//! What leafvec, route aggregation and direct pointing bring (the paper's Table
//! 2; its Table 6 for IPv6).

use popfib::{Rib, Size};
use popfib_baselines::Baseline;
use popfib_eval::{Algorithm, TrafficAddress};
use serde::{Deserialize, Serialize};

use super::contender::{Contender, Entry};
use super::figures::Figures;
use super::pace::Pattern;
use crate::plan::Effort;

/// A form of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Form {
    pub(crate) direct_bits: Option<u8>,
    pub(crate) entry: Entry<Cost>,
}

/// What it costs, and what it brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) nodes: usize,
    pub(crate) leaves: usize,
    pub(crate) bytes: usize,
    /// Milliseconds to compile it from the Rib.
    pub(crate) build_ms: Figures,
    /// Million lookups a second of random addresses.
    pub(crate) mlps: Figures,
}

/// All forms of the table, and the radix tree to compare with.
pub(crate) fn forms<A: TrafficAddress>(rib: &Rib<A>, effort: &Effort) -> Vec<Form> {
    use Algorithm::{Popfib, Poptrie, PoptrieBasic};
    let radix = Algorithm::Baseline(Baseline::Radix);
    let mut forms = vec![form(rib, ("Radix", radix, true), None, effort)];
    for kind in [
        ("Poptrie (basic)", PoptrieBasic, false),
        ("Poptrie (leafvec)", Poptrie, false),
        ("Poptrie", Poptrie, true),
        ("popfib", Popfib(Size::Smallest), true),
    ] {
        let of_paper = [0, 16, 18].map(|bits| form(rib, kind, Some(bits), effort));
        forms.extend(of_paper);
    }
    forms
}

fn form<A: TrafficAddress>(
    rib: &Rib<A>,
    (name, algorithm, is_aggregating): (&str, Algorithm, bool),
    direct_bits: Option<u8>,
    effort: &Effort,
) -> Form {
    let mut contender = Contender::new(algorithm, direct_bits);
    contender.options = contender.options.aggregation(is_aggregating);
    Form {
        direct_bits,
        entry: Entry::new(name, cost(rib, &contender, effort)),
    }
}

fn cost<A: TrafficAddress>(
    rib: &Rib<A>,
    contender: &Contender,
    effort: &Effort,
) -> Result<Cost, String> {
    let mut build_ms = Figures::default();
    let mut built = contender.build(rib)?;
    build_ms.0.push(built.build_ms);
    for _ in 1..effort.builds {
        // The one before goes first: two at once would share the caches.
        drop(built);
        built = contender.build(rib)?;
        build_ms.0.push(built.build_ms);
    }
    let pattern = Pattern::<A>::Random;
    let count = pattern.count(effort.pass, built.pass());
    let rates = (0..effort.runs).map(|run| pattern.rate(run, count, built.pass()));
    let fib = &built.fib;
    Ok(Cost {
        nodes: fib.node_count(),
        leaves: fib.leaf_count(),
        bytes: fib.bytes(),
        build_ms,
        mlps: Figures(rates.collect()),
    })
}
