//! Invariant 6: flat tables.

use alloc::vec;

use super::{CheckError, Checker, load, nowhere};
use crate::fib::layout::{CHILD, FLAT, FLAT_PLACE, HALF, NODE, View, Word, flat_len};

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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::check::check_answers;
    use crate::fib::layout::{IDLE_BLOCK, PLACE, words};

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
        // Keys of 64 bits have none, nor has a root that leaves less than a block.
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
