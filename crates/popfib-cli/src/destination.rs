//! Where a command puts what it makes: a table or bytes in; standard output or a file out.
//!
//! A file is compressed if its name says so, and gets its name when it is complete: programs that read it never see half of it, and
//! an error leaves the old one in place.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};
use popfib_formats::write::{Template, write_changes, write_template};
use popfib_formats::{OutputFile, RouteTable, WriteError, WriteFormat, WriteOptions, write_table};
use popfib_program::failure::{Failure, NO_PARQUET};
use popfib_program::progress;

use crate::args::ReadArgs;
use crate::output::StandardOutput;
use crate::screen::Screen;

/// In what form a table is written, and where.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct DestinationArgs {
    /// Output format, or a template: '{prefix} {country};'
    ///
    /// [default: what the name of the file means: .csv, .json, .jsonl, .mmdb, .parquet, also before .gz; else text]
    ///
    /// A template is lines with fields in braces, in the argument or, as @FILE, in a file. The lines from the first with a field to the
    /// last are printed for each route, those before and after once. Fields: prefix, address, length, mask, wildcard, first, last,
    /// family, and the columns of the table, of which `value` is that of a lookup. {NAME:json} and {NAME:csv} write a value of JSON and a
    /// field of CSV, {NAME|TEXT} has TEXT where there is no value, {,} is a comma between two routes, {{ and }} are braces.
    #[arg(long, value_name = "FORM", value_parser = DestinationFormParser)]
    to: Option<DestinationForm>,

    /// Name of the list, in formats that have one
    ///
    /// Of lists [default: popfib]; of a MaxMind database the type, which its readers ask for (GeoLite2-City). With a type that ends in
    /// City, Country or ASN, columns that are called so elsewhere (country, country_code, city, latitude, asn, as_name) become the
    /// members that these readers expect (country.iso_code).
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Description in a MaxMind database [default: those of its sources]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Minimum length of matching prefixes, in router filters
    #[arg(long, value_name = "LENGTH")]
    ge: Option<u8>,

    /// Maximum length of matching prefixes, in router filters
    ///
    /// A longer prefix of the list matches only itself.
    #[arg(long, value_name = "LENGTH")]
    le: Option<u8>,

    /// Output file [default: standard output]
    ///
    /// It is compressed if its name ends in .gz, .bz2 or .zst. An old file is replaced when the new one is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A form in which a table is written.
#[derive(Clone)]
pub(crate) enum DestinationForm {
    /// One of the library's formats.
    Of(WriteFormat),
    /// The user's own template.
    Template(Template),
    /// Parquet, which is written if the command was built with the feature `parquet`.
    Parquet,
}

impl DestinationForm {
    const PARQUET: &str = "parquet";

    /// The forms of any table that the end of a file's name means.
    pub(crate) const BY_NAME: [&str; 4] = ["csv", "json-lines", "mmdb", Self::PARQUET];

    /// The form of this name.
    pub(crate) fn of(name: &str) -> Result<Self, String> {
        match name {
            Self::PARQUET => Ok(Self::Parquet),
            name => name.parse().map(Self::Of),
        }
    }

    /// As messages call it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Of(form) => form.name(),
            Self::Template(_) => "TEMPLATE",
            Self::Parquet => Self::PARQUET,
        }
    }

    /// Refuses a form that this popfib was built without.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Parquet if cfg!(not(feature = "parquet")) => {
                Err(format!("--to parquet: {NO_PARQUET}").into())
            }
            _ => Ok(()),
        }
    }

    /// Writes what changes a list in use: the prefixes that it loses, then those that it gets; nothing if there are none.
    pub(crate) fn write_changes(
        &self,
        [removed, added]: [&RouteTable; 2],
        options: &WriteOptions,
        to: &mut dyn Write,
    ) -> Result<(), WriteError> {
        match self {
            Self::Of(form) => write_changes([removed, added], *form, options, to),
            Self::Template(_) if options.name.is_some() => Err(WriteError::Form(
                "a template has the name in its text".to_owned(),
            )),
            Self::Template(template) => {
                let mut tables = vec![(Some("delete"), removed), (Some("add"), added)];
                tables.retain(|(_, table)| table.route_count() > 0);
                match &tables[..] {
                    [] => Ok(()),
                    tables => write_template(tables, template, to),
                }
            }
            Self::Parquet => Err(WriteError::Form("a file has no changes".to_owned())),
        }
    }

    /// Writes `table` in this form.
    fn write(
        &self,
        table: &RouteTable,
        options: &WriteOptions,
        to: &mut dyn Write,
    ) -> Result<(), WriteError> {
        match self {
            Self::Of(form) => write_table(table, *form, options, to),
            Self::Template(_) | Self::Parquet if *options != WriteOptions::default() => {
                let reason = "the form has no name, description or bounds of length (ge, le)";
                Err(WriteError::Form(reason.to_owned()))
            }
            Self::Template(template) => write_template(&[(None, table)], template, to),
            #[cfg(feature = "parquet")]
            Self::Parquet => popfib_parquet::write_table(table, to),
            // `check` has refused it.
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => unreachable!("built without Parquet"),
        }
    }
}

/// Parses the name of a form, or a template.
#[derive(Clone)]
pub(crate) struct DestinationFormParser;

impl DestinationFormParser {
    fn names() -> PossibleValuesParser {
        let values = WriteFormat::all().map(|form| {
            PossibleValue::new(form.name())
                .help(form.description())
                .aliases(form.aliases())
        });
        let parquet =
            PossibleValue::new(DestinationForm::PARQUET).help("a Parquet file: prefix, next_hop");
        values.chain([parquet]).collect::<Vec<_>>().into()
    }
}

impl TypedValueParser for DestinationFormParser {
    type Value = DestinationForm;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<DestinationForm, clap::Error> {
        let is_template = |text: &str| text.starts_with('@') || text.contains('{');
        if value.to_str().is_some_and(is_template) {
            return template.parse_ref(command, arg, value);
        }
        let named = Self::names().try_map(|name| DestinationForm::of(&name));
        named.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values: Vec<_> = Self::names().possible_values()?.collect();
        Some(Box::new(values.into_iter()))
    }
}

/// A template, or the file that has it.
fn template(text: &str) -> Result<DestinationForm, String> {
    /// The size of templates that are refused, which is more than anybody writes.
    const MOST: u64 = 1 << 20;
    let template = match text.strip_prefix('@') {
        None => text.parse(),
        Some(path) => {
            let mut text = String::new();
            let read = File::open(path).and_then(|file| file.take(MOST).read_to_string(&mut text));
            match read {
                Err(error) => return Err(error.to_string()),
                Ok(_) if text.len() as u64 == MOST => {
                    return Err("a template of 1 MiB or more".to_owned());
                }
                Ok(_) => text.parse(),
            }
        }
    };
    template.map(DestinationForm::Template)
}

impl DestinationArgs {
    /// The form that is asked for, or that the name of the file means.
    fn form(&self) -> Result<DestinationForm, Failure> {
        let asked = self.to.as_ref().map(DestinationForm::name);
        let named = form_by_name(self.output.as_deref(), asked, &DestinationForm::BY_NAME)?;
        match &self.to {
            Some(form) => Ok(form.clone()),
            None => Ok(DestinationForm::of(named.unwrap_or("text"))?),
        }
    }

    /// Opens the destination, before any work is done that an error here would waste.
    pub(crate) fn open(&self) -> Result<Destination, Failure> {
        self.form()?.check()?;
        Destination::open(self.output.as_deref())
    }

    /// Lets prefixes be a table to write. Asks for all columns if a template names some and `--columns` is not given, as one may name the value of a lookup.
    pub(crate) fn ask(&self, read: &mut ReadArgs) {
        read.takes_literals = true;
        match &self.to {
            Some(DestinationForm::Of(form)) => read.is_list |= !form.has_values(),
            Some(DestinationForm::Template(template)) => {
                read.is_list |= !template.has_values();
                if template.names_columns() && read.columns.is_empty() {
                    read.columns = vec!["*".to_owned()];
                }
            }
            Some(DestinationForm::Parquet) | None => {}
        }
    }

    /// Writes the whole table and ends the file.
    pub(crate) fn write(&self, to: Destination, table: &RouteTable) -> Result<(), Failure> {
        let options = WriteOptions {
            name: self.name.clone(),
            description: self.description.clone(),
            ge: self.ge,
            le: self.le,
        };
        to.write_table(table, &self.form()?, &options)
    }
}

/// The form that the end of a file's name means, if it means one, by its name in `--to`; what compresses the file comes off first.
fn meant(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let plain = COMPRESSED.iter().find_map(|end| name.strip_suffix(end));
    match plain.unwrap_or(&name).rsplit_once('.')?.1 {
        "csv" => Some("csv"),
        "fib" => Some("image"),
        "json" | "jsonl" => Some("json-lines"),
        "mmdb" => Some("mmdb"),
        "parquet" => Some("parquet"),
        "svg" => Some("svg"),
        _ => None,
    }
}

/// How names of compressed files end.
pub(crate) const COMPRESSED: [&str; 3] = [".gz", ".bz2", ".zst"];

/// Which of the `forms` of a command the file at `path` gets, if its name means one and no form is `asked` for by its name: the one
/// place that knows what the ends of names mean. An error if the file would be something else under that name. Beside a form that is
/// asked for, names of text are free: they are for whoever reads the file.
pub(crate) fn form_by_name(
    path: Option<&Path>,
    asked: Option<&str>,
    forms: &[&str],
) -> Result<Option<&'static str>, Failure> {
    let Some((path, meant)) = path.and_then(|path| Some((path, meant(path)?))) else {
        return Ok(None);
    };
    let is_binary = ["image", "mmdb", "parquet"].contains(&meant);
    match asked {
        None if forms.contains(&meant) => return Ok(Some(meant)),
        Some(asked) if asked == meant || !is_binary => return Ok(None),
        _ => {}
    }
    let other = match meant {
        "image" => "`popfib compile` writes images".to_owned(),
        "svg" => "`popfib draw` and `popfib count --svg` write pictures".to_owned(),
        form => format!("`popfib convert --to {form}` writes it"),
    };
    let reason = format_args!("the name of another form, {meant}; {other}");
    Err(Failure::of_file(path, reason))
}

/// Standard output, or a file that takes its place when it is finished.
pub(crate) enum Destination {
    /// Standard output.
    Stdout(StandardOutput),
    /// The file at this path.
    File(PathBuf, OutputFile),
}

impl Destination {
    /// The file at `path`; standard output if there is no path or it is `-`.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            Some(path) if path.as_os_str() != "-" => match OutputFile::create(path) {
                Ok(file) => Ok(Self::File(path.to_owned(), file)),
                Err(error) => Err(Failure::of_file(path, error)),
            },
            _ => Ok(Self::Stdout(StandardOutput::new())),
        }
    }

    /// What it can show.
    pub(crate) fn screen(&self) -> Screen {
        match self {
            Self::Stdout(output) => output.screen(),
            Self::File(..) => Screen::NONE,
        }
    }

    /// Writes `bytes`; many at a time are faster.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.sink().write_all(bytes).map_err(|e| self.failed(e))
    }

    /// Hands everything that was written so far to the reader.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.sink().flush().map_err(|e| self.failed(e))
    }

    /// Writes the whole table and ends the file.
    pub(crate) fn write_table(
        self,
        table: &RouteTable,
        form: &DestinationForm,
        options: &WriteOptions,
    ) -> Result<(), Failure> {
        self.write_by(form, &table.name, |to| form.write(table, options, to))
    }

    /// Writes what `write` makes of the table called `name`, and ends the file.
    pub(crate) fn write_by(
        mut self,
        form: &DestinationForm,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<(), WriteError>,
    ) -> Result<(), Failure> {
        let is_apart = matches!(self, Self::File(..)) || progress::is_apart();
        let bar = is_apart.then(|| progress::step("writing"));
        let written = write(self.sink());
        drop(bar);
        match written {
            Ok(()) => self.finish(),
            Err(WriteError::Io(error)) => Err(self.failed(error)),
            Err(WriteError::Form(reason)) => Err(format!("--to {}: {reason}", form.name()).into()),
            // The fault is in a route of the table, so the message names the table.
            Err(error) => Err(format!("{}: {error}", name.escape_debug()).into()),
        }
    }

    /// Writes what is left and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush()?;
        match self {
            Self::Stdout(_) => Ok(()),
            Self::File(path, file) => file.finish().map_err(|e| Failure::of_file(&path, e)),
        }
    }

    fn sink(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(output) => output,
            Self::File(_, file) => file,
        }
    }

    fn failed(&self, error: io::Error) -> Failure {
        match self {
            Self::Stdout(_) => Failure::Output(error),
            Self::File(path, _) => Failure::of_file(path, error),
        }
    }
}
