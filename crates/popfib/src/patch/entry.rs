//! The entries of the tables, one by one: what maps ask of them while changes wait.

use super::{FollowingFib, Home};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::cpu::prefetch;
use crate::fib::lookup::first_block;
use crate::prefix::Prefix;
use crate::rib::Rib;

impl<A: Address, H: Home> FollowingFib<A, H> {
    /// Has the block fetched that a change of the route of `prefix` begins with, while the Rib changes: to wait for it takes as long as
    /// half of all else.
    #[inline]
    pub(crate) fn fetch(&self, prefix: Prefix<A>) {
        let view = self.home.view();
        if let Some(place) = first_block(view, prefix.address()) {
            prefetch(view.arena.as_ptr().wrapping_add(place));
        }
    }

    /// Whether there are blocks below the table's entry of exactly this prefix.
    pub(crate) fn has_nodes(&self, entry: Prefix<A>) -> bool {
        first_block(self.home.view(), entry.address()).is_some()
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
}
