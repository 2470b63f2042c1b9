//! Loads the table that the options ask for, and says what was left out of it.

use popfib_formats::{LoadOptions, RouteTable};

use crate::args::TableArgs;
use crate::failure::Failure;
use crate::output::note;

/// The table of `args`; replaced routes and skipped lines are noted on standard error.
pub(crate) fn load(args: &TableArgs) -> Result<RouteTable, Failure> {
    let Some(path) = &args.table else {
        return Ok(popfib_formats::default_table());
    };
    let options = LoadOptions {
        skip_invalid: args.skip_invalid,
        mask: args.mask,
    };
    let table = popfib_formats::load(path, &options)?;
    if table.replaced > 0 {
        note(format_args!(
            "{}: {} replaced by a later line for the same prefix",
            table.name.escape_debug(),
            counted(table.replaced, "route")
        ));
    }
    note_skipped(&table.name, table.skipped);
    Ok(table)
}

/// Notes lines of the file `name` that `--skip-invalid` left out.
pub(crate) fn note_skipped(name: &str, skipped: u64) {
    if skipped > 0 {
        note(format_args!(
            "{}: {} skipped",
            name.escape_debug(),
            counted(skipped, "invalid line")
        ));
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
