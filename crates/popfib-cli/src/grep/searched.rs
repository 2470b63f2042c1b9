//! What `popfib grep` searches for: prefixes of the command line, lists and tables.

use popfib_table::{Table, TableBuilder};

use crate::condition;
use crate::failure::Failure;
use crate::stream::table::NamedTable;
use crate::table;

use super::ranges::Ranges;
use super::{GrepArgs, PATTERN};

/// What addresses are searched for in.
pub(super) struct Searched {
    pub(super) tables: Vec<NamedTable>,
    /// By table, whether a match with the record of a number counts; 0 is no match.
    pub(super) selected: Vec<Vec<bool>>,
    /// The same as ranges, where prefixes inside lines are looked at.
    pub(super) ranges: Option<Ranges>,
}

impl Searched {
    /// In these tables, in `patterns`, and in the lists, which are read.
    pub(super) fn new(
        args: &GrepArgs,
        patterns: &[String],
        mut tables: Vec<NamedTable>,
    ) -> Result<Self, Failure> {
        let mut conditions = args.tables.conditions.clone();
        conditions.truncate(tables.len());
        if let Some(table) = patterns_table(args, patterns)? {
            tables.push(NamedTable::new(None, table, false));
            conditions.push(Vec::new());
        }
        let selected = tables.iter().zip(&conditions);
        let selected = selected.map(|(table, conditions)| match table.table.records() {
            Some(records) => condition::selected(conditions, records),
            // None of its addresses has a match, if it has no records.
            None => Ok(vec![false]),
        });
        let selected = selected.collect::<Result<Vec<_>, _>>()?;
        let ranges = args
            .lies()
            .map(|lies| Ranges::new(lies, &tables, &selected));
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
        found.extend(table::load_list(file, &args.tables.read)?);
    }
    let mut builder = TableBuilder::new();
    for prefix in found {
        builder.insert(prefix, "");
    }
    Ok(Some(builder.build()))
}
