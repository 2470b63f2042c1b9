//! Records with the same values in the columns that are counted: the number of any of them in, that of the first one out.
//!
//! Those columns may be a part of a table's, so that records which differ elsewhere are equal here. Numbers are replaced once,
//! when all have been counted, and not with each address.

use std::collections::HashMap;

use popfib_table::Records;

use super::CountedRoute;
use crate::stream::table::NamedTable;

/// The records of a table, equal ones under one number.
pub(super) struct EqualRecords<'t> {
    records: &'t Records,
    /// Whose numbers are counted in place of those of records, if so.
    routes: Option<&'t [CountedRoute]>,
    /// Whether what has no value at all is a count apart from no match.
    are_apart: bool,
    /// The first record that was asked for with these codes of the columns.
    first: HashMap<Vec<u32>, u32>,
}

impl<'t> EqualRecords<'t> {
    /// `None` if no two are equal: routes have different prefixes, and a single column has a record for each value.
    pub(super) fn new(
        (table, routes): (&'t NamedTable, &'t Vec<CountedRoute>),
        are_apart: bool,
    ) -> Option<Self> {
        let records = table.table.records().filter(|_| !table.with_prefixes)?;
        let routes = table.is_by_routes().then_some(&routes[..]);
        let is_one = routes.is_none()
            && records.columns().len() == 1
            && records.columns()[0].len() == records.len();
        (!is_one).then(|| Self {
            records,
            routes,
            are_apart,
            first: HashMap::new(),
        })
    }

    /// The number that stands for that of a record; if it has no value at all and that is not apart, 0, as for no match.
    pub(super) fn of(&mut self, number: u32) -> u32 {
        if number == 0 {
            return 0;
        }
        let record = match self.routes {
            Some(routes) => routes[number as usize - 1].1.get(),
            None => number,
        };
        let codes: Vec<u32> = self.records.codes(record).collect();
        match !self.are_apart && codes.iter().all(|&code| code == 0) {
            true => 0,
            false => *self.first.entry(codes).or_insert(number),
        }
    }
}
