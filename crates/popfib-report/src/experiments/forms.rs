//! What leafvec, route aggregation and direct pointing bring (the paper's Table
//! 2; its Table 6 for IPv6).

use popfib::{Kernel, Options, Rib};
use popfib_baselines::Baseline;
use popfib_eval::{Algorithm, Traveller, build};
use serde::{Deserialize, Serialize};

use super::entrant::Entrant;
use super::pace::{Figures, Pattern, mlps, timed};
use crate::plan::Effort;

/// The paper's direct bits.
const DIRECT_BITS: [u8; 3] = [0, 16, 18];

/// A form of a table, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Form {
    pub(crate) name: String,
    pub(crate) direct_bits: Option<u8>,
    pub(crate) nodes: usize,
    pub(crate) leaves: usize,
    pub(crate) bytes: usize,
    /// Milliseconds to compile it from the Rib.
    pub(crate) build_ms: Figures,
    /// Million lookups a second of random addresses.
    pub(crate) mlps: Figures,
    pub(crate) cannot_build: Option<String>,
}

/// All forms of the table, and the radix tree to compare with.
pub(crate) fn forms<A: Traveller>(rib: &Rib<A>, effort: &Effort) -> Vec<Form> {
    use Algorithm::{Popfib, Poptrie, PoptrieBasic};
    let mut forms = vec![form(
        rib,
        "Radix",
        Algorithm::Baseline(Baseline::Radix),
        None,
        true,
        effort,
    )];
    for (name, algorithm, is_aggregating) in [
        ("Poptrie (basic)", PoptrieBasic, false),
        ("Poptrie (leafvec)", Poptrie, false),
        ("Poptrie", Poptrie, true),
        ("popfib", Popfib, true),
    ] {
        for bits in DIRECT_BITS {
            forms.push(form(
                rib,
                name,
                algorithm,
                Some(bits),
                is_aggregating,
                effort,
            ));
        }
    }
    forms
}

fn form<A: Traveller>(
    rib: &Rib<A>,
    name: &str,
    algorithm: Algorithm,
    direct_bits: Option<u8>,
    is_aggregating: bool,
    effort: &Effort,
) -> Form {
    let options = Options::default()
        .direct_bits(direct_bits)
        .aggregation(is_aggregating);
    let mut form = Form {
        name: name.to_owned(),
        direct_bits,
        nodes: 0,
        leaves: 0,
        bytes: 0,
        build_ms: Figures::default(),
        mlps: Figures::default(),
        cannot_build: None,
    };
    let kernel: Kernel = Entrant::popfib(18).kernel;
    let mut built = None;
    for _ in 0..effort.runs {
        // The one before goes first: two at once would share the caches.
        drop(built.take());
        match build(rib, algorithm, &options) {
            Ok(compiled) => {
                let milliseconds = compiled.compile_time.as_secs_f64() * 1e3;
                form.build_ms.0.push(milliseconds);
                built = Some(compiled.fib);
            }
            Err(reason) => {
                form.cannot_build = Some(reason.to_string());
                return form;
            }
        }
    }
    let Some(fib) = built else { return form };
    (form.nodes, form.leaves) = (fib.node_count(), fib.leaf_count());
    form.bytes = fib.bytes();
    let pattern = Pattern::<A>::Random;
    let count = pattern.count(&*fib, kernel, effort.pass);
    for run in 0..effort.runs {
        let time = timed(|| pattern.pass(&*fib, kernel, run, count));
        form.mlps.0.push(mlps(count, time));
    }
    form
}
