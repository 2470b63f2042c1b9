//! `popfib lookup`: addresses and prefixes in, from arguments or as lines of standard input; the longest match of each out.
//!
//! Arguments are few, so the RIB answers them: compiling a FIB would take longer than all of their
//! lookups. A stream goes the way of `popfib annotate`, by batches and a FIB.

mod stream;

use std::ffi::OsStr;
use std::fmt;
use std::iter;
use std::net::IpAddr;
use std::path::Path;

use anstyle::Style;
use clap::Args;
use memchr::{memchr2, memchr3};
use popfib::{IpPrefix, NextHop, PrefixError};
use popfib_formats::addresses::{FoundAddress, find_address};
use popfib_formats::{LoadOptions, prefixes_of_text};
use popfib_program::failure::{Failure, MASKS, as_number, instead_of};
use popfib_program::program::Verdict;
use popfib_table::Table;

use crate::args::{ReadArgs, TableArgs};
use crate::forms::{Form, FormArgs};
use crate::live::FollowSocket;
use crate::output::StandardOutput;
use crate::records::{self, CellText, NEXT_HOP, NamedCell, text};
use crate::rows::RowField;
use crate::screen::{PREFIX, VALUE};
use crate::stream::mapped::MappedMisses;
use crate::stream::table_column::TableChoice;
use crate::table;

/// Print the longest match of each address or prefix.
///
/// Columns are the address, the matched prefix and the next hop. An argument is an address, alone, with a port, in brackets or as
/// it stands in a URL, or a prefix, whose answer is the longest route that covers all of it. Columns are separated by tabs; on a
/// terminal they are aligned, and each value of several is a line. `-` means that there is no match; it also replaces the prefix if an image
/// was compiled without routes. One table answers IPv4 and IPv6; IPv4-mapped IPv6 addresses are IPv6 unless --unmap is given.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib lookup 8.8.8.8 2001:4860:4860::8888 10.0.0.0/24
  popfib 8.8.8.8
  popfib lookup --table routes.txt.gz --json 192.0.2.1
  popfib lookup --table routes.txt < addresses.gz > answers.tsv")]
#[command(after_long_help = "  popfib lookup --live /run/popfib.sock 192.0.2.1

JSON, one object a line: address, prefix and next_hop (null where there is no
match; none in a list without values).")]
pub(crate) struct LookupArgs {
    /// Addresses or prefixes [default: from standard input]
    ///
    /// From standard input one a line, compressed or not; each is answered immediately. A line that is more than an address or a prefix
    /// is asked for its first address.
    #[arg(value_name = "ADDR|PREFIX")]
    addresses: Vec<String>,

    #[command(flatten)]
    form: FormArgs,

    /// Look up IPv4-mapped IPv6 addresses (::ffff:192.0.2.1) as IPv4
    #[arg(long)]
    unmap: bool,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    table_column: TableChoice,
}

/// What is looked up: an address as the prefix of it alone, or a prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressOrPrefix(IpPrefix);

impl AddressOrPrefix {
    /// The address, if it is one.
    pub(crate) fn address(self) -> Option<IpAddr> {
        let address = self.0.address();
        (self.0 == IpPrefix::host(address)).then_some(address)
    }

    /// The IPv4 address in place of an IPv4-mapped one, if that is asked for.
    fn unmapped(self, is_asked: bool) -> Self {
        match self.address() {
            Some(address) if is_asked => Self(IpPrefix::host(address.to_canonical())),
            _ => self,
        }
    }
}

impl fmt::Display for AddressOrPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address() {
            Some(address) => address.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

pub(crate) fn run(mut args: LookupArgs) -> Result<Verdict, Failure> {
    // All arguments are read before the first is answered: nothing half done.
    let mut asked = args
        .addresses
        .iter()
        .map(|text| parse_all(text, &args.table.read))
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    asked
        .iter_mut()
        .for_each(|asked| *asked = asked.unmapped(args.unmap));
    if asked.is_empty() && args.table.is_stdin() {
        return Err("standard input is the table, so addresses have to be arguments".into());
    }
    let form = args.form.form();
    if args.table.is_built_in() && form == Form::Text {
        args.table.read.show_names();
    }
    if asked.is_empty() {
        stream::stream(&mut args)?;
        return Ok(Verdict::Good);
    }
    if args.table_column.is_asked() {
        let help = "--vrf NAME names that of arguments";
        return Err(format!("--table-column is for lines of standard input; {help}").into());
    }
    let mut output = StandardOutput::new();
    if let Some(socket) = &args.table.live {
        let addresses = asked.iter().map(|asked| {
            let reason = || format!("{asked}: a running table answers addresses; `popfib routes --live` answers prefixes");
            asked.address().ok_or_else(reason)
        });
        let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
        let live = FollowSocket::new(socket, &args.table.read)?;
        // From the table of that moment: a query is cheaper than an image of all of it.
        let answers = live.look_up(&addresses)?;
        for (index, (asked, line)) in asked.iter().zip(answers).enumerate() {
            if form == Form::JsonLines {
                output.text(format_args!("{line}\n"))?;
                continue;
            }
            let texts = live.texts(&line)?;
            let prefix = texts
                .get(1)
                .and_then(|(_, prefix)| prefix.as_ref()?.parse().ok());
            let cells = texts.iter().skip(2);
            let cells = cells.map(|(name, value)| (&name[..], value.as_deref().map(text)));
            let cells: Vec<NamedCell<'_>> = cells.collect();
            if index == 0 {
                let names = cells.iter().map(|(name, _)| *name);
                output.begin(args.form, ["address", "prefix"].into_iter().chain(names))?;
            }
            write_answer(&mut output, *asked, prefix, &cells)?;
        }
        return output.end(Verdict::Good);
    }

    let table = table::load::<Table>(&args.table, args.table.read.options())?.content;
    let names = names(&table);
    output.begin(
        args.form,
        ["address", "prefix"].iter().chain(&names).copied(),
    )?;
    let mapped = MappedMisses::default();
    for asked in asked {
        let number = write_match(&mut output, &table, &names, asked)?;
        let unmapped = asked.unmapped(true);
        if number.is_none() && unmapped != asked && longest_match(&table, unmapped)?.1.is_some() {
            mapped.add_one();
        }
    }
    output.flush()?;
    mapped.note();
    Ok(Verdict::Good)
}

/// All that an argument asks for: the prefixes of a range or a short form of IPv4, as in lists, or what [`parse`] finds.
fn parse_all(text: &str, read: &ReadArgs) -> Result<Vec<AddressOrPrefix>, Failure> {
    let options = LoadOptions {
        mask: read.mask,
        leading_zeros: read.leading_zeros,
        ..LoadOptions::new()
    };
    match prefixes_of_text(text, &options) {
        Ok(prefixes) => Ok(prefixes.map(AddressOrPrefix).collect()),
        Err(_) => Ok(vec![parse(text, read.mask)?]),
    }
}

/// What a line asks for that is prefixes or a range and nothing else, as an argument does; `None` for others, whose address is asked
/// for.
fn prefixes_of_line(line: &[u8], read: &ReadArgs) -> Option<Result<Vec<AddressOrPrefix>, Failure>> {
    let line = may_be_prefix(line).then_some(line.trim_ascii())?;
    let text = str::from_utf8(line).ok()?;
    match parse_all(text, read) {
        Ok(asked) => {
            let is_one = asked.len() == 1 && asked[0].address().is_some();
            (!is_one).then_some(Ok(asked))
        }
        Err(error) => match text.parse::<IpPrefix>() {
            Err(PrefixError::HostBits | PrefixError::Length { .. }) => Some(Err(error)),
            _ => None,
        },
    }
}

/// Whether a line is one word, no longer than a range of IPv6, with a sign that each text of a prefix or range has.
fn may_be_prefix(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() < 100 && memchr2(b' ', b'\t', line).is_none() && has_prefix_sign(line)
}

fn has_prefix_sign(text: &[u8]) -> bool {
    memchr3(b'/', b'-', b'*', text).is_some()
}

/// What an argument asks for: a prefix, or the one address that is in it.
pub(crate) fn parse(text: &str, mask: bool) -> Result<AddressOrPrefix, Failure> {
    if let Ok(address) = text.parse() {
        return Ok(AddressOrPrefix(IpPrefix::host(address)));
    }
    let prefix = match mask {
        true => IpPrefix::parse_masked(text),
        false => text.parse(),
    };
    let shown = text.escape_debug();
    match prefix {
        Ok(prefix) => return Ok(AddressOrPrefix(prefix)),
        Err(PrefixError::HostBits) => {
            return Err(format!("'{shown}': host bits are set; {MASKS}").into());
        }
        Err(error @ PrefixError::Length { .. }) => return Err(format!("'{shown}': {error}").into()),
        Err(_) => {}
    }
    let found = find_address(text.as_bytes(), 0);
    let other = |found: &FoundAddress| find_address(text.as_bytes(), found.range.end).is_some();
    match found {
        Some(found) if other(&found) => Err(format!(
            "'{shown}': there are several addresses in it; each is an argument of its own"
        )
        .into()),
        Some(found) if rest_of(text, &found).is_some() => {
            let rest = rest_of(text, &found).unwrap_or_default();
            let rest = rest.escape_debug();
            Err(format!("'{shown}': '{rest}' is no part of an address, nor a port").into())
        }
        // What follows a slash was meant as a length; if it is none, all of it is no address.
        Some(found) if !text[found.range.end..].starts_with('/') || text.contains("://") => {
            Ok(AddressOrPrefix(IpPrefix::host(found.address)))
        }
        _ => {
            let help = match instead_of(text) {
                _ if Path::new(text).is_file() => format!(
                    "; it is a file: `popfib lookup < {shown}` looks up its addresses, `popfib info {shown}` reads a table"
                ),
                Some(help) => format!("; {help}"),
                None if text == "-" => "; standard input is read without it".to_owned(),
                None if text.contains(char::is_alphabetic) => "; names are not resolved".to_owned(),
                None => String::new(),
            };
            Err(format!("'{shown}' is not an IP address{help}").into())
        }
    }
}

/// What is neither the address that was found in an argument, nor its label or port, nor encloses it. A URL may have anything, and
/// what a slash begins is not looked at.
fn rest_of<'t>(text: &'t str, found: &FoundAddress) -> Option<&'t str> {
    let (before, after) = (&text[..found.range.start], &text[found.range.end..]);
    let is_word = |text: &str| text.contains(char::is_alphanumeric);
    let port = after.trim_start_matches([']', ')', '}', '>', '"', '\'']);
    let port = port.strip_prefix([':', '.', '#', '(', '[', ',']);
    let end = port.map(|port| port.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let is_sign = |text: &str| text.contains(['-', '+']);
    if text.contains("://") || after.starts_with('/') {
        None
    } else if is_word(before) && before.ends_with(char::is_whitespace) {
        Some(before)
    } else {
        let end = end.unwrap_or(after);
        (is_word(end) || is_sign(end)).then_some(after)
    }
}

/// Whether the first argument is something to look up, or an option of `lookup`, and not the name of a command.
pub(crate) fn is_asked(argument: &OsStr) -> bool {
    const OF_PROGRAM: [&str; 4] = ["-h", "--help", "-V", "--version"];
    let text = argument.to_str();
    text.is_some_and(|text| match text.starts_with('-') {
        true => !OF_PROGRAM.contains(&text),
        false => {
            let is_number = text.starts_with(|c: char| c.is_ascii_digit());
            is_number || text.contains(['.', ':', '/']) || as_number(text).is_some()
        }
    })
}

/// Prints the answer to an argument.
pub(crate) fn write_answer(
    output: &mut StandardOutput,
    asked: AddressOrPrefix,
    prefix: Option<IpPrefix>,
    cells: &[NamedCell<'_>],
) -> Result<(), Failure> {
    let (asked, prefix) = (asked.to_string(), prefix.map(|prefix| prefix.to_string()));
    let head = [Some(text(&asked)), prefix.as_deref().map(text)];
    let values = head.into_iter().chain(cells.iter().map(|(_, cell)| *cell));
    if !output.is_text() {
        return output.values(&[], &values.collect::<Vec<_>>());
    }
    let names: Vec<_> = cells.iter().map(|(name, _)| *name).collect();
    let texts: Vec<String> = values.map(|cell| CellText::new(cell).to_string()).collect();
    write_texts(output, &names, texts.iter().map(String::as_str))
}

/// The names of the columns of answers.
fn names(table: &Table) -> Vec<&str> {
    match table.records() {
        Some(records) => records::names(records, 0..records.columns().len()),
        None => vec![NEXT_HOP],
    }
}

/// Prints the longest match, the values of all columns under these names; returns the number of its record.
fn write_match(
    output: &mut StandardOutput,
    table: &Table,
    names: &[&str],
    asked: AddressOrPrefix,
) -> Result<Option<NextHop>, Failure> {
    let (prefix, number) = longest_match(table, asked)?;
    // Without records, as in an image of next hops alone, the number is the value.
    let bare = number.filter(|_| table.records().is_none());
    let bare = bare.map(|number| number.to_string());
    let cell = |column| match (table.records(), number) {
        (Some(records), Some(number)) => records.cell(number, column),
        _ => bare.as_deref().map(text),
    };
    let cells = names.iter().enumerate();
    let cells: Vec<_> = cells.map(|(column, name)| (*name, cell(column))).collect();
    write_answer(output, asked, prefix, &cells)?;
    Ok(number)
}

/// What stands for a missing prefix or value.
const NONE: &str = "-";

/// Prints an answer: what was asked for, the prefix, and the values of these columns. On a terminal each of three values or more has a
/// line of its own.
fn write_texts<'t>(
    output: &mut StandardOutput,
    names: &[impl AsRef<str>],
    mut texts: impl Iterator<Item = &'t str>,
) -> Result<(), Failure> {
    let asked = texts.next().unwrap_or_default();
    let styles = iter::once(PREFIX).chain(iter::repeat(VALUE));
    let answers = texts.zip(styles).map(|(text, style)| match text {
        NONE => (text, Style::new()),
        text => (text, style),
    });
    let mut answers: Vec<_> = answers.collect();
    let screen = output.screen();
    // Two values have room in a row.
    let is_block = names.len() > 2 && screen.is_terminal;
    let values = answers.split_off(if is_block { 1 } else { answers.len() });
    let answers = answers.iter();
    let answers = answers.map(|(text, style)| RowField::styled(*style, text));
    output.row([RowField::new(&asked)].into_iter().chain(answers))?;
    if !is_block {
        return Ok(());
    }
    let width = names.iter().map(|name| name.as_ref().chars().count()).max();
    let width = width.unwrap_or(0);
    for (name, (text, style)) in names.iter().zip(values) {
        if text != NONE {
            let name = name.as_ref().escape_debug().to_string();
            let text = screen.paint(style, text);
            output.text(format_args!("  {name:width$}  {text}\n"))?;
        }
    }
    Ok(())
}

/// The matched prefix, if it is known, and the number of the record.
fn longest_match(
    table: &Table,
    asked: AddressOrPrefix,
) -> Result<(Option<IpPrefix>, Option<NextHop>), Failure> {
    let Some(address) = asked.address() else {
        let mut found = None;
        let longest = table.supernets(asked.0, |route| found = Some(route));
        longest.map_err(|error| format!("{asked}: {error}"))?;
        return Ok(found.unzip());
    };
    Ok(match table.longest_match(address) {
        Ok(found) => found.unzip(),
        // An image without its routes.
        Err(_) => (None, table.lookup(address)),
    })
}
