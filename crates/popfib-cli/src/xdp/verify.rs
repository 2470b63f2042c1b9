//! What is loaded in, counts of answers that differ from a table's out.

use std::collections::HashMap;

use popfib::family::Family;
use popfib_bpf::MappedTable;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::Table;

use crate::args::FileArgs;
use crate::forms::FormArgs;
use crate::image::with_routes;
use crate::table;
use crate::verify::probes::ProbeArgs;
use crate::verify::{self, Comparison, VerifyCount};

/// Compares the answers at the borders of all routes and at random addresses.
pub(super) fn run(
    mapped: (&MappedTable, u32),
    args: &FileArgs,
    probes: ProbeArgs,
    form: FormArgs,
) -> Result<Verdict, Failure> {
    let args = args.or_stdin(false);
    let loaded = table::load(&args, args.read.options())?;
    let table = with_routes(loaded, "compare it")?;
    let numbers = numbers(mapped.0, &table);
    let ipv4 = family::<u32>(mapped, &table, &numbers, probes)?;
    let ipv6 = family::<u128>(mapped, &table, &numbers, probes)?;
    verify::print(ipv4, ipv6, form)
}

/// The number in the table of each number in the map, by their values. A value that the table lacks has a number that nothing has.
fn numbers(mapped: &MappedTable, table: &Table) -> Vec<u32> {
    let count = mapped.value_count().max(1);
    let texts = (1..count).map(|number| mapped.text(number));
    let texts: Option<Vec<String>> = texts.collect();
    let (Some(texts), Some(_)) = (texts, table.record_count()) else {
        return (0..count).collect();
    };
    // Of several columns, one may have the same value in many records: the order tells them apart.
    if texts.iter().map(String::as_str).eq(table.values().by_ref()) {
        return (0..count).collect();
    }
    let known: HashMap<_, _> = table.values().zip(1u32..).collect();
    let known = texts.iter().map(|text| known.get(text.as_str()).copied());
    let known = known.map(|number| number.unwrap_or(u32::MAX));
    [0].into_iter().chain(known).collect()
}

fn family<A: Family>(
    (mapped, id): (&MappedTable, u32),
    table: &Table,
    numbers: &[u32],
    probes: ProbeArgs,
) -> Result<VerifyCount, Failure> {
    let rib = &*table.family::<A>().rib()?;
    let (bar, done) = progress::counted("comparing", probes.most(rib));
    let mut comparison = Comparison::new(A::NAME, done, |addresses: &[A], answers: &mut [u32]| {
        for (address, answer) in addresses.iter().zip(answers) {
            let number = mapped.lookup(id, address.ip());
            let known = numbers.get(number as usize);
            // Without values, all numbers are those of the table.
            *answer = known.copied().unwrap_or(number);
        }
    });
    comparison.each_of(rib, probes.of(rib));
    drop(bar);
    Ok(comparison.count)
}
