//! Many tables over one arena: a table number with each address.
//!
//! Poptrie's small blocks serve thousands of tables where others take a large root for each: here a table is one pointer,
//! and equal blocks of all tables are stored once. There are no root tables. Each block resolves the next 6 bits from the
//! first on, so all lookups of a burst are at the same depth, whatever their tables. Where a block has many values it is flat
//! (`layout.rs`), if the options ask for the higher rate.

pub(crate) mod block;
mod check;
pub(crate) mod compile;
mod fold_fibs;

use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use crate::address::Address;
use crate::batch::Kernel;
use crate::compile_error::CompileError;
use crate::fib::arrays::{FibArrays, FibView};
use crate::fib::lookup::lookup_in_table;
use crate::fib::{CheckError, FibWords, Options};
use crate::memory::{Allocator, Global};
use crate::rib::Rib;

/// Compiled tables by number: from a table and an address to a next hop.
///
/// Equal parts of tables are stored once, so tables that are nearly the same take little more than one, and a small
/// one takes some hundred bytes. Tables are numbered from 0 in the order in which they are compiled. A lookup takes at most
/// 1 + key width / 6 steps and does not allocate.
///
/// For longest matches let the next hops of the Ribs be those of [`longest::number`](crate::longest::number).
///
/// ```
/// use popfib::{FibSet, NextHop, Options, Rib};
///
/// let (mut red, mut blue) = (Rib::<u32>::new(), Rib::<u32>::new());
/// red.insert("10.0.0.0/8".parse()?, NextHop::new(1).unwrap());
/// blue.insert("10.0.0.0/8".parse()?, NextHop::new(2).unwrap());
/// let tables = FibSet::compile([&red, &blue], &Options::default())?;
/// assert_eq!(tables.lookup(0, 0x0a01_0203), 1);
/// assert_eq!(tables.lookup(1, 0x0a01_0203), 2);
/// let mut next_hops = [0; 2];
/// tables.lookup_batch(&[1, 7], &[0x0a01_0203; 2], &mut next_hops);
/// assert_eq!(next_hops, [2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FibSet<A: Address, Al: Allocator = Global> {
    /// The root holds the pointer of each table, and zeros after the last.
    arrays: FibArrays<Al>,
    len: AtomicUsize,
    types: PhantomData<fn(A)>,
}

impl<A: Address> FibSet<A> {
    /// The most tables that there can be.
    pub const MAX_TABLES: usize = 1 << 24;

    /// Compiles tables with the routes of `ribs`. [`Options::size`] says whether blocks with many values may be larger and
    /// take fewer steps; direct bits are not asked for, as no table has a root of its own.
    ///
    /// O(routes * key width / 6) time; for a moment it takes up to three times the memory of the tables.
    ///
    /// # Errors
    /// [`CompileError`]: more than [`FibSet::MAX_TABLES`] tables, a next hop above 2^31 - 1, more than 2 GiB of blocks, or no
    /// memory.
    pub fn compile<'r>(
        ribs: impl IntoIterator<Item = &'r Rib<A>, IntoIter: Clone>,
        options: &Options,
    ) -> Result<Self, CompileError> {
        Self::compile_in(ribs, options, Global)
    }
}

impl<A: Address, Al: Allocator + Clone> FibSet<A, Al> {
    /// As [`compile`](FibSet::compile), with all memory from `alloc`, including temporary memory.
    ///
    /// # Errors
    /// As [`compile`](FibSet::compile); what was allocated until then is freed.
    pub fn compile_in<'r, R: Allocator + Clone + 'r>(
        ribs: impl IntoIterator<Item = &'r Rib<A, R>, IntoIter: Clone>,
        options: &Options,
        alloc: Al,
    ) -> Result<Self, CompileError> {
        let compiled = compile::compile(ribs.into_iter(), options, alloc.clone())?;
        Self::of_compiled(compiled, alloc)
    }

    fn of_compiled(
        mut compiled: compile::CompiledTables<Al>,
        alloc: Al,
    ) -> Result<Self, CompileError> {
        let arrays = FibArrays::copy_of(compiled.view(), alloc)?;
        Ok(Self::of(arrays, compiled.tables))
    }
}

impl<A: Address, Al: Allocator> FibSet<A, Al> {
    /// The set of these arrays, which has the invariants of `check.rs`.
    pub(crate) fn of(arrays: FibArrays<Al>, len: usize) -> Self {
        Self {
            arrays,
            len: AtomicUsize::new(len),
            types: PhantomData,
        }
    }

    pub(crate) fn view(&self) -> FibView<'_> {
        self.arrays.view()
    }

    /// The arrays: the root has the pointer of each table, and zeros after the last.
    pub fn words(&self) -> FibWords<'_> {
        FibWords(self.view())
    }

    /// Tables below `len` may have a pointer from now on; the root is as long.
    pub(crate) fn lengthen(&self, len: usize) {
        self.len.fetch_max(len, Relaxed);
    }

    /// The next hop of the longest prefix of this table that contains `address`; 0 if there is none, or no such table.
    #[inline]
    pub fn lookup(&self, table: u32, address: A) -> u32 {
        lookup_in_table(self.arrays.view(), table, address)
    }

    /// Looks up each of `addresses` in the table that is in the same place of `tables`, and writes its next hop to that place of
    /// `next_hops`; 0 if there is none, or no such table.
    ///
    /// The answers are those of [`FibSet::lookup`]. Which code runs is [`Kernel::best`]'s choice; only that of the kernel `avx512`
    /// overlaps the lookups.
    ///
    /// # Panics
    /// If the slices have different lengths, and where [`Kernel::best`] panics.
    pub fn lookup_batch(&self, tables: &[u32], addresses: &[A], next_hops: &mut [u32]) {
        self.lookup_batch_with(Kernel::best(), tables, addresses, next_hops);
    }

    /// As [`FibSet::lookup_batch`], with the kernel given.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub fn lookup_batch_with(
        &self,
        kernel: Kernel,
        tables: &[u32],
        addresses: &[A],
        next_hops: &mut [u32],
    ) {
        kernel.lookup_tables(self.arrays.view(), tables, addresses, next_hops);
    }

    /// The number of tables. All numbers of tables are lower.
    pub fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all tables: their pointers and blocks.
    pub fn bytes(&self) -> usize {
        self.arrays.bytes()
    }

    /// Bytes of the blocks that this table leads to, those that it shares with others among them; 0 if there is no such table.
    /// Temporarily takes memory from the global allocator. O(blocks of the table).
    pub fn table_bytes(&self, table: u32) -> usize {
        check::words_below(self.arrays.view(), table) * size_of::<u32>()
    }

    /// Verifies every invariant of the layout that unchecked lookups rely on. Temporarily takes memory from the global allocator.
    /// O(tables + words of the arena).
    ///
    /// # Errors
    /// The first invariant found broken; never for tables that were compiled.
    pub fn check(&self) -> Result<(), CheckError> {
        check::check::<A>(self.arrays.view(), self.len())
    }
}

impl<A: Address, Al: Allocator> fmt::Debug for FibSet<A, Al> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FibSet")
            .field("tables", &self.len())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
