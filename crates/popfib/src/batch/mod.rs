//! Lookups of many addresses at once, by the best code for the CPU.
//!
//! A *kernel* is one way to look up a slice of addresses in the arrays of a Fib.
//! All give the answers of `lookup`. They differ in the instructions that they
//! need and in how many lookups they keep under way at a time. Each has a file
//! of its own, with one function, `lookup_batch`. This file says which of
//! them a CPU can run, and picks the one that CPUs of its kind are quickest with.
//!
//! Builds without vector registers, as kernels of operating systems are, have no vector kernels. Nor have builds
//! with addresses of 32 bits (x32): the assembly takes an address as a whole register.
//!
//! # Reads while a writer stores
//!
//! A writer may store a pointer (an entry of the root or of a page, a value of a wide
//! block: one aligned word, atomically) while kernels load it. All else of a block that they
//! may reach does not change (see `FibWord`). The language has atomic loads for single
//! words, but none for vectors and none across words; and a plain load that meets a
//! store is undefined behaviour, whatever the CPU does. So pointers are read into
//! vectors by inline assembly. To the compiler such an assembly block may do whatever Rust code
//! in its place may do. These do no more than `Acquire` loads of the words they touch
//! could do, shifted together where a read begins inside a word:
//!
//! - Each lane that reads a pointer reads one aligned word, by an element of 32 bits.
//!   Narrow values are read from any byte on, and pairs of words (`runs`) in 64 bits;
//!   parts of those may be of different times, but nobody stores there. No read goes
//!   beyond the block, so none meets a writer who prepares the next one.
//! - An aligned load of 32 bits is never torn: the manuals of Intel (volume 3, "Guaranteed
//!   Atomic Operations") and AMD (volume 2, "Access Atomicity") promise that for loads in
//!   general. Of gathers they say that each element is an access of its own, in any order,
//!   and nothing of their atomicity; we know of no CPU that splits an aligned element,
//!   and the tests in `tests/race.rs` watch for one.
//! - A block is read at an address that was computed from the pointer to it, so after
//!   that pointer; and x86-64 keeps loads in order anyway, and stores. AArch64 does not: there
//!   the portable kernel relies on the address inside of a batch, and a fence ends the batch
//!   (`portable/load.rs`).
//! - The assembly blocks lack `pure`, `nomem` and `readonly`. So the compiler neither repeats nor
//!   drops them nor moves other accesses to memory across them, which makes them as
//!   strong as `Acquire`. They are in order among each other for the compiler only; the
//!   CPU overlaps them as it does with intrinsics.

#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2"
))]
mod avx2;
#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2"
))]
mod avx512;
mod cpu;
#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2"
))]
mod flat;
mod portable;

#[cfg(test)]
mod tests;

use alloc::string::String;
use core::error::Error;
use core::fmt;

use crate::address::{Address, KeySlice};
use crate::fib::arrays::FibView;
use crate::fib::lookup::{lookup_each, lookup_in_table};

/// Addresses that are turned from network order at a time, on the stack.
const TURNED: usize = 256;

/// The widest values that a read of 32 bits at any byte holds whole.
const BYTE_READ_BITS: u8 = 25;

/// A way to look up many addresses, proven to run on this CPU.
///
/// A value can only be had for a kernel that the CPU supports, so whoever holds
/// one may use it. Kernels give the same answers and differ in speed only;
/// [`Fib::lookup_batch`](crate::Fib::lookup_batch) takes the best.
///
/// ```
/// use popfib::Kernel;
///
/// assert_eq!(Kernel::by_name("scalar")?.name(), "scalar");
/// assert!(Kernel::list().any(|kernel| kernel == Kernel::best()));
/// assert!(Kernel::by_name("fastest").is_err());
/// # Ok::<(), popfib::kernel::KernelError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(KernelKind);

/// The kernels, those that need more instructions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KernelKind {
    Scalar,
    Portable,
    Avx2,
    Avx512Bw,
    Avx512,
}

impl KernelKind {
    const ALL: [Self; 5] = [
        Self::Scalar,
        Self::Portable,
        Self::Avx2,
        Self::Avx512Bw,
        Self::Avx512,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512Bw => "avx512bw",
            Self::Avx512 => "avx512",
        }
    }

    fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            Self::Avx2 => cpu::has_avx2(),
            Self::Avx512Bw => cpu::has_avx512bw(),
            Self::Avx512 => cpu::has_avx512(),
        }
    }
}

impl Kernel {
    /// The names of all kernels, whether this CPU can run them or not:
    ///
    /// * `scalar`: one by one, as [`Fib::lookup`](crate::Fib::lookup) does;
    /// * `portable`: several lookups overlapped, on any CPU;
    /// * `avx2`: x86-64 with AVX2;
    /// * `avx512bw`: x86-64 with AVX-512 F, BW, DQ and VL;
    /// * `avx512`: these and VPOPCNTDQ.
    pub const ALL_NAMES: &[&str] = &{
        let mut names = [""; KernelKind::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = KernelKind::ALL[index].name();
            index += 1;
        }
        names
    };

    /// The kernels that this CPU can run, in the order of [`Kernel::ALL_NAMES`].
    ///
    /// Without the feature `std` the CPU is not asked: those whose instructions
    /// the whole build may use.
    pub fn list() -> impl Iterator<Item = Self> {
        KernelKind::ALL
            .into_iter()
            .filter(|kind| kind.is_available())
            .map(Self)
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`KernelError`] if there is no such kernel, or this CPU can't run it.
    pub fn by_name(name: &str) -> Result<Self, KernelError> {
        let Some(kind) = KernelKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            return Err(KernelError::Unknown { name: name.into() });
        };
        if !kind.is_available() {
            return Err(KernelError::Unavailable { name: kind.name() });
        }
        Ok(Self(kind))
    }

    /// The kernel that the environment variable `POPFIB_KERNEL` names; `None` if it is not set.
    ///
    /// Programs that prefer an error to the panic of [`Kernel::best`] call this first.
    ///
    /// # Errors
    /// [`KernelError`] if there is no such kernel, or this CPU can't run it.
    #[cfg(feature = "std")]
    pub fn from_env() -> Result<Option<Self>, KernelError> {
        std::env::var_os("POPFIB_KERNEL")
            .map(|name| Self::by_name(&name.to_string_lossy()))
            .transpose()
    }

    /// The kernel that lookups take where none is given, chosen once in the life of the
    /// process: that of the environment variable `POPFIB_KERNEL`, else the last of [`Kernel::list`],
    /// as it always is without the feature `std`.
    ///
    /// # Panics
    /// If `POPFIB_KERNEL` names no kernel, or one that this CPU can't run: a
    /// measurement with a mistyped name should not be one of another kernel.
    /// [`Kernel::from_env`] is the same without a panic.
    #[inline]
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Kernel> = std::sync::OnceLock::new();
            *BEST.get_or_init(|| match Self::from_env() {
                Ok(forced) => forced.unwrap_or_else(Self::last),
                Err(error) => panic!("POPFIB_KERNEL: {error}"),
            })
        }
        #[cfg(not(feature = "std"))]
        Self::last()
    }

    fn last() -> Self {
        Self::list().last().unwrap_or(Self(KernelKind::Scalar))
    }

    /// The name, one of [`Kernel::ALL_NAMES`].
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Looks up each of `addresses` into the same place of `next_hops`.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub(crate) fn lookup_batch<A: Address>(
        self,
        view: FibView<'_>,
        addresses: &[A],
        next_hops: &mut [u32],
    ) {
        assert_eq!(
            addresses.len(),
            next_hops.len(),
            "one next hop for each address"
        );
        // Functions without type parameters are compiled here once, others in each program that calls them
        // (docs/experiments/build.md, 145).
        macro_rules! by_type {
            ($($keys:ident $key:ty;)*) => {
                match A::keys(addresses) {
                    $(KeySlice::$keys(addresses) => {
                        fn run(
                            kernel: Kernel,
                            view: FibView<'_>,
                            addresses: &[$key],
                            next_hops: &mut [u32],
                        ) {
                            kernel.run(view, addresses, next_hops);
                        }
                        run(self, view, addresses, next_hops);
                    })*
                }
            };
        }
        by_type! {
            U8 u8;
            U16 u16;
            U32 u32;
            U64 u64;
            U128 u128;
        }
    }

    /// [`Kernel::lookup_batch`] of slices of the same length.
    fn run<A: Address>(self, view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
        if view.is_flat {
            return self.run_flat(view, addresses, next_hops);
        }
        match self.0 {
            KernelKind::Scalar => {
                ran(KernelKind::Scalar);
                lookup_each(view, addresses, next_hops);
            }
            KernelKind::Portable => {
                ran(KernelKind::Portable);
                portable::lookup_batch(view, addresses, next_hops);
            }
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx2 => {
                ran(KernelKind::Avx2);
                // SAFETY: a `Kernel` is made only where the CPU has the instructions.
                unsafe { avx2::lookup_batch(view, addresses, next_hops) }
            }
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx512Bw => {
                // SAFETY: as above.
                unsafe { avx512::lookup_batch_bw(view, addresses, next_hops) }
            }
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx512 => {
                // SAFETY: as above.
                unsafe { avx512::lookup_batch(view, addresses, next_hops) }
            }
            #[cfg(not(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            )))]
            _ => unreachable!("kernels of other builds are not available"),
        }
    }

    /// [`Kernel::run`] for flat tables. In a function of its own: inside of the kernels' own, it cost other tables 6 %.
    #[inline(never)]
    fn run_flat<A: Address>(self, view: FibView<'_>, addresses: &[A], next_hops: &mut [u32]) {
        ran(self.0);
        match self.0 {
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx512 | KernelKind::Avx512Bw => {
                // SAFETY: a `Kernel` is made only where the CPU has the instructions.
                unsafe {
                    if A::WIDTH > 32 {
                        avx512::lookup_batch_flat(view, addresses, next_hops);
                    } else {
                        avx512::flat::lookup_batch(view, addresses, next_hops);
                    }
                }
            }
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx2 if A::WIDTH >= 32 => {
                // SAFETY: as above.
                unsafe {
                    if A::WIDTH > 32 {
                        avx2::lookup_batch_flat(view, addresses, next_hops);
                    } else {
                        avx2::flat::lookup_batch(view, addresses, next_hops);
                    }
                }
            }
            // Nothing waits for what was read, so the CPU overlaps the lookups of a plain loop.
            _ => lookup_each(view, addresses, next_hops),
        }
    }

    /// Looks up each of `addresses` in the table of a set that has its number in the same place of `tables`. `view` is that of
    /// the set, whose invariants hold.
    ///
    /// # Panics
    /// If the slices have different lengths.
    pub(crate) fn lookup_tables<A: Address>(
        self,
        view: FibView<'_>,
        tables: &[u32],
        addresses: &[A],
        next_hops: &mut [u32],
    ) {
        let len = addresses.len();
        assert_eq!(tables.len(), len, "one table for each address");
        assert_eq!(next_hops.len(), len, "one next hop for each address");
        ran(self.0);
        match self.0 {
            #[cfg(all(
                target_arch = "x86_64",
                target_pointer_width = "64",
                target_feature = "sse2"
            ))]
            KernelKind::Avx512 => {
                // SAFETY: a `Kernel` is made only where the CPU has the instructions.
                unsafe { avx512::tables::lookup_batch(view, tables, addresses, next_hops) }
            }
            // Nothing waits for what was read but the rest of the same lookup, so the CPU overlaps some of a plain loop.
            _ => {
                for ((table, address), next_hop) in tables.iter().zip(addresses).zip(next_hops) {
                    *next_hop = lookup_in_table(view, *table, *address);
                }
            }
        }
    }

    /// As [`Kernel::lookup_batch`], of addresses in network order.
    pub(crate) fn lookup_batch_be<A: Address>(
        self,
        view: FibView<'_>,
        addresses: &[A::Bytes],
        next_hops: &mut [u32],
    ) {
        assert_eq!(
            addresses.len(),
            next_hops.len(),
            "one next hop for each address"
        );
        let mut keys = [A::MIN; TURNED];
        for (addresses, next_hops) in addresses.chunks(TURNED).zip(next_hops.chunks_mut(TURNED)) {
            let keys = &mut keys[..addresses.len()];
            for (key, bytes) in keys.iter_mut().zip(addresses) {
                *key = A::from_be_bytes(*bytes);
            }
            self.lookup_batch(view, keys, next_hops);
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why there is no kernel for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelError {
    /// No kernel has this name.
    Unknown {
        /// The requested name.
        name: String,
    },
    /// This CPU can't run the kernel.
    Unavailable {
        /// The kernel's name.
        name: &'static str,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                write!(f, "no kernel `{}`: ", name.escape_debug())?;
                list_names(f, Kernel::ALL_NAMES.iter().copied())
            }
            Self::Unavailable { name } => {
                write!(f, "this CPU can't run the kernel `{name}`, only ")?;
                list_names(f, Kernel::list().map(Kernel::name))
            }
        }
    }
}

/// Names, a comma between two.
fn list_names<'a>(f: &mut fmt::Formatter<'_>, names: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (index, name) in names.enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{name}")?;
    }
    Ok(())
}

impl Error for KernelError {}

#[cfg(test)]
std::thread_local! {
    /// The kernel that this thread ran last.
    static LAST_RUN: core::cell::Cell<Option<KernelKind>> = const { core::cell::Cell::new(None) };
}

/// Each kernel calls this with its own kind: a test proves which kernel ran.
#[inline(always)]
fn ran(_kind: KernelKind) {
    #[cfg(test)]
    LAST_RUN.set(Some(_kind));
}
