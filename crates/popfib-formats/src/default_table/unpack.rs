//! Unpacks a table of routes with AS numbers: the bytes of a file in, prefixes and AS numbers out.
//!
//! The packed form is the unpacked size (32 bits, big-endian, as all sizes
//! here), then a DEFLATE stream of the number of IPv4 routes, the lengths of
//! the columns below, and the columns. Like lies beside like in a column, which
//! is what DEFLATE makes small. The routes are in prefix order, IPv4 first, both
//! families in the same columns.
//!
//! | column | for | holds |
//! |---|---|---|
//! | numbers | each AS, the most frequent first | the difference to the one before (number) |
//! | lengths | each route | the prefix length (byte) |
//! | steps | each route | where the prefix lies, see below (number) |
//! | changes | each route | whether its AS differs from that of the route before (byte) |
//! | high, middle, low | each changed AS | its place in `numbers` (a byte in each) |
//!
//! A step counts in prefixes of the route's length: from the first of them that
//! is entirely after the route before (even numbers), or, if that one covers
//! this one, from its first address (odd numbers). So a neighbour of equal
//! length is 0, the commonest step by far. A number is its 7-bit groups from
//! the lowest up, all but the last with bit 7 set.
//!
//! The names are packed alike: one for each AS of the table, in ascending order, with a line end between them.

use flate2::{Decompress, FlushDecompress, Status};
use popfib::family::Family;
use popfib::{IpPrefix, Prefix};

/// The sizes at the start of the stream: the IPv4 routes and the columns.
pub(super) const SIZES: usize = 1 + COLUMNS;
const COLUMNS: usize = 7;

/// The columns of a table, read from front to back.
pub(super) struct UnpackedColumns {
    bytes: Vec<u8>,
    /// How many IPv4 routes are left.
    ipv4_routes: usize,
    /// The first address of the route before, and the one after its last.
    first: u128,
    after: u128,
    numbers: Cursor,
    lengths: Cursor,
    steps: Cursor,
    changes: Cursor,
    places: [Cursor; 3],
    /// Where the AS of the route before stands in `numbers`.
    place: usize,
}

/// Where in the bytes a column goes on, and where it ends.
#[derive(Clone, Copy)]
struct Cursor {
    next: usize,
    end: usize,
}

impl Cursor {
    #[inline(always)]
    fn byte(&mut self, bytes: &[u8]) -> u8 {
        let byte = bytes[self.next];
        self.next += 1;
        byte
    }

    #[inline(always)]
    fn number(&mut self, bytes: &[u8]) -> u128 {
        let first = self.byte(bytes);
        if first < 0x80 {
            u128::from(first)
        } else {
            self.long_number(bytes, first)
        }
    }

    /// A number of more than one byte. Apart, so that the usual one is a few instructions.
    #[inline(never)]
    fn long_number(&mut self, bytes: &[u8], first: u8) -> u128 {
        let mut number = u128::from(first & 0x7f);
        for shift in (7..).step_by(7) {
            let byte = self.byte(bytes);
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }
}

impl UnpackedColumns {
    /// Decompresses a packed table.
    ///
    /// Trusts `packed`: from bytes that no packer wrote come wrong routes or a panic.
    pub(super) fn unpack(packed: &[u8]) -> Self {
        let bytes = inflate(packed);
        let (sizes, _) = bytes.as_chunks();
        let sizes: [usize; SIZES] =
            std::array::from_fn(|index| u32::from_be_bytes(sizes[index]) as usize);
        let mut next = 4 * SIZES;
        let columns: [Cursor; COLUMNS] = std::array::from_fn(|index| {
            let start = next;
            next += sizes[1 + index];
            Cursor {
                next: start,
                end: next,
            }
        });
        let [numbers, lengths, steps, changes, places @ ..] = columns;
        Self {
            bytes,
            ipv4_routes: sizes[0],
            first: 0,
            after: 0,
            numbers,
            lengths,
            steps,
            changes,
            places,
            place: 0,
        }
    }

    /// The AS numbers of the table, the most frequent first.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut column = self.numbers;
        let mut numbers = Vec::new();
        let mut last = 0u32;
        while column.next < column.end {
            last = last.wrapping_add(column.number(&self.bytes) as u32);
            numbers.push(last);
        }
        numbers
    }

    /// The next route, in prefix order, and where its AS stands among the [`UnpackedColumns::numbers`].
    #[inline]
    pub(super) fn next(&mut self) -> Option<(IpPrefix, usize)> {
        if self.lengths.next == self.lengths.end {
            return None;
        }
        let Some(left) = self.ipv4_routes.checked_sub(1) else {
            return Some(self.route::<u128>());
        };
        self.ipv4_routes = left;
        let route = self.route::<u32>();
        if left == 0 {
            (self.first, self.after) = (0, 0);
        }
        Some(route)
    }

    #[inline]
    fn route<A: Family>(&mut self) -> (IpPrefix, usize) {
        let len = self.lengths.byte(&self.bytes);
        let step = self.steps.number(&self.bytes);
        let size = size(A::WIDTH - len);
        let from = if step & 1 == 0 {
            round_up(self.after, size)
        } else {
            self.first
        };
        self.first = from.wrapping_add((step >> 1).wrapping_mul(size));
        self.after = self.first.wrapping_add(size);
        if self.changes.byte(&self.bytes) != 0 {
            let places = self.places.each_mut();
            let [high, middle, low] = places.map(|place| place.byte(&self.bytes));
            self.place = u32::from_be_bytes([0, high, middle, low]) as usize;
        }
        let prefix = Prefix::new(A::truncate(self.first), len).expect("a prefix");
        (A::ip_prefix(prefix), self.place)
    }
}

/// The bytes of a DEFLATE stream after their number.
pub(super) fn inflate(packed: &[u8]) -> Vec<u8> {
    let (size, stream) = packed.split_first_chunk().expect("a size");
    let mut bytes = Vec::with_capacity(u32::from_be_bytes(*size) as usize);
    // In one call: the stream wrappers of the library copy through a buffer.
    let status = Decompress::new(false)
        .decompress_vec(stream, &mut bytes, FlushDecompress::Finish)
        .expect("a DEFLATE stream");
    assert_eq!(status, Status::StreamEnd);
    bytes
}

/// How many addresses a prefix has that leaves `host_bits`; 0 stands for 2^128.
#[inline(always)]
pub(super) fn size(host_bits: u8) -> u128 {
    1u128.checked_shl(u32::from(host_bits)).unwrap_or(0)
}

/// The first multiple of `size`, a [`size`], at `address` or after it.
#[inline(always)]
pub(super) fn round_up(address: u128, size: u128) -> u128 {
    let low = size.wrapping_sub(1);
    address.wrapping_add(low) & !low
}
