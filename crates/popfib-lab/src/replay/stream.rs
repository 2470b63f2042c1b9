//! Where updates come from: a file, or made of the table's own routes.

use popfib::IpPrefix;
use popfib_eval::churn;
use popfib_formats::{Change, Input, NextHopNames, UpdateOptions, UpdateSource, open_updates};

use super::ReplayArgs;
use super::family::Family;
use popfib_cli::failure::Failure;
use popfib_cli::output::note;
use popfib_cli::table;

/// Updates that are read before they are applied.
const STRETCH: usize = 1 << 20;

/// Updates in the order in which they are applied.
pub(super) enum Stream {
    File {
        source: Box<dyn UpdateSource>,
        name: String,
        skip_invalid: bool,
        skipped: u64,
    },
    /// Random routes, each withdrawn and announced again.
    Churn(usize),
    /// All routes of an empty table, in random order.
    Fill,
}

impl Stream {
    pub(super) fn open(args: &ReplayArgs) -> Result<Self, Failure> {
        let Some(path) = &args.what.updates else {
            return Ok(match args.what.churn {
                Some(count) => Self::Churn(count as usize),
                None => Self::Fill,
            });
        };
        let input = Input::open(path)?.max_size(args.table.read.max_size);
        Ok(Self::File {
            name: input.name().to_owned(),
            source: open_updates(
                input,
                &UpdateOptions {
                    format: args.updates_format,
                    peer: args.updates_peer,
                    mask: args.table.read.mask,
                },
            )?,
            skip_invalid: args.table.read.skip_invalid,
            skipped: 0,
        })
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::File { name, .. } => name,
            Self::Churn(_) | Self::Fill => "the table",
        }
    }

    /// Updates older than one before them.
    pub(super) fn out_of_order(&self) -> u64 {
        match self {
            Self::File { source, .. } => source.out_of_order(),
            Self::Churn(_) | Self::Fill => 0,
        }
    }

    /// Tells what was left out.
    pub(super) fn tell(&self) {
        if let Self::File {
            source,
            name,
            skipped,
            ..
        } = self
        {
            table::note_skipped(name, *skipped);
            for line in source.notes() {
                note(format_args!("{name}: {line}"));
            }
        }
    }

    /// Hands out the next updates; false if they were the last.
    pub(super) fn next_stretch(
        &mut self,
        names: &mut NextHopNames,
        ipv4: &mut Family<u32>,
        ipv6: &mut Family<u128>,
    ) -> Result<bool, Failure> {
        match self {
            Self::File {
                source,
                skip_invalid,
                skipped,
                ..
            } => {
                for _ in 0..STRETCH {
                    let update = match source.next_update() {
                        Ok(Some(update)) => update,
                        Ok(None) => return Ok(false),
                        Err(error) if *skip_invalid && error.is_invalid_line() => {
                            *skipped += 1;
                            continue;
                        }
                        Err(error) => return Err(error.into()),
                    };
                    let next_hop = match update.change {
                        Change::Announce(name) => Some(names.intern(name)),
                        Change::Withdraw => None,
                    };
                    match update.prefix {
                        IpPrefix::V4(prefix) => ipv4.push(prefix, next_hop),
                        IpPrefix::V6(prefix) => ipv6.push(prefix, next_hop),
                    }
                }
                Ok(true)
            }
            Self::Churn(count) => {
                let routes = (ipv4.routes(), ipv6.routes());
                // Each family has the part of the updates that it has of the routes.
                let of_4 = *count * routes.0 / (routes.0 + routes.1).max(1);
                ipv4.waits_for(churn(ipv4.rib(), of_4));
                ipv6.waits_for(churn(ipv6.rib(), *count - of_4));
                Ok(false)
            }
            Self::Fill => {
                ipv4.fill()?;
                ipv6.fill()?;
                Ok(false)
            }
        }
    }
}
