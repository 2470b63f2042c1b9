//! The proof of the other structures: popfib's own suite over the forms that `forms` lists here, and their limits.
//!
//! See `crates/popfib/tests/proof/main.rs`. `cargo test -p popfib-baselines --test proof`.

#[path = "../../../../crates/popfib/tests/proof/edges.rs"]
mod edges;
#[path = "../../../../crates/popfib/tests/proof/exhaustive.rs"]
mod exhaustive;
mod forms;
#[path = "../../../../crates/popfib/tests/proof/full_sweep.rs"]
mod full_sweep;
#[path = "../../../../crates/popfib/tests/proof/judge.rs"]
#[allow(dead_code, reason = "the library asks more of its forms")]
mod judge;
mod layouts;
mod limits;
#[path = "../../../../crates/popfib/tests/proof/oracle.rs"]
#[allow(dead_code, reason = "the library also removes routes")]
mod oracle;
#[path = "../../../../crates/popfib/tests/proof/probes.rs"]
mod probes;
#[path = "../../../../crates/popfib/tests/proof/properties.rs"]
mod properties;
#[path = "../../../../crates/popfib/tests/proof/real_files.rs"]
mod real_files;
#[path = "../../../../crates/popfib/tests/proof/real_tables.rs"]
mod real_tables;
#[path = "../../../../crates/popfib/tests/common/rounds.rs"]
mod rounds;
#[path = "../../../../crates/popfib/tests/proof/segments.rs"]
mod segments;
mod sweeps;
#[path = "../../../../crates/popfib/tests/proof/tables.rs"]
mod tables;

/// How many random cases to run: all of `release` with optimisation, a tenth without.
fn cases(release: u32) -> u32 {
    if cfg!(debug_assertions) {
        release.div_ceil(10)
    } else {
        release
    }
}
