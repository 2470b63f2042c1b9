//! The tables that answer a stream, as options name them: one or several, each by a name of its own.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;
use crate::live::Place;
use crate::{image, table};

use super::follower::Follower;
use super::routes::Routes;
use super::table::Table;

/// Which tables to read, and how.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TablesArgs {
    /// Table to read, compressed or not; `-` is standard input. Several tables need names (asn=FILE), which
    /// become the names of their columns [default: the built-in table of a tier-1 router, with origin AS
    /// numbers]
    #[arg(long = "table", value_name = "[NAME=]FILE")]
    tables: Vec<String>,

    /// Use an image made by `popfib compile` instead of a table
    #[arg(long, value_name = "FILE", conflicts_with = "tables")]
    fib: Option<PathBuf>,

    /// Do not validate the image. Only for images that you made yourself and that nobody changes
    #[arg(long, requires = "fib")]
    trust: bool,

    /// Look up in a running `popfib follow` through its Unix socket instead of a table; --vrf names one of
    /// its tables
    #[arg(long, value_name = "SOCKET", conflicts_with_all = ["tables", "fib"])]
    live: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

impl TablesArgs {
    /// How many of the tables are read from standard input.
    pub(crate) fn on_stdin(&self) -> usize {
        let files = self.tables.iter().map(|table| split(table).1);
        files.filter(|file| is_stdin(Path::new(file))).count()
    }

    /// Where the table comes from again and again, if it is that of another process.
    pub(crate) fn follower(&self, with_prefixes: bool) -> Result<Option<Follower>, Failure> {
        let place = self
            .live
            .as_deref()
            .map(|socket| Place::new(socket, &self.read));
        Ok(place
            .transpose()?
            .map(|place| Follower::new(place, with_prefixes)))
    }

    /// Reads the tables; the answers have prefixes if `with_prefixes`.
    pub(crate) fn load(&self, with_prefixes: bool) -> Result<Vec<Table>, Failure> {
        if let Some(mut follower) = self.follower(with_prefixes)? {
            return Ok(follower.fetch()?.unwrap_or_default());
        }
        let opened = image::open_file(self.fib.as_deref(), self.trust, &self.read)?;
        if let Some(opened) = opened {
            return Ok(vec![Table {
                name: None,
                with_prefixes,
                routes: Routes::of_image(opened, with_prefixes)?,
            }]);
        }
        if self.tables.is_empty() {
            return Ok(vec![Table {
                name: None,
                with_prefixes,
                routes: Routes::Table(Box::new(table::load_or_default(None, &self.read)?)),
            }]);
        }
        let mut tables: Vec<Table> = Vec::new();
        for table in &self.tables {
            let (name, file) = split(table);
            let mut name = name.map(str::to_owned);
            if name.is_none() && self.tables.len() > 1 {
                let reason = "one of several tables needs a name: --table NAME=FILE";
                return Err(format!("{}: {reason}", file.escape_debug()).into());
            }
            if tables.iter().any(|table| table.name == name) {
                let name = name.unwrap_or_default();
                return Err(format!("two tables are called {name}").into());
            }
            let paths = self.read.value_path.iter().map(Some);
            let no_path = self.read.value_path.is_empty().then_some(None);
            for (index, path) in paths.chain(no_path).enumerate() {
                // Each further value of the records is a table without prefixes of its own.
                if let Some(path) = path.filter(|_| self.read.value_path.len() > 1) {
                    let value = path.rsplit('.').next().unwrap_or(path);
                    let (table, _) = split(table);
                    name = Some(table.map_or(value.to_owned(), |table| format!("{table}_{value}")));
                }
                let read = self.read.with_value_path(path.map(String::as_str));
                let loaded = table::load_file(Path::new(file), &read)?;
                tables.push(Table {
                    name: name.clone(),
                    with_prefixes: with_prefixes && index == 0,
                    routes: Routes::Table(Box::new(loaded)),
                });
            }
        }
        Ok(tables)
    }
}

/// The name of a table, if it has one, and its file.
fn split(table: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    match table.split_once('=') {
        // A file that is there is meant, whatever it is called.
        Some((name, file)) if is_name(name) && !Path::new(table).exists() => (Some(name), file),
        _ => (None, table),
    }
}
