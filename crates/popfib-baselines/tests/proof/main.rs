//! The proof: every answer of the library against judges that share no code with it.
//!
//! `oracle` is the judge (`segments` of long tables), `tables` makes routes, `probes` the addresses to ask
//! for, `forms` compiles a table in every way there is and holds all answers
//! against the oracle. The rest are tests, one kind a file. Run them with
//! `cargo test --release -p popfib-baselines --test proof`; add `-- --include-ignored`
//! for the `heavy_*` ones. A build with debug assertions takes a tenth of the
//! random cases.

mod differential;
mod edges;
mod exhaustive;
mod forms;
mod full_sweep;
mod limits;
mod live;
mod operations;
mod oracle;
mod probes;
mod properties;
mod real_tables;
mod replay;
mod rib_model;
mod segments;
mod tables;

/// How many random cases to run: all of `release` with optimisation, a tenth without.
fn cases(release: u32) -> u32 {
    if cfg!(debug_assertions) {
        release.div_ceil(10)
    } else {
        release
    }
}
