//! The yardstick: a loop of one table load an address, which every rate is set against.
//!
//! `sum += table[addr >> 14]` over a table of 1 MiB and 2^24 uniformly random
//! 32-bit addresses, whatever family is measured. It stands for what the
//! machine can do at that minute with the first step of any lookup, so the
//! ratio to it compares across machines where rates do not.

use std::hint::black_box;

use crate::random::Random;

/// Addresses of a pass.
pub(crate) const ADDRESSES: usize = 1 << 24;
/// 1 MiB of 32-bit entries.
const ENTRIES: usize = 1 << 18;

pub(crate) struct Yardstick {
    table: Box<[u32; ENTRIES]>,
    addresses: Vec<u32>,
}

impl Yardstick {
    pub(crate) fn new() -> Self {
        let mut random = Random::new(0);
        let table: Box<[u32]> = (0..ENTRIES).map(|_| random.address()).collect();
        Self {
            // The length in the type: the index of 18 bits needs no bounds check.
            table: table.try_into().expect("as many entries as were made"),
            addresses: (0..ADDRESSES).map(|_| random.address()).collect(),
        }
    }

    /// The measured loop.
    #[inline(never)]
    pub(crate) fn pass(&self) {
        let table = black_box(&*self.table);
        let mut sum = 0u32;
        for &address in &self.addresses {
            sum = sum.wrapping_add(table[(address >> 14) as usize]);
        }
        black_box(sum);
    }
}
