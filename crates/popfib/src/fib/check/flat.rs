//! Invariants 6 and 7: flat tables.

use alloc::vec;

use super::{CheckError, LayoutChecker, load, nowhere};
use crate::address::STRIDE;
use crate::fib::arrays::{FibView, FibWord, LINE};
use crate::fib::layout::{FLAT, FLAT_PLACE, HALF, HALF_END, NODE, WIDE, flat_len};

impl<'a> LayoutChecker<'a> {
    /// All of a flat table of keys of up to 32 bits. A block that several entries of the root lead to is verified once.
    pub(super) fn flat_table(&mut self) -> Result<(), CheckError> {
        let FibView {
            root, root_bits, ..
        } = self.view;
        let arena: &'a [FibWord] = self.view.arena;
        let depth = root_bits + STRIDE;
        // A bit for each place that a block with halves, and one without, may have.
        let mut seen = vec![0u64; arena.len() / LINE / 32 + 1];
        for entry in root.iter().map(load) {
            let (place, is_half) = ((entry & FLAT_PLACE) as usize, entry & HALF != 0);
            let number = place / LINE * 2 + usize::from(is_half);
            let (word, bit) = (number / 64, 1 << (number % 64));
            let len = flat_len(if is_half { 16 } else { 32 });
            let Some(entries) = arena.get(place..place + len).filter(|_| {
                entry & (NODE | WIDE | FLAT) == NODE | FLAT && place.is_multiple_of(LINE)
            }) else {
                return Err(nowhere(entry));
            };
            if seen[word] & bit != 0 {
                continue;
            }
            seen[word] |= bit;
            self.own(place, len)?;
            for entry in entries.iter().map(load) {
                if !is_half {
                    self.pointer(entry, depth)?;
                    continue;
                }
                for half in [entry & 0xffff, entry >> 16] {
                    if half >= HALF_END {
                        return Err(nowhere(half));
                    }
                    self.next_hop(half)?;
                }
            }
        }
        while let Some((pointer, depth)) = self.todo.pop() {
            self.block(pointer, depth)?;
        }
        Ok(())
    }

    /// All of a flat table of keys of more than 32 bits. Blocks are verified from the highest place down, each when all pointers to it
    /// have been seen, and so once.
    pub(super) fn long_flat_table(&mut self) -> Result<(), CheckError> {
        let FibView {
            root,
            root_bits,
            page_bits,
            ..
        } = self.view;
        let arena: &'a [FibWord] = self.view.arena;
        // By the line that a block begins: the most bits above it plus one, or 0 if nothing leads there.
        let mut depths = vec![0u8; arena.len() / LINE + 1];
        for entry in root.iter().map(load) {
            if entry & NODE == 0 || page_bits == 0 {
                self.long_pointer(entry, root_bits, &mut depths)?;
                continue;
            }
            let place = (entry & !NODE) as usize;
            let page = arena.get(place..place + (1 << page_bits));
            let page = page.ok_or(nowhere(entry))?;
            self.own(place, page.len())?;
            for entry in page.iter().map(load) {
                self.long_pointer(entry, root_bits + page_bits, &mut depths)?;
            }
        }
        for line in (0..depths.len()).rev() {
            let Some(depth) = depths[line].checked_sub(1) else {
                continue;
            };
            let place = line * LINE;
            self.own(place, flat_len(32))?;
            for entry in arena[place..][..flat_len(32)].iter().map(load) {
                if entry & NODE != 0 && (entry & FLAT_PLACE) as usize >= place {
                    return Err(nowhere(entry));
                }
                self.long_pointer(entry, depth + STRIDE, &mut depths)?;
            }
        }
        Ok(())
    }

    /// Verifies a pointer after `depth` bits, but for the block that it leads to, whose depth it notes.
    fn long_pointer(&self, pointer: u32, depth: u8, depths: &mut [u8]) -> Result<(), CheckError> {
        if pointer & NODE == 0 {
            return self.next_hop(pointer);
        }
        let place = (pointer & FLAT_PLACE) as usize;
        let is_whole = place + flat_len(32) <= self.view.arena.len();
        if pointer & !FLAT_PLACE != NODE | FLAT || !place.is_multiple_of(LINE) || !is_whole {
            return Err(nowhere(pointer));
        }
        if depth >= self.width {
            return Err(CheckError::Depth {
                place: place as u32,
            });
        }
        let noted = &mut depths[place / LINE];
        *noted = (*noted).max(depth + 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::arrays::{IDLE_BLOCK, words};
    use crate::fib::check::check_answers;

    /// Checks a flat table of 16-bit keys whose arena goes on with `rest` after the idle block.
    fn check_flat(root: &[u32], rest: &[u32], is_flat: bool) -> Result<(), CheckError> {
        let arena = [&IDLE_BLOCK, rest].concat();
        let view = FibView {
            root: &words(root.to_vec()),
            arena: &words(arena),
            root_bits: root.len().ilog2() as u8,
            page_bits: 0,
            value_bits: 4,
            is_flat,
        };
        check_answers::<u16>(view, 100, None)
    }

    const WHOLE: u32 = NODE | FLAT;
    const HALVES: u32 = WHOLE | HALF;

    fn pointer(pointer: u32) -> Result<(), CheckError> {
        Err(CheckError::Pointer { pointer })
    }

    fn shared(place: u32) -> Result<(), CheckError> {
        Err(CheckError::Shared { place })
    }

    #[test]
    fn each_invariant_of_flat_tables_of_long_keys_is_noticed() {
        // Blocks at words 16, 80 and 144; a page of two entries at word 208.
        let arena = |changes: &[(usize, u32)]| {
            let mut arena = IDLE_BLOCK.to_vec();
            arena.resize(208, 7);
            arena[80] = WHOLE | 16;
            arena[81] = WHOLE | 16;
            arena[144] = WHOLE | 80;
            arena[145] = WHOLE | 16;
            arena.extend([WHOLE | 144, 9]);
            for (at, word) in changes {
                arena[*at] = *word;
            }
            words(arena)
        };
        let check = |changes: &[(usize, u32)], page_bits: u8, entry: u32| {
            let root_bits = if page_bits > 0 { 16 } else { 0 };
            let mut root = vec![0; 1 << root_bits];
            root[0] = entry;
            let view = FibView {
                root: &words(root),
                arena: &arena(changes),
                root_bits,
                page_bits,
                value_bits: 4,
                is_flat: true,
            };
            check_answers::<u64>(view, 100, None)
        };
        assert_eq!(check(&[], 1, NODE | 208), Ok(()));
        assert_eq!(check(&[], 0, WHOLE | 144), Ok(()));
        assert_eq!(check(&[], 0, 100), Ok(()));
        assert_eq!(check(&[], 0, 101), pointer(101));
        assert_eq!(check(&[(20, 101)], 0, WHOLE | 144), pointer(101));
        assert_eq!(check(&[], 1, NODE | 209), pointer(NODE | 209));
        // Blocks begin at lines, are whole, and are flat all of them.
        for wrong in [
            WHOLE | 17,
            WHOLE | 24,
            WHOLE | 160,
            WHOLE | FLAT_PLACE & !15,
            NODE | 16,
            NODE | WIDE | 16,
            WHOLE | WIDE | 16,
        ] {
            assert_eq!(check(&[], 0, wrong), pointer(wrong));
            assert_eq!(check(&[(209, wrong)], 1, NODE | 208), pointer(wrong));
        }
        // Blocks that share words, with each other or with what is not theirs.
        assert_eq!(check(&[], 0, WHOLE), shared(0));
        assert_eq!(check(&[(209, WHOLE | 96)], 1, NODE | 208), shared(96));
        assert_eq!(check(&[], 1, NODE | 207), shared(144));
        // No block leads to itself or to one that has a higher place.
        for up in [WHOLE | 80, WHOLE | 144] {
            assert_eq!(check(&[(90, up)], 0, WHOLE | 144), pointer(up));
        }
        // Ten blocks of 6 bits below 4 bits are as many as 64 bits have.
        let chain = |blocks: u32| {
            let mut arena = IDLE_BLOCK.to_vec();
            arena.resize(16, 0);
            for n in 0..blocks {
                let below = if n == 0 {
                    5
                } else {
                    WHOLE | (16 + 64 * (n - 1))
                };
                arena.extend([below; 64]);
            }
            let view = FibView {
                root: &words(vec![WHOLE | (16 + 64 * (blocks - 1)); 16]),
                arena: &words(arena),
                root_bits: 4,
                page_bits: 0,
                value_bits: 4,
                is_flat: true,
            };
            check_answers::<u64>(view, 100, None)
        };
        assert_eq!(chain(10), Ok(()));
        assert_eq!(chain(11), Err(CheckError::Depth { place: 16 }));
        // The same blocks at many depths take no longer: each is verified once.
        assert_eq!(
            chain(1000),
            Err(CheckError::Depth {
                place: 16 + 64 * 989
            })
        );
    }

    #[test]
    fn each_invariant_of_flat_tables_is_noticed() {
        // At word 4 a block of two runs, at 16 one with halves, at 48 one with whole words, which end the arena.
        let table = |half: u32, whole: u32| {
            let mut rest = vec![0, 3, 0, 0x21];
            rest.resize(16 - IDLE_BLOCK.len(), 0);
            rest.extend([7 | 7 << 16; 31]);
            rest.push(half);
            rest.push(whole);
            rest.extend([9; 63]);
            rest
        };
        let check = |root: [u32; 2], half, whole| check_flat(&root, &table(half, whole), true);
        let both = [HALVES | 16, WHOLE | 48];
        assert_eq!(check(both, 100 << 16 | 100, NODE | 4), Ok(()));
        assert_eq!(check([HALVES | 16; 2], 9, 9), Ok(()));
        // All entries lead to whole flat blocks, which begin at lines.
        for wrong in [
            HALVES | 18,
            WHOLE | 56,
            WHOLE | 64,
            HALVES | 96,
            HALVES | FLAT_PLACE & !15,
            WHOLE | WIDE | 48,
            FLAT | HALF | 16,
            NODE | 4,
            9,
        ] {
            assert_eq!(check([HALVES | 16, wrong], 9, 9), pointer(wrong));
            assert_eq!(check([wrong, HALVES | 16], 9, 9), pointer(wrong));
        }
        assert_eq!(check(both, 101, 9), pointer(101));
        assert_eq!(check(both, 101 << 16, 9), pointer(101));
        assert_eq!(check(both, 9, 101), pointer(101));
        assert_eq!(check(both, 9, NODE | 1000), pointer(NODE | 1000));
        // Halves are next hops of fewer bits.
        assert_eq!(check(both, HALF_END, 9), pointer(HALF_END));
        // No word belongs to two blocks, and no block is both.
        assert_eq!(check([HALVES | 16, HALVES | 32], 9, 9), shared(32));
        assert_eq!(check([HALVES | 48, WHOLE | 48], 9, 9), shared(48));
        assert_eq!(check(both, 9, NODE | 16), shared(16));
        let flat = check_flat(&both, &table(9, 9), false);
        assert_eq!(flat, pointer(HALVES | 16));
        // A root that leaves less than a block, and none.
        for entries in [1 << 11, 1] {
            let root = vec![HALVES | 16; entries];
            let found = check_flat(&root, &table(9, 9), true);
            assert_eq!(found, Err(CheckError::Shape));
        }
    }
}
