//! Tables and updates of the user's: the options that name them, and how they are read.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use popfib::{IpPrefix, NextHop};
use popfib_formats::{
    Change, Format, Input, LoadOptions, PeerFilter, RouteTable, RouteValue, UpdateFormat,
    UpdateOptions, UpdateSource, load, open_updates,
};
use popfib_table::Dictionary;

use crate::program::{Failure, note};

/// Which table to read, and how.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// Routing table to read, compressed or not, or an image; `-` is standard input [default: the built-in table]
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

impl TableArgs {
    /// The table; what was left out of it is noted.
    pub(crate) fn load(&self) -> Result<RouteTable, Failure> {
        match &self.table {
            Some(path) => self.read.load(path),
            None => self.read.default_table(),
        }
    }
}

/// Whether `path` stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How the file of a table is read.
#[derive(Args)]
pub(crate) struct ReadArgs {
    /// Format of the table; `popfib formats` lists them [default: recognised by content]
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,

    /// Use only the routes of this peer: index, address or AS (AS64500) [default: the best path of each prefix]
    #[arg(long, value_name = "PEER")]
    peer: Option<PeerFilter>,

    /// What to use as the next hop if the file has several candidates: next-hop, origin-as or peer [default:
    /// next-hop]
    #[arg(long, value_name = "WHAT")]
    value: Option<RouteValue>,

    /// Name of the table to use if a file has several: a VRF [default: a second table is an error]
    #[arg(long, value_name = "NAME")]
    vrf: Option<String>,

    /// Skip and count invalid lines instead of stopping at the first
    #[arg(long)]
    skip_invalid: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    mask: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    max_size: u64,
}

impl ReadArgs {
    /// The built-in table, which these options say nothing about.
    pub(crate) fn default_table(&self) -> Result<RouteTable, Failure> {
        let given = [
            ("--format", self.format.is_some()),
            ("--peer", self.peer.is_some()),
            ("--value", self.value.is_some()),
            ("--vrf", self.vrf.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(format!("{option} needs --table").into()),
            None => Ok(load(Input::built_in(), &LoadOptions::new())?),
        }
    }

    /// The table in the file at `path`.
    pub(crate) fn load(&self, path: &Path) -> Result<RouteTable, Failure> {
        let options = LoadOptions {
            format: self.format,
            skip_invalid: self.skip_invalid,
            mask: self.mask,
            peer: self.peer,
            value: self.value.unwrap_or_default(),
            table: self.vrf.clone(),
            ..LoadOptions::default()
        };
        let input = Input::open(path)?.max_size(self.max_size);
        let table: RouteTable = load(input, &options)?;
        let name = table.name.escape_debug();
        if table.replaced > 0 {
            note(format_args!(
                "{name}: routes replaced by a later line for the same prefix: {}",
                table.replaced
            ));
        }
        note_skipped(&table.name, table.skipped);
        for line in &table.notes {
            note(format_args!("{name}: {line}"));
        }
        Ok(table)
    }

    /// The updates in the file at `path`.
    pub(crate) fn updates(
        &self,
        path: &Path,
        format: Option<UpdateFormat>,
        peer: Option<PeerFilter>,
    ) -> Result<Updates, Failure> {
        let input = Input::open(path)?.max_size(self.max_size);
        let name = input.name().to_owned();
        let options = UpdateOptions {
            format,
            peer,
            mask: self.mask,
            ..UpdateOptions::default()
        };
        Ok(Updates {
            source: open_updates(input, &options)?,
            name,
            skip_invalid: self.skip_invalid,
            skipped: 0,
        })
    }
}

/// The values of a table by their numbers, which updates may add to.
pub(crate) fn texts(table: &RouteTable) -> Dictionary {
    let mut texts = Dictionary::new();
    for text in table.records.values() {
        texts.intern(&text);
    }
    texts
}

fn note_skipped(name: &str, skipped: u64) {
    if skipped > 0 {
        let name = name.escape_debug();
        note(format_args!("{name}: invalid lines skipped: {skipped}"));
    }
}

/// The updates of a file, one after the other.
pub(crate) struct Updates {
    source: Box<dyn UpdateSource>,
    /// The file, as messages name it.
    pub(crate) name: String,
    skip_invalid: bool,
    skipped: u64,
}

impl Updates {
    /// The next update, `None` after the last; its next hop, if it announces one, by its number in `names`.
    pub(crate) fn next(
        &mut self,
        names: &mut Dictionary,
    ) -> Result<Option<(IpPrefix, Option<NextHop>)>, Failure> {
        loop {
            match self.source.next_update() {
                Ok(None) => return Ok(None),
                Ok(Some(update)) => {
                    let next_hop = match update.change {
                        Change::Announce(name) => Some(names.intern(name)),
                        Change::Withdraw => None,
                    };
                    return Ok(Some((update.prefix, next_hop)));
                }
                Err(error) if self.skip_invalid && error.is_invalid_line() => self.skipped += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How many were older than one before them.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.source.out_of_order()
    }

    /// Notes what was left out.
    pub(crate) fn note(&self) {
        note_skipped(&self.name, self.skipped);
        for line in self.source.notes() {
            note(format_args!("{}: {line}", self.name.escape_debug()));
        }
    }
}

/// An address family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    /// IPv4
    #[value(name = "ipv4")]
    Ipv4,
    /// IPv6
    #[value(name = "ipv6")]
    Ipv6,
}

impl Family {
    /// The name as rows and JSON show it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }
}
