//! Joins of files: tables, images and folders of lists in, one table out, whose records have the columns of all.
//!
//! ```text
//! geo=GeoLite2-City.mmdb  asn=pfx2as.gz  lists=blocked/    ->    geo.country..., asn, lists: ["spam", "bots"]
//! ```
//! This file reads them, names their columns and says in which file something is wrong; the join itself is [`Join`]'s.

use std::fs;
use std::path::{Path, PathBuf};

use popfib::image::Source;
use popfib_table::{Column, Join, Lists, Records, Table, TableError};

use crate::error::{ReadError, quote};
use crate::image::{no_column_message, select_columns};
use crate::input::Input;
use crate::load::load;
use crate::lookups::LookupTable;
use crate::table_format::LoadOptions;
use crate::values::ColumnSelection;

/// The files of a folder of lists and of the folders in it, in the order of their names, without those that begin with a dot.
///
/// # Errors
/// If one cannot be read.
pub fn folder_files(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).and_then(|entries| {
            // A link to a folder could lead back.
            let entries = entries.map(|entry| entry.and_then(|e| Ok((e.file_type()?, e.path()))));
            entries.collect::<Result<Vec<_>, _>>()
        });
        let name = folder.display().to_string();
        for (kind, path) in
            entries.map_err(|e| ReadError::file(&name, e.to_string()).with_source(e))?
        {
            let name = path.file_name().unwrap_or_default();
            match kind.is_dir() {
                _ if name.as_encoded_bytes().starts_with(b".") => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// What is joined, and how.
#[derive(Clone, Debug, Default)]
pub struct JoinFiles {
    /// The names of the tables, and their files. A folder is a set of lists, and becomes one column: the names of all lists that
    /// contain an address, which are those of their files up to the first dot.
    pub tables: Vec<(String, PathBuf)>,
    /// The columns to keep, by their names in the joined table, in this order; all if there are none. The name of its table may be
    /// left out of one that only one table has.
    pub columns: Vec<String>,
    /// Whether the length of each table's matched prefix is kept, as the column `NAME.length`.
    pub lengths: bool,
    /// Whether a value that a record lacks is that of the next shorter prefix in its table which has one.
    pub fill: bool,
    /// Whether invalid lines are skipped and counted, and files of folders that are no lists left out.
    pub skip_invalid: bool,
    /// Whether host bits are cleared.
    pub mask: bool,
    /// Whether bytes of IPv4 with leading zeros are read as decimal numbers.
    pub leading_zeros: bool,
    /// Whether IPv4-mapped addresses have the answers of IPv4.
    pub mapped: bool,
}

impl JoinFiles {
    /// Reads and joins them. `open` opens each file; `tell` gets the name of a file and what is left out of it, a line each.
    ///
    /// Time and memory are in proportion to the sum of the tables.
    ///
    /// # Errors
    /// Those of [`load`] and [`Join`], two tables of one name, a column that is not there, a file of a folder that
    /// is no list.
    pub fn read(
        &self,
        open: &mut dyn FnMut(&Path) -> Result<Input, ReadError>,
        tell: &mut dyn FnMut(&str, &[String]),
    ) -> Result<LookupTable, ReadError> {
        let mut join = Join::new().lengths(self.lengths).fill(self.fill);
        let mut sources = Vec::new();
        for (index, (name, path)) in self.tables.iter().enumerate() {
            let file = path.display().to_string();
            let failed = |reason: String| ReadError::file(&file, reason);
            if self.tables[..index].iter().any(|(known, _)| known == name) {
                let name = quote(name);
                return Err(failed(format!("two tables are called {name}")));
            }
            if !self.has_short_names() {
                self.check_wanted(name, path, &self.columns)?;
            }
            if path.is_dir() {
                sources.push(Source::named(&*file));
                join = join.lists(name, self.lists(path, open, tell)?);
                continue;
            }
            let loaded = self.table(name, open(path)?)?;
            tell(&loaded.name, &loaded.remarks());
            sources.extend(loaded.sources);
            let joined = join.table(name, &loaded.content);
            join = joined.map_err(|error: TableError| failed(error.to_string()))?;
        }
        let failed = |reason| ReadError::file("the joined table", reason);
        let mut table = join.build().map_err(|error| failed(error.to_string()))?;
        if !self.columns.is_empty() {
            let columns = self.full_names(&table).map_err(failed)?;
            for (name, path) in &self.tables {
                self.check_wanted(name, path, &columns)?;
            }
            select_columns("the joined table", &mut table, &columns)?;
        }
        Ok(LookupTable::new(String::new(), sources, table))
    }

    /// That one of the columns, if any are asked for, is of the table of this name.
    fn check_wanted(&self, name: &str, path: &Path, columns: &[String]) -> Result<(), ReadError> {
        if columns.is_empty() || columns.iter().any(|column| is_of(name, column)) {
            return Ok(());
        }
        let reason = format!("no column of {} is asked for", quote(name));
        Err(ReadError::file(&path.display().to_string(), reason))
    }

    /// Whether a column is asked for without its table: then all columns are read.
    fn has_short_names(&self) -> bool {
        let is_full = |column: &String| self.tables.iter().any(|(name, _)| is_of(name, column));
        !self.columns.iter().all(is_full)
    }

    /// The columns that are asked for, by their names in the joined table.
    fn full_names(&self, table: &Table) -> Result<Vec<String>, String> {
        let columns = table.records().map_or(&[][..], Records::columns);
        let full = |wanted: &String| {
            let is_short_for = |name: &&str| {
                let table = name.strip_suffix(&**wanted);
                table.is_some_and(|table| table.ends_with('.'))
            };
            let names = columns.iter().map(Column::name);
            let found: Vec<_> = names.clone().filter(is_short_for).collect();
            match found[..] {
                _ if names.clone().any(|name| name == wanted) => Ok(wanted.clone()),
                [] => Err(no_column_message(wanted, table.records())),
                [only] => Ok(only.to_owned()),
                _ => {
                    let wanted = quote(wanted);
                    Err(format!(
                        "several columns are called {wanted}: {}",
                        found.join(", ")
                    ))
                }
            }
        };
        self.columns.iter().map(full).collect()
    }

    /// Which of the columns are those of the table of this name: by their names there, or its only one.
    fn wanted(&self, name: &str) -> Option<Vec<String>> {
        let own = |column: &String| {
            let rest = column.strip_prefix(name)?;
            match rest.strip_prefix('.') {
                // That of the prefix lengths is made here.
                Some("length") if self.lengths => Some(None),
                Some(own) => Some(Some(own.to_owned())),
                None => rest.is_empty().then_some(None),
            }
        };
        let own: Vec<_> = self.columns.iter().filter_map(own).collect();
        (!own.is_empty()).then(|| own.into_iter().flatten().collect())
    }

    /// How each of the files is read.
    fn options(&self, columns: ColumnSelection) -> LoadOptions {
        LoadOptions {
            columns,
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            leading_zeros: self.leading_zeros,
            mapped: self.mapped,
            ..LoadOptions::new()
        }
    }

    /// The table of this name, with those of its columns that are kept.
    fn table(&self, name: &str, input: Input) -> Result<LookupTable, ReadError> {
        let mut loaded =
            load(input, &self.options(ColumnSelection::All)).and_then(LookupTable::named)?;
        let wanted = self
            .wanted(name)
            .filter(|wanted| !wanted.is_empty() && !self.has_short_names());
        if let Some(wanted) = wanted {
            select_columns(&loaded.name, &mut loaded.content, &wanted)?;
        }
        Ok(loaded)
    }

    /// The lists in a folder, in the order of the names of their files.
    fn lists(
        &self,
        folder: &Path,
        open: &mut dyn FnMut(&Path) -> Result<Input, ReadError>,
        tell: &mut dyn FnMut(&str, &[String]),
    ) -> Result<Lists, ReadError> {
        let options = self.options(ColumnSelection::Value);
        let mut lists = Lists::new();
        for path in folder_files(folder)? {
            let file_name = path.file_name().unwrap_or_default().to_string_lossy();
            let file = path.display().to_string();
            let list_name = file_name.split('.').next().unwrap_or(&file_name);
            if lists.has(list_name) {
                let list_name = quote(list_name);
                let reason = format!("two lists of one folder are called {list_name}");
                return Err(ReadError::file(&file, reason));
            }
            let list = open(&path).and_then(|input| load::<Vec<_>>(input, &options));
            match list {
                Ok(list) => {
                    tell(&file, &list.remarks());
                    lists.add(list_name, list.content);
                }
                Err(error) if self.skip_invalid => {
                    tell(&file, &[format!("left out: {}", error.without_file())]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(lists)
    }
}

/// Whether a column of a joined table is of the table of this name.
fn is_of(name: &str, column: &str) -> bool {
    let own = column.strip_prefix(name);
    own.is_some_and(|own| own.is_empty() || own.starts_with('.'))
}
