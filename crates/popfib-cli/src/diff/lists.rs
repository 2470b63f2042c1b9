//! `popfib diff --to`: two tables in, what a firewall's list in use loses and gets out.

use popfib::NextHop;
use popfib::diff;
use popfib::family::Family;
use popfib_formats::{RouteTable, WriteError, WriteOptions};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::destination::DestinationForm;
use crate::output::StandardOutput;

/// Prints what changes a list of the prefixes of `old` into one of those of `new`.
pub(super) fn print(
    form: &DestinationForm,
    name: Option<String>,
    old: &RouteTable,
    new: &RouteTable,
) -> Result<Verdict, Failure> {
    fn changes<A: Family>(
        [old, new]: [&RouteTable; 2],
        lists: &mut [RouteTable; 2],
        value: NextHop,
    ) {
        for change in diff::routes(A::of(&old.ribs), A::of(&new.ribs), |_, _| true) {
            let list = &mut lists[usize::from(change.old.is_none())];
            A::of_mut(&mut list.ribs).insert(change.prefix, value);
        }
    }
    let (list, value) = RouteTable::list();
    let mut lists = [list.clone(), list];
    changes::<u32>([old, new], &mut lists, value);
    changes::<u128>([old, new], &mut lists, value);
    let [removed, added] = &lists;
    let [removals, additions] = [removed, added].map(|list| list.route_count());
    if removals + additions == 0 {
        return Ok(Verdict::Good);
    }
    let options = WriteOptions {
        name,
        ..WriteOptions::default()
    };
    let mut output = StandardOutput::new();
    let written = form.write_changes([removed, added], &options, &mut output);
    written.map_err(|error| match error {
        WriteError::Form(reason) => Failure::from(format!("--to {}: {reason}", form.name())),
        error => error.to_string().into(),
    })?;
    output.flush()?;
    Ok(super::verdict(Some(format!(
        "{removals} removed, {additions} added"
    ))))
}
