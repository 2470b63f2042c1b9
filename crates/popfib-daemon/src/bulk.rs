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
use popfib_table::{FamilyTable, Records};

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
    records: (u64, HashMap<NextHop, u32, RandomState>),
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

    /// Appends the number of each address in network byte order, 0 without a match; `None` if there are more values than numbers.
    pub(super) fn answer<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        reader: &mut IpMapReader<Target>,
        packed: &[[u8; N]],
        to: &mut Vec<u8>,
    ) -> Option<()> {
        for packed in packed.chunks(BURST) {
            let addresses: Vec<A> = packed.iter().copied().map(A::from_be_bytes).collect();
            let guard = reader.pin();
            let mut values = [None; BURST];
            let values = &mut values[..addresses.len()];
            guard.family::<A>().lookup_batch(&addresses, values);
            for value in values {
                let number = value.map_or(Some(0), |value| self.number(value))?;
                to.extend_from_slice(&number.to_le_bytes());
            }
        }
        Some(())
    }

    /// The same of the table of a file, whose values are lines of all columns.
    pub(super) fn answer_file<A: Family<Bytes = [u8; N]>, const N: usize>(
        &mut self,
        file: &FileTable,
        packed: &[[u8; N]],
        to: &mut Vec<u8>,
    ) -> Option<()> {
        let records = file.table.records()?;
        if self.records.0 != file.version {
            self.records = (file.version, HashMap::default());
        }
        let mut found = [0; BURST];
        for packed in packed.chunks(BURST) {
            let addresses: Vec<A> = packed.iter().copied().map(A::from_be_bytes).collect();
            let found = &mut found[..addresses.len()];
            let family = file.table.family::<A>();
            let matched = family.match_numbers(Kernel::best(), &addresses, found);
            matched.ok()?;
            for &mut found in found {
                let record = NextHop::new(FamilyTable::<A>::value_of_match(found));
                let number = record.map_or(Some(0), |record| self.record(records, record))?;
                to.extend_from_slice(&number.to_le_bytes());
            }
        }
        Some(())
    }

    /// The number of a record, as [`number`](Self::number).
    fn record(&mut self, records: &Records, record: NextHop) -> Option<u32> {
        if let Some(&number) = self.records.1.get(&record) {
            return Some(number);
        }
        let number = self.number_of_text(record_line(records, record))?;
        self.records.1.insert(record, number);
        Some(number)
    }

    /// Counts the memory of a value, which may be a new one with so many bytes of text; false if there are too many or they take too much.
    fn has_room(&mut self, new: Option<usize>) -> bool {
        let bytes = self.memory.bytes() + OVERHEAD + new.unwrap_or(0);
        (new.is_none() || self.values.len() < MAX_VALUES) && self.memory.set(bytes)
    }

    /// The number of a text.
    fn number_of_text(&mut self, text: String) -> Option<u32> {
        let known = self.by_text.get(&*text).copied();
        if !self.has_room(known.is_none().then_some(text.len())) {
            return None;
        }
        Some(known.unwrap_or_else(|| {
            let text: Arc<str> = text.into();
            self.values.push(NumberedValue::Text(text.clone()));
            let number = self.values.len() as u32;
            self.by_text.insert(text, number);
            number
        }))
    }

    /// The number of a value, a new one if it has none; `None` if there are too many or they take too much memory.
    fn number(&mut self, value: &Target) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&value.number()) {
            return Some(number);
        }
        if self.numbers.len() >= MAX_VALUES {
            return None;
        }
        let number = if !value.can_change() {
            // Equal values have one number; a value of a route from a snapshot is not equal to others.
            let mark = if value.is_restored() { "\tstale" } else { "" };
            self.number_of_text(format!("{value}{mark}"))?
        } else if self.has_room(Some(0)) {
            self.values.push(NumberedValue::Changing(value.clone()));
            self.values.len() as u32
        } else {
            return None;
        };
        self.reserved.push(value.reserve());
        self.numbers.insert(value.number(), number);
        Some(number)
    }
}
