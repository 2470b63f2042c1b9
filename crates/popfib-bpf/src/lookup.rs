//! Lookups by the words of a map in user space, as `engines/bpf/popfib.bpf.h` does them in the kernel: whatever the words are, they
//! read inside of the map and end.

use crate::layout::{FibKind, Words};

const NODE: u32 = 1 << 31;
const WIDE: u32 = 1 << 30;
const FLAT: u32 = 1 << 29;
const PLACE: u32 = WIDE - 1;
const FLAT_PLACE: u32 = FLAT - 2;

/// The answer of the table of this id for the address whose first bit is the highest of `rest`.
pub(crate) fn answer(words: &impl Words, kind: FibKind, id: u32, mut rest: u128) -> u32 {
    let fib = words.fib(kind);
    if id > 0 && id >= fib.tables {
        return 0;
    }
    let mut take = |bits: u32| {
        let bits = bits & 31;
        let taken = (rest >> 1 >> (127 - bits)) as u32;
        rest <<= bits;
        taken
    };
    let at = |place: u32, index: u32| words.at(place.wrapping_add(index));
    let first = (id << (fib.root_bits & 31)).wrapping_add(take(fib.root_bits));
    let mut pointer = at(fib.root, first);
    if pointer & NODE != 0 && fib.page_bits > 0 {
        pointer = at(
            fib.arena,
            (pointer & !NODE).wrapping_add(take(fib.page_bits)),
        );
    }
    let is_short = kind.width() == 32;
    if is_short && pointer & (NODE | WIDE | FLAT) == NODE | FLAT {
        let slot = take(6);
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
        let slot = take(6);
        if pointer & FLAT != 0 {
            let place = fib.arena.wrapping_add(pointer & FLAT_PLACE);
            pointer = at(place, slot);
            continue;
        }
        let block = fib.arena.wrapping_add(pointer & PLACE);
        let runs = u64::from(at(block, 0)) | u64::from(at(block, 1)) << 32;
        let run = (runs << (63 - slot)).count_ones().wrapping_sub(1) & 63;
        if pointer & WIDE != 0 {
            pointer = at(block, 2 + run);
            continue;
        }
        let bit = run * (fib.value_bits & 63);
        let value = block.wrapping_add(2 + ((bit / 32) & 63));
        let two = u64::from(at(value, 0)) | u64::from(at(value, 1)) << 32;
        pointer = (two >> (bit % 32)) as u32 & fib.value_mask;
    }
    if pointer & NODE == 0 { pointer } else { 0 }
}
