//! Loads the table that the options ask for, and says what was left out of it.

use std::fs::File;
#[cfg(not(feature = "parquet"))]
use std::io;
use std::io::{Cursor, Read};
use std::path::Path;

use popfib::IpPrefix;
use popfib_formats::{
    ColumnSelection, Input, LoadOptions, Loaded, LookupTable, ReadError, RouteTable,
    SPECIAL_TABLE_NAME, WriteOptions, default_table_of, folder_files, load_for_lookups, load_from,
    load_image, load_prefixes, special_table, write_table,
};
#[cfg(not(feature = "parquet"))]
use popfib_program::failure::NO_PARQUET;
use popfib_program::failure::{Failure, as_number, has_options_of, readings};
use popfib_program::progress;
use popfib_table::{Column, Table};

use crate::args::{ReadArgs, TableArgs, is_built_in, is_embedded, is_stdin};
use crate::condition::{self, Condition, OtherRecords};
use crate::image::{self, OpenedImage};
use crate::live;
use crate::output::{self, note};

/// The table of `args` with one value for each route; replaced routes and skipped lines are noted on standard error.
pub(crate) fn load(args: &TableArgs) -> Result<RouteTable, Failure> {
    let options = args.read.options();
    one_column(&options)?;
    load_routes(args, options)
}

/// The routes of `args` as `options` say.
pub(crate) fn load_routes(
    args: &TableArgs,
    mut options: LoadOptions,
) -> Result<RouteTable, Failure> {
    let opened = match options.updates {
        Some(_) if args.table.is_none() => {
            return Err("--updates needs --table, the file that they change".into());
        }
        Some(_) => None,
        None => open_image(args)?,
    };
    let Some(opened) = opened else {
        return load_file(args.table.as_deref(), &args.read, &options);
    };
    options.table = None;
    let table = load_image(&opened.loaded.name, &opened.in_image, &options)?;
    Ok(told(table, &args.read))
}

/// What was loaded, after what was left out of it is noted.
fn told<T>(mut loaded: Loaded<T>, args: &ReadArgs) -> Loaded<T> {
    if args.is_list {
        loaded.absent = None;
    }
    output::tell(&loaded.name, &loaded.remarks());
    loaded
}

/// What `load` makes of an input, with a bar meanwhile.
pub(crate) fn read<T>(
    input: Input,
    args: &ReadArgs,
    load: impl FnOnce(Input) -> Result<Loaded<T>, ReadError>,
) -> Result<Loaded<T>, Failure> {
    let input = input.max_size(args.max_size);
    let bar = progress::watch(input.progress());
    let loaded = load(input);
    drop(bar);
    Ok(told(loaded?, args))
}

/// The image of `args`, from a file or another process; `None` if they ask for a table.
pub(crate) fn open_image(args: &TableArgs) -> Result<Option<OpenedImage>, Failure> {
    match &args.live {
        Some(socket) => live::open(socket, &args.read).map(Some),
        None => image::open_file(args.table.as_deref(), args.trust, &args.read),
    }
}

/// The built-in table.
fn built_in(args: &ReadArgs) -> Result<RouteTable, Failure> {
    let of_file = ReadArgs {
        columns: Vec::new(),
        ..args.clone()
    };
    let Some(option) = of_file.of_file() else {
        return Ok(default_table_of(&args.options().columns)?);
    };
    // Whoever wants JSON may look for it here.
    let json = has_options_of("--json") && option == "--format";
    let json = if json { "; --json prints JSON" } else { "" };
    Err(format!("{option} needs --table FILE{json}").into())
}

/// The table in the file at `path` as `options` say, or the built-in one.
pub(crate) fn load_file(
    path: Option<&Path>,
    args: &ReadArgs,
    options: &LoadOptions,
) -> Result<RouteTable, Failure> {
    let Some(path) = path.filter(|path| !is_built_in(path)) else {
        return built_in(args);
    };
    let literal = literal(path).filter(|_| args.takes_literals);
    let input = literal.map_or_else(|| open(path), Ok)?;
    read(input, args, |input| load_from(input, options))
}

/// The prefixes of the list or table in the file at `path`, of all lists in the folder there, or of the text that it is.
pub(crate) fn load_list(path: &Path, args: &ReadArgs) -> Result<Vec<IpPrefix>, Failure> {
    if path.is_dir() {
        let files = folder_files(path)?;
        if files.is_empty() {
            let folder = path.display().to_string();
            return Err(format!("{}: there is no list in it", folder.escape_debug()).into());
        }
        let lists = files.iter().map(|file| load_list(file, args));
        return Ok(lists.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let options = LoadOptions {
        columns: ColumnSelection::Value,
        ..args.options()
    };
    let load = |input| {
        let mut list = load_prefixes(input, &options)?;
        // As it was asked for, standard input too.
        list.name = path.display().to_string();
        Ok(list)
    };
    let input = literal(path).map_or_else(|| open(path), Ok)?;
    Ok(read(input, args, load)?.content)
}

/// The prefixes, ranges and addresses in place of a file, with commas between them, if there is no file of that name.
fn literal(path: &Path) -> Option<Input> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let options = LoadOptions {
        mask: true,
        leading_zeros: true,
        ..LoadOptions::new()
    };
    let is_one = |item: &str| popfib_formats::prefixes_of_text(item.trim(), &options).is_ok();
    let lines = || Cursor::new(text.replace(',', "\n"));
    text.split(',')
        .all(is_one)
        .then(|| Input::plain(text, lines()))
}

/// What searches for what was meant by a word that is no address.
fn searched(word: &str) -> Option<String> {
    const SPECIAL: [&str; 5] = ["private", "special", "bogon", "bogons", "reserved"];
    let is_country = word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    match as_number(word) {
        Some(number) => Some(format!(
            "--where value={number} searches for the addresses of an AS"
        )),
        None if is_country => Some(format!(
            "--where value={word} searches for those of a country in a table that has it"
        )),
        None if word.starts_with("AS-") => Some(format!(
            "`bgpq4 {word}` lists the prefixes of an AS set, for -f LIST"
        )),
        None => SPECIAL
            .contains(&word)
            .then(|| format!("-t {SPECIAL_TABLE_NAME} searches for special-purpose addresses")),
    }
}

/// The prefixes that an argument stands for, one or several with commas between them; the help says what it has to be.
pub(crate) fn prefixes_of_text(
    text: &str,
    help_of_all: &str,
    args: &ReadArgs,
) -> Result<Vec<IpPrefix>, Failure> {
    let options = LoadOptions {
        mask: args.mask,
        leading_zeros: args.leading_zeros,
        ..LoadOptions::new()
    };
    let mut found = Vec::new();
    for item in text.split(',') {
        let prefixes = popfib_formats::prefixes_of_text(item.trim(), &options).map_err(|reason| {
            if reason.contains("; `") {
                return reason;
            }
            let searched = searched(item).filter(|_| has_options_of("--where --table"));
            let help = searched.or_else(|| readings(item));
            format!(
                "{reason}; {}",
                help.unwrap_or_else(|| help_of_all.to_owned())
            )
        });
        found.extend(prefixes?);
    }
    Ok(found)
}

/// Opens the file at `path`, or the built-in table of that name; the rows of a Parquet file are lines of JSON.
pub(crate) fn open(path: &Path) -> Result<Input, ReadError> {
    if is_embedded(path) {
        let name = path.display();
        if path.exists() {
            note(format_args!(
                "{name} is the built-in table; ./{name} is the file"
            ));
        }
        if !is_built_in(path) {
            return Ok(special_table());
        }
        let mut lines = Vec::new();
        let table = default_table_of(&ColumnSelection::All)?;
        let csv = "csv".parse().expect("the name of a form");
        let written = write_table(&table, csv, &WriteOptions::default(), &mut lines);
        written.expect("CSV takes any table");
        return Ok(Input::plain(name.to_string(), Cursor::new(lines)));
    }
    let mut head = [0; 4];
    // Bytes of a pipe that were read here would be lost.
    let is_file = !is_stdin(path) && path.is_file();
    let read = |mut file: File| file.read_exact(&mut head);
    if !is_file || File::open(path).and_then(read).is_err() || head != *b"PAR1" {
        return Input::open(path);
    }
    let name = path.display().to_string();
    #[cfg(feature = "parquet")]
    let opened = popfib_parquet::ParquetRows::open(path);
    #[cfg(not(feature = "parquet"))]
    let opened: io::Result<io::Empty> = Err(io::Error::other(NO_PARQUET));
    match opened {
        Ok(rows) => Ok(Input::from_reader(name, rows)),
        Err(error) => Err(ReadError::opening(&name, error)),
    }
}

/// Refuses several columns, for commands that look at one value or none.
pub(crate) fn one_column(options: &LoadOptions) -> Result<(), Failure> {
    match options.columns.are_records() {
        true => Err("--columns takes the name of one column here".into()),
        false => Ok(()),
    }
}

/// The table of `args` for lookups, whose routes may lead to records: an image as it is.
pub(crate) fn load_records(args: &TableArgs) -> Result<LookupTable, Failure> {
    if let Some(opened) = open_image(args)? {
        return Ok(opened.loaded);
    }
    let Some(path) = args.table.as_deref().filter(|path| !is_built_in(path)) else {
        return Ok(built_in(&args.read)?.into());
    };
    let options = args.read.options();
    read(open(path)?, &args.read, |input| {
        load_for_lookups(input, &options)
    })
}

/// The same of a table that has its routes, which it takes `to` do something.
pub(crate) fn load_with_routes(args: &TableArgs, to: &str) -> Result<Table, Failure> {
    let loaded = load_records(args)?;
    match loaded.has_routes() {
        true => Ok(loaded.content),
        false => Err(image::without_routes(&loaded.name, to)),
    }
}

/// As [`load_records`], of a file that is no image with the last record of each prefix that meets the conditions, if one does. With `all` also
/// the other records of each prefix that do.
pub(crate) fn load_where(
    args: &TableArgs,
    conditions: &[Condition],
    all: bool,
) -> Result<(LookupTable, OtherRecords), Failure> {
    let is_image = args.table.as_deref().is_none_or(image::is_image_table);
    if is_image || !all && conditions.is_empty() {
        return Ok((load_records(args)?, OtherRecords::new()));
    }
    let options = LoadOptions {
        all: true,
        ..args.read.options()
    };
    let mut table = load_routes(args, options)?;
    let mut others = condition::others(&table);
    if !conditions.is_empty() {
        let selected = condition::selected(conditions, &table.records, false)?;
        condition::choose(&mut table, &mut others, &selected);
    }
    Ok((table.into(), others))
}

/// The name of the only column of a table; `None` if it was given none.
pub(crate) fn own_name(column: &Column) -> Option<&str> {
    Some(column.name()).filter(|name| *name != "value")
}

/// Calls `next` until there is no more, or, with `skip_invalid`, until the file is cut off.
/// Returns how many invalid lines or records were skipped.
pub(crate) fn take_all(
    skip_invalid: bool,
    mut next: impl FnMut() -> Result<bool, Failure>,
) -> Result<u64, Failure> {
    let mut skipped = 0;
    loop {
        match next() {
            Ok(true) => {}
            Ok(false) => return Ok(skipped),
            Err(Failure::Read(e)) if skip_invalid && e.is_invalid_line() => skipped += 1,
            Err(Failure::Read(e)) if skip_invalid && e.is_cut() => {
                note(format_args!("truncated, read up to the end: {e}"));
                return Ok(skipped);
            }
            Err(e) => return Err(e),
        }
    }
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

/// `1 route`, `2 routes`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
