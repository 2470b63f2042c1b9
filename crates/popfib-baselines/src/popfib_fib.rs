//! popfib's own Fib as an [`Lpm`]: the library's default options and best kernel.

use popfib::{Address, Fib, Kernel, Leaf, Options, Rib};

use crate::cannot_build::CannotBuild;
use crate::loops::{dependent, widened};
use crate::lpm::Lpm;

/// A [`Fib`] with answers of width `L`, and the kernel that looks up batches.
#[derive(Clone, Debug)]
pub struct Popfib<A: Address, L: Leaf = u16> {
    /// The Fib.
    pub fib: Fib<A, L>,
    /// What [`Lpm::lookup_batch`] runs.
    pub kernel: Kernel,
}

impl<A: Address, L: Leaf> Lpm<A> for Popfib<A, L> {
    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        Ok(Self {
            fib: Fib::compile(rib, &Options::default())?,
            kernel: Kernel::best(),
        })
    }

    fn name(&self) -> &'static str {
        "popfib"
    }

    fn limits(&self) -> &'static str {
        "2 GiB of nodes"
    }

    fn direct_bits(&self) -> u8 {
        self.fib.direct_bits()
    }

    fn bytes(&self) -> usize {
        self.fib.bytes()
    }

    fn lookup(&self, address: A) -> u32 {
        self.fib.lookup(address).to_u32()
    }

    fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        widened(addresses, next_hops, |addresses, leaves| {
            self.fib.lookup_batch_with(self.kernel, addresses, leaves);
        });
    }

    fn lookup_chain(&self, addresses: &[A]) -> u32 {
        dependent(addresses, |address| self.fib.lookup(address).to_u32())
    }
}
