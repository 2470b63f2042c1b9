//! The tables that answer a stream, as options name them: one or several, each by a name of its own.
//!
//! What options say of the content of a table (`--columns` and the like) is about the table before them, and about all tables if
//! none is before. Clap keeps no order of different options, so the places of arguments are read beside the arguments.

use std::any::Any;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use popfib_formats::LookupTable;

use crate::args::{ReadArgs, is_stdin};
use crate::failure::Failure;
use crate::{image, live, table};

use super::follower::Follower;
use super::table::{NamedTable, has_prefixes};

/// Which tables to read, and how.
#[derive(Debug)]
pub(crate) struct TablesArgs {
    given: GivenArgs,
    /// How each of the tables is read.
    reads: Vec<ReadArgs>,
    /// How any is.
    pub(crate) read: ReadArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
struct GivenArgs {
    /// Table to read, compressed or not; `-` is standard input. Several tables need names (asn=FILE), which
    /// become the names of their columns. --columns, --format, --peer, --value and --vrf are about the table
    /// before them, and about all tables if none is before [default: the built-in table of a tier-1 router, with
    /// origin AS numbers]
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
    read: ReadArgs,
}

/// The options of [`ReadArgs`] that are about one table.
const OF_A_TABLE: [&str; 5] = ["columns", "format", "peer", "value", "vrf"];

impl Args for TablesArgs {
    fn augment_args(command: Command) -> Command {
        let command = GivenArgs::augment_args(command);
        OF_A_TABLE.iter().fold(command, |command, option| {
            command.mut_arg(option, |option| option.action(ArgAction::Append))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TablesArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = GivenArgs::from_arg_matches(matches)?;
        let places = places(matches, "tables");
        let read_between = |from: usize, to: usize, before: &ReadArgs| {
            Ok::<_, clap::Error>(ReadArgs {
                format: only(matches, "format", from, to)?.or(before.format),
                peer: only(matches, "peer", from, to)?.or(before.peer),
                value: only(matches, "value", from, to)?.or(before.value),
                columns: match between::<String>(matches, "columns", from, to) {
                    columns if columns.is_empty() => before.columns.clone(),
                    columns => columns,
                },
                vrf: only(matches, "vrf", from, to)?.or(before.vrf.clone()),
                ..given.read.clone()
            })
        };
        let none = ReadArgs {
            format: None,
            peer: None,
            value: None,
            columns: Vec::new(),
            vrf: None,
            ..given.read.clone()
        };
        let first = places.first().copied().unwrap_or(usize::MAX);
        let read = read_between(0, first, &none)?;
        let ends = places.iter().skip(1).copied().chain([usize::MAX]);
        let reads = places.iter().zip(ends);
        let reads = reads
            .map(|(&from, to)| read_between(from, to, &read))
            .collect::<Result<_, _>>()?;
        Ok(Self { given, reads, read })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The places of an option's values among the arguments.
fn places(matches: &ArgMatches, option: &str) -> Vec<usize> {
    matches.indices_of(option).into_iter().flatten().collect()
}

/// The values of an option that stand there.
fn between<T: Any + Clone + Send + Sync>(
    matches: &ArgMatches,
    option: &str,
    from: usize,
    to: usize,
) -> Vec<T> {
    let values = matches.get_many::<T>(option).into_iter().flatten();
    let values = places(matches, option).into_iter().zip(values);
    let values = values.filter(|(place, _)| (from..to).contains(place));
    values.map(|(_, value)| value.clone()).collect()
}

/// The one of them, if there is one.
fn only<T: Any + Clone + Send + Sync>(
    matches: &ArgMatches,
    option: &str,
    from: usize,
    to: usize,
) -> Result<Option<T>, clap::Error> {
    let mut values = between(matches, option, from, to);
    if values.len() > 1 {
        let reason = format!("--{option} is given twice for one table\n");
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, reason));
    }
    Ok(values.pop())
}

impl TablesArgs {
    /// How many of the tables are read from standard input.
    pub(crate) fn on_stdin(&self) -> usize {
        let files = self.given.tables.iter().map(|table| split(table).1);
        files.filter(|file| is_stdin(Path::new(file))).count()
    }

    /// Where the table comes from again and again, if it is that of another process.
    pub(crate) fn follower(&self, with_prefixes: bool) -> Result<Option<Follower>, Failure> {
        Follower::of(self.given.live.as_deref(), &self.read, with_prefixes)
    }

    /// Reads the tables; the answers have prefixes if `with_prefixes`.
    pub(crate) fn load(&self, with_prefixes: bool) -> Result<Vec<NamedTable>, Failure> {
        if let Some(mut follower) = self.follower(with_prefixes)? {
            return Ok(vec![follower.first()?]);
        }
        let opened = image::open_file(self.given.fib.as_deref(), self.given.trust, &self.read)?;
        if let Some(opened) = opened {
            return Ok(NamedTable::of_image(opened, with_prefixes)?.collect());
        }
        let mut tables = Vec::new();
        for (
            name,
            LookupTable {
                name: file, table, ..
            },
        ) in self.read_files()?
        {
            has_prefixes(&file, &table, with_prefixes)?;
            tables.extend(NamedTable::of_columns(name, table, with_prefixes));
        }
        Ok(tables)
    }

    /// The tables as they are, each with its name if it has one.
    pub(crate) fn read(&self) -> Result<Vec<(Option<String>, LookupTable)>, Failure> {
        let opened = match &self.given.live {
            Some(socket) => Some(live::open(socket, &self.read)?),
            None => image::open_file(self.given.fib.as_deref(), self.given.trust, &self.read)?,
        };
        match opened {
            Some(opened) => Ok(vec![(None, opened.into_loaded())]),
            None => self.read_files(),
        }
    }

    fn read_files(&self) -> Result<Vec<(Option<String>, LookupTable)>, Failure> {
        if self.given.tables.is_empty() {
            return Ok(vec![(None, table::load_records(None, &self.read)?)]);
        }
        let mut tables: Vec<(Option<String>, _)> = Vec::new();
        for (table, read) in self.given.tables.iter().zip(&self.reads) {
            let (name, file) = split(table);
            let name = name.map(str::to_owned);
            if name.is_none() && self.given.tables.len() > 1 {
                let reason = "one of several tables needs a name: --table NAME=FILE";
                return Err(format!("{}: {reason}", file.escape_debug()).into());
            }
            if tables.iter().any(|(known, _)| *known == name) {
                let name = name.unwrap_or_default();
                return Err(format!("two tables are called {name}").into());
            }
            tables.push((name, table::load_records(Some(Path::new(file)), read)?));
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
