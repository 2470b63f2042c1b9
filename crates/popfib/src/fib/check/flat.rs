//! Invariants 6 and 7: flat tables.

use alloc::vec;

use super::{CheckError, Checker, load, nowhere};
use crate::fib::layout::{CHILD, FLAT, FLAT_PLACE, HALF, NODE, STRIDE, View, Word, flat_len};

/// Words of a cache line.
const LINE: usize = 64 / size_of::<Word>();

impl<'a> Checker<'a> {
    /// All of a flat table, whose blocks resolve `stride` bits. A block that several entries of the root lead to is verified once.
    pub(super) fn flat_table(&mut self, stride: u8) -> Result<(), CheckError> {
        let View {
            root,
            root_bits,
            flat_bits: bits,
            ..
        } = self.view;
        let arena: &'a [Word] = self.view.arena;
        let depth = root_bits + stride;
        let mut children = 0;
        if bits == 16 {
            let last = arena.len() - 1;
            let place = load(&arena[last]);
            let first = place as usize;
            let len = first.checked_sub(1).and_then(|before| arena.get(before));
            let len = len.map_or(0, load) as usize;
            let list = arena.get(first..first.saturating_add(len));
            let list = list.filter(|_| first > 0).ok_or(nowhere(place))?;
            self.own(last, 1)?;
            self.own(first - 1, len + 1)?;
            for child in list.iter().map(load) {
                if child & NODE == 0 {
                    return Err(nowhere(child));
                }
                self.child(child, depth)?;
            }
            children = len as u32;
        }
        let is_seen_of = |place: usize| (place / LINE / 64, 1u64 << (place / LINE % 64));
        let mut seen = vec![0u64; arena.len() / LINE / 64 + 1];
        let mark = NODE | FLAT | if bits == 16 { HALF } else { 0 };
        for entry in root.iter().map(load) {
            let place = entry & FLAT_PLACE;
            let (word, bit) = is_seen_of(place as usize);
            let block = place as usize..place as usize + flat_len(stride, bits);
            let Some(entries) = arena
                .get(block)
                .filter(|_| entry & !FLAT_PLACE == mark && (place as usize).is_multiple_of(LINE))
            else {
                return Err(nowhere(entry));
            };
            if seen[word] & bit != 0 {
                continue;
            }
            seen[word] |= bit;
            self.own(place as usize, entries.len())?;
            for entry in entries.iter().map(load) {
                if bits == 32 {
                    self.pointer(entry, depth)?;
                    continue;
                }
                for half in [entry & 0xffff, entry >> 16] {
                    if half & CHILD == 0 {
                        self.next_hop(half)?;
                    } else if half & !CHILD >= children {
                        return Err(nowhere(half));
                    }
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
        let View {
            root,
            root_bits,
            page_bits,
            ..
        } = self.view;
        let arena: &'a [Word] = self.view.arena;
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
            self.own(place, flat_len(STRIDE, 32))?;
            for entry in arena[place..][..flat_len(STRIDE, 32)].iter().map(load) {
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
        let is_whole = place + flat_len(STRIDE, 32) <= self.view.arena.len();
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
    use crate::fib::check::check_answers;
    use crate::fib::layout::{IDLE_BLOCK, PLACE, WIDE, words};

    /// A flat table of 16-bit keys with two entries in the root, whose arena goes on with `rest` after the idle block.
    fn check_flat(root: [u32; 2], rest: &[u32], flat_bits: u8) -> Result<(), CheckError> {
        let arena = [&IDLE_BLOCK, rest].concat();
        let view = View {
            root: &words(root.to_vec()),
            arena: &words(arena),
            root_bits: 1,
            page_bits: 0,
            value_bits: 4,
            flat_bits,
        };
        check_answers::<u16>(view, 100)
    }

    #[test]
    fn each_invariant_of_flat_tables_of_long_keys_is_noticed() {
        const FLAT_NODE: u32 = NODE | FLAT;
        // Blocks at words 16, 80 and 144; a page of two entries at word 208.
        let arena = |changes: &[(usize, u32)]| {
            let mut arena = IDLE_BLOCK.to_vec();
            arena.resize(208, 7);
            arena[80] = FLAT_NODE | 16;
            arena[81] = FLAT_NODE | 16;
            arena[144] = FLAT_NODE | 80;
            arena[145] = FLAT_NODE | 16;
            arena.extend([FLAT_NODE | 144, 9]);
            for (at, word) in changes {
                arena[*at] = *word;
            }
            words(arena)
        };
        let check = |changes: &[(usize, u32)], page_bits: u8, entry: u32, flat_bits: u8| {
            let root_bits = if page_bits > 0 { 16 } else { 0 };
            let mut root = vec![0; 1 << root_bits];
            root[0] = entry;
            let view = View {
                root: &words(root),
                arena: &arena(changes),
                root_bits,
                page_bits,
                value_bits: 4,
                flat_bits,
            };
            check_answers::<u64>(view, 100)
        };
        let pointer = |pointer| Err(CheckError::Pointer { pointer });
        assert_eq!(check(&[], 1, NODE | 208, 32), Ok(()));
        assert_eq!(check(&[], 0, FLAT_NODE | 144, 32), Ok(()));
        assert_eq!(check(&[], 0, 100, 32), Ok(()));
        assert_eq!(check(&[], 0, 101, 32), pointer(101));
        assert_eq!(check(&[(20, 101)], 0, FLAT_NODE | 144, 32), pointer(101));
        assert_eq!(check(&[], 1, NODE | 209, 32), pointer(NODE | 209));
        for bits in [8, 16, 64] {
            assert_eq!(check(&[], 0, 9, bits), Err(CheckError::Shape));
        }
        // Blocks begin at lines, are whole, and are flat all of them.
        for wrong in [
            FLAT_NODE | 17,
            FLAT_NODE | 24,
            FLAT_NODE | 160,
            FLAT_NODE | FLAT_PLACE & !15,
            NODE | 16,
            NODE | WIDE | 16,
            FLAT_NODE | WIDE | 16,
        ] {
            assert_eq!(check(&[], 0, wrong, 32), pointer(wrong));
            assert_eq!(check(&[(209, wrong)], 1, NODE | 208, 32), pointer(wrong));
        }
        // Blocks that share words, with each other or with what is not theirs.
        let shared = |place| Err(CheckError::Shared { place });
        assert_eq!(check(&[], 0, FLAT_NODE, 32), shared(0));
        assert_eq!(
            check(&[(209, FLAT_NODE | 96)], 1, NODE | 208, 32),
            shared(96)
        );
        assert_eq!(check(&[], 1, NODE | 207, 32), shared(144));
        // No block leads to itself or to one that has a higher place.
        for up in [FLAT_NODE | 80, FLAT_NODE | 144] {
            assert_eq!(check(&[(90, up)], 0, FLAT_NODE | 144, 32), pointer(up));
        }
        // Ten blocks of 6 bits below 4 bits are as many as 64 bits have.
        let chain = |blocks: u32| {
            let mut arena = IDLE_BLOCK.to_vec();
            arena.resize(16, 0);
            for n in 0..blocks {
                let below = if n == 0 {
                    5
                } else {
                    FLAT_NODE | (16 + 64 * (n - 1))
                };
                arena.extend([below; 64]);
            }
            let view = View {
                root: &words(vec![FLAT_NODE | (16 + 64 * (blocks - 1)); 16]),
                arena: &words(arena),
                root_bits: 4,
                page_bits: 0,
                value_bits: 4,
                flat_bits: 32,
            };
            check_answers::<u64>(view, 100)
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
        const WORDS: u32 = NODE | FLAT;
        const HALVES: u32 = WORDS | HALF;
        // From word 4 on the list of one child, the child (two runs), blocks at words 16 and 48, and at word 80 the list's place.
        let table = |first: u32| {
            let mut rest = vec![0, 1, NODE | 6, 3, 0, 0x21];
            rest.resize(16 - IDLE_BLOCK.len(), 0);
            rest.extend([7 | 7 << 16; 32]);
            rest.push(first);
            rest.extend([9 | 9 << 16; 31]);
            rest.push(5);
            rest
        };
        let check =
            |root: [u32; 2], first| check_flat(root.map(|place| HALVES | place), &table(first), 16);
        assert_eq!(check([16, 48], CHILD << 16 | 9), Ok(()));
        assert_eq!(check([16, 16], 9), Ok(()));
        let pointer = |pointer| Err(CheckError::Pointer { pointer });
        for place in [46, 64, PLACE & !15] {
            assert_eq!(check([16, place], 9), pointer(HALVES | place));
        }
        // All entries lead to blocks of the same kind.
        for other in [WORDS | 48, FLAT | HALF | 48, NODE | 48, 9] {
            let root = [HALVES | 16, other];
            assert_eq!(check_flat(root, &table(9), 16), pointer(other));
        }
        assert_eq!(check_flat([9, HALVES | 16], &table(9), 16), pointer(9));
        assert_eq!(check([16, 48], 101), pointer(101));
        assert_eq!(check([16, 48], 101 << 16), pointer(101));
        assert_eq!(check([16, 48], CHILD | 1), pointer(CHILD | 1));
        // Half a block farther, a block shares words with the one before.
        let shared = |place| Err(CheckError::Shared { place });
        assert_eq!(check([16, 32], 9), shared(32));
        // The list, or its child, is in a block, is none, or lies beyond the arena.
        let of = |at: usize, word: u32| {
            let mut rest = table(9);
            rest[at - IDLE_BLOCK.len()] = word;
            check_flat([HALVES | 16, HALVES | 48], &rest, 16)
        };
        assert_eq!(of(5, 7), pointer(7));
        assert_eq!(of(5, NODE | 16), shared(16));
        assert_eq!(of(5, NODE | 1000), pointer(NODE | 1000));
        assert_eq!(of(4, 1000), pointer(5));
        for place in [0, 81, 1000, u32::MAX] {
            assert_eq!(of(80, place), pointer(place));
        }
        assert_eq!(of(80, 1), shared(0));
        assert_eq!(of(80, 49), pointer(9 | 9 << 16));
        assert_eq!(check_flat([HALVES; 2], &[], 16), pointer(0));
        for bits in [8, 15, 64] {
            let root = [HALVES | 16; 2];
            assert_eq!(check_flat(root, &table(9), bits), Err(CheckError::Shape));
        }
        // A table that is not flat has no such pointers.
        assert_eq!(
            check_flat([HALVES | 16; 2], &table(9), 0),
            pointer(HALVES | 16)
        );
        // Keys of 64 bits have no halves, nor has a root that leaves less than a block.
        let view = View {
            root: &words(vec![HALVES | 16; 1 << 11]),
            arena: &words([&IDLE_BLOCK[..], &table(9)].concat()),
            root_bits: 11,
            page_bits: 0,
            value_bits: 4,
            flat_bits: 16,
        };
        assert_eq!(check_answers::<u16>(view, 100), Err(CheckError::Shape));
        assert_eq!(check_answers::<u64>(view, 100), Err(CheckError::Shape));
        assert_eq!(check_answers::<u32>(view, 100), Ok(()));

        let wide = |entry: u32| {
            let mut rest = vec![0, 0, 3, 0, 0x21];
            rest.resize(16 - IDLE_BLOCK.len(), 0);
            rest.extend([7; 63]);
            rest.push(entry);
            check_flat([WORDS | 16; 2], &rest, 32)
        };
        assert_eq!(wide(100), Ok(()));
        assert_eq!(wide(NODE | 5), Ok(()));
        assert_eq!(wide(101), pointer(101));
        assert_eq!(wide(NODE | 1000), pointer(NODE | 1000));
        assert_eq!(wide(NODE | 16), shared(16));
    }
}
