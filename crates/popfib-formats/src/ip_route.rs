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
//! the one with the lowest metric, the first of equals. Left out are dead routes,
//! those for some packets only (`tos`, `from`), and those that name a next hop by its number alone (`nhid`).
//! Each word of a line is known, or else the line is invalid.

use std::mem;
use std::net::IpAddr;

use popfib::IpPrefix;

use crate::error::{not, parsed, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::Tables;
use crate::rows::MetricRoute;
use crate::words::is_one_of;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "ip-route",
    description: "`ip route` and `ip -6 route` of Linux",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(IpRouteText::default(), input, options)),
};

/// The types of routes that are no unicast.
const TYPES: &str = "local broadcast multicast anycast blackhole unreachable prohibit throw nat";

/// Words that can follow the destination.
const KEYS: &str = "via dev nhid proto scope metric src table tos from encap nexthop error advmss";

/// Words with a value after them that says nothing of where the route leads.
const IGNORED: &str = "advmss age congctl cwnd error expires fastopen_no_cookie features hoplimit iif initcwnd initrwnd ipid mtu \
    proto quickack realm realms reordering rto_min rtt rttvar scope ssthresh ttl-propagate ttl-propogate uid used \
    users weight window";

/// Words by themselves: flags, also those after an encapsulation.
const FLAGS: &str = "cache csum key linkdown notify offload offload_failed onlink pervasive rt_offload rt_offload_failed rt_trap \
    seq trap unresolved";

/// The words with a value of an encapsulation. `table` is one where packets of segment routing end.
const ENCAP: &str = "action csum-mode dst endpoint flavors freq geneve_opts headroom hmac hook-type hoplimit id ident-type if_id \
    iif in link_dev mode nh4 nh6 oif out segs src tc tos ttl vrftable";

/// Whether the first line is a destination and a key of a route with its value, as only `ip route` prints them.
fn detect(head: &[u8]) -> bool {
    head_text(head)
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| {
            let mut words = line.split_ascii_whitespace().peekable();
            let typed = words
                .next_if(|&word| word == "unicast" || is_one_of(TYPES, word))
                .is_some();
            let destination = words.next().unwrap_or_default();
            let is_destination =
                destination == "default" || destination.parse::<IpPrefix>().is_ok();
            let key = words.next();
            // A second word alone could be the next hop of a text table.
            is_destination
                && match key {
                    Some(key) => is_one_of(KEYS, key) && words.next().is_some(),
                    None => typed,
                }
        })
}

/// The grammar of the lines.
#[derive(Default)]
pub(crate) struct IpRouteText {
    /// The route being read; its next hops may follow on lines of their own.
    current: Option<UnfinishedIpRoute>,
}

/// A route whose next hops may not all have come.
struct UnfinishedIpRoute {
    /// The route so far; without a next hop its value is empty.
    route: MetricRoute,
    /// Whether the destination is `default`, which does not say of which family: the first address tells, else only
    /// IPv6 has `pref`.
    is_default: bool,
    is_ipv6: Option<bool>,
    has_pref: bool,
    /// Whether some next hop is dead, and a route without others left out.
    has_dead: bool,
    /// Why it is left out, if it is; and whether its next hop is only a number, `nhid`.
    left_out: Option<&'static str>,
    has_number: bool,
}

impl Grammar for IpRouteText {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace().peekable();
        match words.peek() {
            // More about the next hop, with `-d`.
            None | Some(&"nh_info") => return rows.detail(),
            Some(&"nexthop" | &"cache") => {
                let Some(current) = &mut self.current else {
                    return Err("a next hop without a prefix before it".to_owned());
                };
                rows.detail()?;
                return current.words(words, rows);
            }
            Some(_) => {}
        }
        self.finish(rows);
        let kind = words.next_if(|&word| word == "unicast" || is_one_of(TYPES, word));
        let destination = words.next().unwrap_or_default();
        let is_default = destination == "default";
        let prefix = if is_default { "0.0.0.0/0" } else { destination };
        let current = self.current.insert(UnfinishedIpRoute {
            route: MetricRoute {
                line: rows.line(),
                prefix: rows.prefix(prefix)?,
                metric: 0,
                table: String::new(),
                value: kind
                    .filter(|&kind| kind != "unicast")
                    .unwrap_or_default()
                    .to_owned(),
            },
            is_default,
            is_ipv6: None,
            has_pref: false,
            has_dead: false,
            left_out: None,
            has_number: false,
        });
        current
            .words(words, rows)
            .inspect_err(|_| self.current = None)
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.finish(rows);
    }
}

impl IpRouteText {
    /// Ends the route being read, as another begins.
    fn finish(&mut self, rows: &mut RouteRows) {
        let Some(current) = self.current.take() else {
            return;
        };
        let route = current.route;
        let left_out = match current.left_out {
            None if !route.value.is_empty() => return rows.best_of(route),
            Some(why) => why,
            _ if current.has_dead => " whose next hops are dead",
            _ if current.has_number => " with nhid alone",
            _ => return rows.no_next_hop(route.line, route.prefix),
        };
        rows.table(&route.table);
        rows.leave_out_route(left_out);
    }
}

impl UnfinishedIpRoute {
    /// Takes the words of a line; `nexthop` begins one more next hop.
    fn words<'a>(
        &mut self,
        mut words: impl Iterator<Item = &'a str>,
        rows: &RouteRows,
    ) -> Result<(), String> {
        let mut hop: Option<&str> = None;
        let mut is_dead = false;
        // The kind of encapsulation whose words these are.
        let mut encap = None;
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next();
                value.ok_or_else(|| format!("nothing after {}", quote(word)))
            };
            let is_of_encap = match encap {
                Some("seg6local") => word == "table" || is_one_of(ENCAP, word),
                Some(_) => is_one_of(ENCAP, word),
                None => false,
            };
            match word {
                _ if is_of_encap => {
                    value()?;
                    // The last but flags; what comes then is the route's own.
                    encap = encap.filter(|_| word != "tos" && word != "tc");
                }
                "[" => while !matches!(value()?, "]") {},
                "encap" => {
                    let kind = value()?;
                    // Labels and locators have no key in the text.
                    if matches!(kind, "mpls" | "ila") && matches!(value()?, "dst" | "locator") {
                        value()?;
                    }
                    encap = Some(kind);
                }
                "nexthop" => self.take(mem::take(&mut hop), mem::take(&mut is_dead)),
                "via" => {
                    // A gateway of the other family is named with its family.
                    let (gateway, is_ipv6) = match value()? {
                        family @ ("inet" | "inet6") => (value()?, family == "inet"),
                        gateway => (gateway, gateway.contains(':')),
                    };
                    if gateway.parse::<IpAddr>().is_err() {
                        return Err(not(gateway, "an address"));
                    }
                    self.is_ipv6.get_or_insert(is_ipv6);
                    hop = Some(gateway);
                }
                "dev" => {
                    let device = value()?;
                    hop = hop.or(Some(device));
                }
                "metric" => {
                    let metric = value()?;
                    self.route.metric = parsed(metric, "a metric")?;
                }
                // The main one has no name.
                "table" => match value()? {
                    "main" | "254" => self.route.table.clear(),
                    name => name.clone_into(&mut self.route.table),
                },
                "nhid" => {
                    value()?;
                    self.has_number = true;
                }
                "tos" | "dsfield" | "from" => {
                    let value = value()?;
                    rows.ignore(value);
                    self.left_out = Some(" for some packets only");
                    self.is_ipv6 = self.is_ipv6.or(value.contains(':').then_some(true));
                }
                "src" => {
                    let is_ipv6 = value()?.contains(':');
                    self.is_ipv6.get_or_insert(is_ipv6);
                }
                "pref" => {
                    value()?;
                    self.has_pref = true;
                }
                "dead" => is_dead = true,
                word if is_one_of(IGNORED, word) => {
                    // Before the value of a metric that the kernel does not change.
                    if value()? == "lock" {
                        value()?;
                    }
                }
                // `ip -o` has a backslash in place of a line's end.
                word if is_one_of(FLAGS, word) || word == "\\" || word.starts_with('<') => {}
                _ => return Err(not(word, "a word of a route")),
            }
        }
        self.take(hop, is_dead);
        if self.is_default && self.is_ipv6.unwrap_or(self.has_pref) {
            self.route.prefix = rows.prefix("::/0")?;
        }
        Ok(())
    }

    /// Takes a next hop; of several the first alive is the value.
    fn take(&mut self, hop: Option<&str>, is_dead: bool) {
        self.has_dead |= is_dead;
        if let Some(hop) = hop.filter(|_| !is_dead && self.route.value.is_empty()) {
            hop.clone_into(&mut self.route.value);
        }
    }
}
