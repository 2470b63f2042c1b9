//! The entries of the tables, one by one: what maps ask of them while changes wait.

use core::sync::atomic::Ordering;

use super::{FollowingFib, Home};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::cpu::prefetch;
use crate::fib::layout::{FLAT, FibWord, NODE, PLACE};
use crate::next_hop::Leaf;
use crate::prefix::Prefix;
use crate::rib::Rib;

impl<A: Address, L: Leaf, H: Home> FollowingFib<A, L, H> {
    /// Has the block fetched that a change of the route of `prefix` begins with, while the Rib changes: to wait for it takes as long as
    /// half of all else.
    #[inline]
    pub(crate) fn fetch(&self, prefix: Prefix<A>) {
        let pointer = self.entry(prefix.address());
        if pointer & NODE != 0 {
            // Of a flat block, too.
            let place = (pointer & (FLAT - 1)) as usize;
            prefetch(self.home.view().arena.as_ptr().wrapping_add(place));
        }
    }

    /// Whether there are blocks below the table's entry of exactly this prefix.
    pub(crate) fn has_nodes(&self, entry: Prefix<A>) -> bool {
        self.entry(entry.address()) & NODE != 0
    }

    /// Makes `entry`, a prefix of as many bits as tables resolve, answer `leaf`, whatever is below
    /// it. Whether it has an entry of its own, so that this was done.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::memory::OutOfMemory); the Fib is then as it was.
    pub(crate) fn cut(
        &mut self,
        rib: &Rib<A, H::Al>,
        entry: Prefix<A>,
        leaf: u32,
    ) -> Result<bool, CompileError> {
        let mut is_cut = false;
        self.make(rib, leaf, |patch| {
            is_cut = patch.cut(entry)?;
            Ok(())
        })?;
        Ok(is_cut)
    }

    /// What the tables hold for `address`.
    #[inline]
    fn entry(&self, address: A) -> u32 {
        let view = self.home.view();
        let (root_bits, page_bits) = (view.root_bits, view.page_bits);
        // Relaxed: this is the writer.
        let load = |words: &[FibWord], at: u32| words[at as usize].load(Ordering::Relaxed);
        let mut pointer = load(view.root, address.leading(root_bits));
        if page_bits > 0 && pointer & NODE != 0 {
            let at = address.extract(root_bits, page_bits);
            pointer = load(view.arena, (pointer & PLACE) + at);
        }
        pointer
    }
}
