//! A table that is made from its routes, with words to spare.

use allocator_api2::boxed::Box;

use super::Space;
use super::shared::SharedBlocks;
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::arrays::{FibArrays, FibView, FibWord, MAX_WORDS};
use crate::fib::flat;
use crate::fib::{Options, Size};
use crate::memory::Allocator;
use crate::rib::Rib;

/// A table as it is made, and what its writer knows of it.
pub(super) struct SpaciousTable<Al: Allocator> {
    pub(super) arrays: FibArrays<Al>,
    pub(super) space: Space<Al>,
    pub(super) shared: Option<Box<SharedBlocks<Al>, Al>>,
}

/// The compiled arrays of `rib` with words to spare, at least so many, and which these are.
pub(super) fn compile_spacious<A: Address, Al: Allocator + Clone>(
    rib: &Rib<A, Al>,
    options: &Options,
    highest: u32,
    spare: usize,
) -> Result<SpaciousTable<Al>, CompileError> {
    let alloc = rib.allocator().clone();
    let mut options = options.clone();
    // Flat blocks of keys of more than 32 bits lie below each other, and a change would make all above again: they are not flat.
    if A::WIDTH > 32 {
        options = options.size(Size::Smallest);
    }
    let mut compiled = flat::compile::<A, _>(rib, &options, highest, alloc.clone())?;
    let spare = spare.max(least_spare(compiled.view().root.len(), rib.len()));
    let (arrays, space) = spacious(compiled.view(), spare, alloc.clone())?;
    let shared = SharedBlocks::of(arrays.view(), alloc)?;
    Ok(SpaciousTable {
        arrays,
        space,
        shared,
    })
}

/// Whether an arena of flat blocks with words to spare is longer than these may be.
pub(super) fn is_too_large(words: usize) -> bool {
    words * size_of::<FibWord>() > 2 * flat::MAX_BYTES
}

/// Words that the arena of a table with so many routes has to spare at least. The blocks of one that compresses well are few, and an eighth
/// of them would be full after a change or two, while to move the table takes the time of its root, and to compile it that of all routes.
pub(super) fn least_spare(root_len: usize, routes: usize) -> usize {
    (root_len / 16).max(routes / 32)
}

/// A copy of the arrays with words to spare, at least so many, and which these are.
pub(super) fn spacious<Al: Allocator + Clone>(
    view: FibView<'_>,
    spare: usize,
    alloc: Al,
) -> Result<(FibArrays<Al>, Space<Al>), CompileError> {
    let used = view.arena.len();
    let len = (used + spare.max(used / 8)).min(MAX_WORDS - 1);
    let arrays = FibArrays::with_arena(view, len, alloc)?;
    Ok((arrays, Space::new(len, used)))
}
