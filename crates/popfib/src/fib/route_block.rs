//! Blocks of one route, from what is below a bit.
//!
//! Most of a small table is routes that are alone below some bit, and other blocks take five words for each step to such a one. This
//! takes two for all steps. Which answers there are decides alone whether there is one, so equal ones are found. What ends within one
//! step stays a block of slots, of which all tables together have few: other lanes take that step, too.

use super::encode::BlockEncoding;
use super::layout::{NODE, ROUTE, RouteBlock, place};
use crate::address::STRIDE;
use crate::fold::MAX_ROUTE;

/// The most runs of a block that may be one route as well.
pub(crate) const MAX_RUNS: u32 = 3;

/// The block in which keys that begin with the first `len` of these bits have `next_hop`, and all others `around`; `None` if there is
/// none such.
#[inline]
pub(crate) fn route(bits: u32, len: u8, next_hop: u32, around: u32) -> Option<RouteBlock> {
    any_route(bits, len, next_hop, around).filter(|_| len > STRIDE)
}

/// [`route`], also where one step takes all of its bits.
#[inline]
fn any_route(bits: u32, len: u8, next_hop: u32, around: u32) -> Option<RouteBlock> {
    if !(1..=MAX_ROUTE).contains(&len) || (next_hop | around) >> 16 != 0 {
        return None;
    }
    let end = 1 << (31 - len);
    Some([bits & !(2 * end - 1) | end, next_hop | around << 16])
}

/// The block of one route that says what this one says, if there is one. `word` reads the arena, of blocks that this one leads to.
pub(crate) fn route_of(
    block: &BlockEncoding,
    value_bits: u8,
    word: impl Fn(u32) -> u32,
) -> Option<RouteBlock> {
    let (first, 1, inner, around) = parts(block)? else {
        return None;
    };
    let at = place(inner) as u32;
    let [bits, next_hops] = match inner & ROUTE {
        ROUTE => [word(at), word(at + 1)],
        NODE => {
            let below = BlockEncoding::read(inner, value_bits, word);
            let (first, count, next_hop, around) = parts(&below)?;
            any_route(first << 26, STRIDE - count.ilog2() as u8, next_hop, around)?
        }
        _ => return None,
    };
    let (next_hop, other) = (next_hops & 0xffff, next_hops >> 16);
    let len = 31 - bits.trailing_zeros() as u8;
    let (bits, next_hop) = match (other == around, len == 1 && next_hop == around) {
        (true, _) => (bits, next_hop),
        // Of two halves either is the route.
        (_, true) => (bits ^ 1 << 31, other),
        _ => return None,
    };
    route(first << 26 | bits >> 6, len + STRIDE, next_hop, around)
}

/// The slots from which on so many have one value, a power of two that begins at a multiple of it, and the next hop of all others.
fn parts(block: &BlockEncoding) -> Option<(u32, u32, u32, u32)> {
    let second = (block.runs() & !1).trailing_zeros();
    let (first, end, inner, around) = match *block.values() {
        [inner, around] if second.is_power_of_two() => (0, second, inner, around),
        [around, inner] => (second, 64, inner, around),
        [around, inner, last] if around == last => {
            (second, 63 - block.runs().leading_zeros(), inner, around)
        }
        _ => return None,
    };
    let count = end - first;
    let is_prefix = count.is_power_of_two() && first % count == 0;
    (is_prefix && around & NODE == 0).then_some((first, count, inner, around))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fib::layout::{WIDE, route_value};

    /// The block of one route made from the block of 6 bits that it ends in, and those above it.
    fn step_by_step(bits: u32, len: u8, next_hop: u32, around: u32) -> Option<RouteBlock> {
        let mut at = (len - 1) / STRIDE * STRIDE;
        let count = 1 << (at + STRIDE - len);
        let slots = |at: u8, count, slot| {
            let mut slots = [around; 64];
            slots[(bits << at >> 26) as usize..][..count].fill(slot);
            BlockEncoding::of(&slots, 20)
        };
        let mut words = [0; 8];
        slots(at, count, next_hop).write(&mut words);
        assert_eq!(route_of(&slots(at, count, next_hop), 20, |_| 0), None);
        let (mut pointer, mut block) = (NODE, None);
        while at > 0 {
            at -= STRIDE;
            let above = slots(at, 1, pointer);
            block = Some(route_of(&above, 20, |word| words[word as usize])?);
            words[..2].copy_from_slice(&block?);
            pointer = ROUTE;
        }
        block
    }

    #[test]
    fn one_route_at_once_is_what_it_is_step_by_step() {
        for len in 1..=32 {
            for bits in [0, u32::MAX, 0x5a5a_5a5a, 0x8000_0001, 0x7fff_fffe] {
                let bits = bits & !(u64::from(u32::MAX) >> len) as u32;
                let block = route(bits, len, 7, 9);
                assert_eq!(block.is_some(), (STRIDE + 1..=MAX_ROUTE).contains(&len));
                assert_eq!(block, step_by_step(bits, len, 7, 9), "{bits:#x}/{len}");
                for key in (0..32).map(|bit| bits ^ 1 << bit).chain([bits]) {
                    let is_below = (bits ^ key).leading_zeros() >= u32::from(len);
                    let expected = if is_below { 7 } else { 9 };
                    assert!(block.is_none_or(|block| route_value(block, key) == expected));
                }
            }
        }
        assert_eq!(
            route(0, 8, 1 << 16, 0).or(route(0, 8, 0, 1 << 16)),
            None,
            "too high"
        );
        // Two routes, one in another, and what is below itself.
        let slots = |at: &[(usize, u32)]| {
            let mut slots = [0; 64];
            at.iter().for_each(|(at, slot)| slots[*at] = *slot);
            let words = [1 << 20, 5 | 6 << 16];
            route_of(&BlockEncoding::of(&slots, 20), 20, |at| words[at as usize])
        };
        assert_eq!(slots(&[(3, 1), (5, ROUTE)]), None);
        assert_eq!(slots(&[(5, ROUTE)]), None, "another around it");
        assert_eq!(slots(&[(4, ROUTE), (5, ROUTE)]), None);
        assert_eq!(slots(&[(4, NODE | WIDE)]), None);
    }
}
