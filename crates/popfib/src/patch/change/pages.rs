//! Changes of the pages that long keys have between the root table and the blocks.

use super::{MAX_PAGE, Patch, PointersTo, push};
use crate::address::Address;
use crate::compile_error::CompileError;
use crate::fib::layout::{NODE, PLACE};
use crate::memory::Allocator;
use crate::prefix::Prefix;
use crate::rib::vertex::Vertex;

impl<'a, A: Address, Al: Allocator + Clone> Patch<'_, 'a, A, Al> {
    /// [`Self::descend`] into a page.
    pub(super) fn descend_page(
        &mut self,
        pointer: u32,
        prefix: Prefix<A>,
        vertex: Option<Vertex<'a, A>>,
        depth: u8,
    ) -> Result<u32, CompileError> {
        let page_bits = self.view.page_bits;
        let end = depth + page_bits;
        let first = prefix.address().extract(depth, page_bits) as usize;
        if prefix.len() < end {
            let mut page = [0; MAX_PAGE];
            let page = self.page(pointer, &mut page);
            let count = 1 << (end - prefix.len());
            self.spread(&mut page[first..][..count], vertex, PointersTo::Blocks)?;
            return self.store_page(pointer, page, Some((prefix, depth)));
        }
        let at = (pointer & PLACE) + first as u32;
        let old = self.word(at);
        let mut new = old;
        if prefix.len() == end {
            self.spread(core::slice::from_mut(&mut new), vertex, PointersTo::Blocks)?;
        } else {
            new = self.descend(old, prefix, vertex, end, PointersTo::Blocks)?;
        }
        if new == old {
            return Ok(pointer);
        }
        if new & NODE == 0 {
            // The page may have become one leaf.
            let mut page = [0; MAX_PAGE];
            let page = self.page(pointer, &mut page);
            page[first] = new;
            return self.store_page(pointer, page, Some((prefix, depth)));
        }
        push(&mut self.log.arena, (at, new))?;
        Ok(pointer)
    }

    /// Stores the page that `pointer` leads to with other entries, as [`Self::store`] does.
    pub(super) fn store_page(
        &mut self,
        pointer: u32,
        page: &[u32],
        place: Option<(Prefix<A>, u8)>,
    ) -> Result<u32, CompileError> {
        let first = pointer & PLACE;
        if self.is_leaf(page, place) {
            push(&mut self.log.retired, (first, page.len() as u32))?;
            return Ok(page[0]);
        }
        for (entry, at) in page.iter().zip(first..) {
            if *entry != self.word(at) {
                push(&mut self.log.arena, (at, *entry))?;
            }
        }
        Ok(pointer)
    }

    /// The entries of a page.
    pub(super) fn page<'t>(&self, pointer: u32, to: &'t mut [u32; MAX_PAGE]) -> &'t mut [u32] {
        let page = &mut to[..1 << self.view.page_bits];
        for (entry, at) in page.iter_mut().zip(pointer & PLACE..) {
            *entry = self.word(at);
        }
        page
    }
}
