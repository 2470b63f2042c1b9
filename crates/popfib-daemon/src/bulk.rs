//! Packed addresses in, numbers of values out, many at a time.
//!
//! Each client has numbers of its own, counted from 1 in the order in which its answers first contain the values, and asks for the
//! texts of new numbers. So each text is sent once to each client, and no number is ever used for another value. The live table
//! has numbers, too, but uses them again after a route is removed. A value is recognised by its address in memory, which is not
//! used for another one while a client has a number for it. Equal values have the same number. Only texts are kept, not values.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use popfib::family::Family;
use popfib::live::IpMapReader;
use popfib_feed::targets::WeakTarget;
use popfib_feed::{BudgetShare, MemoryBudget, Target};

/// The maximum number of addresses in one query.
pub(super) const MAX_ADDRESSES: usize = 1 << 16;

/// The maximum number of values of a client, and the maximum number of bytes of those of all clients.
const MAX_VALUES: usize = 1 << 20;
const MAX_BYTES: usize = 512 << 20;

/// The number of addresses that are looked up in one read-side section.
const BURST: usize = 1024;

/// The memory of a value that has a number, besides its text.
const OVERHEAD: usize = 256;

/// The values that have numbers for a client.
pub(super) struct ValueNumbers {
    /// By [`Target::identity`]. The standard hash takes longer than the lookup.
    numbers: HashMap<usize, u32, RandomState>,
    by_text: HashMap<Arc<str>, u32>,
    values: Vec<NumberedValue>,
    /// Held so that no other value gets the identity of one that has a number.
    held: Vec<WeakTarget>,
    memory: BudgetShare,
}

/// A value that has a number.
pub(super) enum NumberedValue {
    /// Its text, with the mark of a route from a snapshot.
    Text(Arc<str>),
    /// A value whose text may change.
    Changing(Target),
}

impl fmt::Display for NumberedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Changing(value) => value.fmt(f),
        }
    }
}

impl ValueNumbers {
    /// In the memory of values, which is not that of tables: clients that ask leave routes their room.
    pub(super) fn new(memory: &Arc<MemoryBudget>) -> Self {
        Self {
            numbers: HashMap::default(),
            by_text: HashMap::new(),
            values: Vec::new(),
            held: Vec::new(),
            memory: BudgetShare::up_to(memory, MAX_BYTES),
        }
    }

    /// The number of values that have numbers.
    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    /// The values from this number on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (usize, &NumberedValue)> {
        let before = first.saturating_sub(1).min(self.values.len());
        (before + 1..).zip(&self.values[before..])
    }

    /// Appends the number of each address in network byte order, 0 without a match; false if there are more values than numbers.
    pub(super) fn answer<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        reader: &mut IpMapReader<Target>,
        packed: &[[u8; N]],
        to: &mut Vec<u8>,
    ) -> bool {
        let mut addresses = Vec::with_capacity(BURST);
        for packed in packed.chunks(BURST) {
            addresses.clear();
            addresses.extend(packed.iter().copied().map(A::from_be_bytes));
            let guard = reader.pin();
            let mut values = [None; BURST];
            let values = &mut values[..addresses.len()];
            guard.family::<A>().lookup_batch(&addresses, values);
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

    /// The number of a value, a new one if it has none; `None` if there are too many or they take too much memory.
    fn number(&mut self, value: &Target) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&value.identity()) {
            return Some(number);
        }
        if self.numbers.len() >= MAX_VALUES {
            return None;
        }
        let next = self.values.len() as u32 + 1;
        let (number, length) = if value.can_change() {
            self.values.push(NumberedValue::Changing(value.clone()));
            (next, 0)
        } else {
            // Equal values have one number; a value of a route from a snapshot is not equal to others.
            let mark = if value.is_restored() { "\tstale" } else { "" };
            let text: Arc<str> = format!("{value}{mark}").into();
            match self.by_text.get(&text) {
                Some(&number) => (number, 0),
                None => {
                    self.by_text.insert(text.clone(), next);
                    self.values.push(NumberedValue::Text(text.clone()));
                    (next, text.len())
                }
            }
        };
        if !self.memory.set(self.memory.bytes() + OVERHEAD + length) {
            return None;
        }
        self.held.push(value.downgrade());
        self.numbers.insert(value.identity(), number);
        Some(number)
    }
}
