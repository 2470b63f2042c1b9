//! Loads the table that the options ask for, and says what was left out of it.

use std::fs::File;
#[cfg(not(feature = "parquet"))]
use std::io;
use std::io::{Cursor, Read};
use std::path::Path;

use popfib::IpPrefix;
use popfib_formats::text::counted;
use popfib_formats::{
    ColumnSelection, FromFile, Input, LoadOptions, Loaded, ReadError, folder_files,
};
#[cfg(not(feature = "parquet"))]
use popfib_program::failure::NO_PARQUET;
use popfib_program::failure::{Failure, as_number, has_options_of, meant, readings};
use popfib_program::progress;

use crate::args::{ReadArgs, TableArgs, is_built_in, is_embedded, is_stdin};
use crate::image::{self, OpenedImage};
use crate::live;
use crate::output::{self, note};

/// What `args` name, an image, a table of another process, a file or the built-in table, as `options` say; what was left out of it is
/// noted on standard error.
pub(crate) fn load<T: FromFile>(
    args: &TableArgs,
    mut options: LoadOptions,
) -> Result<Loaded<T>, Failure> {
    let opened = match options.updates {
        Some(_) if args.table.is_none() => {
            return Err("--updates needs --table, the file that they change".into());
        }
        Some(_) => None,
        None => open_image(args)?,
    };
    match (opened, &args.table) {
        (Some(opened), _) => {
            options.table = None;
            Ok(told(
                popfib_formats::load(opened.input(), &options)?,
                &args.read,
            ))
        }
        (None, Some(path)) if !is_built_in(path) => {
            read(open_list(path, &args.read)?, &args.read, &options)
        }
        _ => Ok(popfib_formats::load(built_in(&args.read)?, &options)?),
    }
}

/// What an input becomes, with a bar meanwhile.
pub(crate) fn read<T: FromFile>(
    input: Input,
    args: &ReadArgs,
    options: &LoadOptions,
) -> Result<Loaded<T>, Failure> {
    let input = input.max_size(args.max_size);
    let bar = progress::watch(input.progress());
    let loaded = popfib_formats::load(input, options);
    drop(bar);
    Ok(told(loaded?, args))
}

/// What was loaded, after what was left out of it is noted.
fn told<T>(mut loaded: Loaded<T>, args: &ReadArgs) -> Loaded<T> {
    if args.is_list {
        (loaded.absent, loaded.unread) = (None, None);
    }
    output::tell(&loaded.name, &loaded.remarks());
    loaded
}

/// The image of `args`, from a file or another process; `None` if they ask for a table.
pub(crate) fn open_image(args: &TableArgs) -> Result<Option<OpenedImage>, Failure> {
    match &args.live {
        Some(socket) => live::open(socket, &args.read).map(Some),
        None => image::open_file(args.table.as_deref(), args.trust, &args.read),
    }
}

/// The built-in table.
fn built_in(args: &ReadArgs) -> Result<Input, Failure> {
    let of_file = ReadArgs {
        columns: Vec::new(),
        ..args.clone()
    };
    let Some(option) = of_file.of_file() else {
        return Ok(Input::built_in());
    };
    // Whoever wants JSON may look for it here.
    let json = has_options_of("--json") && option == "--format";
    let json = if json { "; --json prints JSON" } else { "" };
    Err(format!("{option} needs --table FILE{json}").into())
}

/// Opens the file at `path`, or the prefixes that stand in its place, where they may.
pub(crate) fn open_list(path: &Path, args: &ReadArgs) -> Result<Input, ReadError> {
    let literal = literal(path).filter(|_| args.takes_literals);
    literal.map_or_else(|| open(path), Ok)
}

/// The prefixes of the list or table in the file at `path`, of all lists in the folder there, or of the text that it is.
pub(crate) fn prefixes_of_file(path: &Path, args: &ReadArgs) -> Result<Vec<IpPrefix>, Failure> {
    if path.is_dir() {
        let files = folder_files(path)?;
        if files.is_empty() {
            return Err(Failure::of_file(path, "there is no list in it"));
        }
        let lists = files.iter().map(|file| prefixes_of_file(file, args));
        return Ok(lists.collect::<Result<Vec<_>, _>>()?.concat());
    }
    let options = LoadOptions {
        columns: ColumnSelection::Value,
        ..args.options()
    };
    let input = literal(path).map_or_else(|| open(path), Ok)?;
    Ok(read(input, args, &options)?.content)
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
        None => None,
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
            let help = searched.or_else(|| meant(item)).or_else(|| readings(item));
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
            note!("{name} is the built-in table; ./{name} is the file");
        }
        return Ok(match is_built_in(path) {
            true => Input::built_in(),
            false => Input::special(),
        });
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
                note!("truncated, read up to the end: {e}");
                return Ok(skipped);
            }
            Err(e) => return Err(e),
        }
    }
}

/// Notes lines of the file `name` that `--skip-invalid` left out.
pub(crate) fn note_skipped(name: &str, skipped: u64) {
    if skipped > 0 {
        note!(
            "{}: {} skipped",
            name.escape_debug(),
            counted(skipped, "invalid line")
        );
    }
}
