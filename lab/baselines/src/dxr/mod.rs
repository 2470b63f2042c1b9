//! DXR: a table over the first bits, then binary search among address ranges.
//!
//! Zec, Rizzo, Mikuc, *DXR: Towards a Billion Routing Lookups per Second in
//! Software*, ACM SIGCOMM CCR 42(5), 2012. The routes become ranges of addresses
//! with one next hop, neighbours with the same one merged. A *chunk* is all
//! addresses that share their first 16 (D16R) or 18 (D18R) bits. The *lookup
//! table* has a word of 32 bits for each chunk: its next hop if there is only
//! one, else where its entries begin in the *range table*, and how many they
//! are. An entry is the start of a range inside the chunk and its next hop; in
//! the *long* format 16 and 16 bits, in the *short* one 8 and 8, which a chunk
//! has if no next hop is above 255 and all ranges begin where the other bits of
//! the start are zero. A lookup reads the word and searches the chunk.
//!
//! A word numbers an entry by 19 bits (in units of the long format), says by one
//! bit which format it is, and has 12 bits for the number of entries: 2^19
//! entries in all, 2^12 in a chunk. The Poptrie paper changes that twice, and so
//! does this: for larger tables (section 4.8, here `dxr-18-modified`) the bit of
//! the format goes to the number, which makes 2^20 entries and leaves no short
//! format; for IPv6 (section 4.10) it goes to the count, 2^13 entries in a chunk.
//! An IPv6 entry here is what an IPv4 one is, the start with the next hop in
//! its last 16 bits, 128 bits long.
//!
//! The search halves by conditional moves, not branches, which random addresses
//! would mispredict at every second step.

mod lookup;

use std::marker::PhantomData;

use popfib::{Address, Rib};

use crate::buffer::Buffer;
use crate::cannot_build::CannotBuild;
use crate::lpm::{Key, Structure};
use crate::routes::{Route, sorted};

use lookup::View;

/// Bits of a next hop in an entry of the long format.
const NEXT_HOP_BITS: u8 = 16;

/// The words of the lookup table, from the most significant bit: the next hop or
/// the index of the first entry, the mark of the short format where there is
/// one, and the number of entries less one, 0 where the word has the next hop.
struct Form<A, const MODIFIED: bool>(PhantomData<A>);

impl<A: Address, const MODIFIED: bool> Form<A, MODIFIED> {
    /// Whether there is a short format.
    const SHORT: bool = A::WIDTH == 32 && !MODIFIED;
    /// Bits of the number of entries.
    const COUNT_BITS: u8 = if A::WIDTH == 32 { 12 } else { 13 };
    /// Bits below the index.
    const BELOW_INDEX: u8 = Self::COUNT_BITS + Self::SHORT as u8;
    /// The mark of the short format.
    const SHORT_MARK: u32 = (Self::SHORT as u32) << Self::COUNT_BITS;
    /// The most entries in all.
    const MAX_ENTRIES: usize = 1 << (32 - Self::BELOW_INDEX);
    /// The most entries of a chunk.
    const MAX_IN_CHUNK: usize = 1 << Self::COUNT_BITS;
}

/// A DXR structure whose lookup table resolves `BITS` bits, 16 at least, or a
/// shorter key; see the [module](self).
///
/// A lookup takes one read and log2 of the chunk's ranges. Building takes
/// O(routes + 2^`BITS`) time.
#[derive(Clone, Debug)]
pub struct Dxr<A: Key, const BITS: u8, const MODIFIED: bool = false> {
    table: Buffer<u32>,
    entries: Buffer<A>,
}

impl<A: Key, const BITS: u8, const MODIFIED: bool> Structure<A> for Dxr<A, BITS, MODIFIED> {
    type View<'a> = View<'a, A, MODIFIED>;

    fn build(rib: &Rib<A>) -> Result<Self, CannotBuild> {
        const { assert!(BITS >= 16, "the start of a range has 16 bits") }
        if MODIFIED && A::WIDTH != 32 {
            return Err(CannotBuild::KeyWidth { width: A::WIDTH });
        }
        let ranges = ranges(&sorted(rib, u16::MAX.into())?);
        let bits = BITS.min(A::WIDTH);
        let mut table = Buffer::<u32>::zeroed(1 << bits)?;
        let mut chunks = Chunks::<A, MODIFIED> {
            entries: Vec::new(),
        };
        let mut rest = &ranges[..];
        let mut next_hop = 0;
        // The ranges of a chunk: start inside of it, and next hop.
        let mut chunk = Vec::new();
        for (index, word) in (0..).zip(&mut table[..]) {
            let inside = rest.partition_point(|(first, _)| first.leading(bits) == index);
            let (own, behind) = rest.split_at(inside);
            rest = behind;
            chunk.clear();
            let starts_inside = |(first, next_hop): &(A, u32)| {
                let start = if bits < A::WIDTH {
                    first.skip_bits(bits)
                } else {
                    A::MIN
                };
                (start, *next_hop)
            };
            if own
                .first()
                .map(starts_inside)
                .is_none_or(|(start, _)| start != A::MIN)
            {
                // It begins inside the range of the chunk before.
                chunk.push((A::MIN, next_hop));
            }
            chunk.extend(own.iter().map(starts_inside));
            next_hop = chunk[chunk.len() - 1].1;
            *word = chunks.word(&chunk)?;
        }
        Ok(Self {
            table,
            entries: Buffer::copy_of(&chunks.entries)?,
        })
    }

    fn direct_bits(&self) -> u8 {
        BITS.min(A::WIDTH)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.table[..]) + size_of_val(&self.entries[..])
    }

    fn view(&self) -> View<'_, A, MODIFIED> {
        View {
            table: &self.table,
            entries: &self.entries,
            shorts: bytemuck::try_cast_slice(&self.entries).unwrap_or(&[]),
            bits: BITS.min(A::WIDTH),
        }
    }
}

/// All addresses as ranges with one next hop each, neighbours with the same one
/// merged: the first address of each, and its next hop (0 for none).
fn ranges<A: Address>(routes: &[Route<A>]) -> Vec<(A, u32)> {
    let mut ranges: Vec<(A, u32)> = vec![(A::MIN, 0)];
    let mut start = |first: A, next_hop: u32| {
        // A longer prefix that begins at the same address takes the place.
        if ranges.last().is_some_and(|(at, _)| *at == first) {
            ranges.pop();
        }
        if ranges.last().is_none_or(|(_, before)| *before != next_hop) {
            ranges.push((first, next_hop));
        }
    };
    // The prefixes that cover the current address, the longest on top.
    let mut open: Vec<(A, u32)> = Vec::new();
    let no_more = (None, 0);
    let routes = routes
        .iter()
        .map(|(prefix, next_hop)| (Some(*prefix), *next_hop));
    for (prefix, next_hop) in routes.chain([no_more]) {
        while let Some((last, _)) =
            open.pop_if(|(last, _)| prefix.is_none_or(|prefix| *last < prefix.first()))
        {
            if let Some(first) = last.checked_next() {
                start(first, open.last().map_or(0, |(_, next_hop)| *next_hop));
            }
        }
        if let Some(prefix) = prefix {
            start(prefix.first(), next_hop);
            open.push((prefix.last(), next_hop));
        }
    }
    ranges
}

/// The range table while it grows.
struct Chunks<A, const MODIFIED: bool> {
    entries: Vec<A>,
}

impl<A: Key, const MODIFIED: bool> Chunks<A, MODIFIED> {
    /// The word of the lookup table for a chunk of these ranges: starts inside
    /// the chunk, moved to the top, and next hops.
    fn word(&mut self, chunk: &[(A, u32)]) -> Result<u32, CannotBuild> {
        let below_index = Form::<A, MODIFIED>::BELOW_INDEX;
        if let [(_, next_hop)] = chunk {
            return Ok(next_hop << below_index);
        }
        let max = Form::<A, MODIFIED>::MAX_IN_CHUNK;
        if chunk.len() > max {
            return Err(CannotBuild::TooMany {
                what: "ranges in a chunk",
                max: max as u64,
            });
        }
        let index = self.entries.len();
        let mark = if Form::<A, MODIFIED>::SHORT && chunk.iter().all(is_short) {
            for pair in chunk.chunks(2) {
                self.entries.push(short_pair(pair));
            }
            Form::<A, MODIFIED>::SHORT_MARK
        } else {
            let entry = |(start, next_hop): &(A, u32)| *start | A::truncate((*next_hop).into());
            self.entries.extend(chunk.iter().map(entry));
            0
        };
        let max = Form::<A, MODIFIED>::MAX_ENTRIES;
        if self.entries.len() > max {
            return Err(CannotBuild::TooMany {
                what: "ranges",
                max: max as u64,
            });
        }
        Ok((index as u32) << below_index | mark | (chunk.len() as u32 - 1))
    }
}

/// Whether a range fits into the short format: eight bits each.
fn is_short<A: Address>((start, next_hop): &(A, u32)) -> bool {
    *next_hop <= u8::MAX.into() && *start == A::from_leading(start.leading(8), 8)
}

/// Two entries of the short format, or one, as they lie in memory.
fn short_pair<A: Key>(pair: &[(A, u32)]) -> A {
    let mut entry = A::MIN;
    let halves: &mut [u16] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut entry));
    for (half, (start, next_hop)) in halves.iter_mut().zip(pair) {
        *half = (start.leading(8) << 8 | next_hop) as u16;
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::Prefix;

    #[test]
    fn ranges_are_merged() {
        let route = |bits, len, next_hop| (Prefix::new(bits, len).unwrap(), next_hop);
        assert_eq!(ranges::<u8>(&[]), [(0, 0)]);
        assert_eq!(ranges(&[route(0u8, 0, 5)]), [(0, 5)]);
        let nested = [
            route(0u8, 1, 1),
            route(0x10, 4, 2),
            route(0x1f, 8, 1),
            route(0x20, 4, 1),
            route(0x80, 1, 1),
            route(0xff, 8, 3),
        ];
        assert_eq!(ranges(&nested), [(0, 1), (0x10, 2), (0x1f, 1), (0xff, 3)]);
        assert_eq!(
            ranges(&[route(0x40u8, 2, 1), route(0x40, 3, 2)]),
            [(0, 0), (0x40, 2), (0x60, 1), (0x80, 0)]
        );
    }

    #[test]
    fn words_have_the_papers_fields() {
        type Paper = Form<u32, false>;
        type Modified = Form<u32, true>;
        type Ipv6 = Form<u128, false>;
        assert_eq!(
            (Paper::MAX_ENTRIES, Paper::MAX_IN_CHUNK),
            (1 << 19, 1 << 12)
        );
        assert_eq!(
            (Modified::MAX_ENTRIES, Modified::MAX_IN_CHUNK),
            (1 << 20, 1 << 12)
        );
        assert_eq!((Ipv6::MAX_ENTRIES, Ipv6::MAX_IN_CHUNK), (1 << 19, 1 << 13));
        assert_eq!(
            (Paper::SHORT_MARK, Modified::SHORT_MARK, Ipv6::SHORT_MARK),
            (1 << 12, 0, 0)
        );
    }
}
