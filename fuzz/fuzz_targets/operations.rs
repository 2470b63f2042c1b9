//! Sequences of typed operations on Rib, Fib and LiveFib; see `operations.rs` of the proof.
#![no_main]

#[path = "../../crates/popfib-baselines/tests/proof/forms.rs"]
mod forms;
#[path = "../../crates/popfib-baselines/tests/proof/live.rs"]
mod live;
#[path = "../../crates/popfib-baselines/tests/proof/operations.rs"]
mod operations;
#[path = "../../crates/popfib-baselines/tests/proof/oracle.rs"]
mod oracle;
#[path = "../../crates/popfib-baselines/tests/proof/probes.rs"]
mod probes;
#[path = "../../crates/popfib-baselines/tests/proof/tables.rs"]
mod tables;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: operations::Input| {
    operations::run(&input);
});
