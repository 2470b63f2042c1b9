//! A table in, a table in the map out: its Fibs, and what programs get for its values.
//!
//! An image is copied as it is; another table is compiled first.

use std::path::Path;

use popfib::family::Family;
use popfib_bpf::{FibKind, FibSource, PinnedMap, TableContents, ValueKind};
use popfib_table::{FamilyTable, Table};

use crate::args::FileArgs;
use crate::failure::Failure;
use crate::program::Verdict;
use crate::progress;
use crate::table;
use crate::value_ids::{self, ValueIds, integer};

/// Loads the table of `args` into the map.
pub(super) fn load(
    map: &PinnedMap,
    args: &FileArgs,
    matches: bool,
    ids: Option<&Path>,
) -> Result<Verdict, Failure> {
    let ids = ids.map(|path| Ok::<_, Failure>((path, value_ids::read(path)?)));
    let ids = ids.transpose()?;
    let table = match table::open_image(args)? {
        Some(opened) => opened.table,
        None => table::load_records(args.table.as_deref(), &args.read)?.table,
    };
    let bar = progress::step("compiling");
    let values = ProgramValues::of(&table, ids.as_ref().map(|(path, ids)| (*path, ids)))?;
    let mut contents = TableContents::default();
    contents.set_values(&values.numbers, values.kind);
    contents.set_texts(&values.text, &values.text_ends);
    add(
        &mut contents,
        table.ipv4(),
        matches,
        [FibKind::Ipv4, FibKind::Ipv4Matches],
    )?;
    add(
        &mut contents,
        table.ipv6(),
        matches,
        [FibKind::Ipv6, FibKind::Ipv6Matches],
    )?;
    drop(bar);
    map.publish(&map.begin(&contents)?)?;
    Ok(Verdict::Good)
}

/// Adds the Fibs of one family.
fn add<'t, A: Family>(
    contents: &mut TableContents<'t>,
    table: &'t FamilyTable<A>,
    matches: bool,
    [lookups, longest]: [FibKind; 2],
) -> Result<(), Failure> {
    let routes = table.route_count();
    contents.set(
        lookups,
        FibSource::words(table.fib()?.words()).routes(routes),
    );
    if matches {
        let fib = table.longest()?.fib();
        contents.set(longest, FibSource::words(fib.words()).routes(routes));
    }
    Ok(())
}

/// What programs get for each number, 0 included, and the texts.
#[derive(Default)]
struct ProgramValues {
    numbers: Vec<u32>,
    kind: ValueKind,
    text: String,
    text_ends: Vec<u32>,
}

impl ProgramValues {
    fn of(table: &Table, ids: Option<(&Path, &ValueIds)>) -> Result<Self, Failure> {
        let Some(count) = table.record_count() else {
            return Ok(Self::default());
        };
        let mut values = Self {
            text_ends: vec![0],
            ..Self::default()
        };
        let mut integers = vec![0];
        for text in table.values() {
            values.text.push_str(&text);
            values.text_ends.push(values.text.len() as u32);
            let integer = match &*text {
                "" => Some(0),
                text => integer(text),
            };
            integers.extend(integer);
        }
        if let Some((path, ids)) = ids {
            values.kind = ValueKind::Ids;
            values.numbers.push(0);
            for text in table.values() {
                let id = ids.get(&*text).ok_or_else(|| {
                    let path = path.display();
                    format!(
                        "{path}: no number for '{}', a value of the table",
                        text.escape_debug()
                    )
                })?;
                values.numbers.push(*id);
            }
        } else if integers.len() > count as usize && integers.iter().any(|integer| *integer > 0) {
            values.kind = ValueKind::Integers;
            values.numbers = integers;
        } else {
            values.numbers = (0..=count).collect();
        }
        Ok(values)
    }
}
