//! Which records say the same where some columns of them are counted.

use std::collections::HashMap;

use popfib_table::Records;

use crate::stream::table::NamedTable;

/// Records that say the same in the columns of a table.
pub(super) struct Same<'t> {
    records: &'t Records,
    /// The first number of each, by the codes of the columns.
    first: HashMap<Vec<u32>, u32>,
}

impl<'t> Same<'t> {
    /// `None` where no two do: routes have different prefixes, and the values of one column are different.
    pub(super) fn new(table: &'t NamedTable) -> Option<Self> {
        let records = table.table.records().filter(|_| !table.with_prefixes)?;
        let is_one = records.columns().len() == 1 && records.columns()[0].len() == records.len();
        (!is_one).then(|| Self {
            records,
            first: HashMap::new(),
        })
    }

    /// The number that stands for that of a record; 0, which is no match, for one without a value.
    pub(super) fn of(&mut self, number: u32) -> u32 {
        if number == 0 {
            return 0;
        }
        let codes: Vec<u32> = self.records.codes(number).collect();
        match codes.iter().all(|&code| code == 0) {
            true => 0,
            false => *self.first.entry(codes).or_insert(number),
        }
    }
}
