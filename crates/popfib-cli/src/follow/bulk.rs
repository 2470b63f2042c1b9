//! Looks up many packed addresses at a time, and answers with numbers of values.
//!
//! Each client has its own numbers, counted from 1 in the order in which its answers first contained the values, and
//! requests the texts of new numbers: so each text is sent once to each client, and no number is ever used again. The live
//! table has numbers, too, but those are used again after a route is removed. A value is identified by its address in
//! memory, where the client's list keeps it; equal values have the same number.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use popfib::{Address, TableGuard, TableReader};
use popfib_feed::Target;

/// The maximum number of addresses in one query.
pub(super) const MAX_ADDRESSES: usize = 1 << 16;

/// The maximum number of values of a client.
const MAX_VALUES: usize = 1 << 20;

/// The number of addresses that are looked up in one read-side section.
const BURST: usize = 1024;

/// Addresses in network byte order.
pub(super) trait Key: Address {
    const BYTES: usize;

    fn unpack(bytes: &[u8]) -> Self;

    fn look_up<'g>(
        guard: &'g TableGuard<'_, Target>,
        addresses: &[Self],
        values: &mut [Option<&'g Target>],
    );
}

impl Key for u32 {
    const BYTES: usize = 4;

    fn unpack(bytes: &[u8]) -> Self {
        Self::from_be_bytes(bytes.try_into().expect("four bytes"))
    }

    fn look_up<'g>(
        guard: &'g TableGuard<'_, Target>,
        addresses: &[Self],
        values: &mut [Option<&'g Target>],
    ) {
        guard.ipv4().lookup_batch(addresses, values);
    }
}

impl Key for u128 {
    const BYTES: usize = 16;

    fn unpack(bytes: &[u8]) -> Self {
        Self::from_be_bytes(bytes.try_into().expect("sixteen bytes"))
    }

    fn look_up<'g>(
        guard: &'g TableGuard<'_, Target>,
        addresses: &[Self],
        values: &mut [Option<&'g Target>],
    ) {
        guard.ipv6().lookup_batch(addresses, values);
    }
}

/// The values that have numbers for a client.
#[derive(Default)]
pub(super) struct Numbers {
    /// By [`Target::identity`]. The standard hash takes longer than the lookup.
    numbers: HashMap<usize, u32, RandomState>,
    by_value: HashMap<Target, u32>,
    values: Vec<Target>,
    /// Equal to others, and kept where they are.
    copies: Vec<Target>,
}

impl Numbers {
    /// The number of values that have numbers.
    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    /// The values from this number on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (usize, &Target)> {
        let values = self.values.get(first.saturating_sub(1)..);
        (first.max(1)..).zip(values.unwrap_or_default())
    }

    /// Appends the number of each packed address, 0 without a match; false if there are more values than numbers.
    pub(super) fn answer<A: Key>(
        &mut self,
        reader: &mut TableReader<Target>,
        packed: &[u8],
        to: &mut Vec<u8>,
    ) -> bool {
        let mut addresses = Vec::with_capacity(BURST);
        for packed in packed.chunks(BURST * A::BYTES) {
            addresses.clear();
            addresses.extend(packed.chunks_exact(A::BYTES).map(A::unpack));
            let guard = reader.pin();
            let mut values = [None; BURST];
            let values = &mut values[..addresses.len()];
            A::look_up(&guard, &addresses, values);
            for value in values {
                let number = match value {
                    None => 0,
                    Some(value) => match self.number(value) {
                        Some(number) => number,
                        None => return false,
                    },
                };
                to.extend_from_slice(&number.to_le_bytes());
            }
        }
        true
    }

    fn number(&mut self, value: &Target) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&value.identity()) {
            return Some(number);
        }
        if self.numbers.len() >= MAX_VALUES {
            return None;
        }
        let next = self.values.len() as u32 + 1;
        let number = *self.by_value.entry(value.clone()).or_insert(next);
        let list = match number == next {
            true => &mut self.values,
            false => &mut self.copies,
        };
        list.push(value.clone());
        self.numbers.insert(value.identity(), number);
        Some(number)
    }
}
