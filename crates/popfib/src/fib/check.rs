//! The invariants of a Fib's layout, on which the unchecked lookups rely.
//!
//! 1. The root has `2^root_bits` entries; root and page bits are together at
//!    most 24 and at most the key width, and only keys beyond 32 bits have pages.
//! 2. A pointer is a next hop, or leads into the arena. Those
//!    of the root lead to pages if there are page bits, else to blocks; a page
//!    lies inside the arena.
//! 3. A block has bit 0 of its `runs` set, and its values, one for each run,
//!    lie inside the arena. Narrow values are next hops; wide
//!    ones are pointers to blocks, and next hops.
//! 4. No word belongs to two blocks or pages, and a block with children leaves
//!    at least one bit of the key to them. So a lookup ends.
//! 5. The arena begins with a block of one run without a next hop.
//! 6. In a flat table of keys of up to 32 bits, all entries of the root lead to flat blocks, which begin at cache lines and
//!    lie inside the arena; two may lead to the same one. There are no pages, the root has some bits, and the key the 6 of a
//!    slot below them. The entries of a block are pointers, or halves: next hops below 2^15.
//! 7. In a flat table of longer keys, all blocks are flat, have 64 pointers, begin at cache lines and lie inside the arena.
//!    Several pointers may lead to the same block, at several depths; those in blocks lead to lower places, so a lookup ends.
//!
//! Of an arena that several Fibs have in common (`SharedArena`) invariant 4 is that no block lies deeper than the key has bits,
//! and none is flat.

mod flat;
mod limit;

use alloc::vec;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;

use super::arrays::{FibView, FibWord, IDLE_BLOCK, MAX_DIRECT_BITS, MAX_WORDS, root_bits};
use super::layout::{NODE, PLACE, WIDE};
use crate::address::{Address, STRIDE};
use crate::next_hop::MAX_NEXT_HOP;
use limit::PackedLimit;

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
    /// A pair of a map is not what its routes need, or its routes are not answered by it.
    Pair {
        /// The number of the pair.
        number: u32,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("the arrays do not have the lengths they need"),
            Self::Pointer { pointer } => write!(f, "pointer {pointer:#010x} leads nowhere"),
            Self::Block { place } => write!(f, "the block at word {place} is malformed"),
            Self::Shared { place } => write!(f, "word {place} has two owners"),
            Self::Pair { number } => write!(f, "pair {number} is not that of its routes"),
            Self::Depth { place } => write!(f, "the block at word {place} is too deep"),
        }
    }
}

impl Error for CheckError {}

/// [`check_answers`] for all next hops that a Fib may have.
pub(crate) fn check<A: Address>(view: FibView<'_>) -> Result<(), CheckError> {
    check_answers::<A>(view, MAX_NEXT_HOP, None)
}

/// What is known of an arena that several Fibs have in common, from one of their checks to the next.
#[derive(Debug, Default)]
pub(crate) struct SharedArena {
    /// The bits of values and the highest answer, which are those of all.
    like: Option<(u8, u32)>,
    /// By place and width of a block: of how many blocks there was room in the rest of the key, at least; 0 where none was met.
    room: Vec<u8>,
}

/// Verifies all invariants, for answers of at most `max_next_hop`; what is known of the arena if other Fibs have it, too.
///
/// O(root + arena) time, whatever the arrays hold: invariant 4 is verified on the
/// way down, so no block is visited twice, of a shared arena as often as the key has strides at most. A bit of memory a
/// word, of a shared one two bytes.
pub(crate) fn check_answers<A: Address>(
    view: FibView<'_>,
    max_next_hop: u32,
    shared: Option<&mut SharedArena>,
) -> Result<(), CheckError> {
    check_shape::<A>(view)?;
    let owned = vec![
        0;
        if shared.is_some() {
            0
        } else {
            view.arena.len() / 64 + 1
        }
    ];
    let mut checker = LayoutChecker {
        view,
        max_next_hop,
        narrow: PackedLimit::new(max_next_hop, view.value_bits.into()),
        width: A::WIDTH,
        owned,
        shared,
        todo: Vec::new(),
    };
    if let Some(shared) = &mut checker.shared {
        // Until all of this Fib is known to be sound, no other one is.
        let like = shared
            .like
            .replace((0, 0))
            .unwrap_or((view.value_bits, max_next_hop));
        if view.is_flat || like != (view.value_bits, max_next_hop) {
            return Err(CheckError::Shape);
        }
        shared.room.resize(2 * view.arena.len(), 0);
    }
    checker.own(0, IDLE_BLOCK.len())?;
    if view.is_flat {
        return match A::WIDTH {
            ..=32 => checker.flat_table(),
            33.. => checker.long_flat_table(),
        };
    }
    let depth = view.root_bits + view.page_bits;
    for entries in view.root.chunks(64) {
        // A bit for each pointer, as a branch for each entry would be mispredicted.
        let (mut pointers, mut next_hop) = (0u64, 0);
        for (index, entry) in entries.iter().map(load).enumerate() {
            let is_pointer = entry & NODE != 0;
            pointers |= u64::from(is_pointer) << index;
            next_hop = next_hop.max(if is_pointer { 0 } else { entry });
        }
        checker.next_hop(next_hop)?;
        while pointers != 0 {
            checker.entry(load(&entries[pointers.trailing_zeros() as usize]), depth)?;
            pointers &= pointers - 1;
        }
    }
    if let Some(shared) = checker.shared {
        shared.like = Some((view.value_bits, max_next_hop));
    }
    Ok(())
}

/// Verifies what takes no walk: invariants 1 and 5.
pub(crate) fn check_shape<A: Address>(view: FibView<'_>) -> Result<(), CheckError> {
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
    let may_be_flat =
        A::WIDTH > 32 || view.page_bits == 0 && (1..=A::WIDTH - STRIDE).contains(&view.root_bits);
    if is_shaped && (!view.is_flat || may_be_flat) {
        Ok(())
    } else {
        Err(CheckError::Shape)
    }
}

/// Nothing is stored while it is checked.
#[inline]
fn load(word: &FibWord) -> u32 {
    word.load(Relaxed)
}

fn nowhere(pointer: u32) -> CheckError {
    CheckError::Pointer { pointer }
}

struct LayoutChecker<'a> {
    view: FibView<'a>,
    max_next_hop: u32,
    /// The same for the values of narrow blocks.
    narrow: PackedLimit,
    width: u8,
    /// A bit for each word that belongs to a block or page that has been seen, unless the arena is shared.
    owned: Vec<u64>,
    shared: Option<&'a mut SharedArena>,
    /// Pointers to blocks, with the bits above each.
    todo: Vec<(u32, u8)>,
}

impl<'a> LayoutChecker<'a> {
    #[inline]
    fn next_hop(&self, next_hop: u32) -> Result<(), CheckError> {
        if next_hop > self.max_next_hop {
            return Err(nowhere(next_hop));
        }
        Ok(())
    }

    /// All that is below a pointer of the root.
    fn entry(&mut self, entry: u32, depth: u8) -> Result<(), CheckError> {
        let (arena, page_bits): (&'a [FibWord], _) = (self.view.arena, self.view.page_bits);
        if page_bits == 0 {
            self.child(entry, depth)?;
        } else {
            // A page carries no mark of width.
            let place = (entry & !NODE) as usize;
            let page = place..place + (1 << page_bits);
            let page = arena.get(page).ok_or(nowhere(entry))?;
            self.own(place, page.len())?;
            for entry in page.iter().map(load) {
                self.pointer(entry, depth)?;
            }
        }
        while let Some((pointer, depth)) = self.todo.pop() {
            self.block(pointer, depth)?;
        }
        Ok(())
    }

    #[inline]
    fn pointer(&mut self, pointer: u32, depth: u8) -> Result<(), CheckError> {
        if pointer & NODE == 0 {
            return self.next_hop(pointer);
        }
        self.child(pointer, depth)
    }

    fn child(&mut self, pointer: u32, depth: u8) -> Result<(), CheckError> {
        if depth >= self.width {
            return Err(CheckError::Depth {
                place: pointer & PLACE,
            });
        }
        if let Some(shared) = &mut self.shared {
            let room = (self.width - depth).div_ceil(STRIDE);
            let at = (pointer & PLACE) as usize * 2 + usize::from(pointer & WIDE != 0);
            let least = shared.room.get_mut(at).ok_or(nowhere(pointer))?;
            if (1..=room).contains(least) {
                return Ok(());
            }
            *least = room;
        }
        self.todo.push((pointer, depth));
        Ok(())
    }

    /// Takes `len` words from `place` on, all in the arena; they must have no owner, unless it is shared.
    fn own(&mut self, place: usize, len: usize) -> Result<(), CheckError> {
        if self.shared.is_some() {
            return Ok(());
        }
        let (mut at, end) = (place, place + len);
        // Nearly always once: writers let no small block cross lines.
        while at < end {
            let next = end.min((at / 64 + 1) * 64);
            let bits = u64::MAX >> (64 - (next - at)) << (at % 64);
            let owned = &mut self.owned[at / 64];
            if *owned & bits != 0 {
                return Err(CheckError::Shared {
                    place: place as u32,
                });
            }
            *owned |= bits;
            at = next;
        }
        Ok(())
    }

    fn block(&mut self, pointer: u32, depth: u8) -> Result<(), CheckError> {
        let arena: &'a [FibWord] = self.view.arena;
        let place = (pointer & PLACE) as usize;
        let [low, high, rest @ ..] = arena.get(place..).unwrap_or_default() else {
            return Err(nowhere(pointer));
        };
        let runs = u64::from(load(low)) | u64::from(load(high)) << 32;
        if runs & 1 == 0 {
            return Err(CheckError::Block {
                place: pointer & PLACE,
            });
        }
        let count = runs.count_ones();
        let is_wide = pointer & WIDE != 0;
        let bits = if is_wide {
            32
        } else {
            u32::from(self.view.value_bits)
        };
        let len = (count * bits).div_ceil(32) as usize;
        if len > rest.len() {
            return Err(nowhere(pointer));
        }
        self.own(place, 2 + len)?;
        if is_wide {
            for value in rest[..len].iter().map(load) {
                // Deeper than any key is deep enough to be refused.
                self.pointer(value, depth.saturating_add(STRIDE))?;
            }
            return Ok(());
        }
        match self.narrow.first_above(rest, count) {
            Some(next_hop) => Err(nowhere(next_hop)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::arrays::words;

    /// A view of 16-bit keys whose arena is the idle block and `blocks`.
    fn check_u16(root: &[u32], blocks: &[u32], value_bits: u8) -> Result<(), CheckError> {
        let arena = [&IDLE_BLOCK, blocks].concat();
        check_answers::<u16>(
            FibView {
                root: &words(root.to_vec()),
                arena: &words(arena),
                root_bits: root.len().ilog2() as u8,
                page_bits: 0,
                value_bits,
                is_flat: false,
            },
            u16::MAX.into(),
            None,
        )
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
        // Its values would end beyond the arena.
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
    fn what_is_known_of_a_shared_arena_is_known_to_be_sound() {
        let wide = NODE | WIDE;
        // Three blocks, each of which leads to the next, and one whose values are cut off.
        let chain = [[1, 0, wide | 6], [1, 0, NODE | 9], [3, 0, 0x21], [63, 0, 1]].concat();
        let mut arena = words([&IDLE_BLOCK[..], &chain].concat());
        let check = |arena: &[FibWord], root: &[u32], value_bits, shared: &mut SharedArena| {
            let view = FibView {
                root: &words(root.to_vec()),
                arena,
                root_bits: root.len().ilog2() as u8,
                page_bits: 0,
                value_bits,
                is_flat: false,
            };
            check_answers::<u16>(view, 9, Some(shared))
        };
        let mut known = SharedArena::default();
        let deep = Err(CheckError::Depth { place: 9 });
        assert_eq!(check(&arena, &[wide | 3, NODE | 9], 4, &mut known), Ok(()));
        // The same block again, also in the middle; and a word that two have.
        assert_eq!(check(&arena, &[wide | 6], 4, &mut known), Ok(()));
        assert_eq!(check(&arena, &[7; 64], 4, &mut known), Ok(()));
        // Other bits of values: this and whatever follows is refused.
        assert_eq!(check(&arena, &[7], 5, &mut known), Err(CheckError::Shape));
        assert_eq!(check(&arena, &[7], 4, &mut known), Err(CheckError::Shape));
        // Where the key ends before the chain, though it was verified from higher up.
        let mut known = SharedArena::default();
        assert_eq!(check(&arena, &[wide | 3], 4, &mut known), Ok(()));
        let mut low = vec![0; 64];
        low[9] = wide | 3;
        assert_eq!(check(&arena, &low, 4, &mut known), deep.clone());
        // What a refused one has met is not known to be sound.
        let mut known = SharedArena::default();
        let cut = NODE | 12;
        arena.truncate(14);
        assert!(check(&arena, &[cut], 4, &mut known).is_err());
        assert!(check(&arena, &[cut], 4, &mut known).is_err());
    }

    #[test]
    fn pages_are_for_long_keys() {
        let page_at = |place: u32, entry: u32| {
            let mut root = vec![0; 1 << 16];
            root[9] = NODE | place;
            let mut arena = IDLE_BLOCK.to_vec();
            arena.extend([entry; 2]);
            check_answers::<u64>(
                FibView {
                    root: &words(root),
                    arena: &words(arena),
                    root_bits: 16,
                    page_bits: 1,
                    value_bits: 4,
                    is_flat: false,
                },
                u16::MAX.into(),
                None,
            )
        };
        assert_eq!(page_at(3, 8), Ok(()));
        let pointer = NODE | 4;
        assert_eq!(page_at(4, 8), Err(CheckError::Pointer { pointer }));
        assert_eq!(
            page_at(3, 0x1_0000),
            Err(CheckError::Pointer { pointer: 0x1_0000 })
        );
        let view = FibView {
            root: &words(vec![0; 2]),
            arena: &words(IDLE_BLOCK.to_vec()),
            root_bits: 1,
            page_bits: 1,
            value_bits: 1,
            is_flat: false,
        };
        assert_eq!(check_answers::<u32>(view, 9, None), Err(CheckError::Shape));
    }
}
