//! The atomic operations of the live table's clock: the language's, or those of
//! the model checker loom, which tries their orders (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, compiler_fence, fence,
};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, fence};

/// Loom's compiler keeps the order as it is.
#[cfg(loom)]
#[inline(always)]
pub(crate) fn compiler_fence(_: core::sync::atomic::Ordering) {}
