//! What is swept over the whole IPv4 address space: the other structures.

use crate::full_sweep::{every_address, every_segment};
use crate::segments::Segments;
use popfib::Rib;
use popfib_baselines::{Baseline, CannotBuild};

/// popfib itself is swept by its own proof; DIR-24-8 takes some seconds and is swept here. The
/// pointer-chasing structures take minutes and are asked at both ends and in the middle of every segment, unless
/// `POPFIB_SWEEP=all` has them swept as well.
pub(crate) fn sweep(rib: &Rib<u32>, segments: &Segments) {
    let all = std::env::var_os("POPFIB_SWEEP").is_some_and(|what| what == "all");
    for baseline in Baseline::ALL {
        let name = baseline.name();
        match baseline.build(rib) {
            Ok(lpm) if all || matches!(baseline, Baseline::Dir24x8) => {
                every_address(name, segments, |addresses, answers| {
                    answers.resize(addresses.len(), 0);
                    lpm.lookup_batch(addresses, answers);
                });
            }
            Ok(lpm) => every_segment(name, segments, |address| lpm.lookup(address)),
            // A table of a million routes may have more ranges than 2^19.
            Err(CannotBuild::TooMany { what: "ranges", .. })
                if matches!(baseline, Baseline::Dxr16 | Baseline::Dxr18) =>
            {
                println!("{name}: more ranges than it can number");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
}
