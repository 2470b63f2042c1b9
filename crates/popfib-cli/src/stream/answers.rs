//! Addresses of one family in, numbers of answers out: of a value, of a match or of a route. 0 is no match.
//!
//! A family is only compiled when its first address comes.

use std::collections::HashMap;

use popfib::family::Family;
use popfib::{Kernel, NextHop, Prefix};
use popfib_program::failure::Failure;
use popfib_table::{FamilyTable, PrefixText, RouteNumbers};

use crate::stream::table::NamedTable;
use crate::stream::table_column::Asked;

/// What the number of an answer stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The value of the longest match.
    Value,
    /// Prefix and value, as [`FamilyTable::matched`](popfib_table::FamilyTable::matched) takes the number apart.
    Match,
}

impl NamedTable {
    /// Puts the number of each address's answer into `numbers`. Only the records that its conditions select are answers.
    pub(crate) fn look_up<A: Family>(
        &self,
        ask: Ask,
        kernel: Kernel,
        Asked { addresses, tables }: Asked<'_, A>,
        numbers: &mut Vec<u32>,
    ) -> Result<(), Failure> {
        numbers.resize(addresses.len(), 0);
        let family = self.table.family::<A>();
        match (ask, self.table.set()) {
            _ if addresses.is_empty() => {}
            (_, Some(set)) => {
                set.numbers(ask == Ask::Match, kernel, (tables, addresses), numbers)?;
            }
            (Ask::Value, None) => family.value_numbers(kernel, addresses, numbers)?,
            (Ask::Match, None) => family.match_numbers(kernel, addresses, numbers)?,
        }
        if let Some(selected) = &self.selected {
            for number in numbers {
                let record = match ask {
                    Ask::Value => *number,
                    Ask::Match => FamilyTable::<A>::value_of_match(*number),
                };
                *number *= u32::from(selected[record as usize]);
            }
        }
        Ok(())
    }
}

/// The routes of one family, numbered when its first address comes.
#[derive(Default)]
pub(crate) struct LazyRouteNumbers<A: Family> {
    numbered: Option<RouteNumbers<A>>,
    /// How many numbers come before those of the routes.
    before: u32,
    /// By these numbers, the routes whose records are answers, if not all are; 0 is no route.
    are_answers: Vec<bool>,
    /// The numbers of routes of several tables, which get one when they first match.
    matched: HashMap<(Prefix<A>, NextHop), u32>,
}

impl<A: Family> LazyRouteNumbers<A> {
    /// Puts the number of each address's route into `numbers`. With the first address, the routes get the numbers after `before`
    /// and are handed to `each` in this order, as prefix and value.
    pub(crate) fn look_up(
        &mut self,
        table: &NamedTable,
        kernel: Kernel,
        asked: Asked<'_, A>,
        numbers: &mut Vec<u32>,
        before: usize,
        mut each: impl FnMut(&str, NextHop),
    ) -> Result<(), Failure> {
        let addresses = asked.addresses;
        let text = |prefix| PrefixText::new(A::ip_prefix(prefix));
        if table.table.set().is_some() {
            table.look_up(Ask::Match, kernel, asked, numbers)?;
            let mut last = before as u32;
            for (number, &address) in numbers.iter_mut().zip(addresses) {
                let found = FamilyTable::<A>::matched(address, *number);
                *number = found.map_or(0, |found| {
                    *self.matched.entry(found).or_insert_with(|| {
                        each(text(found.0).as_str(), found.1);
                        last += 1;
                        last
                    })
                });
            }
            return Ok(());
        }
        numbers.resize(addresses.len(), 0);
        if addresses.is_empty() {
            return Ok(());
        }
        let numbered = match &self.numbered {
            Some(numbered) => numbered,
            None => {
                let selected = table.selected.as_ref();
                self.are_answers.extend(selected.map(|_| false));
                let numbered = table.table.family::<A>().number_routes(|prefix, value| {
                    let is_answer = selected.map(|selected| selected[value.get() as usize]);
                    self.are_answers.extend(is_answer);
                    each(text(prefix).as_str(), value);
                })?;
                self.before = before as u32;
                self.numbered.insert(numbered)
            }
        };
        numbered.numbers(kernel, addresses, numbers);
        if !self.are_answers.is_empty() {
            for number in &mut *numbers {
                *number *= u32::from(self.are_answers[*number as usize]);
            }
        }
        for number in numbers.iter_mut().filter(|number| **number != 0) {
            *number += self.before;
        }
        Ok(())
    }
}
