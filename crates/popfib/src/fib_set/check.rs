//! The invariants of the tables of a set, on which the unchecked lookups rely.
//!
//! 1. The root has a pointer for each table and zeros after them; their number is a power of two.
//! 2. A pointer is a next hop, or leads to a block that lies inside the arena: a flat one of 64 pointers, one of a route in
//!    two words, or one with `runs` and a value for each run. Bit 0 of these is set, or, if the values are pointers, there is one value more.
//! 3. Several pointers may lead to the same block, from several tables and depths; none leads deeper than the key has bits,
//!    so a lookup ends.
//! 4. The arena begins with a block of one run without a next hop.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

use hashbrown::HashSet;

use super::block::{first_pointer, len};
use crate::address::{Address, STRIDE};
use crate::fib::CheckError;
use crate::fib::arrays::{FibView, FibWord, IDLE_BLOCK, MAX_DIRECT_BITS, MAX_WORDS};
use crate::fib::encode::HEAD;
use crate::fib::layout::{FLAT, NODE, WIDE, place};

/// Verifies all invariants. O(tables + arena): no block is visited twice.
pub(super) fn check<A: Address>(view: FibView<'_>, tables: usize) -> Result<(), CheckError> {
    let is_shaped = view.root_bits <= MAX_DIRECT_BITS
        && view.root.len() == 1 << view.root_bits
        && view.page_bits == 0
        && tables <= view.root.len()
        && view.root[tables..]
            .iter()
            .all(|word| word.load(Relaxed) == 0)
        && (1..=31).contains(&view.value_bits)
        && (IDLE_BLOCK.len()..MAX_WORDS).contains(&view.arena.len())
        && view.arena[..IDLE_BLOCK.len()]
            .iter()
            .map(|word| word.load(Relaxed))
            .eq(IDLE_BLOCK);
    if !is_shaped {
        return Err(CheckError::Shape);
    }
    let mut checker = TablesChecker {
        view,
        heights: [(); 4].map(|()| vec![0; view.arena.len()]),
    };
    for word in view.root {
        checker.height(word.load(Relaxed), A::WIDTH.div_ceil(STRIDE))?;
    }
    Ok(())
}

struct TablesChecker<'a> {
    view: FibView<'a>,
    /// By kind of block and place: the levels of blocks from there down, 0 where none was seen.
    heights: [Vec<u8>; 4],
}

impl TablesChecker<'_> {
    /// The levels of blocks that `pointer` leads to: `most` at most. The recursion is as deep.
    fn height(&mut self, pointer: u32, most: u8) -> Result<u8, CheckError> {
        if pointer & NODE == 0 {
            return Ok(0);
        }
        let at = place(pointer);
        let kind = (pointer >> 29 & 3) as usize;
        let known = self.heights[kind].get(at);
        let known = *known.ok_or(CheckError::Pointer { pointer })?;
        if known == 0 {
            let values = block(self.view, pointer)?;
            let below = most
                .checked_sub(1)
                .ok_or(CheckError::Depth { place: at as u32 })?;
            let mut height = 0;
            for value in values {
                height = self.height(value, below)?.max(height);
            }
            self.heights[kind][at] = height + 1;
        } else if known > most {
            return Err(CheckError::Depth { place: at as u32 });
        }
        Ok(self.heights[kind][at])
    }
}

/// The pointers that the block has that `pointer` leads to.
fn block(view: FibView<'_>, pointer: u32) -> Result<Vec<u32>, CheckError> {
    let nowhere = CheckError::Pointer { pointer };
    let at = place(pointer);
    let rest: &[FibWord] = view.arena.get(at..).unwrap_or_default();
    if rest.len() < HEAD {
        return Err(nowhere);
    }
    let words = rest.get(..len(pointer, view.value_bits, |word| rest[word].load(Relaxed)));
    let words = words.ok_or(nowhere)?;
    if pointer & (FLAT | WIDE) == 0 && words[0].load(Relaxed) & 1 == 0 {
        return Err(CheckError::Block { place: at as u32 });
    }
    // The rest is next hops.
    let pointers = words[first_pointer(pointer, words.len())..].iter();
    Ok(pointers.map(|word| word.load(Relaxed)).collect())
}

/// The words of all blocks below the pointer of a table; 0 if there is no such table. The invariants hold.
pub(super) fn words_below(view: FibView<'_>, table: u32) -> usize {
    let root = view.root.get(table as usize).map(|word| word.load(Relaxed));
    let (mut seen, mut todo, mut words) = (HashSet::new(), Vec::from_iter(root), 0);
    while let Some(pointer) = todo.pop() {
        if pointer & NODE != 0 && seen.insert(pointer) {
            let word = |at: usize| view.arena[place(pointer) + at].load(Relaxed);
            words += len(pointer, view.value_bits, word);
            todo.extend(block(view, pointer).unwrap_or_default());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::arrays::words;
    use crate::fib::layout::HALF;

    /// A set of tables of 16-bit keys, whose arena is the idle block and `blocks`.
    fn check_u16(tables: &[u32], blocks: &[u32]) -> Result<(), CheckError> {
        let mut root = tables.to_vec();
        root.resize(tables.len().next_power_of_two(), 0);
        let view = FibView {
            root: &words(root.clone()),
            arena: &words([&IDLE_BLOCK, blocks].concat()),
            root_bits: root.len().ilog2() as u8,
            page_bits: 0,
            value_bits: 4,
            is_flat: false,
        };
        check::<u16>(view, tables.len())
    }

    #[test]
    fn each_invariant_is_noticed() {
        let narrow = NODE | 3;
        let wide = NODE | WIDE | 3;
        assert_eq!(check_u16(&[7], &[]), Ok(()));
        assert_eq!(check_u16(&[7, 8, 9], &[]), Ok(()));
        // Several tables, and several slots, lead to one block.
        assert_eq!(check_u16(&[narrow, 5, narrow], &[3, 0, 0x21]), Ok(()));
        let family = [7, 0, NODE | 8, 5, NODE | 8, 3, 0, 0x21];
        assert_eq!(check_u16(&[wide, NODE | 8, wide], &family), Ok(()));
        // A flat block of pointers, and one of halves, whose words are no pointers.
        assert_eq!(check_u16(&[NODE | FLAT | 4], &[9; 65]), Ok(()));
        assert_eq!(
            check_u16(&[NODE | FLAT | 4 | HALF], &[u32::MAX; 65]),
            Ok(())
        );

        let pointer = |pointer| Err(CheckError::Pointer { pointer });
        assert_eq!(check_u16(&[NODE | 9], &[3, 0, 1]), pointer(NODE | 9));
        assert_eq!(
            check_u16(&[NODE | FLAT | 4], &[9; 64]),
            pointer(NODE | FLAT | 4)
        );
        // Its values would end beyond the arena.
        assert_eq!(check_u16(&[narrow], &[u32::MAX, 0, 1]), pointer(narrow));
        // A block of one route.
        assert_eq!(check_u16(&[wide | FLAT], &[9; 2]), Ok(()));
        assert_eq!(check_u16(&[wide | FLAT], &[9]), pointer(wide | FLAT));
        let block = Err(CheckError::Block { place: 3 });
        assert_eq!(check_u16(&[narrow], &[2, 0, 1]), block);
        // A block that leads to itself, and a chain that is too long from one of the tables.
        let deep = |place| Err(CheckError::Depth { place });
        assert_eq!(check_u16(&[wide], &[1, 0, wide]), deep(3));
        let chain = [
            [1, 0, NODE | WIDE | 6],
            [1, 0, NODE | WIDE | 9],
            [1, 0, NODE | 12],
            [1, 0, 1],
        ]
        .concat();
        assert_eq!(check_u16(&[NODE | WIDE | 6, NODE | 12], &chain), Ok(()));
        assert_eq!(check_u16(&[wide], &chain), deep(12));
        assert_eq!(check_u16(&[NODE | WIDE | 6, wide], &chain), deep(6));

        let arrays = |tables, root: &[u32], root_bits| {
            let view = FibView {
                root: &words(root.to_vec()),
                arena: &words(IDLE_BLOCK.to_vec()),
                root_bits,
                page_bits: 0,
                value_bits: 4,
                is_flat: false,
            };
            check::<u32>(view, tables)
        };
        assert_eq!(arrays(1, &[5, 0], 1), Ok(()));
        assert_eq!(arrays(1, &[5, 6], 1), Err(CheckError::Shape));
        assert_eq!(arrays(3, &[5, 6], 1), Err(CheckError::Shape));
        assert_eq!(arrays(2, &[5, 6], 2), Err(CheckError::Shape));
    }
}
