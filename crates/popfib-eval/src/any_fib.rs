//! A compiled table whose structure and leaf width are chosen at run time.
//!
//! The library fixes both at compile time, so that no lookup branches on them.
//! Here they hide behind one trait object: a call goes through it once for
//! thousands of addresses, and the loop inside is monomorphic.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use popfib::{Address, CompileError, Fib, Kernel, Leaf, Options, Rib};
use popfib_baselines::poptrie::{BasicNode, LeafvecNode, Node, Poptrie};
use popfib_baselines::{CannotBuild, Key, Lpm, Width, dependent};

use crate::BURST;
use crate::algorithm::Algorithm;

/// A compiled table of any structure and leaf width.
pub trait AnyFib<A>: Send + Sync {
    /// Leading bits that the first array resolves.
    fn direct_bits(&self) -> u8;

    /// Nodes of a Poptrie; 0 for another structure.
    fn node_count(&self) -> usize;

    /// Leaves of a Poptrie; 0 for another structure.
    fn leaf_count(&self) -> usize;

    /// Bytes of the arrays that lookups read.
    fn bytes(&self) -> usize;

    /// Verifies the invariants of the layout.
    ///
    /// # Errors
    /// The invariant that does not hold, in one line.
    fn check(&self) -> Result<(), String>;

    /// The next hop of one address, 0 for none.
    fn lookup(&self, address: A) -> u32;

    /// Looks up each address and stores its next hop, 0 for none, at the same place.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]);

    /// Looks up every address and throws the answers away: the loop that is measured.
    fn pass(&self, kernel: Kernel, addresses: &[A]);

    /// Looks up each address once the answer before it is known; one by one, whatever the kernel.
    fn chain(&self, addresses: &[A]);
}

/// What the structures have in common: a batch lookup with the answers' own width.
trait Batch<A, L> {
    fn batch(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [L]);
}

impl<A: Address, L: Leaf> Batch<A, L> for Fib<A, L> {
    #[inline]
    fn batch(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [L]) {
        self.lookup_batch_with(kernel, addresses, next_hops);
    }
}

impl<A: Address, L: Width, N: Node> Batch<A, L> for Poptrie<A, L, N> {
    /// One by one: the paper has no other way, and `args` allows no other kernel.
    #[inline]
    fn batch(&self, _: Kernel, addresses: &[A], next_hops: &mut [L]) {
        self.lookup_batch(addresses, next_hops);
    }
}

fn lookup_into<A, L: Leaf>(
    fib: &impl Batch<A, L>,
    kernel: Kernel,
    addresses: &[A],
    next_hops: &mut [u32],
) {
    assert_eq!(addresses.len(), next_hops.len());
    let mut burst = [L::default(); BURST];
    for (block, next_hops) in addresses.chunks(BURST).zip(next_hops.chunks_mut(BURST)) {
        let burst = &mut burst[..block.len()];
        fib.batch(kernel, block, burst);
        for (next_hop, leaf) in next_hops.iter_mut().zip(burst) {
            *next_hop = leaf.to_u32();
        }
    }
}

fn pass<A, L: Leaf>(fib: &impl Batch<A, L>, kernel: Kernel, addresses: &[A]) {
    let mut burst = [L::default(); BURST];
    for block in addresses.chunks(BURST) {
        fib.batch(kernel, block, &mut burst[..block.len()]);
        // Every burst counts as read, so no lookup can be dropped.
        black_box(&mut burst);
    }
}

macro_rules! any_fib {
    (<$($parameter:ident: $bound:ident),*> $type:ty) => {
        impl<$($parameter: $bound),*> AnyFib<A> for $type {
            fn direct_bits(&self) -> u8 {
                <$type>::direct_bits(self)
            }

            fn node_count(&self) -> usize {
                <$type>::node_count(self)
            }

            fn leaf_count(&self) -> usize {
                <$type>::leaf_count(self)
            }

            fn bytes(&self) -> usize {
                <$type>::bytes(self)
            }

            fn check(&self) -> Result<(), String> {
                <$type>::check(self).map_err(|error| error.to_string())
            }

            fn lookup(&self, address: A) -> u32 {
                <$type>::lookup(self, address).to_u32()
            }

            fn lookup_into(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
                lookup_into::<A, L>(self, kernel, addresses, next_hops);
            }

            fn pass(&self, kernel: Kernel, addresses: &[A]) {
                pass::<A, L>(self, kernel, addresses);
            }

            fn chain(&self, addresses: &[A]) {
                black_box(dependent(addresses, |address| {
                    <$type>::lookup(self, address).to_u32()
                }));
            }
        }
    };
}

any_fib!(<A: Address, L: Leaf> Fib<A, L>);
any_fib!(<A: Address, L: Width, N: Node> Poptrie<A, L, N>);

/// An algorithm of [`Lpm`]: it has neither nodes nor leaves as a Poptrie has
/// them, and one way of its own to look up a batch.
struct Baseline<A>(Box<dyn Lpm<A>>);

impl<A: Key> AnyFib<A> for Baseline<A> {
    fn direct_bits(&self) -> u8 {
        self.0.direct_bits()
    }

    fn node_count(&self) -> usize {
        0
    }

    fn leaf_count(&self) -> usize {
        0
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    fn lookup(&self, address: A) -> u32 {
        self.0.lookup(address)
    }

    fn lookup_into(&self, _: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        self.0.lookup_batch(addresses, next_hops);
    }

    fn pass(&self, _: Kernel, addresses: &[A]) {
        let mut burst = [0; BURST];
        for block in addresses.chunks(BURST) {
            self.0.lookup_batch(block, &mut burst[..block.len()]);
            black_box(&mut burst);
        }
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

/// Builds `algorithm` from `rib`: with 16-bit next hops, or with 32-bit ones
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
    Ok(match algorithm {
        Algorithm::Popfib => either_width(
            || Fib::<A, u16>::compile(rib, options),
            || Fib::<A, u32>::compile(rib, options),
        )?,
        Algorithm::Poptrie => paper::<A, LeafvecNode>(rib, options)?,
        Algorithm::PoptrieBasic => paper::<A, BasicNode>(rib, options)?,
        Algorithm::Baseline(baseline) => timed(|| baseline.build(rib).map(Baseline))?,
    })
}

fn paper<A: Address, N: Node>(
    rib: &Rib<A>,
    options: &Options,
) -> Result<Compiled<A>, CompileError> {
    either_width(
        || Poptrie::<A, u16, N>::compile(rib, options),
        || Poptrie::<A, u32, N>::compile(rib, options),
    )
}

fn either_width<A, F16: AnyFib<A> + 'static, F32: AnyFib<A> + 'static>(
    compile_16: impl FnOnce() -> Result<F16, CompileError>,
    compile_32: impl FnOnce() -> Result<F32, CompileError>,
) -> Result<Compiled<A>, CompileError> {
    match timed(compile_16) {
        Err(CompileError::NextHop { .. }) => timed(compile_32),
        other => other,
    }
}

fn timed<A, F: AnyFib<A> + 'static, E>(
    compile: impl FnOnce() -> Result<F, E>,
) -> Result<Compiled<A>, E> {
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
            Algorithm::Popfib,
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
