//! A compiled table whose structure is chosen at run time.
//!
//! It is fixed at compile time, so that no lookup branches on it.
//! Here it hides behind one trait object: a call goes through it once for
//! thousands of addresses, and the loop inside is monomorphic.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use popfib::{Address, Fib, Kernel, Options, Rib, Size};
use popfib_baselines::poptrie::{BasicNode, LeafvecNode, Node, Poptrie};
use popfib_baselines::{CannotBuild, Key, Lpm, dependent, either_width};

use crate::algorithm::Algorithm;

/// Results of a router's burst: lookups are measured into a buffer of this
/// length that is written over and over.
pub const BURST: usize = 256;

/// A compiled table of any structure.
pub trait AnyFib<A>: Send + Sync {
    /// Leading bits that the first array resolves.
    fn direct_bits(&self) -> u8;

    /// The size of popfib's own layout.
    fn size(&self) -> Option<Size> {
        None
    }

    /// Nodes of a Poptrie; 0 for another structure.
    fn node_count(&self) -> usize;

    /// Leaves of a Poptrie; 0 for another structure.
    fn leaf_count(&self) -> usize;

    /// Bytes of the arrays that lookups read.
    fn bytes(&self) -> usize;

    /// Verifies the invariants of the layout, where there is more to verify than answers.
    ///
    /// # Errors
    /// The invariant that does not hold, in one line.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The next hop of one address, 0 for none.
    fn lookup(&self, address: A) -> u32;

    /// Looks up each address and stores its next hop, 0 for none, at the same place.
    ///
    /// # Panics
    /// If the slices have different lengths.
    fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]);

    /// Looks up every address and throws the answers away: the loop that is measured.
    fn pass(&self, kernel: Kernel, addresses: &[A]) {
        let mut burst = [0; BURST];
        for block in addresses.chunks(BURST) {
            self.lookup_into(kernel, block, &mut burst[..block.len()]);
            // Every burst counts as read, so no lookup can be dropped.
            black_box(&mut burst);
        }
    }

    /// Looks up each address once the answer before it is known; one by one, whatever the kernel.
    fn chain(&self, addresses: &[A]);
}

impl<A: Address> AnyFib<A> for Fib<A> {
    fn direct_bits(&self) -> u8 {
        Fib::direct_bits(self)
    }

    fn size(&self) -> Option<Size> {
        Some(Fib::size(self))
    }

    fn node_count(&self) -> usize {
        Fib::node_count(self)
    }

    fn leaf_count(&self) -> usize {
        Fib::leaf_count(self)
    }

    fn bytes(&self) -> usize {
        Fib::bytes(self)
    }

    fn check(&self) -> Result<(), String> {
        Fib::check(self).map_err(|error| error.to_string())
    }

    fn lookup(&self, address: A) -> u32 {
        Fib::lookup(self, address)
    }

    fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        self.lookup_batch_with(kernel, addresses, next_hops);
    }

    fn chain(&self, addresses: &[A]) {
        black_box(dependent(addresses, |address| Fib::lookup(self, address)));
    }
}

/// An algorithm of [`Lpm`]: it has one way of its own to look up a batch.
struct Paper<A>(Box<dyn Lpm<A>>);

impl<A: Key> AnyFib<A> for Paper<A> {
    fn direct_bits(&self) -> u8 {
        self.0.direct_bits()
    }

    fn node_count(&self) -> usize {
        self.0.nodes_and_leaves().0
    }

    fn leaf_count(&self) -> usize {
        self.0.nodes_and_leaves().1
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn lookup(&self, address: A) -> u32 {
        self.0.lookup(address)
    }

    fn lookup_into(&self, _: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        self.0.lookup_batch(addresses, next_hops);
    }

    fn chain(&self, addresses: &[A]) {
        black_box(self.0.lookup_chain(addresses));
    }
}

/// A FIB and how long its compilation took.
pub struct Compiled<A> {
    /// The FIB.
    pub fib: Box<dyn AnyFib<A>>,
    /// From the routes in a Rib to a FIB that answers.
    pub compile_time: Duration,
}

impl<A> fmt::Debug for Compiled<A> {
    /// Not the millions of entries inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a FIB of {} bytes", self.fib.bytes())
    }
}

/// Builds `algorithm` from `rib`: that of a paper with 16-bit next hops, or with 32-bit ones
/// where the routes need them and the algorithm has them. What `options` say
/// is for Poptries.
///
/// # Errors
/// [`CannotBuild`]: the table goes beyond a limit of the structure, or `options`
/// ask for what cannot be.
pub fn build<A: Key>(
    rib: &Rib<A>,
    algorithm: Algorithm,
    options: &Options,
) -> Result<Compiled<A>, CannotBuild> {
    match algorithm {
        Algorithm::Popfib(size) => {
            let options = options.clone().size(size);
            timed(|| Ok(Fib::<A>::compile(rib, &options)?))
        }
        Algorithm::Poptrie => poptrie::<A, LeafvecNode>(rib, options),
        Algorithm::PoptrieBasic => poptrie::<A, BasicNode>(rib, options),
        Algorithm::Baseline(baseline) => timed(|| Ok(Paper(baseline.build(rib)?))),
    }
}

fn poptrie<A: Key, N: Node>(rib: &Rib<A>, options: &Options) -> Result<Compiled<A>, CannotBuild> {
    either_width(
        || {
            timed(|| {
                Ok(Paper(Box::new(Poptrie::<A, u16, N>::compile(
                    rib, options,
                )?)))
            })
        },
        || {
            timed(|| {
                Ok(Paper(Box::new(Poptrie::<A, u32, N>::compile(
                    rib, options,
                )?)))
            })
        },
    )
}

fn timed<A, F: AnyFib<A> + 'static>(
    compile: impl FnOnce() -> Result<F, CannotBuild>,
) -> Result<Compiled<A>, CannotBuild> {
    let start = Instant::now();
    let fib = Box::new(compile()?);
    let compile_time = start.elapsed();
    Ok(Compiled { fib, compile_time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::{NextHop, Prefix};

    fn answer(fib: &dyn AnyFib<u32>, address: u32) -> u32 {
        let mut next_hops = [u32::MAX];
        fib.lookup_into(Kernel::best(), &[address], &mut next_hops);
        next_hops[0]
    }

    #[test]
    fn leaves_are_32_bits_wide_where_a_next_hop_needs_it() {
        let options = Options::default().direct_bits(Some(8));
        for algorithm in [
            Algorithm::Popfib(Size::Smallest),
            Algorithm::Popfib(Size::Balanced),
            Algorithm::Poptrie,
            Algorithm::PoptrieBasic,
        ] {
            let mut rib = Rib::<u32>::new();
            for (text, next_hop) in [("10.0.0.0/8", 65_535), ("10.1.0.0/16", 1)] {
                let prefix: Prefix<u32> = text.parse().unwrap();
                rib.insert(prefix, NextHop::new(next_hop).unwrap());
            }
            let fib = build(&rib, algorithm, &options).unwrap().fib;
            assert_eq!(answer(&*fib, 0x0a00_0001), 65_535);

            rib.insert(
                "10.2.0.0/16".parse().unwrap(),
                NextHop::new(65_536).unwrap(),
            );
            let fib = build(&rib, algorithm, &options).unwrap().fib;
            assert_eq!(answer(&*fib, 0x0a02_0001), 65_536);
            assert_eq!(answer(&*fib, 0x0a01_0001), 1);
            assert_eq!(answer(&*fib, 0x0b00_0000), 0);
            assert_eq!(fib.lookup(0x0a02_0001), 65_536);
            assert_eq!(fib.direct_bits(), 8);
        }
    }
}
