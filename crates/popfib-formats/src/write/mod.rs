//! Tables out: the forms that can be written, one file each.
//!
//! A form turns one route into bytes behind a buffer and does no input or
//! output of its own, so that it serves a file, standard output and memory
//! alike. [`write_table`] puts a whole table through it, in prefix order, IPv4
//! first, with a buffer of 64 KiB.

mod csv;
mod form;
mod json_lines;
mod output_file;
mod pfx2as;
mod text;

use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

use popfib::IpPrefix;

use crate::error::{escape, quote};
use crate::name_rule::check;
use crate::{Route, RouteTable};

use form::Form;
pub use output_file::OutputFile;

/// A form in which tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteFormat {
    /// `PREFIX NEXTHOP`, the text format that [`TextTable`](crate::TextTable) reads.
    Text,
    /// One JSON object a line: `prefix`, `next_hop`.
    JsonLines,
    /// Comma-separated values behind a line of names: `prefix,next_hop`.
    Csv,
    /// CAIDA's Routeviews Prefix to AS form: address, length and AS, separated by tabs.
    Pfx2as,
}

impl WriteFormat {
    /// All forms.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Text, Self::JsonLines, Self::Csv, Self::Pfx2as].into_iter()
    }

    const fn form(self) -> &'static Form {
        match self {
            Self::Text => &text::FORM,
            Self::JsonLines => &json_lines::FORM,
            Self::Csv => &csv::FORM,
            Self::Pfx2as => &pfx2as::FORM,
        }
    }

    /// What `--to` calls it.
    pub fn name(self) -> &'static str {
        self.form().name
    }

    /// Another, shorter name.
    pub fn alias(self) -> Option<&'static str> {
        self.form().alias
    }

    /// What it is, in one line.
    pub fn description(self) -> &'static str {
        self.form().description
    }

    /// What stands before the first route, with its line end; mostly nothing.
    pub fn header(self) -> &'static str {
        self.form().header
    }

    /// Appends `route` to `out`; on an error `out` is as it was.
    ///
    /// # Errors
    /// A next hop that the form cannot hold.
    pub fn append(self, out: &mut Vec<u8>, route: Route<'_>) -> Result<(), WriteError> {
        let length = out.len();
        let named = match route.next_hop {
            "" if self.form().takes_lists => Ok(()),
            name => check(name),
        };
        let written = named.and_then(|()| (self.form().append)(out, route));
        written.map_err(|reason| {
            out.truncate(length);
            WriteError::NextHop {
                prefix: route.prefix,
                next_hop: route.next_hop.to_owned(),
                reason,
            }
        })
    }
}

impl FromStr for WriteFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let is_it = |f: &Self| f.name() == name || f.alias() == Some(name);
        Self::all().find(is_it).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("no such form; there are: {}", names.join(", "))
        })
    }
}

/// Writes `table` to `out`: the IPv4 routes, then the IPv6 routes, each in prefix order.
///
/// Time and bytes follow the table, memory stays the same. `out` is not flushed.
///
/// # Errors
/// Those of `out`, and a next hop that the form cannot hold; what came before
/// it may have been written.
pub fn write_table(
    table: &RouteTable,
    format: WriteFormat,
    mut out: impl Write,
) -> Result<(), WriteError> {
    const BLOCK: usize = 64 << 10;
    let mut block = Vec::with_capacity(BLOCK + 1024);
    block.extend_from_slice(format.header().as_bytes());
    let ipv4 = table.ipv4.iter().map(|(p, n)| (IpPrefix::V4(p), n));
    let ipv6 = table.ipv6.iter().map(|(p, n)| (IpPrefix::V6(p), n));
    for (prefix, next_hop) in ipv4.chain(ipv6) {
        // A number without a name was not made by a reader; no form holds an empty one.
        let next_hop = table.next_hops.name(next_hop).unwrap_or_default();
        format.append(&mut block, Route { prefix, next_hop })?;
        if block.len() >= BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    out.write_all(&block)?;
    Ok(())
}

/// Why a table could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The file or stream does not take it.
    Io(io::Error),
    /// The form cannot hold the next hop of a route.
    NextHop {
        /// The route's prefix.
        prefix: IpPrefix,
        /// Its next hop.
        next_hop: String,
        /// What is wrong with that.
        reason: &'static str,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Other libraries' messages promise nothing about their characters.
            Self::Io(error) => escape(&error.to_string(), f),
            Self::NextHop {
                prefix,
                next_hop,
                reason,
            } => write!(f, "{prefix} {}: {reason}", quote(next_hop.as_bytes())),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NextHop { .. } => None,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
