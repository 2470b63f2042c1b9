//! Why the command gave up: errors of the libraries and of usage in, one line for standard error out, with the option or the command
//! that helps if there is one. The exit status is 2.
//!
//! The libraries do not know the options of the command, so what helps is found here, by the type of an error or the end of its
//! message. An option is named only if the subcommand that runs has it.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::OnceLock;

use popfib::{CompileError, ImageError, IpPrefix, PrefixError};
use popfib_formats::ReadError;
use popfib_table::TableError;

/// The options of the command that runs, by their long names.
static OPTIONS: OnceLock<Vec<String>> = OnceLock::new();

/// Takes the options that the command has, so that no others are named as the next step.
pub fn know_options(options: Vec<String>) {
    // One command runs in a process.
    let _ = OPTIONS.set(options);
}

/// Whether all options that a text names are this command's.
pub fn has_options_of(text: &str) -> bool {
    let mut words = text.split(' ').filter_map(|word| word.strip_prefix("--"));
    let options = OPTIONS.get().map_or(&[][..], |options| options);
    words.all(|word| options.iter().any(|option| option == word))
}

/// What helps with a file of several tables.
pub const CHOOSES: &str = "--vrf NAME chooses";
/// What helps with host bits that are set.
pub const MASKS: &str = "--mask clears them";
/// What helps with an image that lacks something.
pub const KEEPS: &str = "`popfib compile` keeps them unless --keep says less";
/// Why there is no Parquet, and what helps.
pub const NO_PARQUET: &str = "this popfib was built without Parquet; `cargo install popfib-cli --features parquet` builds it in";

/// The reason of an exit with status 2.
#[derive(Debug)]
pub enum Failure {
    /// Nothing was asked for: the whole help.
    Help(String),
    /// Bad usage or input.
    Message(String),
    /// A file could not be read; its line names file, line and reason.
    Read(ReadError),
    /// A write to standard output failed.
    Output(io::Error),
}

impl Failure {
    /// The same without the option that helps with tables, for files of addresses that it does not help with.
    pub fn without_step(self) -> Self {
        match self {
            Self::Read(error) => Self::Message(error.to_string()),
            other => other,
        }
    }

    /// Whether the reader of standard output has gone, which needs no message.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Help(text) | Self::Message(text) => f.write_str(text),
            Self::Read(error) => {
                error.fmt(f)?;
                match next_step(error) {
                    Some(help) => write!(f, "; {help}"),
                    None => Ok(()),
                }
            }
            Self::Output(error) => write!(f, "standard output: {error}"),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Self::Message(of_table(&error))
    }
}

/// The line of an error of a table, with what helps.
pub fn of_table(error: &TableError) -> String {
    match error {
        TableError::NoRoutes | TableError::NoValues => format!("{error}; {KEEPS}"),
        _ => error.to_string(),
    }
}

/// The option or command that helps with a file that cannot be read.
fn next_step(error: &ReadError) -> Option<String> {
    let source = error.source();
    let is_of_tables = matches!(
        source.and_then(|source| source.downcast_ref()),
        Some(ImageError::Tables { .. })
    );
    let is_missing = source
        .and_then(|source| source.downcast_ref::<io::Error>())
        .is_some_and(|error| error.kind() == io::ErrorKind::NotFound);
    let text = error.to_string();
    if is_missing {
        return instead_of(text.rsplit_once(": cannot open")?.0);
    }
    const NO_TABLE: &str =
        "--format any finds the prefixes in any text, --prefix-column those of a column or member";
    // The message itself says what helps.
    let steps = ["--", "unpack it first", "convert it to"];
    if steps.iter().any(|step| text.contains(step)) {
        return None;
    }
    let help = if error.is_no_table() && has_options_of(NO_TABLE) {
        NO_TABLE
    } else if text == "<stdin>: there is no route in it" && has_options_of("--table") {
        "-t built-in is the built-in table"
    } else if is_of_tables || text.ends_with("a file is one table") {
        CHOOSES
    } else if is_about_host_bits(error) {
        MASKS
    } else if text.ends_with(&TableError::NoRoutes.to_string()) {
        KEEPS
    } else if error.is_invalid_line() {
        "--skip-invalid goes on without it"
    } else if error.is_cut() {
        "--skip-invalid reads what is there"
    } else {
        return None;
    };
    has_options_of(help).then(|| help.to_owned())
}

/// Whether the error is that bits are set after the length of a prefix.
pub fn is_about_host_bits(error: &impl fmt::Display) -> bool {
    error
        .to_string()
        .ends_with(&PrefixError::HostBits.to_string())
}

/// The number in `AS64500`.
pub fn as_number(text: &str) -> Option<u32> {
    let letters = text.get(..2)?;
    let number = letters
        .eq_ignore_ascii_case("as")
        .then(|| text[2..].parse());
    number?.ok()
}

/// The number of an AS, written as 64500 or AS64500.
pub fn parse_asn(text: &str) -> Result<u32, String> {
    let number = as_number(text).or_else(|| text.parse().ok());
    number.ok_or_else(|| "an AS number, please: 64500 or AS64500".to_owned())
}

/// The commands that answer for an address, a prefix or an AS number, if `file` is one and no file: somebody left out the command.
pub fn instead_of(file: &str) -> Option<String> {
    if let Some(number) = as_number(file) {
        return Some(format!(
            "`popfib routes --where value={number}` lists its routes"
        ));
    }
    let masked = IpPrefix::parse_masked(file).ok()?.to_string();
    let asked = match file.parse::<IpPrefix>() {
        Ok(_) => file,
        Err(_) => &masked,
    };
    Some(format!(
        "`popfib {asked}` looks it up, `popfib routes --covering {asked}` lists its routes"
    ))
}
