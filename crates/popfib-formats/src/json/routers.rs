//! Tables of routers as JSON: `show ip route | json` and `show ip bgp | json` of Arista EOS and Cisco NX-OS, `bgpctl -j show
//! rib` of OpenBGPD. Objects of prefixes or lists of rows in, the route in use of each prefix out.
//!
//! ```text
//! {"vrfs":{"default":{"routes":{"10.0.0.0/8":{"vias":[{"nexthopAddr":"192.0.2.1","interface":"Ethernet1"}]}}}}}
//! {"vrfs":{"default":{"bgpRouteEntries":{"10.0.0.0/8":{"bgpRoutePaths":[{"nextHop":"192.0.2.1", ...}]}}}}}
//! {"TABLE_vrf":{"ROW_vrf":{"vrf-name-out":"default", ... "TABLE_prefix":{"ROW_prefix":[{"ipprefix":"10.0.0.0/8", ...}]}}}}
//! {"rib":[{"prefix":"10.0.0.0/8","exit_nexthop":"192.0.2.1","best":true, ...}]}
//! ```
//! NX-OS has an object where a table has one row, else a list. Values are those of the texts
//! ([`nxos`](crate::show::nxos), [`coded`](crate::show::coded), [`bgp`](crate::show::bgp)). Members that are not
//! named here say more about a route, and are passed over; an object or list that is not named here is an error.

use super::node::node;
use super::{first_byte, keys};
use crate::error::quote;
use crate::grammar::{Grammar, RouteRows, TableEntry, document};
use crate::leaves::RecordNode;
use crate::registry::Capability::{Origins, Tables};
use crate::words::{is_long_prefix, split_as_path, table_of};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "router-json",
    description: "`show ip route | json` and `show ip bgp | json` of Arista EOS and Cisco NX-OS, `bgpctl -j show rib` of OpenBGPD",
    can: &[Tables, Origins],
    detect,
    open: |input, options| Ok(document(RouterJson::default(), input, options)),
};

pub(super) fn detect(head: &[u8]) -> bool {
    let mut keys = keys(head);
    let first = keys.next();
    first_byte(head) == Some(b'{')
        && match first.as_deref() {
            Some("vrfs") => keys.any(|key| matches!(&*key, "routes" | "bgpRouteEntries")),
            Some("rib") => keys.next().as_deref() == Some("prefix"),
            first => first == Some("TABLE_vrf"),
        }
}

#[derive(Default)]
struct RouterJson {
    /// Whether an object with any name is a VRF, as it stands beside others or first.
    is_vrf_next: bool,
    /// The address family and the VRF of rows of NX-OS.
    family: String,
    vrf: String,
}

impl Grammar for RouterJson {
    fn opens(&mut self, key: &str, is_list: bool, rows: &mut RouteRows) -> bool {
        match key {
            "" | "rib" => {}
            "vrfs" | "routes" | "bgpRouteEntries" => self.is_vrf_next = true,
            // Its only row is an item.
            "ROW_prefix" => return is_list,
            _ if is_table(key) => {}
            _ if is_long_prefix(key) || !self.is_vrf_next => return false,
            _ => {
                self.is_vrf_next = false;
                rows.table(key);
            }
        }
        true
    }

    fn read(&mut self, key: &str, json: &str, rows: &mut RouteRows) -> Result<(), String> {
        let node = node(json)?;
        match &node {
            RecordNode::Map(_) if is_long_prefix(key) => eos(key, &node, rows),
            RecordNode::Map(_) if text(&node, "prefix").is_some() => bgpctl(&node, rows),
            RecordNode::Map(_) if key.is_empty() || is_table(key) => self.nxos(&node, rows),
            RecordNode::Map(_) | RecordNode::Array(_) => {
                Err(format!("{}: no routes of a router", quote(key)))
            }
            _ if is_long_prefix(key) => Err(format!("{}: nothing about this prefix", quote(key))),
            node => {
                self.about(key, node, rows);
                rows.detail()
            }
        }
    }
}

impl RouterJson {
    /// A member about the table whose rows come.
    fn about(&mut self, key: &str, node: &RecordNode<'_>, rows: &mut RouteRows) {
        let text = text(node, "").unwrap_or_default();
        match key {
            "asn" => return text.parse().into_iter().for_each(|asn| rows.local_as(asn)),
            "vrf-name-out" | "rd_vrf" => text.clone_into(&mut self.vrf),
            "af-name" => text.clone_into(&mut self.family),
            _ => return,
        }
        rows.table(&table_of(&self.family, &self.vrf));
    }

    /// A row of NX-OS: a prefix, or a table with rows below.
    fn nxos(&mut self, row: &RecordNode<'_>, rows: &mut RouteRows) -> Result<(), String> {
        if let Some(prefix) = text(row, "ipprefix") {
            return nxos_prefix(prefix, row, rows);
        }
        let RecordNode::Map(members) = row else {
            return Err("expected a row".to_owned());
        };
        let mut is_known = false;
        for (key, node) in members {
            if is_table(key) {
                is_known = true;
                let mut below = elements(node);
                below.try_for_each(|row| self.nxos(row, rows))?;
            } else {
                self.about(key, node, rows);
            }
        }
        match is_known {
            true => rows.detail(),
            false => Err("a row without ipprefix".to_owned()),
        }
    }
}

/// Whether this is a name of tables and rows of NX-OS.
fn is_table(key: &str) -> bool {
    key.starts_with("TABLE_") || key.starts_with("ROW_")
}

/// What `path` leads to, if it is a text, a number or a truth.
fn text<'a>(node: &'a RecordNode<'_>, path: &str) -> Option<&'a str> {
    match node.at(path)? {
        RecordNode::Scalar(_, text) => Some(text),
        _ => None,
    }
}

/// As [`text`]; of several paths the first that leads to a text which is not empty.
fn first_of<'a>(node: &'a RecordNode<'_>, paths: &[&str]) -> Option<&'a str> {
    let mut texts = paths.iter().filter_map(|path| text(node, path));
    texts.find(|text| !text.is_empty())
}

/// The elements of a list, or the only one.
fn elements<'a, 'b>(node: &'a RecordNode<'b>) -> impl Iterator<Item = &'a RecordNode<'b>> {
    match node {
        RecordNode::Array(elements) => elements.iter(),
        node => std::slice::from_ref(node).iter(),
    }
}

fn is_true(node: &RecordNode<'_>, path: &str) -> bool {
    text(node, path) == Some("true")
}

/// A prefix of NX-OS with its paths: in use are those with `ubest`, where any has it, and with `bestcode` in BGP.
fn nxos_prefix(prefix: &str, row: &RecordNode<'_>, rows: &mut RouteRows) -> Result<(), String> {
    if prefix.starts_with('[') {
        rows.leave_out_route(" of another family than IP");
        return Ok(());
    }
    let prefix = rows.prefix(prefix)?;
    let none = || format!("no next hop after \"{prefix}\"");
    let paths = row.at("TABLE_path.ROW_path").ok_or_else(none)?;
    let marks = |path: &str| elements(paths).any(|of| of.at(path).is_some());
    let (is_bgp, is_marked) = (marks("bestcode"), marks("ubest"));
    let best = elements(paths).find(|path| match is_bgp {
        true => text(path, "bestcode").is_some_and(|code| code.contains('>')),
        false => !is_marked || is_true(path, "ubest"),
    });
    let Some(path) = best else {
        rows.unused(prefix);
        return Ok(());
    };
    let is_own = matches!(text(path, "clientname"), Some("direct" | "local"));
    let own = first_of(path, &["ifname"]).filter(|_| is_own);
    let hop = own.or_else(|| first_of(path, &["ipnexthop", "ifname"]));
    let hop = hop.ok_or_else(none)?.split('%').next().unwrap_or_default();
    rows.bgp_route(rows.line(), prefix, hop, text(path, "aspath"));
    Ok(())
}

/// What a prefix of EOS leads to: the next hops in use, or paths of BGP.
fn eos(prefix: &str, row: &RecordNode<'_>, rows: &mut RouteRows) -> Result<(), String> {
    let prefix = rows.prefix(prefix)?;
    if let Some(RecordNode::Array(paths)) = row.at("bgpRoutePaths") {
        match paths.iter().find(|path| is_true(path, "routeType.active")) {
            Some(path) => {
                // Empty for a network that begins here, where the text has `-`.
                let hop = text(path, "nextHop").map(|hop| if hop.is_empty() { "-" } else { hop });
                let hop = hop.ok_or_else(|| format!("no next hop after \"{prefix}\""))?;
                let as_path = text(path, "asPathEntry.asPath").map(|text| split_as_path(text).0);
                rows.bgp_route(rows.line(), prefix, hop, as_path);
            }
            None => rows.unused(prefix),
        }
        return Ok(());
    }
    let Some(RecordNode::Array(vias)) = row.at("vias") else {
        return Err(format!("no next hop after \"{prefix}\""));
    };
    let hops = ["nexthopAddr", "vtepAddr", "interface"];
    let is_text =
        |via: &RecordNode<'_>, path: &&str| via.at(path).is_none() || text(via, path).is_some();
    if !vias
        .iter()
        .all(|via| hops.iter().all(|path| is_text(via, path)))
    {
        return Err(format!("a next hop that is no text after \"{prefix}\""));
    }
    let hop = vias.iter().find_map(|via| first_of(via, &hops));
    let is_dropped = || text(row, "routeAction").filter(|action| *action != "forward");
    rows.route_of(rows.line(), prefix, hop.or_else(is_dropped));
    Ok(())
}

/// A path of OpenBGPD.
fn bgpctl(row: &RecordNode<'_>, rows: &mut RouteRows) -> Result<(), String> {
    let prefix = rows.prefix(text(row, "prefix").unwrap_or_default())?;
    if !is_true(row, "best") {
        rows.unused(prefix);
        return Ok(());
    }
    let hop = first_of(row, &["exit_nexthop"]);
    rows.bgp_route(rows.line(), prefix, hop, text(row, "aspath"));
    Ok(())
}
