//! `popfib diff --to`: two tables in, what a firewall's list in use loses and gets out.

use popfib::NextHop;
use popfib::diff;
use popfib::family::Family;
use popfib_formats::{RouteTable, WriteOptions};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::destination::{Destination, DestinationForm};

/// The changes of lists in one form.
pub(super) struct ListDifference<'a> {
    form: &'a DestinationForm,
    options: WriteOptions,
}

impl<'a> ListDifference<'a> {
    /// Of a list of this name.
    ///
    /// # Errors
    /// A form that has no changes, before any table is read.
    pub(super) fn new(form: &'a DestinationForm, name: Option<String>) -> Result<Self, Failure> {
        let options = WriteOptions {
            name,
            ..WriteOptions::default()
        };
        let changes = Self { form, options };
        changes.write([&RouteTable::default(), &RouteTable::default()])?;
        Ok(changes)
    }

    /// Prints what makes a list of the prefixes of `old` one of those of `new`.
    pub(super) fn print(&self, old: &RouteTable, new: &RouteTable) -> Result<Verdict, Failure> {
        let (list, value) = RouteTable::list();
        let mut lists = [list.clone(), list];
        changes::<u32>([old, new], &mut lists, value);
        changes::<u128>([old, new], &mut lists, value);
        self.write([&lists[0], &lists[1]])?;
        let [removed, added] = lists.map(|list| list.route_count());
        let summary = format!("{removed} removed, {added} added");
        Ok(super::verdict((removed + added > 0).then_some(summary)))
    }

    fn write(&self, lists: [&RouteTable; 2]) -> Result<(), Failure> {
        let (form, options) = (self.form, &self.options);
        Destination::open(None)?.write_by(form, "", |to| form.write_changes(lists, options, to))
    }
}

/// Adds the prefixes that the old table has alone to the first list, and those of the new one to the second.
fn changes<A: Family>([old, new]: [&RouteTable; 2], lists: &mut [RouteTable; 2], value: NextHop) {
    for change in diff::routes(A::of(&old.ribs), A::of(&new.ribs), |_, _| true) {
        let list = &mut lists[usize::from(change.old.is_none())];
        A::of_mut(&mut list.ribs).insert(change.prefix, value);
    }
}
