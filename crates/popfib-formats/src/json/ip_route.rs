//! `ip -j route` and `ip -j -6 route` of Linux: an array of routes in, the route of each prefix out that the
//! kernel would take.
//!
//! ```text
//! [{"dst":"default","gateway":"10.0.0.4","dev":"eth0","metric":100,"flags":[]},
//!  {"type":"blackhole","dst":"10.9.0.0/16"}]
//! ```
//! The same rules hold as for [the text](crate::ip_route), and [`BestByMetric`] is the same code: of several routes
//! for one prefix the one with the lowest metric counts.

use serde::Deserialize;

use super::{first_byte, keys, reason};
use crate::grammar::{Grammar, document};
use crate::ip_route::{BestByMetric, MetricRoute};
use crate::registry::FormatCapabilities;
use crate::rows::RouteRows;
use crate::table_format::TableEntry;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "ip-route-json",
    description: "`ip -j route` and `ip -j -6 route` of Linux",
    can: FormatCapabilities::TABLES,
    detect,
    open: |input, options| Ok(document(IpRouteJson::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    first_byte(head) == Some(b'[') && keys(head).take(3).any(|key| key == b"dst")
}

#[derive(Default)]
struct IpRouteJson {
    best: BestByMetric,
}

#[derive(Deserialize)]
#[serde(expecting = "a route")]
struct LinuxRoute {
    #[serde(rename = "type")]
    kind: Option<String>,
    dst: String,
    #[serde(default)]
    metric: u64,
    table: Option<String>,
    tos: Option<serde::de::IgnoredAny>,
    from: Option<serde::de::IgnoredAny>,
    pref: Option<serde::de::IgnoredAny>,
    prefsrc: Option<String>,
    nexthops: Option<Vec<LinuxNextHop>>,
    #[serde(flatten)]
    hop: LinuxNextHop,
}

/// A route's only next hop, which is part of the route itself, or one of several in `nexthops`.
#[derive(Deserialize)]
#[serde(expecting = "a next hop")]
struct LinuxNextHop {
    gateway: Option<String>,
    via: Option<OtherFamilyGateway>,
    dev: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
}

/// A gateway of the other family, as in `10.0.0.0/8 via inet6 fe80::1`.
#[derive(Deserialize)]
#[serde(expecting = "a gateway")]
struct OtherFamilyGateway {
    host: String,
}

impl LinuxNextHop {
    fn value(&self) -> Option<&str> {
        let via = self.via.as_ref().map(|via| via.host.as_str());
        self.gateway.as_deref().or(via).or(self.dev.as_deref())
    }

    fn is_dead(&self) -> bool {
        self.flags.iter().any(|flag| flag == "dead")
    }
}

impl LinuxRoute {
    /// The family of a route to `default`, a word that both families have. A gateway tells, else the preferred source;
    /// else only IPv6 has `pref`, the preference of router advertisements.
    fn is_ipv6(&self) -> bool {
        let mut hops = std::iter::once(&self.hop).chain(self.nexthops.iter().flatten());
        let gateway = hops.find_map(|hop| hop.gateway.as_deref());
        match gateway.or(self.prefsrc.as_deref()) {
            Some(address) => address.contains(':'),
            None => self.pref.is_some(),
        }
    }
}

impl Grammar for IpRouteJson {
    fn read(&mut self, _: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let route: LinuxRoute = serde_json::from_str(json).map_err(|e| reason(&e))?;
        let prefix = match route.dst.as_str() {
            "default" if route.is_ipv6() => rows.prefix("::/0")?,
            "default" => rows.prefix("0.0.0.0/0")?,
            dst => rows.prefix(dst)?,
        };
        // Those are for some packets only, and a table knows nothing of these.
        if route.tos.is_some() || route.from.is_some() {
            return Ok(());
        }
        let kind = route.kind.filter(|kind| kind != "unicast");
        let hops = std::iter::once(&route.hop).chain(route.nexthops.iter().flatten());
        let value = kind.or_else(|| {
            let mut alive = hops.clone().filter(|hop| !hop.is_dead());
            alive.find_map(|hop| hop.value()).map(str::to_owned)
        });
        match value {
            Some(value) => self.best.add(
                MetricRoute {
                    line: rows.line(),
                    prefix,
                    metric: route.metric,
                    table: route.table.unwrap_or_default(),
                    value,
                },
                rows,
            ),
            // All its next hops are dead: the kernel does not use the route.
            None if hops.clone().any(LinuxNextHop::is_dead) => {}
            None => rows.no_next_hop(rows.line(), prefix),
        }
        Ok(())
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.best.end(rows);
    }
}
