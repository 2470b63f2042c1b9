//! The structure without a lookup: what measuring itself takes.

use std::hint::black_box;

use popfib::{Address, Kernel};
use popfib_baselines::empty;

use crate::any_fib::AnyFib;

/// Answers 0 at once. Measured like any other, it gives the time of the loop
/// around lookups, of making addresses and of reading a clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Empty;

impl<A: Address> AnyFib<A> for Empty {
    fn direct_bits(&self) -> u8 {
        0
    }

    fn node_count(&self) -> usize {
        0
    }

    fn leaf_count(&self) -> usize {
        0
    }

    fn bytes(&self) -> usize {
        0
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn lookup(&self, _: A) -> u32 {
        0
    }

    /// # Panics
    /// If the slices differ in length.
    fn lookup_into(&self, _: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        assert_eq!(addresses.len(), next_hops.len());
        next_hops.fill(0);
    }

    fn pass(&self, _: Kernel, addresses: &[A]) {
        black_box(addresses);
    }

    fn chain(&self, addresses: &[A]) {
        black_box(empty(addresses));
    }
}
