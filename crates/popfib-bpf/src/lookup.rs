//! Lookups by the words of a map in user space, as `engines/bpf/popfib.bpf.h` does them in the kernel: whatever the words are, they
//! read inside of the map and end.

use crate::layout::{FibKind, Words};

const NODE: u32 = 1 << 31;
const WIDE: u32 = 1 << 30;
const FLAT: u32 = 1 << 29;
const ROUTE: u32 = WIDE | FLAT;
const PLACE: u32 = FLAT - 1;
const FLAT_PLACE: u32 = FLAT - 2;

/// The answer of the table of this id for the address whose first bit is the highest of `rest`.
pub(crate) fn answer(words: &impl Words, kind: FibKind, id: u32, mut rest: u128) -> u32 {
    let fib = words.fib(kind);
    if id > 0 && id >= fib.tables {
        return 0;
    }
    let take = |rest: &mut u128, bits: u32| {
        let bits = bits & 31;
        let taken = (*rest >> 1 >> (127 - bits)) as u32;
        *rest <<= bits;
        taken
    };
    let at = |place: u32, index: u32| words.at(place.wrapping_add(index));
    let first = (id << (fib.root_bits & 31)).wrapping_add(take(&mut rest, fib.root_bits));
    let mut pointer = at(fib.root, first);
    if pointer & NODE != 0 && fib.page_bits > 0 {
        pointer = at(
            fib.arena,
            (pointer & !NODE).wrapping_add(take(&mut rest, fib.page_bits)),
        );
    }
    let is_short = kind.width() == 32;
    if is_short && pointer & (NODE | ROUTE) == NODE | FLAT {
        let slot = take(&mut rest, 6);
        let place = fib.arena.wrapping_add(pointer & FLAT_PLACE);
        pointer = match pointer & 1 {
            0 => at(place, slot),
            _ => at(place, slot / 2) >> (slot % 2 * 16) & 0xffff,
        };
    }
    for _ in 0..kind.width().div_ceil(6) {
        if pointer & NODE == 0 {
            return pointer;
        }
        let left = (rest >> 96) as u32;
        let slot = take(&mut rest, 6);
        let kind = pointer & ROUTE;
        if kind == FLAT {
            let place = fib.arena.wrapping_add(pointer & FLAT_PLACE);
            pointer = at(place, slot);
            continue;
        }
        let block = fib.arena.wrapping_add(pointer & PLACE);
        let head = [at(block, 0), at(block, 1)];
        if kind == ROUTE {
            let [route, numbers] = head;
            let end = route & route.wrapping_neg();
            let is_other = (route ^ left) & (end << 1).wrapping_neg() != 0;
            return numbers >> (u32::from(is_other) * 16) & 0xffff;
        }
        let runs = u64::from(head[0]) | u64::from(head[1]) << 32;
        let up_to = runs << (63 - slot);
        let run = up_to.count_ones().wrapping_sub(head[0] & 1) & 63;
        if kind == WIDE {
            let is_first = (up_to >> 63 | runs & 1) == 0;
            pointer = at(block, 2 + if is_first { 0 } else { run });
            continue;
        }
        let bit = run * (fib.value_bits & 63);
        let value = block.wrapping_add(2 + ((bit / 32) & 63));
        let two = u64::from(at(value, 0)) | u64::from(at(value, 1)) << 32;
        pointer = (two >> (bit % 32)) as u32 & fib.value_mask;
    }
    if pointer & NODE == 0 { pointer } else { 0 }
}
