//! The reference loop: one table load an address, which every rate is set against.
//!
//! `sum += table[addr >> 14]` over a table of 1 MiB and 2^24 uniformly random
//! 32-bit addresses, whatever family is measured. It stands for what the
//! machine can do at that minute with the first step of any lookup, so the
//! ratio to it compares across machines where rates do not.

use std::hint::black_box;
use std::io;

use crate::random::Random;
use popfib_baselines::Buffer;

/// 1 MiB of 32-bit entries.
const ENTRIES: usize = 1 << 18;

/// The table and the addresses of the loop, on huge pages.
#[derive(Debug)]
pub struct ReferenceLoop {
    table: Buffer<u32>,
    addresses: Buffer<u32>,
}

impl ReferenceLoop {
    /// Addresses of a pass.
    pub const ADDRESSES: usize = 1 << 24;

    /// The same table and addresses each time.
    ///
    /// # Errors
    /// If the system has not got the memory, some 70 MiB.
    pub fn new() -> io::Result<Self> {
        let mut random = Random::new(0);
        let mut buffer = |count| {
            let numbers: Vec<u32> = (0..count).map(|_| random.address()).collect();
            Buffer::copy_of(&numbers)
        };
        Ok(Self {
            table: buffer(ENTRIES)?,
            addresses: buffer(Self::ADDRESSES)?,
        })
    }

    /// The measured loop.
    #[inline(never)]
    pub fn pass(&self) {
        // The length in the type: the index of 18 bits needs no bounds check.
        let table: &[u32; ENTRIES] = self.table[..].try_into().expect("as many as were made");
        let table = black_box(table);
        let mut sum = 0u32;
        for &address in &self.addresses[..] {
            sum = sum.wrapping_add(table[(address >> 14) as usize]);
        }
        black_box(sum);
    }
}
