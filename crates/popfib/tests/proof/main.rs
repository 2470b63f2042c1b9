//! The proof: every answer of the library against judges that share no code with it.
//!
//! `oracle` is the judge (`segments` of long tables), `tables` makes routes, `probes` the addresses to ask
//! for, `judge` compares all answers of every form that `forms` lists with the oracle's. The rest are tests, one kind a
//! file. Run them with `cargo test -p popfib --test proof`; add `-- --include-ignored` for the `heavy_*` ones.
//! A build with debug assertions takes a tenth of the random cases.
//!
//! Other structures are tested by these files too, with a `forms` of their own: one suite for all.

mod differential;
mod edges;
mod exhaustive;
mod forms;
mod full_sweep;
#[allow(dead_code, reason = "other structures use more of it")]
mod judge;
mod limits;
mod live;
mod map_properties;
mod maps;
mod operations;
mod oracle;
mod probes;
mod properties;
mod real_files;
mod real_tables;
mod replay;
mod rib_model;
#[path = "../common/rounds.rs"]
mod rounds;
mod segments;
mod sweeps;
mod tables;

/// How many random cases to run: all of `release` with optimisation, a tenth without.
fn cases(release: u32) -> u32 {
    if cfg!(debug_assertions) {
        release.div_ceil(10)
    } else {
        release
    }
}
