//! `show ip route json` and `show bgp json` of FRR: an object of prefixes in, the selected route of each out.
//!
//! ```text
//! { "1.0.6.0/24": [ { "selected": true, "nexthops": [ { "ip": "198.32.212.55", "active": true } ] } ] }
//! { "vrfId": 0, "routes": { "1.0.6.0/24": [ { "bestpath": true, "nexthops": [ { "ip": "198.32.212.55" } ] } ] } }
//! ```
//! Each prefix has an array of its routes or paths. The one that counts is `selected` in the RIB and `bestpath` in
//! BGP; a prefix without such a one gives no route. With `vrf all`, each table is an object in the
//! outermost one, and its key is the VRF's name:
//!
//! ```text
//! { "default": { "1.0.6.0/24": [ ... ] }, "blue": { "1.0.6.0/24": [ ... ] } }
//! ```
//! `show bgp detail json` has an object for each prefix, with its `paths`; so has `show bgp PREFIX json`, whose object is the
//! outermost one and names the `prefix`, too. Routes of one neighbour have no paths, but a next hop each.
//!
//! `gobgp global rib -j` has the next hop and the AS path of a path among its attributes:
//!
//! ```text
//! { "10.0.0.0/8": [ { "best": true, "attrs": [ { "type": 3, "nexthop": "192.0.2.1" } ] } ] }
//! ```
//! Read are the marks, next hops and AS paths; all other members say more about a route, and are passed over.
//! Both listings have one reader, as only the marks differ. What drops packets has no `ip`, but a
//! member that says so (`"blackhole": true`).

use popfib::IpPrefix;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::strings::{StringRole, strings};
use super::{first_byte, parse, routers};
use crate::as_path::SegmentKind;
use crate::grammar::{Grammar, RouteRows, TableEntry, document};
use crate::registry::Capability::{Origins, Tables};
use crate::words::is_long_prefix;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "frr-json",
    description: "`show ip route json`, `show ipv6 route json` and `show bgp json` of FRR, `gobgp global rib -j`; next hops of selected routes",
    can: &[Tables, Origins],
    detect,
    open: |input, options| Ok(document(Frr::default(), input, options)),
};

/// Whether this is the JSON of FRR or of another router.
pub(super) fn is_of_router(head: &[u8]) -> bool {
    detect(head) || routers::detect(head)
}

fn detect(head: &[u8]) -> bool {
    if first_byte(head) != Some(b'{') || routers::detect(head) {
        return false;
    }
    let keys = strings(head).filter_map(|found| match found.role {
        StringRole::Key(key) => Some((key, found.rest)),
        StringRole::Element(_) | StringRole::Value(_) => None,
    });
    // The answer about one prefix names it, and has paths with next hops.
    let mut wanted = ["prefix", "paths", "nexthops"].into_iter().peekable();
    // Before the prefixes are a few members about the table, if any.
    keys.take(64).enumerate().any(|(at, (key, rest))| {
        wanted.next_if(|wanted| *wanted == key);
        // A prefix leads to an array here. One that leads to a text is a map of prefixes (`json-lists`).
        let value = rest.trim_ascii_start().strip_prefix(b":").unwrap_or(rest);
        let value = value.trim_ascii_start();
        let is_list = matches!(value, [] | [b'[', ..]);
        let is_prefix = is_list && key.contains('/') && key.parse::<IpPrefix>().is_ok();
        let is_known = || match &*key {
            "vrfId" | "tableVersion" | "routes" => true,
            "receivedRoutes" | "advertisedRoutes" => value.starts_with(b"{"),
            _ => false,
        };
        at < 8 && (is_prefix || is_known()) || wanted.peek().is_none()
    })
}

#[derive(Default)]
struct Frr {
    /// The prefix that the outermost object is about.
    prefix: Option<IpPrefix>,
}

/// What a prefix leads to if not to a list: its paths, or the only one of a neighbour.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "paths or a next hop")]
struct FrrPaths {
    paths: Option<Vec<FrrRoute>>,
    #[serde(alias = "nextHopGlobal")]
    next_hop: Option<String>,
    path: Option<String>,
}

/// A route of the RIB or a path of BGP: the members that either has, so that one type serves both.
#[derive(Deserialize)]
#[serde(expecting = "a route")]
struct FrrRoute {
    #[serde(default)]
    selected: bool,
    #[serde(default, alias = "best")]
    bestpath: FrrBestPath,
    #[serde(default)]
    nexthops: Vec<FrrNextHop>,
    /// The AS path in a table.
    path: Option<String>,
    /// The AS path in an answer about one prefix.
    aspath: Option<FrrAsPath>,
    /// Of GoBGP: what has the next hop and the AS path.
    #[serde(default)]
    attrs: Vec<GobgpAttribute>,
}

#[derive(Deserialize)]
#[serde(expecting = "an attribute")]
struct GobgpAttribute {
    nexthop: Option<String>,
    as_paths: Option<Vec<GobgpSegment>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a segment of an AS path")]
struct GobgpSegment {
    segment_type: u8,
    asns: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(expecting = "an AS path")]
struct FrrAsPath {
    string: String,
}

/// `true` in a table; in answers about one prefix an object that says why the path is best
/// (`{"overall":true,"selectionReason":"Local Pref"}`).
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "bestpath is neither true nor false nor an object"
)]
enum FrrBestPath {
    Is(bool),
    Detail {
        #[serde(default)]
        overall: bool,
    },
}

impl Default for FrrBestPath {
    fn default() -> Self {
        Self::Is(false)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a next hop")]
struct FrrNextHop {
    ip: Option<String>,
    /// The family of an address; without one the interface leads on.
    afi: Option<IgnoredAny>,
    interface_name: Option<String>,
    /// Of the RIB: packets can take it.
    #[serde(default)]
    active: bool,
    /// Of BGP, which shows a global and a link-local address of one router: this one is taken.
    #[serde(default)]
    used: bool,
    // That they are there is enough.
    unreachable: Option<IgnoredAny>,
    reject: Option<IgnoredAny>,
    admin_prohibited: Option<IgnoredAny>,
    blackhole: Option<IgnoredAny>,
}

impl FrrNextHop {
    /// Its address; else the word for how packets are dropped, as `ip route` has it; else the interface.
    fn value(&self) -> Option<&str> {
        if let Some(address) = self.ip.as_ref().filter(|ip| !ip.trim().is_empty()) {
            Some(address)
        } else if self.admin_prohibited.is_some() {
            Some("prohibit")
        } else if self.blackhole.is_some() {
            Some("blackhole")
        } else if self.reject.is_some() || self.unreachable.is_some() {
            Some("unreachable")
        } else {
            let interface = self.interface_name.as_deref();
            interface.filter(|_| self.afi.is_none())
        }
    }
}

impl Grammar for Frr {
    fn opens(&mut self, key: &str, is_list: bool, rows: &mut RouteRows) -> bool {
        if is_list || key == "advertisedTo" || is_long_prefix(key) {
            return false;
        }
        if !key.is_empty() && !matches!(key, "routes" | "receivedRoutes" | "advertisedRoutes") {
            rows.table(key);
        }
        true
    }

    fn read(&mut self, key: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        if key == "localAS"
            && let Ok(asn) = json.parse()
        {
            rows.local_as(asn);
        }
        if key == "prefix" {
            let prefix: String = parse(json)?;
            self.prefix = Some(rows.prefix(&prefix)?);
            return Ok(());
        }
        let routes: Vec<FrrRoute> = if json.starts_with('[') {
            parse(json)?
        } else if is_long_prefix(key) {
            let found: FrrPaths = parse(json)?;
            match (found.paths, found.next_hop) {
                (Some(paths), _) => paths,
                (None, Some(hop)) => {
                    let prefix = rows.prefix(key)?;
                    rows.bgp_route(rows.line(), prefix, &*hop, found.path.as_deref());
                    return Ok(());
                }
                (None, None) => return Err("expected paths or a next hop".to_owned()),
            }
        } else {
            // Numbers and names about the table.
            return rows.detail();
        };
        let prefix = match self.prefix.filter(|_| key == "paths") {
            Some(prefix) => prefix,
            None => rows.prefix(key)?,
        };
        let is_best = |path: &FrrBestPath| match *path {
            FrrBestPath::Is(best) => best,
            FrrBestPath::Detail { overall } => overall,
        };
        let Some(route) = routes
            .iter()
            .find(|route| route.selected || is_best(&route.bestpath))
        else {
            rows.unused(prefix);
            return Ok(());
        };
        let hop = if route.selected {
            // A selected route may have next hops that are down; if all are, it leads nowhere.
            let active = route.nexthops.iter().find(|hop| hop.active);
            if active.is_none() && !route.nexthops.is_empty() {
                rows.leave_out_route(" whose next hops are all inactive");
                return Ok(());
            }
            active
        } else {
            let used = route.nexthops.iter().find(|hop| hop.used);
            used.or(route.nexthops.first())
        };
        let detail = route.aspath.as_ref().map(|path| path.string.as_str());
        // `Local` stands for an empty path.
        let detail = detail.map(|path| if path == "Local" { "" } else { path });
        let of_attributes = || route.attrs.iter().find_map(|of| of.nexthop.as_deref());
        let segments = route.attrs.iter().find_map(|of| of.as_paths.as_ref());
        let text = |segment: &GobgpSegment| {
            let kind = SegmentKind::from_number(segment.segment_type);
            let kind = kind.unwrap_or(SegmentKind::Sequence);
            kind.text(segment.asns.iter().copied())
        };
        let segments = segments.map(|all| all.iter().map(text).collect::<Vec<_>>().join(" "));
        let hop = hop.and_then(FrrNextHop::value).or_else(of_attributes);
        let path = route.path.as_deref().or(detail).or(segments.as_deref());
        rows.bgp_route(rows.line(), prefix, hop, path);
        Ok(())
    }
}
