//! `popfib lookup`: the longest match of each address, from arguments or a stream.
//!
//! The matched prefix is asked for, so answers come from the RIB and no FIB is
//! compiled. Answers wait in a buffer only while further input lies ready:
//! a slow pipe gets each answer at once, a file is read and answered in blocks.

use std::net::IpAddr;
use std::path::Path;

use clap::Args;
use popfib::{IpPrefix, NextHop};
use popfib_formats::{AddressReader, Input, RouteTable};
use serde::Serialize;

use crate::Verdict;
use crate::args::TableArgs;
use crate::failure::Failure;
use crate::output::{AsText, Output};
use crate::table;

/// Print the longest match of each address: address, matched prefix, next hop.
///
/// Columns are separated by a tab; `-` stands where there is no match. Both families are looked up
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
    let table = table::load(&args.table)?;
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
fn stream(args: &LookupArgs, table: &RouteTable, output: &mut Output) -> Result<(), Failure> {
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
            Some(Err(error)) if args.table.skip_invalid && error.is_invalid_line() => skipped += 1,
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
    table: &RouteTable,
    address: IpAddr,
    json: bool,
) -> Result<(), Failure> {
    let found: Option<(IpPrefix, NextHop)> = match address {
        IpAddr::V4(a) => table
            .ipv4
            .longest_match(u32::from(a))
            .map(|(prefix, next_hop)| (prefix.into(), next_hop)),
        IpAddr::V6(a) => table
            .ipv6
            .longest_match(u128::from(a))
            .map(|(prefix, next_hop)| (prefix.into(), next_hop)),
    };
    let (prefix, next_hop) = found.unzip();
    let next_hop = next_hop.and_then(|number| table.next_hops.name(number));
    if json {
        output.json(&Answer {
            address,
            prefix: prefix.map(AsText),
            next_hop,
        })
    } else {
        match prefix {
            Some(prefix) => output.text(format_args!(
                "{address}\t{prefix}\t{}\n",
                next_hop.unwrap_or("-")
            )),
            None => output.text(format_args!("{address}\t-\t-\n")),
        }
    }
}
