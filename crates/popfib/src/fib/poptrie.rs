//! The Fib, a Poptrie compiled for lookups.
//!
//! A Fib is a root table and an arena of blocks (see `layout.rs`). It is made from a Rib in one pass
//! (`compile.rs`), and read by `lookup.rs` and the kernels of `batch`.

use core::marker::PhantomData;

use super::arrays::{FibArrays, FibView};
use super::compile::CompiledArrays;
use super::flat;
use super::words::FibWords;
use super::{CheckError, Options, Size, check, lookup};
use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::memory::{Allocator, Global, OutOfMemory};
use crate::next_hop::MAX_NEXT_HOP;
use crate::rib::Rib;

/// A compiled Poptrie: from addresses `A` to next hops.
///
/// Inside, a next hop takes as few bits as the highest one needs. A lookup
/// takes at most 2 + (width - s) / 6 steps and does not allocate.
///
/// ```
/// use popfib::{Fib, NextHop, Options, Rib};
///
/// let mut rib = Rib::<u32>::new();
/// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// rib.insert("10.1.0.0/16".parse()?, NextHop::new(2).unwrap());
/// let fib: Fib<u32> = Fib::compile(&rib, &Options::default())?;
/// assert_eq!(fib.lookup(0x0a01_0203), 2);
/// assert_eq!(fib.lookup(0x0a02_0203), 1);
/// assert_eq!(fib.lookup(0x0b00_0000), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Fib<A: Address, Al: Allocator = Global> {
    arrays: FibArrays<Al>,
    nodes: usize,
    leaves: usize,
    types: PhantomData<fn(A)>,
}

impl<A: Address> Fib<A> {
    /// Compiles the routes of `rib`.
    ///
    /// O(routes * key width / 6 + entries) time; for a moment it takes twice the
    /// memory of the Fib, and a few KiB.
    ///
    /// # Errors
    /// [`CompileError`]: direct bits out of range, the next hop of a route above
    /// 2^31 - 1, more than 2 GiB of blocks, or no memory.
    pub fn compile(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
    ) -> Result<Self, CompileError> {
        Self::compile_in(rib, options, Global)
    }
}

impl<A: Address, Al: Allocator + Clone> Fib<A, Al> {
    /// As [`compile`](Fib::compile), with all memory from `alloc`, including temporary memory.
    ///
    /// The Fib asks for one allocation, aligned to 64 bytes; with the feature
    /// `std` on Linux from 1 MiB on first for whole huge pages of 2 MiB, then, if
    /// that is refused, without.
    ///
    /// # Errors
    /// As [`compile`](Fib::compile); what was allocated until then is freed.
    pub fn compile_in(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
        alloc: Al,
    ) -> Result<Self, CompileError> {
        let compiled = flat::compile::<A, Al>(rib, options, 0, alloc.clone())?;
        Self::from_compiled(compiled, alloc)
    }

    /// With flat blocks, if that takes at most `max_bytes`, as [`flat::flat`] has it.
    #[cfg(test)]
    pub(crate) fn flat(
        rib: &Rib<A, impl Allocator + Clone>,
        options: &Options,
        max_bytes: usize,
        alloc: Al,
    ) -> Result<Option<Self>, CompileError> {
        let compiled = flat::flat::<A, Al>(rib, options, 0, max_bytes, alloc.clone())?;
        let fib = compiled.map(|compiled| Self::from_compiled(compiled, alloc));
        fib.transpose()
    }

    fn from_compiled(mut compiled: CompiledArrays<Al>, alloc: Al) -> Result<Self, CompileError> {
        let arrays = FibArrays::copy_of(compiled.view(), alloc)?;
        Ok(Self::from_arrays(arrays, compiled.nodes, compiled.leaves))
    }

    /// The Fib of `arrays`, for which [`Fib::check`]'s invariants hold.
    pub(crate) fn from_arrays(arrays: FibArrays<Al>, nodes: usize, leaves: usize) -> Self {
        Self {
            arrays,
            nodes,
            leaves,
            types: PhantomData,
        }
    }

    /// The same Fib in memory of its own, or sharing the memory of its image.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn try_clone(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            arrays: self.arrays.try_clone()?,
            ..*self
        })
    }
}

impl<A: Address, Al: Allocator> Fib<A, Al> {
    /// The next hop of the longest prefix that contains `address`; 0 if there is none.
    #[inline]
    pub fn lookup(&self, address: A) -> u32 {
        lookup::lookup(self.arrays.view(), address)
    }

    /// Looks up each of `addresses` and writes its next hop to the same place of `next_hops`; 0 if there is
    /// none.
    ///
    /// The answers are those of [`Fib::lookup`]. The slices may have any length
    /// and alignment; from 64 addresses on, the lookups overlap. Which code runs
    /// is [`Kernel::best`]'s choice.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    ///
    /// ```
    /// use popfib::{Fib, NextHop, Options, Rib};
    ///
    /// let mut rib = Rib::<u32>::new();
    /// rib.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
    /// let fib: Fib<u32> = Fib::compile(&rib, &Options::default())?;
    /// let mut next_hops = [0; 2];
    /// fib.lookup_batch(&[0x0a01_0203, 0x0b00_0000], &mut next_hops);
    /// assert_eq!(next_hops, [1, 0]);
    /// fib.lookup_batch_be(&[[10, 1, 2, 3], [11, 0, 0, 0]], &mut next_hops);
    /// assert_eq!(next_hops, [1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookup_batch(&self, addresses: &[A], next_hops: &mut [u32]) {
        self.lookup_batch_with(Kernel::best(), addresses, next_hops);
    }

    /// As [`Fib::lookup_batch`], by the given kernel.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn lookup_batch_with(&self, kernel: Kernel, addresses: &[A], next_hops: &mut [u32]) {
        kernel.lookup_batch(self.arrays.view(), addresses, next_hops);
    }

    /// Hands out what [`Fib::lookup_batch_with`] finds for each of `addresses`, with its place, in order: for
    /// answers that are made of next hops. The lookups are made a few hundred at a time; nothing is allocated.
    #[inline]
    pub(crate) fn lookup_each_with(
        &self,
        kernel: Kernel,
        addresses: &[A],
        mut found: impl FnMut(usize, u32),
    ) {
        let mut next_hops = [0; 256];
        let mut at = 0;
        for addresses in addresses.chunks(next_hops.len()) {
            let next_hops = &mut next_hops[..addresses.len()];
            self.lookup_batch_with(kernel, addresses, next_hops);
            for next_hop in next_hops {
                found(at, *next_hop);
                at += 1;
            }
        }
    }

    /// As [`Fib::lookup_batch`], of addresses in network order, as they stand in
    /// packets: `[u8; 4]` for IPv4, `[u8; 16]` for IPv6.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    pub fn lookup_batch_be(&self, addresses: &[A::Bytes], next_hops: &mut [u32]) {
        Kernel::best().lookup_batch_be::<A>(self.arrays.view(), addresses, next_hops);
    }

    /// The arrays, for those who copy them.
    pub fn words(&self) -> FibWords<'_> {
        FibWords(self.arrays.view())
    }

    /// The arrays, for images, and for tests of the kernels.
    pub(crate) fn arrays(&self) -> FibView<'_> {
        self.arrays.view()
    }

    /// The number of leading bits that tables resolve (the paper's s).
    pub fn direct_bits(&self) -> u8 {
        let view = self.arrays.view();
        view.root_bits + view.page_bits
    }

    /// The size that it has: a smaller one than was asked for, where that does not suit the routes.
    pub fn size(&self) -> Size {
        self.arrays.view().size()
    }

    /// The number of nodes (the paper's "inodes"): blocks of 64 slots.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The number of leaves in nodes, runs of equal next hops counted once.
    /// Those that the tables hold themselves are not counted, as in the paper.
    pub fn leaf_count(&self) -> usize {
        self.leaves
    }

    /// Bytes of the root table and of the pages and blocks.
    pub fn bytes(&self) -> usize {
        let view = self.arrays.view();
        size_of_val(view.root) + size_of_val(view.arena)
    }

    /// Verifies every invariant of the layout that unchecked lookups rely on.
    /// Temporarily takes memory from the global allocator.
    ///
    /// # Errors
    /// The first invariant found broken; never for a Fib that was compiled.
    pub fn check(&self) -> Result<(), CheckError> {
        let view = self.arrays.view();
        match check::check::<A>(view) {
            // The tables of an image may have blocks in common.
            Err(CheckError::Shared { .. }) if self.arrays.is_shared() => {
                let mut arena = check::SharedArena::default();
                check::check_answers::<A>(view, MAX_NEXT_HOP, Some(&mut arena))
            }
            checked => checked,
        }
    }
}

impl<A: Address, Al: Allocator + Clone> Clone for Fib<A, Al> {
    /// Aborts the program if memory is exhausted; see [`try_clone`](Fib::try_clone).
    fn clone(&self) -> Self {
        match self.try_clone() {
            Ok(clone) => clone,
            Err(error) => error.abort(),
        }
    }
}
