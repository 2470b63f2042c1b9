//! What is swept over the whole IPv4 address space: the Fib as it is by default.

use crate::full_sweep::every_address;
use crate::segments::Segments;
use popfib::{Fib, Options, Rib};

/// Looks up all of the 2^32 IPv4 addresses.
pub(crate) fn sweep(rib: &Rib<u32>, segments: &Segments) {
    let fib = Fib::<u32>::compile(rib, &Options::default()).unwrap();
    every_address("popfib", segments, |addresses, answers| {
        let mut leaves = vec![0; addresses.len()];
        fib.lookup_batch(addresses, &mut leaves);
        answers.extend(leaves);
    });
}
