//! `popfib join`: several tables and folders of lists as one image, whose records have the columns of all.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use popfib::{Options, Source};
use popfib_formats::{Input, LookupTable, select_columns};
use popfib_table::{Join, Lists};

use crate::args::{Keep, ReadArgs};
use crate::failure::Failure;
use crate::image::ImagePlace;
use crate::output::note;
use crate::program::Verdict;
use crate::table;

/// Join tables into one image: every address gets the values of all of them.
///
/// Each table has a name, and its columns are called NAME.COLUMN, or NAME if it has one. A folder is a set of
/// lists: its column has the names of all lists that contain an address, which are those of their files up to
/// the first dot.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib join asn=GeoLite2-ASN.mmdb geo=GeoLite2-City.mmdb bad=blocklists/ -o all.fib
  popfib join asn=asn.csv geo=city.mmdb --columns asn,geo.country.iso_code -o all.fib
  popfib lookup --fib all.fib 192.0.2.1")]
pub(crate) struct JoinArgs {
    /// Tables, images and folders of lists
    #[arg(value_name = "NAME=FILE", required = true, value_parser = named)]
    tables: Vec<(String, PathBuf)>,

    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The columns to keep, by their names in the joined table, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<String>,

    /// Also keep the length of the prefix that matches in each table, as the column NAME.length
    #[arg(long)]
    prefixes: bool,

    /// Give a value that is missing in a record that of the next shorter prefix in the same table that has it
    #[arg(long)]
    fill: bool,

    /// What the image has of the table
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Keep::Routes)]
    keep: Keep,

    /// Skip and count invalid lines instead of stopping at the first, and files of a folder that are no lists
    #[arg(long)]
    skip_invalid: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    mask: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    max_size: u64,
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("a table needs a name: NAME=FILE".to_owned()),
    }
}

pub(crate) fn run(args: &JoinArgs) -> Result<Verdict, Failure> {
    let place = ImagePlace::new(&args.output)?;
    let mut names = HashSet::new();
    for (name, _) in &args.tables {
        if !names.insert(name) {
            return Err(format!("two tables are called {}", name.escape_debug()).into());
        }
    }
    let mut sources = Vec::new();
    let mut join = Join::new().lengths(args.prefixes).fill(args.fill);
    for (name, path) in &args.tables {
        if !args.columns.is_empty() && args.wanted(name).is_none() {
            return Err(format!("no column of {} is among --columns", name.escape_debug()).into());
        }
        join = match path.is_dir() {
            true => {
                sources.push(Source::named(path.display().to_string()));
                join.lists(name, args.lists(path)?)
            }
            false => {
                let loaded = args.table(name, path)?;
                sources.extend(loaded.sources);
                join.table(name, &loaded.table)?
            }
        };
    }
    let mut table = join.build()?;
    if !args.columns.is_empty() {
        table
            .select(&args.columns)
            .map_err(|name| format!("no column {name:?} in the joined table"))?;
    }
    let joined = LookupTable {
        name: args.output.display().to_string(),
        sources,
        table,
        replaced: 0,
        skipped: 0,
        notes: Vec::new(),
    };
    let options = Options::default();
    place.save(&[(String::new(), joined)], &options, args.keep.into())?;
    Ok(Verdict::Good)
}

impl JoinArgs {
    /// Which of the columns are those of the table of this name: by their names there, or its only one.
    fn wanted(&self, name: &str) -> Option<Vec<String>> {
        let own = |column: &String| {
            let rest = column.strip_prefix(name)?;
            match rest.strip_prefix('.') {
                // That of the prefix lengths is made here.
                Some("length") if self.prefixes => Some(None),
                Some(own) => Some(Some(own.to_owned())),
                None => rest.is_empty().then_some(None),
            }
        };
        let own: Vec<_> = self.columns.iter().filter_map(own).collect();
        (!own.is_empty()).then(|| own.into_iter().flatten().collect())
    }

    fn read(&self, columns: Vec<String>) -> ReadArgs {
        ReadArgs {
            format: None,
            peer: None,
            value: None,
            columns,
            vrf: None,
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            max_size: self.max_size,
        }
    }

    fn table(&self, name: &str, path: &Path) -> Result<LookupTable, Failure> {
        let mut loaded = table::load_records(Some(path), &self.read(vec!["*".to_owned()]))?;
        if let Some(wanted) = self.wanted(name).filter(|wanted| !wanted.is_empty()) {
            select_columns(&path.display().to_string(), &mut loaded.table, &wanted)?;
        }
        Ok(loaded)
    }

    /// The lists in a folder, in the order of the names of their files.
    fn lists(&self, folder: &Path) -> Result<Lists, Failure> {
        let failed = |error| format!("{}: {error}", folder.display().to_string().escape_debug());
        let entries = fs::read_dir(folder).map_err(failed)?;
        let files = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>, _>>();
        let mut files = files.map_err(failed)?;
        files.sort_unstable();
        let read = self.read(Vec::new());
        let mut lists = Lists::new();
        for file in files {
            let file_name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if file_name.starts_with('.') {
                continue;
            }
            let name = file_name.split('.').next().unwrap_or(&file_name);
            if lists.has(name) {
                let file = file.display().to_string();
                let reason = "two lists of one folder have this name";
                return Err(format!("{}: {reason}: {name}", file.escape_debug()).into());
            }
            match table::load_list(&file, &read) {
                Ok(list) => lists.add(name, list),
                Err(error) if self.skip_invalid => note(format_args!("left out: {error}")),
                Err(error) => return Err(error),
            }
        }
        Ok(lists)
    }
}
