//! Packed addresses in, numbers of values out, many at a time.
//!
//! Each client has numbers of its own, counted from 1 in the order in which its answers first contain the values, and asks for the
//! texts of new numbers. So each text is sent once to each client, and no number is ever used for another value. The live table
//! has numbers, too, but uses them again after a route is removed. Equal values have the same number. Only texts are kept, not values.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use popfib::family::Family;
use popfib::live::IpMapReader;
use popfib::{Kernel, NextHop};
use popfib_feed::targets::ReservedTarget;
use popfib_feed::{BudgetShare, MemoryBudget, Target};
use popfib_table::FamilyTable;

use super::answers::record_line;
use super::files::FileTable;

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
    /// By [`Target::number`]. The standard hash takes longer than the lookup.
    numbers: HashMap<NextHop, u32, RandomState>,
    by_text: HashMap<Arc<str>, u32>,
    values: Vec<NumberedValue>,
    /// So that no other value gets the number in the table of one that has a number here.
    reserved: Vec<ReservedTarget>,
    /// The version of the table of a file, and the numbers of its records.
    records: (u64, HashMap<u32, u32, RandomState>),
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
            reserved: Vec::new(),
            records: Default::default(),
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

    /// The same of the table of a file, whose values are lines of all columns.
    pub(super) fn answer_file<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        file: &FileTable,
        packed: &[[u8; N]],
        to: &mut Vec<u8>,
    ) -> bool {
        let Some(records) = file.table.records() else {
            return false;
        };
        if self.records.0 != file.version {
            self.records = (file.version, HashMap::default());
        }
        let mut found = [0; BURST];
        for packed in packed.chunks(BURST) {
            let addresses: Vec<A> = packed.iter().copied().map(A::from_be_bytes).collect();
            let found = &mut found[..addresses.len()];
            let family = file.table.family::<A>();
            if family
                .match_numbers(Kernel::best(), &addresses, found)
                .is_err()
            {
                return false;
            }
            for &mut found in found {
                let record = FamilyTable::<A>::value_of_match(found);
                let number = match (NextHop::new(record), self.records.1.get(&record)) {
                    (None, _) => 0,
                    (_, Some(&number)) => number,
                    (Some(record), None) => {
                        let (number, length) = self.number_of_text(record_line(records, record));
                        if !self.has_room(OVERHEAD + length) {
                            return false;
                        }
                        self.records.1.insert(record.get(), number);
                        number
                    }
                };
                to.extend_from_slice(&number.to_le_bytes());
            }
        }
        true
    }

    /// Counts the memory of a value; false if there are too many or they take too much.
    fn has_room(&mut self, bytes: usize) -> bool {
        self.values.len() <= MAX_VALUES && self.memory.set(self.memory.bytes() + bytes)
    }

    /// The number of a text, and its length if it has none yet.
    fn number_of_text(&mut self, text: String) -> (u32, usize) {
        let text: Arc<str> = text.into();
        let next = self.values.len() as u32 + 1;
        match self.by_text.get(&text) {
            Some(&number) => (number, 0),
            None => {
                self.by_text.insert(text.clone(), next);
                self.values.push(NumberedValue::Text(text.clone()));
                (next, text.len())
            }
        }
    }

    /// The number of a value, a new one if it has none; `None` if there are too many or they take too much memory.
    fn number(&mut self, value: &Target) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&value.number()) {
            return Some(number);
        }
        if self.numbers.len() >= MAX_VALUES {
            return None;
        }
        let (number, length) = if value.can_change() {
            self.values.push(NumberedValue::Changing(value.clone()));
            (self.values.len() as u32, 0)
        } else {
            // Equal values have one number; a value of a route from a snapshot is not equal to others.
            let mark = if value.is_restored() { "\tstale" } else { "" };
            self.number_of_text(format!("{value}{mark}"))
        };
        if !self.has_room(OVERHEAD + length) {
            return None;
        }
        self.reserved.push(value.reserve());
        self.numbers.insert(value.number(), number);
        Some(number)
    }
}
