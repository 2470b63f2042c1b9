//! What `popfib grep` searches for: patterns of the command line, lists and tables in, tables to look up in out.
//!
//! Patterns and lists become one table, since an address then costs one lookup for all of them.

use popfib_program::failure::Failure;
use popfib_table::Table;

use crate::stream::table::NamedTable;
use crate::table;

use super::ranges::SearchedRanges;
use super::{GrepArgs, PATTERN};

/// The tables that addresses are looked up in, and which matches count.
pub(super) struct SearchedTables {
    pub(super) tables: Vec<NamedTable>,
    /// For each table, whether a match counts, by the number of its record; 0 is no match.
    pub(super) selected: Vec<Vec<bool>>,
    /// The same addresses as ranges, if prefixes inside lines are searched for.
    pub(super) ranges: Option<SearchedRanges>,
}

impl SearchedTables {
    /// Searches for what is in these tables, in `patterns`, and in the lists, which are read.
    pub(super) fn new(
        args: &GrepArgs,
        patterns: &[String],
        mut tables: Vec<NamedTable>,
    ) -> Result<Self, Failure> {
        if let Some(table) = patterns_table(args, patterns)? {
            tables.push(NamedTable::new(None, table, false));
        }
        let selected = tables.iter_mut().map(|table| {
            let mut all = vec![true; table.numbers().count() + 1];
            all[0] = false;
            table.selected.take().unwrap_or(all)
        });
        let selected: Vec<_> = selected.collect();
        let ranges = args
            .span_relation()
            .map(|relation| SearchedRanges::new(relation, &tables, &selected));
        Ok(Self {
            ranges: ranges.transpose()?,
            tables,
            selected,
        })
    }
}

/// The table of all patterns and lists, if there are any.
fn patterns_table(args: &GrepArgs, patterns: &[String]) -> Result<Option<Table>, Failure> {
    if patterns.is_empty() && args.file.is_empty() {
        return Ok(None);
    }
    let mut found = Vec::new();
    for pattern in patterns {
        found.extend(table::prefixes_of_text(
            pattern,
            PATTERN,
            &args.tables.read,
        )?);
    }
    for file in &args.file {
        found.extend(table::prefixes_of_file(file, &args.tables.read)?);
    }
    Ok(Some(found.into_iter().map(|prefix| (prefix, "")).collect()))
}
