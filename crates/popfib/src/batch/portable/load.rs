//! What the portable kernel reads that a writer may store meanwhile, by the cheapest load that the CPU has for it.
//!
//! On x86-64 every load acquires. On AArch64 an `Acquire` load is `ldar`: it takes an address only from one register,
//! and all later loads wait for it, those of other lookups too. A plain `ldr` is enough inside of a batch. What is
//! read of a block is read at an address that was computed from the pointer to it, and the CPU keeps such reads in
//! order ("address dependency" in the Arm Architecture Reference Manual, B2.3; Linux's `rcu_dereference` relies on it
//! too). The compiler cannot take the dependency away, for it does not know what assembly gives. What the caller does
//! with the answers need not depend on them: [`acquire`], once at the end of a batch, orders it. An aligned load of 32
//! bits is single-copy atomic (B2.2); one that is not aligned meets no store, as `batch/mod.rs` says.

use crate::address::Address;
use crate::fib::arrays::{FibView, FibWord};

pub(super) use ordered::{acquire, pointer_at};

// Without an operating system the CPU may refuse to read words from any byte.
#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(target_os = "none"),
    not(any(miri, popfib_no_asm))
))]
mod ordered {
    use core::arch::asm;
    use core::sync::atomic::{Ordering, fence};

    use super::FibWord;

    /// The pointer at `index`.
    ///
    /// # Safety
    /// `index` is inside of `words`.
    #[inline(always)]
    pub(crate) unsafe fn pointer_at(words: &[FibWord], index: usize) -> u32 {
        debug_assert!(index < words.len());
        let bits: u32;
        // SAFETY: the caller's; the word is aligned.
        unsafe {
            asm!(
                "ldr {bits:w}, [{words}, {index}, lsl #2]",
                bits = lateout(reg) bits,
                words = in(reg) words.as_ptr(),
                index = in(reg) index,
                options(nostack, preserves_flags),
            );
        }
        bits
    }

    /// Orders all that was read before all that is read from here on.
    #[inline(always)]
    pub(crate) fn acquire() {
        fence(Ordering::Acquire);
    }
}
#[cfg(not(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(target_os = "none"),
    not(any(miri, popfib_no_asm))
)))]
mod ordered {
    pub(crate) use crate::fib::lookup::word as pointer_at;

    /// Nothing: [`pointer_at`] has acquired.
    #[inline(always)]
    pub(crate) fn acquire() {}
}

/// The root's entry for `address`.
#[inline(always)]
pub(super) fn root_entry<A: Address>(view: FibView<'_>, address: A) -> u32 {
    // SAFETY: invariant 1: the root has as many entries as `root_bits` number.
    unsafe { pointer_at(view.root, address.leading(view.root_bits) as usize) }
}

/// Of the values of the block at `place` the 32 bits that byte `last` of them ends,
/// moved down by `shift`, which is below 32. At worst they begin in the second word of
/// `runs`; in a wide block they are one word.
///
/// One instruction where the CPU loads from any byte: stable Rust has no atomic loads
/// across words, and a plain one may not meet a store. `batch/mod.rs` says why this may.
///
/// # Safety
/// A block of `arena` has that byte; the CPU has BMI2 if `READ` says so.
#[inline(always)]
pub(super) unsafe fn byte_read<const READ: u8>(
    arena: &[FibWord],
    place: usize,
    last: usize,
    shift: u64,
) -> u32 {
    debug_assert!(4 * place + 8 + last < size_of_val(arena) && shift < 32);
    // Miri knows no assembly and ThreadSanitizer does not see it; they get the reads
    // of other CPUs.
    #[cfg(all(
        target_arch = "x86_64",
        target_pointer_width = "64",
        not(any(miri, popfib_no_asm))
    ))]
    {
        use core::arch::asm;
        const { assert!(size_of::<*const FibWord>() == 8, "a whole register") };
        let bits: u32;
        let arena = arena.as_ptr().wrapping_byte_add(last);
        // SAFETY: inside the block.
        unsafe {
            if READ == super::BYTES_BMI2 {
                asm!(
                    "shrx {bits:e}, dword ptr [{arena} + 4 * {place} + 5], {shift:e}",
                    bits = lateout(reg) bits,
                    arena = in(reg) arena,
                    place = in(reg) place,
                    shift = in(reg) shift,
                    options(nostack, preserves_flags),
                );
                return bits;
            }
            asm!(
                "mov {bits:e}, dword ptr [{arena} + 4 * {place} + 5]",
                bits = lateout(reg) bits,
                arena = in(reg) arena,
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
        return bits >> shift;
    }
    #[cfg(all(
        target_arch = "aarch64",
        target_endian = "little",
        not(target_os = "none"),
        not(any(miri, popfib_no_asm))
    ))]
    {
        use core::arch::asm;
        let bits: u32;
        // SAFETY: inside the block.
        unsafe {
            asm!(
                "ldr {bits:w}, [{arena}, {place}, lsl #2]",
                bits = lateout(reg) bits,
                arena = in(reg) arena.as_ptr().wrapping_byte_add(5).wrapping_byte_add(last),
                place = in(reg) place,
                options(nostack, preserves_flags),
            );
        }
        return bits >> shift;
    }
    // Without threads nobody stores meanwhile, and a plain load will do.
    #[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
    {
        let bytes = arena.as_ptr().cast::<u8>();
        // SAFETY: inside the block.
        let bits = unsafe {
            bytes
                .add(4 * place + 5 + last)
                .cast::<u32>()
                .read_unaligned()
        };
        return bits >> shift;
    }
    #[allow(unreachable_code, reason = "where there is something cheaper")]
    {
        let byte = 4 * place + 5 + last;
        // SAFETY: the words that the first and the last of four bytes lie in.
        let (low, high) = unsafe {
            (
                pointer_at(arena, byte / 4),
                pointer_at(arena, byte.div_ceil(4)),
            )
        };
        let both = u64::from(low) | u64::from(high) << 32;
        (both >> (byte % 4 * 8)) as u32 >> shift
    }
}
