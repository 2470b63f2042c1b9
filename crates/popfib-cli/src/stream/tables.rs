//! The tables that answer a stream: options of the command line in, one or several tables with their names out.
//!
//! Options about the content of a table (`--columns` and the like) are about the table before them, and about all tables if none
//! is before. Clap keeps no order among different options, so the index of each argument is read as well.

use std::any::Any;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use popfib_formats::{LoadOptions, LookupTable, RouteTable};
use popfib_program::failure::{Failure, two_tables};

use crate::args::{ReadArgs, TableArgs, is_built_in, is_stdin, stem, table_on_stdin};
use crate::condition::{self, Condition, OtherRecords};
use crate::image::is_image_table;
use crate::table;

use super::InputArgs;
use super::follower::Follower;
use super::table::NamedTable;
use super::table_column::TableChoice;

/// Which tables to read, and how.
#[derive(Debug)]
pub(crate) struct TablesArgs {
    given: GivenArgs,
    /// How each of the tables is read.
    reads: Vec<ReadArgs>,
    /// The conditions on the records of each table, if the command has such an option.
    pub(crate) conditions: Vec<Vec<Condition>>,
    /// How a table is read that no option is about.
    pub(crate) read: ReadArgs,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
struct GivenArgs {
    /// Table or image to read [default: the built-in one]
    ///
    /// It may be compressed; `-` is standard input. Several tables have names (asn=FILE, else that of the file), which become the
    /// names of their columns. --columns, --format, --length-column, --locations, --peer, --prefix-column, --value, --value-regex and --vrf
    /// are about the table before them, and about all tables if none is before. The built-in table is that of a tier-1
    /// router, with origin AS numbers, and `built-in` names it; `special` is another, of special-purpose addresses (IANA, RFC
    /// 6890). Files of these names are `./built-in` and `./special`.
    #[arg(short, long = "table", value_name = "[NAME=]FILE")]
    tables: Vec<String>,

    /// Do not validate the images
    ///
    /// Only for those that you made yourself and that nobody changes.
    #[arg(long, requires = "tables")]
    trust: bool,

    /// Use the table of a running `popfibd`
    ///
    /// SOCKET is its Unix socket, or http:// or https://HOST:PORT; --vrf names one of its tables.
    #[arg(long, value_name = "SOCKET", conflicts_with = "tables")]
    live: Option<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,
}

/// The options of [`ReadArgs`] that are about one table.
const OF_A_TABLE: [&str; 9] = [
    "columns",
    "format",
    "length_column",
    "locations",
    "peer",
    "prefix_column",
    "value",
    "value_regex",
    "vrf",
];

/// The identifier of the argument of [`files`].
const FILES: &str = "table_files";

/// The argument by which a command takes tables without `--table`.
pub(crate) fn files() -> Arg {
    Arg::new(FILES)
        .value_name("[NAME=]FILE")
        .help_heading(None::<&str>)
        .action(ArgAction::Append)
        .num_args(0..)
        // That there is this argument is known by its default: asked for one that a command does not have, clap fails in debug
        // builds and has none in release builds.
        .default_value("")
        .hide_default_value(true)
        .conflicts_with_all(["tables", "live"])
        .help("Tables or images to read; the same as --table")
        .long_help(
            "Tables or images to read; the same as --table\n\nOptions of a table are about all of them if none stands between them. \
             Without either, a pipe or file on standard input is the table.",
        )
}

/// Whether no file is named by the argument of [`files`].
fn is_default(matches: &ArgMatches) -> bool {
    matches.value_source(FILES) == Some(ValueSource::DefaultValue)
}

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
        let mut given = GivenArgs::from_arg_matches(matches)?;
        let places = match matches.try_get_many::<String>(FILES) {
            Ok(Some(files)) if !is_default(matches) => {
                given.tables = files.cloned().collect();
                let places = places(matches, FILES);
                let is_between = |option| {
                    let given = self::places(matches, option).into_iter();
                    let (first, last) = (places[0], places[places.len() - 1]);
                    given.into_iter().any(|at| (first..last).contains(&at))
                };
                // After all files, and none between them: they are about all.
                match OF_A_TABLE.into_iter().any(is_between) {
                    true => places,
                    false => vec![usize::MAX; places.len()],
                }
            }
            // The tables are the whole input. All options are about the one on standard input, which is after them.
            Ok(Some(_)) if given.tables.is_empty() && given.live.is_none() => {
                let stdin = table_on_stdin().map(|path| path.display().to_string());
                given.tables.extend(stdin);
                vec![usize::MAX; given.tables.len()]
            }
            _ => places(matches, "tables"),
        };
        let read_between = |from: usize, to: usize, before: &ReadArgs| {
            Ok::<_, clap::Error>(ReadArgs {
                format: only(matches, "format", from, to)?.or(before.format),
                locations: only(matches, "locations", from, to)?.or(before.locations.clone()),
                prefix_column: only(matches, "prefix_column", from, to)?
                    .or(before.prefix_column.clone()),
                length_column: only(matches, "length_column", from, to)?
                    .or(before.length_column.clone()),
                value_regex: only(matches, "value_regex", from, to)?.or(before.value_regex.clone()),
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
            skip_invalid: given.read.skip_invalid,
            mask: given.read.mask,
            leading_zeros: given.read.leading_zeros,
            max_size: given.read.max_size,
            ..ReadArgs::default()
        };
        let first = places.first().copied().unwrap_or(usize::MAX);
        let read = read_between(0, first, &none)?;
        let ends = places.iter().skip(1).copied().chain([usize::MAX]);
        let tables = places.iter().copied().zip(ends);
        let reads = tables.clone();
        let reads = reads.map(|(from, to)| read_between(from, to, &read));
        let mut reads = reads.collect::<Result<Vec<_>, _>>()?;
        let of_all = conditions(matches, 0, first);
        let of_each = |(from, to)| [&of_all[..], &conditions(matches, from, to)].concat();
        let mut conditions: Vec<_> = tables.map(of_each).collect();
        if places.is_empty() {
            conditions.push(of_all);
            reads.push(read.clone());
        }
        Ok(Self {
            given,
            reads,
            conditions,
            read,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The conditions on records between these places; few commands have that option.
fn conditions(matches: &ArgMatches, from: usize, to: usize) -> Vec<Condition> {
    match matches.try_get_many::<Condition>("where") {
        Ok(Some(_)) => between(matches, "where", from, to),
        _ => Vec::new(),
    }
}

/// The places of an option's values among the arguments.
fn places(matches: &ArgMatches, option: &str) -> Vec<usize> {
    matches.indices_of(option).into_iter().flatten().collect()
}

/// The values of an option between these places.
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

/// The value of an option between these places, if it is there; an error if it is there twice.
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

/// A table, and the other records of prefixes that have several.
type WithOthers = (LookupTable, OtherRecords);

impl TablesArgs {
    /// Whether a table is named, in place of the built-in one.
    pub(crate) fn is_given(&self) -> bool {
        !self.given.tables.is_empty() || self.given.live.is_some()
    }

    /// Whether there are conditions on the records of a table.
    pub(crate) fn has_conditions(&self) -> bool {
        self.conditions.iter().any(|asked| !asked.is_empty())
    }

    /// What values mean does not matter where no condition asks.
    pub(crate) fn without_values(&mut self) {
        for (read, conditions) in self.reads.iter_mut().zip(&self.conditions) {
            read.is_list = conditions.is_empty();
        }
    }

    /// Whether a table is needed: one is named, or options say how to read it.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_given()
            || self.has_conditions()
            || !self.read.columns.is_empty()
            || self.read.of_file().is_some()
    }

    /// Reads every table of the file, if a column says which each line is looked up in.
    pub(crate) fn choose_by(
        &mut self,
        column: &TableChoice,
        input: &mut InputArgs,
    ) -> Result<(), Failure> {
        column.ask_rows(input)?;
        let reads = self.reads.iter_mut().chain([&mut self.read]);
        reads.for_each(|read| column.ask(read));
        Ok(())
    }

    /// For people: the built-in table then has names beside its numbers, unless columns are chosen.
    pub(crate) fn name_numbers(&mut self) {
        let given = self.given.tables.iter();
        let are_built_in = given.map(|table| is_built_in(Path::new(split(table).1)));
        let default = self.given.tables.is_empty() && self.given.live.is_none();
        let are_built_in = are_built_in.chain(default.then_some(true));
        for (read, is_built_in) in self.reads.iter_mut().zip(are_built_in) {
            if is_built_in {
                read.name_numbers();
            }
        }
    }

    /// How many of the tables are read from standard input.
    pub(crate) fn on_stdin(&self) -> usize {
        let files = self.given.tables.iter().map(|table| split(table).1);
        files.filter(|file| is_stdin(Path::new(file))).count()
    }

    /// What `make` makes of the tables for a stream, and what fetches later ones: of another process, or of files that may be
    /// replaced, `lists` among them.
    pub(crate) fn follow<'a, T>(
        &'a self,
        with_prefixes: bool,
        lists: &[PathBuf],
        mut make: impl FnMut(Vec<NamedTable>) -> Result<T, Failure> + Send + 'a,
    ) -> Result<(T, Option<Follower<'a, T>>), Failure> {
        if let Some(socket) = &self.given.live {
            let make = move |table| make(vec![self.select(0, table, &self.read)?]);
            return Follower::of_socket(socket, &self.read, with_prefixes, make);
        }
        let files = self
            .given
            .tables
            .iter()
            .map(|table| Path::new(split(table).1));
        let files: Vec<_> = files.chain(lists.iter().map(PathBuf::as_path)).collect();
        Follower::of_files(&files, move || make(self.load(with_prefixes)?))
    }

    /// Reads the tables; the answers have prefixes if `with_prefixes`.
    pub(crate) fn load(&self, with_prefixes: bool) -> Result<Vec<NamedTable>, Failure> {
        self.load_each(false, |read| (read.clone(), with_prefixes))
    }

    /// The table at this place, with the records that meet the conditions on it and the columns that are asked for.
    fn select(&self, at: usize, table: NamedTable, read: &ReadArgs) -> Result<NamedTable, Failure> {
        let conditions = self.conditions.get(at).map_or(&[][..], Vec::as_slice);
        let (false, Some(records)) = (conditions.is_empty(), table.table.records()) else {
            return Ok(table);
        };
        let selected = condition::selected(conditions, records, true)?;
        let given = self.given.tables.get(at);
        let is_image = given.is_some_and(|table| is_image_table(Path::new(split(table).1)));
        let shown = match &read.columns[..] {
            [all] if all == "*" => Vec::new(),
            // By default an image shows all of its columns, and so does another process.
            [] if is_image || self.given.live.is_some() => Vec::new(),
            [] => vec![records.columns()[records.value_column()].name().to_owned()],
            names => names.to_vec(),
        };
        let mut table = table.showing(&shown)?;
        table.selected = Some(selected);
        Ok(table)
    }

    /// The columns that are asked for of all tables, or of one of them.
    pub(crate) fn columns(&self) -> &[String] {
        let mut reads = self.reads.iter().chain([&self.read]);
        let asked = reads.find(|read| !read.columns.is_empty());
        asked.map_or(&[], |read| &read.columns)
    }

    /// Reads the tables for columns some of which are not of records. The column `prefix` asks for prefixes of that table; columns
    /// that are `other` ask nothing of it, and the built-in table is not read for them alone.
    pub(crate) fn load_by(
        &self,
        prefix: &str,
        other: impl Fn(&str) -> bool,
    ) -> Result<Vec<NamedTable>, Failure> {
        let of_other = |column: &String| other(column);
        let is_other = !self.read.columns.is_empty() && self.read.columns.iter().all(of_other);
        if is_other
            && !self.has_conditions()
            && !self.is_given()
            && self.read.of_file() == Some("--columns")
        {
            return Ok(Vec::new());
        }
        let is_of_records = |column: &String| !other(column) && column != prefix;
        let all = self.columns().iter().any(is_of_records);
        self.load_each(all, |read| {
            let mut read = read.clone();
            read.columns.retain(|column| !other(column));
            let count = read.columns.len();
            read.columns.retain(|column| column != prefix);
            let with_prefixes = read.columns.len() < count;
            (read, with_prefixes)
        })
    }

    /// Reads each table as `asked` says, and with prefixes if that says so; with `all`, prefixes have all of their records.
    fn load_each(
        &self,
        all: bool,
        asked: impl Fn(&ReadArgs) -> (ReadArgs, bool),
    ) -> Result<Vec<NamedTable>, Failure> {
        let asked: Vec<_> = self.reads.iter().map(asked).collect();
        let reads = asked.iter().zip(&self.conditions);
        let reads = reads.map(|((shown, _), conditions)| wide(shown, conditions));
        let files = self.read_files(reads, all)?;
        let tables = files.into_iter().zip(&asked).enumerate();
        let tables = tables.map(|(at, ((name, (loaded, others)), (shown, with_prefixes)))| {
            let mut table = NamedTable::of_loaded(name, loaded, *with_prefixes)?;
            table.others = others;
            self.select(at, table, shown)
        });
        tables.collect()
    }

    /// Reads the tables with all that they have, each with its name if it has one.
    pub(crate) fn read(&self) -> Result<Vec<(Option<String>, LookupTable)>, Failure> {
        let read = self.read_files(self.reads.iter().cloned(), false)?;
        let tables = read.into_iter();
        Ok(tables.map(|(name, (table, _))| (name, table)).collect())
    }

    fn read_files(
        &self,
        reads: impl Iterator<Item = ReadArgs>,
        all: bool,
    ) -> Result<Vec<(Option<String>, WithOthers)>, Failure> {
        if self.read.every_table && self.given.tables.len() > 1 {
            let help = "`popfib compile` makes an image of several";
            return Err(format!("--table-column takes the tables of one file; {help}").into());
        }
        let mut tables: Vec<(Option<String>, _)> = Vec::new();
        // Without a name for any, one is read: the built-in table, or that of another process.
        let given = self.given.tables.iter().map(|table| split(table));
        let given = given.map(|(name, file)| (name, Some(file)));
        let given = given.chain(self.given.tables.is_empty().then_some((None, None)));
        for (((name, file), conditions), read) in given.zip(&self.conditions).zip(reads) {
            let mut name = name.map(str::to_owned);
            if let (None, Some(file), true) = (&name, file, self.given.tables.len() > 1) {
                let reason = "one of several tables needs a name: --table NAME=FILE";
                let needs = || format!("{}: {reason}", file.escape_debug());
                name = Some(stem(file).ok_or_else(needs)?);
            }
            if tables.iter().any(|(known, _)| *known == name) {
                let name = name.unwrap_or_default();
                return Err(two_tables(&name).into());
            }
            let args = TableArgs {
                table: file.map(PathBuf::from),
                trust: self.given.trust,
                live: self.given.live.clone(),
                read,
            };
            tables.push((name, load_where(&args, conditions, all)?));
        }
        Ok(tables)
    }
}

/// The table of `args`; of a file that is no image with the last record of each prefix that meets the conditions, if one does. With
/// `all` also the other records of each prefix that do.
fn load_where(
    args: &TableArgs,
    conditions: &[Condition],
    all: bool,
) -> Result<WithOthers, Failure> {
    let options = args.read.options();
    let is_image = args.table.as_deref().is_none_or(is_image_table);
    if is_image || args.read.every_table || !all && conditions.is_empty() {
        return Ok((table::load(args, options)?, OtherRecords::new()));
    }
    let mut table: RouteTable = table::load(
        args,
        LoadOptions {
            all: true,
            ..options
        },
    )?;
    let mut others = condition::others(&table);
    if !conditions.is_empty() {
        let selected = condition::selected(conditions, &table.records, false)?;
        condition::choose(&mut table, &mut others, &selected);
    }
    Ok((table.into(), others))
}

/// The options with the columns that conditions need, which are all: a record without a value in those that are read may be left out.
fn wide(read: &ReadArgs, conditions: &[Condition]) -> ReadArgs {
    let columns = condition::columns(conditions);
    let mut read = read.clone();
    if !columns.is_empty() {
        read.columns = columns;
    }
    read
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
        // If there is a file of the whole name, it is meant.
        Some((name, file)) if is_name(name) && !Path::new(table).exists() => (Some(name), file),
        _ => (None, table),
    }
}
