//! The invariants of a Fib's layout, on which the unchecked lookups rely.
//!
//! 1. The root has `2^root_bits` entries; root and page bits are together at
//!    most 24 and at most the key width, and only keys beyond 32 bits have pages.
//! 2. A pointer is a next hop of the leaf's width, or leads into the arena. Those
//!    of the root lead to pages if there are page bits, else to blocks; a page
//!    lies inside the arena.
//! 3. A block has bit 0 of its `runs` set, and its values, one for each run,
//!    lie inside the arena. Narrow values are next hops of the leaf's width; wide
//!    ones are pointers to blocks, and next hops.
//! 4. No word belongs to two blocks or pages, and a block with children leaves
//!    at least one bit of the key to them. So a lookup ends.
//! 5. The arena begins with a block of one run without a next hop.

use alloc::vec;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;

use super::layout::{
    IDLE_BLOCK, MAX_DIRECT_BITS, MAX_WORDS, NODE, PLACE, STRIDE, View, WIDE, Word, root_bits,
};
use crate::address::Address;
use crate::next_hop::Leaf;

/// An invariant of the layout that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckError {
    /// Lengths or widths of the arrays are out of range.
    Shape,
    /// A pointer is too wide a next hop, or leads out of the arena.
    Pointer {
        /// The pointer.
        pointer: u32,
    },
    /// A block's `runs` or values are not well formed.
    Block {
        /// Its place in the arena.
        place: u32,
    },
    /// Two blocks or pages share a word, or one has two parents.
    Shared {
        /// The word.
        place: u32,
    },
    /// A block lies deeper than the key has bits.
    Depth {
        /// Its place in the arena.
        place: u32,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("the arrays do not have the lengths they need"),
            Self::Pointer { pointer } => write!(f, "pointer {pointer:#010x} leads nowhere"),
            Self::Block { place } => write!(f, "the block at word {place} is malformed"),
            Self::Shared { place } => write!(f, "word {place} has two owners"),
            Self::Depth { place } => write!(f, "the block at word {place} is too deep"),
        }
    }
}

impl Error for CheckError {}

/// Verifies all invariants. O(root + arena) time, a byte of memory a word.
pub(crate) fn check<A: Address, L: Leaf>(view: View<'_>) -> Result<(), CheckError> {
    let direct_bits = u16::from(view.root_bits) + u16::from(view.page_bits);
    let is_shaped = direct_bits <= u16::from(MAX_DIRECT_BITS.min(A::WIDTH))
        && view.root_bits == root_bits::<A>(direct_bits as u8)
        && view.root.len() == 1 << view.root_bits
        && (1..=32).contains(&view.value_bits)
        && (IDLE_BLOCK.len()..MAX_WORDS).contains(&view.arena.len())
        && view
            .arena
            .iter()
            .map(load)
            .take(IDLE_BLOCK.len())
            .eq(IDLE_BLOCK);
    if !is_shaped {
        return Err(CheckError::Shape);
    }
    let mut owned = vec![false; view.arena.len()];
    owned[..IDLE_BLOCK.len()].fill(true);
    let mut checker = Checker {
        view,
        max_next_hop: L::MAX,
        width: A::WIDTH,
        owned,
        todo: Vec::new(),
    };
    let depth = direct_bits as u8;
    for entry in view.root.iter().map(load) {
        if view.page_bits == 0 {
            checker.pointer(entry, depth)?;
        } else if entry & NODE == 0 {
            checker.next_hop(entry)?;
        } else {
            // A page carries no mark of width.
            let place = entry & !NODE;
            let page = checker.own(place, 1 << view.page_bits, entry)?;
            for entry in page {
                checker.pointer(load(entry), depth)?;
            }
        }
        while let Some((pointer, depth)) = checker.todo.pop() {
            checker.block(pointer, depth)?;
        }
    }
    Ok(())
}

/// Nothing is stored while it is checked.
fn load(word: &Word) -> u32 {
    word.load(Relaxed)
}

struct Checker<'a> {
    view: View<'a>,
    max_next_hop: u32,
    width: u8,
    /// Words that belong to a block or page that has been seen.
    owned: Vec<bool>,
    /// Pointers to blocks, with the bits above each.
    todo: Vec<(u32, u8)>,
}

impl<'a> Checker<'a> {
    fn next_hop(&self, next_hop: u32) -> Result<(), CheckError> {
        if next_hop > self.max_next_hop {
            return Err(CheckError::Pointer { pointer: next_hop });
        }
        Ok(())
    }

    fn pointer(&mut self, pointer: u32, depth: u8) -> Result<(), CheckError> {
        if pointer & NODE == 0 {
            return self.next_hop(pointer);
        }
        if depth >= self.width {
            return Err(CheckError::Depth {
                place: pointer & PLACE,
            });
        }
        self.todo.push((pointer, depth));
        Ok(())
    }

    /// Takes `len` words from `place` on; they must have no owner.
    fn own(&mut self, place: u32, len: usize, pointer: u32) -> Result<&'a [Word], CheckError> {
        let start = place as usize;
        let owned = start
            .checked_add(len)
            .and_then(|end| self.owned.get_mut(start..end))
            .ok_or(CheckError::Pointer { pointer })?;
        if owned.contains(&true) {
            return Err(CheckError::Shared { place });
        }
        owned.fill(true);
        Ok(&self.view.arena[start..start + len])
    }

    fn block(&mut self, pointer: u32, depth: u8) -> Result<(), CheckError> {
        let place = pointer & PLACE;
        let head = self.own(place, 2, pointer)?;
        let runs = u64::from(load(&head[0])) | u64::from(load(&head[1])) << 32;
        if runs & 1 == 0 {
            return Err(CheckError::Block { place });
        }
        let is_wide = pointer & WIDE != 0;
        let bits = if is_wide { 32 } else { self.view.value_bits };
        let len = (runs.count_ones() as usize * usize::from(bits)).div_ceil(32);
        let words = self.own(place + 2, len, pointer)?;
        if is_wide {
            for value in words {
                // Deeper than any key is deep enough to be refused.
                self.pointer(load(value), depth.saturating_add(STRIDE))?;
            }
        } else {
            let mask = u32::MAX >> (32 - bits);
            for rank in 0..runs.count_ones() as usize {
                let at = rank * usize::from(bits);
                let high = words.get(at / 32 + 1).map_or(0, load);
                let both = u64::from(high) << 32 | u64::from(load(&words[at / 32]));
                self.next_hop((both >> (at % 32)) as u32 & mask)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::layout::words;

    /// A view of 16-bit keys whose arena is the idle block and `blocks`.
    fn check_u16(root: &[u32], blocks: &[u32], value_bits: u8) -> Result<(), CheckError> {
        let arena = [&IDLE_BLOCK, blocks].concat();
        check::<u16, u16>(View {
            root: &words(root.to_vec()),
            arena: &words(arena),
            root_bits: root.len().ilog2() as u8,
            page_bits: 0,
            value_bits,
        })
    }

    #[test]
    fn each_invariant_is_noticed() {
        let narrow = NODE | 3;
        let wide = NODE | WIDE | 3;
        assert_eq!(check_u16(&[7], &[], 4), Ok(()));
        // Two runs of four bits.
        assert_eq!(check_u16(&[narrow], &[3, 0, 0x21], 4), Ok(()));
        // A next hop, and a child of one run.
        let family = [3, 0, 5, NODE | 7, 1, 0, 9];
        assert_eq!(check_u16(&[wide], &family, 4), Ok(()));

        assert_eq!(check_u16(&[7; 3], &[], 4), Err(CheckError::Shape));
        assert_eq!(check_u16(&[7; 1 << 17], &[], 4), Err(CheckError::Shape));
        assert_eq!(check_u16(&[7], &[], 0), Err(CheckError::Shape));
        assert_eq!(check_u16(&[7], &[], 33), Err(CheckError::Shape));
        let pointer = |pointer| Err(CheckError::Pointer { pointer });
        assert_eq!(check_u16(&[0x1_0000], &[], 4), pointer(0x1_0000));
        assert_eq!(check_u16(&[narrow], &[], 4), pointer(narrow));
        // Its values would end behind the arena.
        assert_eq!(check_u16(&[narrow], &[u32::MAX, 0, 1], 4), pointer(narrow));
        assert_eq!(check_u16(&[NODE | PLACE], &[], 4), pointer(NODE | PLACE));
        let wide_value = [1, 0, 0x1_0000];
        assert_eq!(check_u16(&[narrow], &wide_value, 17), pointer(0x1_0000));
        assert_eq!(check_u16(&[wide], &wide_value, 4), pointer(0x1_0000));
        let block = Err(CheckError::Block { place: 3 });
        assert_eq!(check_u16(&[narrow], &[2, 0, 1], 4), block);
        assert_eq!(check_u16(&[narrow], &[0, 0, 1], 4), block);
        let shared = |place| Err(CheckError::Shared { place });
        assert_eq!(check_u16(&[narrow; 2], &[1, 0, 1], 4), shared(3));
        assert_eq!(check_u16(&[NODE], &[], 4), shared(0));
        assert_eq!(check_u16(&[wide], &[1, 0, wide], 4), shared(3));
        // 6 + 6 + 6 bits leave nothing to a fourth block.
        let chain = [
            [1, 0, NODE | WIDE | 6],
            [1, 0, NODE | WIDE | 9],
            [1, 0, NODE | 12],
            [1, 0, 1],
        ]
        .concat();
        assert_eq!(
            check_u16(&[wide], &chain, 4),
            Err(CheckError::Depth { place: 12 })
        );
        assert_eq!(
            check_u16(&[narrow; 1 << 16], &[1, 0, 1], 4),
            Err(CheckError::Depth { place: 3 })
        );
    }

    #[test]
    fn pages_are_for_long_keys() {
        let page_at = |place: u32, entry: u32| {
            let mut root = vec![0; 1 << 16];
            root[9] = NODE | place;
            let mut arena = IDLE_BLOCK.to_vec();
            arena.extend([entry; 2]);
            check::<u64, u16>(View {
                root: &words(root),
                arena: &words(arena),
                root_bits: 16,
                page_bits: 1,
                value_bits: 4,
            })
        };
        assert_eq!(page_at(3, 8), Ok(()));
        let pointer = NODE | 4;
        assert_eq!(page_at(4, 8), Err(CheckError::Pointer { pointer }));
        assert_eq!(
            page_at(3, 0x1_0000),
            Err(CheckError::Pointer { pointer: 0x1_0000 })
        );
        let view = View {
            root: &words(vec![0; 2]),
            arena: &words(IDLE_BLOCK.to_vec()),
            root_bits: 1,
            page_bits: 1,
            value_bits: 1,
        };
        assert_eq!(check::<u32, u16>(view), Err(CheckError::Shape));
    }
}
