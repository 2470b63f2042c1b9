//! What is measured, and against what: shared by `popfib-lab bench`, `popfib-lab
//! evaluate` and the comparison with other implementations, so that all mean
//! the same.
//!
//! [`build`] makes any [`Algorithm`] an [`AnyFib`], and [`agreement`] holds its
//! answers against the routes. [`Traffic`] makes the addresses of a pass from a
//! seed, a [`Stream`] makes them while they are looked up, a [`Trace`] is those
//! of a file; [`Buffer`] holds them on huge pages. [`measure`] times passes in
//! turn with the [`ReferenceLoop`], [`modes`] takes the time of a lookup in three
//! ways, [`Paired`] says which of two is faster, a [`Counter`] that of each lookup alone, on the core that [`pin`] names,
//! and [`Counters`] what the CPU counts meanwhile;
//! [`UpdateTimes`] are those of changes to a live table. [`skewed_next_hops`] gives a table of bare prefixes the next
//! hops of a router, and [`datasets`] makes whole tables.

mod agreement;
mod algorithm;
mod any_fib;
mod counters;
mod cycles;
pub mod datasets;
mod distribution;
mod latencies;
mod measure;
mod modes;
mod next_hops;
mod paired;
mod pin;
mod random;
mod reference_loop;
mod stream;
mod trace;
mod traffic;
mod updates;
mod zipf;

pub use agreement::{Agreement, agreement};
pub use algorithm::Algorithm;
pub use any_fib::{AnyFib, BURST, Compiled, build};
pub use counters::{Counters, Event};
pub use cycles::Counter;
pub use distribution::Distribution;
pub use latencies::Latencies;
pub use measure::{Passes, Spread, measure};
pub use modes::{Modes, modes};
pub use next_hops::skewed_next_hops;
pub use paired::{FEWEST_PAIRS, LEAST_DIFFERENCE, Paired, Verdict};
pub use pin::{cores, pin, together};
pub use popfib_baselines::Buffer;
pub use random::Random;
pub use reference_loop::ReferenceLoop;
pub use stream::{Repeated, Sequential, Stream, Xorshift, stream_pass};
pub use trace::Trace;
pub use traffic::{Traffic, TrafficAddress, generate};
pub use updates::{Update, UpdateTimes, check_answers, churn, shuffled};
pub use zipf::Zipf;
