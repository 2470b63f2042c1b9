//! `popfib lookup`: the longest match of each address, from arguments or a stream.
//!
//! The matched prefix is asked for, so answers come from the RIB and no FIB is
//! compiled; an image needs no RIB either. Answers wait in a buffer only while further input lies ready:
//! a slow pipe gets each answer at once, a file is read and answered in blocks.

use std::borrow::Cow;
use std::net::IpAddr;
use std::path::Path;

use clap::Args;
use popfib::{Address, Image, IpPrefix, NextHop, Prefix};
use popfib_formats::{AddressReader, Input, RouteTable};
use serde::Serialize;

use crate::Verdict;
use crate::args::TableArgs;
use crate::failure::Failure;
use crate::output::{AsText, Output};
use crate::{image, table};

/// Print the longest match of each address: address, matched prefix, next hop.
///
/// Columns are separated by a tab; `-` stands where there is no match, and for the prefix if an
/// image was compiled without routes. Both families are looked up
/// in one table; IPv4-mapped IPv6 addresses are IPv6.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib lookup 8.8.8.8 2001:4860:4860::8888 10.0.0.1
  popfib lookup --table routes.txt.gz --json 192.0.2.1
  popfib lookup --table routes.txt < addresses.gz > answers.tsv

JSON, one object a line: address, prefix and next_hop (null where there is no match).")]
pub(crate) struct LookupArgs {
    /// Addresses to look up [default: one a line from standard input, compressed or not,
    /// each answered at once]
    #[arg(value_name = "ADDR")]
    addresses: Vec<String>,

    #[command(flatten)]
    table: TableArgs,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    address: IpAddr,
    prefix: Option<AsText<IpPrefix>>,
    next_hop: Option<&'a str>,
}

pub(crate) fn run(args: &LookupArgs) -> Result<Verdict, Failure> {
    // All arguments are read before the first is answered: nothing half done.
    let addresses = args
        .addresses
        .iter()
        .map(|text| parse(text))
        .collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() && args.table.is_stdin() {
        return Err("standard input is the table, so addresses have to be arguments".into());
    }
    let table = match image::open(&args.table)? {
        Some(opened) => Answers::Image(opened.image),
        None => Answers::Table(Box::new(table::load(&args.table)?)),
    };
    let mut output = Output::new();
    if args.addresses.is_empty() {
        stream(args, &table, &mut output)?;
    } else {
        for address in addresses {
            write_answer(&mut output, &table, address, args.json)?;
        }
    }
    output.flush()?;
    Ok(Verdict::Good)
}

fn parse(text: &str) -> Result<IpAddr, Failure> {
    text.parse()
        .map_err(|_| format!("'{}' is not an IP address", text.escape_debug()).into())
}

/// Answers the addresses of standard input as they come.
fn stream(args: &LookupArgs, table: &Answers, output: &mut Output) -> Result<(), Failure> {
    let input = Input::open(Path::new("-"))?;
    let name = input.name().to_owned();
    let mut addresses = AddressReader::new(input);
    let mut skipped = 0;
    loop {
        if !addresses.is_buffered() {
            output.flush()?;
        }
        match addresses.next() {
            None => break,
            Some(Ok(address)) => write_answer(output, table, address, args.json)?,
            Some(Err(error)) if args.table.read.skip_invalid && error.is_invalid_line() => {
                skipped += 1
            }
            Some(Err(error)) => {
                // What was asked before the bad line is answered before the error is told.
                output.flush()?;
                return Err(error.into());
            }
        }
    }
    table::note_skipped(&name, skipped);
    Ok(())
}

fn write_answer(
    output: &mut Output,
    table: &Answers,
    address: IpAddr,
    json: bool,
) -> Result<(), Failure> {
    let (prefix, next_hop) = table.longest_match(address);
    if json {
        output.json(&Answer {
            address,
            prefix: prefix.map(AsText),
            next_hop: next_hop.as_deref(),
        })
    } else {
        let next_hop = next_hop.as_deref().unwrap_or("-");
        match prefix {
            Some(prefix) => output.text(format_args!("{address}\t{prefix}\t{next_hop}\n")),
            None => output.text(format_args!("{address}\t-\t{next_hop}\n")),
        }
    }
}

/// Where answers come from.
enum Answers {
    Table(Box<RouteTable>),
    Image(Image),
}

impl Answers {
    /// The matched prefix, if it is known, and the name of its next hop.
    fn longest_match(&self, address: IpAddr) -> (Option<IpPrefix>, Option<Cow<'_, str>>) {
        let (prefix, next_hop) = match (self, address) {
            (Self::Table(table), IpAddr::V4(a)) => known(table.ipv4.longest_match(a.into())),
            (Self::Table(table), IpAddr::V6(a)) => known(table.ipv6.longest_match(a.into())),
            (Self::Image(image), IpAddr::V4(a)) => match_in(image, u32::from(a)),
            (Self::Image(image), IpAddr::V6(a)) => match_in(image, u128::from(a)),
        };
        let name = next_hop.map(|number| {
            let name = match self {
                Self::Table(table) => table.next_hops.name(number),
                Self::Image(image) => image.name(number),
            };
            // An image may have been made without names.
            name.map_or_else(|| number.to_string().into(), Cow::Borrowed)
        });
        (prefix, name)
    }
}

/// A match in an image; without the prefix if that is not in it.
fn match_in<A: Address>(image: &Image, address: A) -> (Option<IpPrefix>, Option<NextHop>)
where
    IpPrefix: From<Prefix<A>>,
{
    match image.table::<A>() {
        None => (None, None),
        Some(table) if table.has_routes() => known(table.longest_match(address)),
        Some(table) => (None, NextHop::new(table.fib().lookup(address))),
    }
}

fn known<A>(found: Option<(Prefix<A>, NextHop)>) -> (Option<IpPrefix>, Option<NextHop>)
where
    IpPrefix: From<Prefix<A>>,
{
    let found = found.map(|(prefix, next_hop)| (IpPrefix::from(prefix), next_hop));
    found.unzip()
}
