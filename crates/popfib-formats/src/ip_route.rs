//! `ip route` and `ip -6 route` of Linux, as text: lines in, the route of each prefix that the kernel uses out.
//!
//! ```text
//! default via 10.0.0.4 dev eth0 proto static metric 100
//! blackhole 10.9.0.0/16
//! 192.168.1.0/24 dev eth1 proto kernel scope link src 192.168.1.1
//! 10.1.0.0/16 proto bgp metric 20
//!     nexthop via 10.0.0.4 dev eth0 weight 1
//! ```
//! Pairs of a key and a value after the type, which is left out for unicast,
//! and the destination. The value is the gateway, else the device; for other
//! types than unicast it is the type. Of routes for one prefix the kernel uses
//! the one with the lowest metric, the first of equals. Left out are dead routes
//! and those for some packets only (`tos`, `from`).

use std::mem;
use std::net::IpAddr;

use popfib::IpPrefix;

use crate::error::quote;
use crate::grammar::{Grammar, listing};
use crate::input::head_lines;
use crate::registry::FormatCapabilities;
use crate::rows::RouteRows;
use crate::table_format::TableEntry;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "ip-route",
    description: "`ip route` and `ip -6 route` of Linux",
    can: FormatCapabilities::TABLES,
    detect,
    open: |input, options| Ok(listing(IpRouteText::default(), input, options)),
};

/// The types of routes that are no unicast.
const TYPES: [&str; 9] = [
    "local",
    "broadcast",
    "multicast",
    "anycast",
    "blackhole",
    "unreachable",
    "prohibit",
    "throw",
    "nat",
];

/// Words that can follow the destination.
const KEYS: [&str; 14] = [
    "via", "dev", "nhid", "proto", "scope", "metric", "src", "table", "tos", "from", "encap",
    "nexthop", "error", "advmss",
];

/// Whether the first line is a destination and a key of a route with its value, as only `ip route` prints them.
fn detect(head: &[u8]) -> bool {
    head_lines(head)
        .find(|line| !line.trim_ascii().is_empty())
        .and_then(|line| std::str::from_utf8(line).ok())
        .is_some_and(|line| {
            let mut words = line.split_ascii_whitespace().peekable();
            let typed = words
                .next_if(|&word| word == "unicast" || TYPES.contains(&word))
                .is_some();
            let destination = words.next().unwrap_or_default();
            let is_destination =
                destination == "default" || destination.parse::<IpPrefix>().is_ok();
            let key = words.next();
            // A second word alone could be the next hop of a text table.
            is_destination
                && match key {
                    Some(key) => KEYS.contains(&key) && words.next().is_some(),
                    None => typed,
                }
        })
}

/// The grammar of the lines.
#[derive(Default)]
pub(crate) struct IpRouteText {
    best: BestByMetric,
    /// The route being read; its next hops may follow on lines of their own.
    current: Option<UnfinishedIpRoute>,
}

/// A route whose next hops may not all have come.
struct UnfinishedIpRoute {
    prefix: IpPrefix,
    line: u64,
    metric: u64,
    table: String,
    value: Option<String>,
    /// Whether some next hop is dead, and a route without others left out.
    has_dead: bool,
    /// Whether it is for some packets only.
    ignored: bool,
}

impl Grammar for IpRouteText {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace().peekable();
        match words.peek() {
            None => return rows.detail(),
            Some(&"nexthop") => {
                let Some(current) = &mut self.current else {
                    return Err("a next hop without a prefix before it".to_owned());
                };
                rows.detail()?;
                return current.words(words);
            }
            Some(_) => {}
        }
        self.finish(rows);
        let kind = words.next_if(|&word| word == "unicast" || TYPES.contains(&word));
        let destination = words.next().unwrap_or_default();
        let prefix = if destination == "default" {
            rows.prefix(if is_ipv6(line) { "::/0" } else { "0.0.0.0/0" })?
        } else {
            rows.prefix(destination)?
        };
        let current = self.current.insert(UnfinishedIpRoute {
            prefix,
            line: rows.line(),
            metric: 0,
            table: String::new(),
            value: kind.filter(|&kind| kind != "unicast").map(str::to_owned),
            has_dead: false,
            ignored: false,
        });
        current.words(words).inspect_err(|_| self.current = None)
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.finish(rows);
        if rows.is_idle() {
            self.best.end(rows);
        }
    }
}

impl IpRouteText {
    /// Ends the route being read, as another begins.
    fn finish(&mut self, rows: &mut RouteRows) {
        let Some(current) = self.current.take() else {
            return;
        };
        match current.value {
            _ if current.ignored => {}
            Some(value) => self.best.add(
                MetricRoute {
                    line: current.line,
                    prefix: current.prefix,
                    metric: current.metric,
                    table: current.table,
                    value,
                },
                rows,
            ),
            None if current.has_dead => {}
            None => rows.no_next_hop(current.line, current.prefix),
        }
    }
}

impl UnfinishedIpRoute {
    /// Takes the pairs of a line; `nexthop` begins one more next hop.
    fn words<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut hop: Option<&str> = None;
        let mut is_dead = false;
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next();
                value.ok_or_else(|| format!("nothing after {}", quote(word.as_bytes())))
            };
            match word {
                "nexthop" => self.take(mem::take(&mut hop), mem::take(&mut is_dead)),
                "via" => {
                    let gateway = match value()? {
                        "inet" | "inet6" => value()?,
                        gateway => gateway,
                    };
                    if gateway.parse::<IpAddr>().is_err() {
                        return Err(format!("{}: not an address", quote(gateway.as_bytes())));
                    }
                    hop = Some(gateway);
                }
                "dev" => {
                    let device = value()?;
                    hop = hop.or(Some(device));
                }
                "metric" => {
                    let metric = value()?;
                    self.metric = metric
                        .parse()
                        .map_err(|_| format!("{}: not a metric", quote(metric.as_bytes())))?;
                }
                "table" => value()?.clone_into(&mut self.table),
                // Keys with a value that says nothing of where the route leads.
                "proto" | "scope" | "src" | "nhid" | "weight" | "pref" | "realm" | "realms"
                | "expires" | "mtu" | "advmss" | "error" => {
                    value()?;
                }
                "tos" | "dsfield" | "from" => {
                    value()?;
                    self.ignored = true;
                }
                "dead" => is_dead = true,
                // Flags, and keys of later kernels.
                _ => {}
            }
        }
        self.take(hop, is_dead);
        Ok(())
    }

    /// Takes a next hop; of several the first alive is the value.
    fn take(&mut self, hop: Option<&str>, is_dead: bool) {
        self.has_dead |= is_dead;
        if let Some(hop) = hop.filter(|_| !is_dead) {
            self.value.get_or_insert_with(|| hop.to_owned());
        }
    }
}

/// Whether a default route is one of IPv6: by its addresses, else by words that
/// are printed for no route of IPv4.
fn is_ipv6(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let mut is_v6 = false;
    while let Some(word) = words.next() {
        match word {
            "via" => match words.next() {
                // A gateway of the other family is named with its family.
                Some("inet6") => return false,
                Some("inet") => return true,
                Some(gateway) => return gateway.contains(':'),
                None => {}
            },
            "src" | "from" => return words.next().is_some_and(|address| address.contains(':')),
            "pref" => is_v6 = true,
            _ => {}
        }
    }
    is_v6
}

/// One of the routes for a prefix.
pub(crate) struct MetricRoute {
    pub(crate) line: u64,
    pub(crate) prefix: IpPrefix,
    pub(crate) metric: u64,
    pub(crate) table: String,
    pub(crate) value: String,
}

/// Of routes for one prefix that follow each other, the one that the kernel uses.
#[derive(Default)]
pub(crate) struct BestByMetric {
    best: Option<MetricRoute>,
}

impl BestByMetric {
    /// One more route; hands out the best for the prefix before, if it is another.
    pub(crate) fn add(&mut self, route: MetricRoute, rows: &mut RouteRows) {
        match &mut self.best {
            Some(best) if best.prefix == route.prefix && best.table == route.table => {
                if route.metric < best.metric {
                    *best = route;
                }
            }
            best => {
                if let Some(best) = best.replace(route) {
                    hand_out(&best, rows);
                }
            }
        }
    }

    /// Hands out the last one.
    pub(crate) fn end(&mut self, rows: &mut RouteRows) {
        if let Some(best) = self.best.take() {
            hand_out(&best, rows);
        }
    }
}

/// Hands out a route, in the table that it is in; the main one has no name.
fn hand_out(best: &MetricRoute, rows: &mut RouteRows) {
    rows.table(match best.table.as_str() {
        "main" | "254" => "",
        name => name,
    });
    rows.route_of(best.line, best.prefix, &best.value);
}
