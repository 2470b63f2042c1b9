//! Many addresses at a time: packed addresses in, numbers of values out.
//!
//! A client gets numbers of its own, from 1 on in the order in which values were met, and asks for their texts when it
//! meets new ones: texts are written once for each value and client, and no number is ever given out again. The live
//! table has numbers, too, but those are used again when a route goes. A value is known by where it lies in
//! memory, where the client's lists keep it; one that is equal to another has the number of that.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use popfib::{Address, TableGuard, TableReader};
use popfib_feed::Target;

/// The most addresses of one question.
pub(super) const MAX_ADDRESSES: usize = 1 << 16;

/// The most values that a client has numbers for.
const MAX_VALUES: usize = 1 << 20;

/// The addresses that are looked up while the table is held.
const BURST: usize = 1024;

/// Addresses as they stand in packets.
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

/// The values that a client has met.
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
    /// How many values have numbers.
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
