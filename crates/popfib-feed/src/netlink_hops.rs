//! The next hops of routes that come by netlink from the kernel and from FRR, and their text.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// One next hop of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct NetlinkHop {
    /// The address of the router; `None` if destinations are on the link.
    pub gateway: Option<IpAddr>,
    /// The number of the interface; 0 if it is not known.
    pub interface: u32,
    /// Its share among the next hops of the route.
    pub weight: u16,
}

/// The target of a route from the kernel or FRR.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetlinkHops {
    /// Packets are sent to one of these next hops, by their weights.
    Through(Vec<NetlinkHop>),
    /// Packets are dropped.
    Blackhole,
    /// Packets are answered with an error: the destination is unreachable.
    Unreachable,
    /// Packets are answered with an error: communication is prohibited.
    Prohibit,
    /// This table has no answer, and the next one is asked; in the last table the destination is unreachable.
    Throw,
    /// The next-hop object of this number, which was not announced.
    Unknown(u32),
}

impl fmt::Display for NetlinkHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.gateway, self.interface) {
            (Some(gateway), 0) => write!(f, "{gateway}")?,
            (Some(gateway), interface) => write!(f, "{gateway} dev {interface}")?,
            (None, interface) => write!(f, "dev {interface}")?,
        }
        match self.weight {
            0 | 1 => Ok(()),
            weight => write!(f, " weight {weight}"),
        }
    }
}

impl fmt::Display for NetlinkHops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blackhole => f.write_str("blackhole"),
            Self::Unreachable => f.write_str("unreachable"),
            Self::Prohibit => f.write_str("prohibit"),
            Self::Throw => f.write_str("throw"),
            Self::Unknown(id) => write!(f, "unknown nhid {id}"),
            Self::Through(hops) => {
                for (at, hop) in hops.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    hop.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}
