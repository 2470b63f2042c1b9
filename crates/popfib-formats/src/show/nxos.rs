//! `show ip route` and `show forwarding route` of Cisco NX-OS: prefixes with paths below them, or rows, in, the first best
//! next hop of each prefix out.
//!
//! ```text
//! IP Route Table for VRF "default"
//! 2.2.2.2/32, ubest/mbest: 2/0
//!     *via 10.10.30.2, Eth2/2, [110/3], 5d18h, ospf-10, intra
//! ```
//! `*` marks the best next hops; `direct` and `local` ones are the router itself,
//! so the interface is what tells. The forwarding table is one of columns:
//!
//! ```text
//! Prefix            | Next-hop             | Interface            | Labels
//! 10.1.88.0/24         172.16.90.6            Ethernet1/45
//! ```

use popfib::IpPrefix;

use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::registry::Capability::Tables;
use crate::words::{is_address, is_preamble, looks_like_prefix, next_hop, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "nxos",
    description: "`show ip route` and `show forwarding route` of Cisco NX-OS",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(Nxos::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_lines(head).take(32).any(|line| {
        line.starts_with(b"'*' denotes best ucast")
            || line.windows(14).any(|w| w == b", ubest/mbest:")
            || is_forwarding_heading(&String::from_utf8_lossy(line))
    })
}

fn is_forwarding_heading(line: &str) -> bool {
    line.starts_with("Prefix") && line.contains("| Next-hop")
}

#[derive(Default)]
struct Nxos {
    /// Below the heading of the forwarding table.
    forwarding: bool,
    current: Option<NxosRoute>,
}

/// The prefix whose paths are read.
struct NxosRoute {
    prefix: IpPrefix,
    line: u64,
    /// Whether any path of it was named, best or not.
    has_hop: bool,
}

impl Grammar for Nxos {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        let is_known =
            text.starts_with(['\'', '!']) || text.starts_with("---") || is_preamble(text);
        if text.is_empty() || is_known {
            return rows.detail();
        }
        if is_forwarding_heading(text) {
            self.forwarding = true;
            return rows.detail();
        }
        if let Some(name) = table_name(text) {
            self.end(rows);
            rows.table(name);
            return rows.detail();
        }
        if let Some((prefix, _)) = text.split_once(", ubest/mbest:") {
            self.end(rows);
            self.begin(prefix, rows)?;
            return Ok(());
        }
        if let Some(path) = text.trim_start_matches('*').strip_prefix("via ") {
            let Some(current) = &mut self.current else {
                return Err("a next hop without a prefix before it".to_owned());
            };
            current.has_hop = true;
            match text.starts_with("*via") {
                true => rows.route(current.prefix, hop(path)?),
                false => rows.unused(current.prefix),
            }
            return rows.detail();
        }
        if self.forwarding {
            return self.forwarding_row(text, rows);
        }
        // A next hop below belongs to no prefix that is known.
        self.end(rows);
        Err(not_a_route(line))
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some(current) = self.current.take()
            && !current.has_hop
        {
            rows.no_next_hop(current.line, current.prefix);
        }
    }
}

impl Nxos {
    /// Paths of this prefix follow.
    fn begin(&mut self, prefix: &str, rows: &RouteRows) -> Result<&mut NxosRoute, String> {
        let current = NxosRoute {
            prefix: rows.prefix(prefix)?,
            line: rows.line(),
            has_hop: false,
        };
        Ok(self.current.insert(current))
    }

    /// `[*]PREFIX NEXTHOP [INTERFACE]`; without the prefix, one more next hop.
    fn forwarding_row(&mut self, text: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let prefix = first.trim_start_matches('*');
        if !prefix.contains('/') || !looks_like_prefix(prefix) {
            let known = is_address(first) && self.current.is_some();
            return rows.detail_if(known, text);
        }
        self.end(rows);
        let current = self.begin(prefix, rows)?;
        let value = match (words.next(), words.next()) {
            // Connected, by way of the interface if it is named.
            (Some("Attached"), Some(interface)) => interface,
            (Some(hop), _) => hop,
            (None, _) => return Ok(()),
        };
        current.has_hop = true;
        rows.route(current.prefix, value);
        Ok(())
    }
}

/// The table that a heading names: `IP Route Table for VRF "default"`, `IPv4 routes for table default/base`.
fn table_name(text: &str) -> Option<&str> {
    if let Some((_, name)) = text.split_once("Table for VRF \"") {
        return name.split('"').next();
    }
    let (_, name) = text.split_once(" routes for table ")?;
    Some(name)
}

/// The value of `10.0.0.1%vrf, Eth2/2, [110/3], 5d18h, ospf-10, intra`; what comes after the interface is passed over.
fn hop(path: &str) -> Result<&str, String> {
    let mut fields = path.split(',').map(str::trim);
    let gateway = fields.next().unwrap_or_default();
    let interface = fields.next().unwrap_or_default();
    let is_own = fields.any(|field| matches!(field, "direct" | "local"));
    if is_own && !interface.is_empty() && !interface.starts_with('[') {
        Ok(interface)
    } else {
        match gateway.contains(char::is_whitespace) {
            true => Err(not(gateway, "an address")),
            false => next_hop(gateway),
        }
    }
}
