//! `ip -j route` and `ip -j -6 route` of Linux: an array of routes.
//!
//! ```text
//! [{"dst":"default","gateway":"10.0.0.4","dev":"eth0","metric":100,"flags":[]},
//!  {"type":"blackhole","dst":"10.9.0.0/16"}]
//! ```
//! The same rules hold as for [the text](crate::ip_route).

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
    open: |input, options| Ok(document(IpRoute::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    first_byte(head) == Some(b'[') && keys(head).take(3).any(|key| key == b"dst")
}

#[derive(Default)]
pub(crate) struct IpRoute {
    best: BestByMetric,
}

#[derive(Deserialize)]
#[serde(expecting = "a route")]
struct Entity {
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
    nexthops: Option<Vec<Hop>>,
    #[serde(flatten)]
    hop: Hop,
}

/// A route's only next hop, or one of several.
#[derive(Deserialize)]
#[serde(expecting = "a next hop")]
struct Hop {
    gateway: Option<String>,
    via: Option<Via>,
    dev: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
}

/// A gateway of the other family.
#[derive(Deserialize)]
#[serde(expecting = "a gateway")]
struct Via {
    host: String,
}

impl Hop {
    fn value(&self) -> Option<&str> {
        let via = self.via.as_ref().map(|via| via.host.as_str());
        self.gateway.as_deref().or(via).or(self.dev.as_deref())
    }

    fn is_dead(&self) -> bool {
        self.flags.iter().any(|flag| flag == "dead")
    }
}

impl Entity {
    fn is_ipv6(&self) -> bool {
        let mut hops = std::iter::once(&self.hop).chain(self.nexthops.iter().flatten());
        let gateway = hops.find_map(|hop| hop.gateway.as_deref());
        match gateway.or(self.prefsrc.as_deref()) {
            Some(address) => address.contains(':'),
            None => self.pref.is_some(),
        }
    }
}

impl Grammar for IpRoute {
    fn read(&mut self, _: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let route: Entity = serde_json::from_str(json).map_err(|e| reason(&e))?;
        let prefix = match route.dst.as_str() {
            "default" if route.is_ipv6() => rows.prefix("::/0")?,
            "default" => rows.prefix("0.0.0.0/0")?,
            dst => rows.prefix(dst)?,
        };
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
            None if hops.clone().any(Hop::is_dead) => {}
            None => rows.no_next_hop(rows.line(), prefix),
        }
        Ok(())
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.best.end(rows);
    }
}
