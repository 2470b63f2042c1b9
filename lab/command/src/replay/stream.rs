//! Where updates come from: a file, or made of the table's own routes.

use popfib::IpPrefix;
use popfib_eval::churn;
use popfib_table::Dictionary;

use super::ReplayArgs;
use super::family::Family;
use crate::program::Failure;
use crate::table::Updates;

/// Updates that are read before they are applied.
const STRETCH: usize = 1 << 20;

/// Updates in the order in which they are applied.
pub(super) enum Stream {
    File(Updates),
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
        let (format, peer) = (args.updates_format, args.updates_peer);
        Ok(Self::File(args.table.read.updates(path, format, peer)?))
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::File(updates) => &updates.name,
            Self::Churn(_) | Self::Fill => "the table",
        }
    }

    /// Updates older than one before them.
    pub(super) fn out_of_order(&self) -> u64 {
        match self {
            Self::File(updates) => updates.out_of_order(),
            Self::Churn(_) | Self::Fill => 0,
        }
    }

    /// Notes what was left out.
    pub(super) fn note(&self) {
        if let Self::File(updates) = self {
            updates.note();
        }
    }

    /// Hands out the next updates; false if they were the last.
    pub(super) fn next_stretch(
        &mut self,
        names: &mut Dictionary,
        ipv4: &mut Family<u32>,
        ipv6: &mut Family<u128>,
    ) -> Result<bool, Failure> {
        match self {
            Self::File(updates) => {
                for _ in 0..STRETCH {
                    match updates.next(names)? {
                        Some((IpPrefix::V4(prefix), next_hop)) => ipv4.push(prefix, next_hop),
                        Some((IpPrefix::V6(prefix), next_hop)) => ipv6.push(prefix, next_hop),
                        None => return Ok(false),
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
