//! The table of options in, a table in the map out.

use std::path::Path;

use popfib_bpf::{PinnedMap, ProgramValues};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::Table;

use crate::args::FileArgs;
use crate::table;

/// Loads the table of `args` into the map.
pub(super) fn load(
    map: &PinnedMap,
    args: &FileArgs,
    matches: bool,
    ids: Option<&Path>,
) -> Result<Verdict, Failure> {
    let ids = ids.map(|path| Ok::<_, Failure>((path, popfib_bpf::read_value_ids(path)?)));
    let ids = ids.transpose()?;
    let mut args = args.or_stdin(false);
    args.read.every_table = args.read.vrf.as_deref() == Some("*");
    let mut options = args.read.options();
    options.table.take_if(|_| options.every_table);
    let table = table::load::<Table>(&args, options)?.content;
    let bar = progress::step("compiling");
    let values = match ids {
        None => ProgramValues::of(&table),
        Some((path, ids)) => ProgramValues::by_id(&table, |text| {
            let path = path.display();
            ids.get(text).copied().ok_or_else(|| {
                format!(
                    "{path}: no number for '{}', a value of the table",
                    text.escape_debug()
                )
            })
        })?,
    };
    map.load(&table, &values, matches).map_err(super::failure)?;
    drop(bar);
    Ok(Verdict::Good)
}
