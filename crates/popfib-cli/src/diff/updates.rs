//! `popfib diff --updates`: changes of routes in, updates out that make the old table the new one.

use std::fmt::Display;
use std::net::IpAddr;

use clap::ValueEnum;
use popfib::IpPrefix;
use popfib_formats::quote;
use popfib_formats::text::is_token;

/// The form of the updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffUpdatesForm {
    /// `A PREFIX NEXTHOP` and `W PREFIX`, which popfib reads as updates
    Text,
    /// commands of ExaBGP's API: `announce route PREFIX next-hop ADDRESS`, `withdraw route PREFIX next-hop ADDRESS`
    Exabgp,
}

impl DiffUpdatesForm {
    /// The line for a prefix whose next hop was `old` and is now `new`; `None` stands for no route.
    pub(super) fn line(
        self,
        prefix: IpPrefix,
        old: Option<&str>,
        new: Option<&str>,
    ) -> Result<String, String> {
        let written = |next_hop: &str, is_fit: bool, what: &str| match is_fit {
            true => Ok(next_hop.to_owned()),
            false => {
                let next_hop = quote(next_hop.as_bytes());
                Err(format!("--updates: {prefix}: {next_hop} is no {what}"))
            }
        };
        let route = |verb: &dyn Display, next_hop: &str| {
            let is_address = next_hop.parse::<IpAddr>().is_ok();
            let next_hop = written(
                next_hop,
                is_address,
                "address, which a next hop of ExaBGP has to be; `--updates text` takes names",
            )?;
            Ok(format!("{verb} route {prefix} next-hop {next_hop}\n"))
        };
        match (self, new) {
            (Self::Text, None) => Ok(format!("W {prefix}\n")),
            (Self::Text, Some(new)) => {
                let new = written(
                    new,
                    is_token(new),
                    "word, which a next hop of updates has to be",
                )?;
                Ok(format!("A {prefix} {new}\n"))
            }
            (Self::Exabgp, Some(new)) => route(&"announce", new),
            (Self::Exabgp, None) => route(&"withdraw", old.unwrap_or_default()),
        }
    }
}
