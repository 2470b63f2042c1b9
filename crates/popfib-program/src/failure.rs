//! Why the command gave up: errors of the libraries and of usage in, one line for standard error out, with the option or the command
//! that helps if there is one. The exit status is 2.
//!
//! What helps is found here, by the type of an error, or named in its text by the library's word for the option, in backticks: that of
//! Rust, Python and SQL. An option is named only if the subcommand that runs has it.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::OnceLock;

use popfib::{CompileError, ImageError, IpPrefix};
use popfib_formats::ReadError;
use popfib_table::TableError;

use crate::files::shown;

/// The options of the command that runs, by their long names.
static OPTIONS: OnceLock<Vec<String>> = OnceLock::new();

/// Takes the options that the command has, so that no others are named as the next step.
pub fn know_options(options: Vec<String>) {
    // One command runs in a process.
    let _ = OPTIONS.set(options);
}

/// The options that the libraries name as what helps.
pub const OF_LIBRARIES: [&str; 13] = [
    "address",
    "columns",
    "fill",
    "format",
    "leading_zeros",
    "length_column",
    "mapped",
    "mask",
    "peer",
    "prefix_column",
    "until",
    "value_regex",
    "vrf",
];

/// A text of the libraries with the command's words for the options that are in it: `prefix_column` is --prefix-column, `columns='*'`
/// is --columns '*'. What helps at its end is left out where the command has no such option.
pub fn with_options(text: &str) -> String {
    let mut said = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let word = after.split_once('`').map_or("", |(word, _)| word);
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let is_word = OF_LIBRARIES.contains(&name);
        let option = format!("--{} {value}", name.replace('_', "-"));
        said.push_str(before);
        if is_word && has_options_of(&option) {
            said.push_str(option.trim_end());
            rest = &after[word.len() + 1..];
        } else if is_word && said.ends_with("; ") {
            said.truncate(said.len() - 2);
            return said;
        } else {
            said.push('`');
            rest = after;
        }
    }
    said + rest
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
/// Why there is nothing of BPF, and what helps.
pub const NO_XDP: &str =
    "built without xdp; `--features xdp` of `cargo install` builds it in, on Linux";
/// Why there is no TLS, and what helps.
pub const NO_TLS: &str = "built without TLS; `--features tls` of `cargo install` builds it in";

/// That two tables of files have one name, by which only one could be asked.
pub fn two_tables(name: &str) -> String {
    format!("two tables are called {name}; NAME=FILE gives one another name")
}

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

    /// What is wrong with the file at `path`.
    pub fn of_file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Message(format!("{}: {reason}", shown(path)))
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

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Message(error.to_string())
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
    let has_no_routes = source.is_some_and(|source| source.is::<TableError>());
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
    if with_options(&text) != text || steps.iter().any(|step| text.contains(step)) {
        return None;
    }
    let help = if error.is_no_table() && has_options_of(NO_TABLE) {
        NO_TABLE
    } else if text == "<stdin>: there is no route in it" && has_options_of("--table") {
        "-t built-in is the built-in table"
    } else if is_of_tables {
        CHOOSES
    } else if has_no_routes {
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

/// What people call the table of special-purpose addresses, and what asks it.
const SPECIAL: &[&str] = &["private", "bogon", "bogons", "reserved", "rfc1918"];
const ASKS_SPECIAL: &str = "--table special has special-purpose addresses";

/// What was meant by a word that is no address and no file: a length, or a table.
pub fn meant(word: &str) -> Option<String> {
    let length = word
        .strip_prefix('/')
        .and_then(|bits| bits.parse::<u8>().ok());
    if length.is_some() {
        return Some(format!("`popfib set split {word} PREFIX` splits a prefix"));
    }
    let is_special = SPECIAL.contains(&word) && has_options_of(ASKS_SPECIAL);
    is_special.then(|| ASKS_SPECIAL.to_owned())
}

/// The commands that answer for an address, a prefix or an AS number, if `file` is one and no file: somebody left out the command.
pub fn instead_of(file: &str) -> Option<String> {
    if let Some(number) = as_number(file) {
        return Some(format!(
            "`popfib routes --where value={number}` lists its routes"
        ));
    }
    let Ok(masked) = IpPrefix::parse_masked(file) else {
        return meant(file).or_else(|| readings(file));
    };
    let masked = masked.to_string();
    let asked = match file.parse::<IpPrefix>() {
        Ok(_) => file,
        Err(_) => &masked,
    };
    Some(format!(
        "`popfib {asked}` looks it up, `popfib routes --covering {asked}` lists its routes"
    ))
}

/// What programs read in a text that they read in two ways: bytes of IPv4 that are left out, or a number.
pub fn readings(text: &str) -> Option<String> {
    let hexadecimal = text.strip_prefix("0x");
    let number = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let (one, other) = match number {
        Some(number) => {
            let other = match hexadecimal {
                Some(_) => Ipv6Addr::from(u128::from(number)).to_string(),
                None => format!("AS{number}"),
            };
            (Ipv4Addr::from(number), other)
        }
        None => {
            let bytes: Vec<u8> = text
                .split('.')
                .map(|byte| byte.parse().ok())
                .collect::<Option<_>>()?;
            let (&last, before) = bytes.split_last().filter(|(_, before)| before.len() < 3)?;
            let (mut whole, mut network) = ([0, 0, 0, last], [0; 4]);
            whole[..before.len()].copy_from_slice(before);
            network[..bytes.len()].copy_from_slice(&bytes);
            (
                whole.into(),
                format!("{}/{}", Ipv4Addr::from(network), 8 * bytes.len()),
            )
        }
    };
    Some(format!(
        "it is {one} to some programs and {other} to others"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_where_there_are_some() {
        know_options(vec!["prefix-column".to_owned()]);
        for (text, said) in [
            (
                "two; `prefix_column` chooses",
                "two; --prefix-column chooses",
            ),
            ("\"`\"; `mask` clears them", "\"`\""),
            ("no `mask` here, no `prefix`", "no `mask` here, no `prefix`"),
            ("`popfib compile` keeps", "`popfib compile` keeps"),
        ] {
            assert_eq!(with_options(text), said);
        }
    }
}
