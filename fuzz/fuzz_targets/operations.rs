//! Sequences of typed operations on Rib and Fib; see `operations.rs` of the proof.
#![no_main]

#[path = "../../crates/popfib/tests/proof/operations.rs"]
mod operations;
#[path = "../../crates/popfib/tests/proof/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: operations::Input| {
    operations::run(&input);
});
