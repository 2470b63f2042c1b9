//! Tables whose blocks lie in one arena already, that of an image: only what leads to them from the first bit on is new.

use allocator_api2::vec::Vec;

use super::FibSet;
use super::block::only_leaf;
use super::compile::{CompiledTables, TableBlocks};
use crate::address::{Address, STRIDE};
use crate::compile_error::CompileError;
use crate::fib::Fib;
use crate::fib::arrays::FibView;
use crate::fib::layout::NODE;
use crate::memory::Global;
use core::sync::atomic::Ordering::Relaxed;

/// The tables of these Fibs, `None` for one without routes, if all have one arena, and bits that blocks end at.
pub(super) fn compile<A: Address>(
    fibs: &[Option<&Fib<A>>],
) -> Result<Option<CompiledTables<Global>>, CompileError> {
    let views = fibs.iter().map(|fib| fib.map(Fib::arrays));
    let views: Vec<Option<FibView<'_>>> = views.collect();
    let Some(first) = views.iter().flatten().next() else {
        return Ok(None);
    };
    let max = FibSet::<A>::MAX_TABLES;
    if fibs.len() > max {
        return Err(CompileError::Tables { max: max as u32 });
    }
    let is_alike = |view: &FibView<'_>| {
        core::ptr::eq(view.arena, first.arena)
            && view.value_bits == first.value_bits
            && !view.is_flat
            && (view.root_bits + view.page_bits).is_multiple_of(STRIDE)
            && (view.page_bits == 0 || view.page_bits >= STRIDE)
    };
    if first.value_bits > 31 || !views.iter().flatten().all(is_alike) {
        return Ok(None);
    }
    let words = first.arena.iter().map(|word| word.load(Relaxed));
    let mut blocks = TableBlocks::holding(words, first.value_bits)?;
    let mut root = Vec::new();
    for view in &views {
        root.push(match view {
            None => 0,
            Some(view) => table(*view, &mut blocks)?,
        });
    }
    CompiledTables::of(root, blocks).map(Some)
}

/// The pointer of a table of a root and pages.
fn table(view: FibView<'_>, blocks: &mut TableBlocks<Global>) -> Result<u32, CompileError> {
    let (mut entries, mut page) = (Vec::new(), Vec::new());
    for entry in view.root.iter().map(|word| word.load(Relaxed)) {
        page.clear();
        if view.page_bits > 0 && entry & NODE != 0 {
            let words = &view.arena[(entry & !NODE) as usize..][..1 << view.page_bits];
            page.extend(words.iter().map(|word| word.load(Relaxed)));
            fold(&mut page, blocks)?;
        } else {
            let count = 1 << view.page_bits.saturating_sub(STRIDE);
            page.resize(count, entry);
        }
        entries.extend_from_slice(&page);
    }
    while entries.len() > 1 {
        fold(&mut entries, blocks)?;
    }
    Ok(entries[0])
}

/// Puts a pointer in place of each 64 entries.
fn fold(entries: &mut Vec<u32>, blocks: &mut TableBlocks<Global>) -> Result<(), CompileError> {
    for at in 0..entries.len() / 64 {
        let slots = entries.as_chunks::<64>().0[at];
        entries[at] = match only_leaf(&slots) {
            Some(leaf) => leaf,
            None => blocks.share_slots(&slots)?,
        };
    }
    entries.truncate(entries.len() / 64);
    Ok(())
}

impl<A: Address> FibSet<A> {
    /// The tables of these Fibs, in their order; `None` is a table without routes. They are not compiled again: their arena is copied.
    /// It has to be one, as those of an image are whose tables have blocks in common; of others, and if direct bits were asked for
    /// that are no multiple of 6, there is no set. O(arena + root tables).
    ///
    /// # Errors
    /// [`CompileError`]: more than [`FibSet::MAX_TABLES`] tables, more than 2 GiB of blocks, or no memory.
    pub fn of_fibs(fibs: &[Option<&Fib<A>>]) -> Result<Option<Self>, CompileError> {
        match compile(fibs)? {
            Some(compiled) => Self::of_compiled(compiled, Global).map(Some),
            None => Ok(None),
        }
    }
}
