//! Sequences of typed operations on Rib, Fib, LiveFib and maps; see `operations.rs` of the proof.
#![no_main]

#[path = "../../crates/popfib/tests/proof/forms.rs"]
mod forms;
#[path = "../../crates/popfib/tests/proof/judge.rs"]
mod judge;
#[path = "../../crates/popfib/tests/proof/live.rs"]
mod live;
#[path = "../../crates/popfib/tests/proof/maps.rs"]
mod maps;
#[path = "../../crates/popfib/tests/proof/operations.rs"]
mod operations;
#[path = "../../crates/popfib/tests/proof/oracle.rs"]
mod oracle;
#[path = "../../crates/popfib/tests/proof/probes.rs"]
mod probes;
#[path = "../../crates/popfib/tests/proof/tables.rs"]
mod tables;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: operations::Input| {
    operations::run(&input);
});
