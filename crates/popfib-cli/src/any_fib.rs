//! A compiled FIB whose leaf width and node form are chosen at run time.
//!
//! The library fixes both at compile time, so that no lookup branches on them.
//! Here they hide behind one trait object: a call goes through it once for
//! thousands of addresses, and the loop inside is monomorphic.

use std::hint::black_box;
use std::time::{Duration, Instant};

use popfib::{
    Address, BasicNode, CheckError, CompileError, Fib, Leaf, LeafvecNode, Node, Options, Rib,
};

use crate::args::{FormArgs, Kernel};
use crate::failure::Failure;

/// Results a router's burst would hold; written over and over by [`AnyFib::pass`].
const BURST: usize = 256;

/// A [`Fib`] of any leaf width and node form.
pub(crate) trait AnyFib<A> {
    fn direct_bits(&self) -> u8;
    fn node_count(&self) -> usize;
    fn leaf_count(&self) -> usize;
    fn bytes(&self) -> usize;
    fn check(&self) -> Result<(), CheckError>;

    /// Looks up each address and stores its next hop, 0 for none, at the same place.
    fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]);

    /// Looks up every address and throws the answers away: the loop that is measured.
    fn pass(&self, kernel: Kernel, addresses: &[A]);
}

impl<A: Address, L: Leaf, N: Node> AnyFib<A> for Fib<A, L, N> {
    fn direct_bits(&self) -> u8 {
        self.direct_bits()
    }

    fn node_count(&self) -> usize {
        self.node_count()
    }

    fn leaf_count(&self) -> usize {
        self.leaf_count()
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn check(&self) -> Result<(), CheckError> {
        self.check()
    }

    fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        assert_eq!(addresses.len(), next_hops.len());
        let mut burst = [L::default(); BURST];
        for (block, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
            look_up(self, kernel, block, &mut burst);
            for (next_hop, leaf) in next_hops.iter_mut().zip(&burst) {
                *next_hop = leaf.to_u32();
            }
        }
    }

    fn pass(&self, kernel: Kernel, addresses: &[A]) {
        let mut burst = [L::default(); BURST];
        for block in addresses.chunks(BURST) {
            look_up(self, kernel, block, &mut burst);
            // Every burst counts as read, so no lookup can be dropped.
            black_box(&mut burst);
        }
    }
}

/// Looks up at most [`BURST`] addresses: one code for what is verified and what is measured.
#[inline]
fn look_up<A: Address, L: Leaf, N: Node>(
    fib: &Fib<A, L, N>,
    kernel: Kernel,
    block: &[A],
    burst: &mut [L; BURST],
) {
    let next_hops = &mut burst[..block.len()];
    match kernel {
        Kernel::Scalar => fib.lookup_batch(block, next_hops),
    }
}

/// A FIB and how long its compilation took.
pub(crate) struct Compiled<A> {
    pub(crate) fib: Box<dyn AnyFib<A>>,
    pub(crate) compile_time: Duration,
}

/// Compiles `rib` with 16-bit leaves, or with 32-bit leaves where the next hops need them.
pub(crate) fn compile<A: Address>(
    rib: &Rib<A>,
    direct_bits: Option<u8>,
    form: &FormArgs,
) -> Result<Compiled<A>, Failure> {
    let options = Options::default()
        .direct_bits(direct_bits)
        .aggregation(!form.no_aggregation);
    let compiled = if form.no_leafvec {
        compile_width::<A, BasicNode>(rib, &options)
    } else {
        compile_width::<A, LeafvecNode>(rib, &options)
    };
    Ok(compiled?)
}

fn compile_width<A: Address, N: Node>(
    rib: &Rib<A>,
    options: &Options,
) -> Result<Compiled<A>, CompileError> {
    match compile_timed::<A, u16, N>(rib, options) {
        Err(CompileError::NextHop { .. }) => compile_timed::<A, u32, N>(rib, options),
        other => other,
    }
}

fn compile_timed<A: Address, L: Leaf, N: Node>(
    rib: &Rib<A>,
    options: &Options,
) -> Result<Compiled<A>, CompileError> {
    let start = Instant::now();
    let fib = Fib::<A, L, N>::compile(rib, options)?;
    let compile_time = start.elapsed();
    Ok(Compiled {
        fib: Box::new(fib),
        compile_time,
    })
}

/// A duration in milliseconds with three decimals, as the JSON shows it.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{NextHop, Prefix};

    fn form(no_leafvec: bool) -> FormArgs {
        FormArgs {
            no_leafvec,
            no_aggregation: false,
            kernel: Kernel::Scalar,
        }
    }

    fn answer(fib: &dyn AnyFib<u32>, address: u32) -> u32 {
        let mut next_hops = [u32::MAX];
        fib.lookup_into(Kernel::Scalar, &[address], &mut next_hops);
        next_hops[0]
    }

    #[test]
    fn leaves_are_32_bits_wide_where_a_next_hop_needs_it() {
        for no_leafvec in [false, true] {
            let mut rib = Rib::<u32>::new();
            for (text, next_hop) in [("10.0.0.0/8", 65_535), ("10.1.0.0/16", 1)] {
                let prefix: Prefix<u32> = text.parse().unwrap();
                rib.insert(prefix, NextHop::new(next_hop).unwrap());
            }
            let fib = compile(&rib, Some(8), &form(no_leafvec)).unwrap().fib;
            assert_eq!(answer(&*fib, 0x0a00_0001), 65_535);

            rib.insert(
                "10.2.0.0/16".parse().unwrap(),
                NextHop::new(65_536).unwrap(),
            );
            let fib = compile(&rib, Some(8), &form(no_leafvec)).unwrap().fib;
            assert_eq!(answer(&*fib, 0x0a02_0001), 65_536);
            assert_eq!(answer(&*fib, 0x0a01_0001), 1);
            assert_eq!(answer(&*fib, 0x0b00_0000), 0);
            assert_eq!(fib.direct_bits(), 8);
        }
    }
}
