//! `show ip route` and `show ipv6 route` of the many systems whose rows begin
//! with a code (FRR, Cisco IOS, IOS XR and ASA, Arista EOS, FortiOS, EdgeOS): rows in, the selected routes out.
//!
//! ```text
//! Codes: C - connected, S - static, ... > - selected route, * - FIB route
//! B>  1.0.6.0/24 [200/0] via 198.32.212.55 (recursive), weight 1, 00:00:21
//!   *                      via 10.9.1.9, d1, weight 1, 00:00:21
//! C>* 10.9.1.0/24 is directly connected, d1, 00:00:28
//! ```
//! A row is codes, a prefix, and what leads on; that may stand on the next line,
//! and lines without a prefix name more next hops. If the legend knows `>`, only
//! rows with it are selected. A prefix without length has that of the heading
//! before it (`1.0.0.0/24 is subnetted`), else that of its class; ASA writes masks.
//!
//! One grammar reads all of these systems, since all print like Cisco IOS and a capture does not say which of
//! them it is from. Codes are not looked up in the legend: a row is what has letters and signs before a prefix.

use std::net::Ipv4Addr;

use popfib::IpPrefix;

use crate::error::quote;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::registry::Capability::Tables;
use crate::words::{
    begins, classful_len, is_address, is_preamble, is_time, is_unspecified, looks_like_prefix,
    next_hop, not_a_route, word_at,
};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "show-route",
    description: "`show ip route` and `show ipv6 route` of FRR, Cisco IOS, IOS XR and ASA, Arista EOS, FortiOS, EdgeOS",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(CodedRoutes::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_lines(head).any(|line| {
        let line = line.trim_ascii_start();
        line.starts_with(b"Codes:") || line.starts_with(b"Source Codes:")
    })
}

#[derive(Default)]
struct CodedRoutes {
    in_legend: bool,
    /// Whether the legend tells how selected routes are marked.
    marks_selected: bool,
    /// The network and length of the last "is subnetted".
    subnetted: Option<(Ipv4Addr, u8)>,
    current: Option<CodedRow>,
    /// In a warning, which ends with an empty line.
    in_warning: bool,
}

/// A row while its next hops are read.
struct CodedRow {
    prefix: IpPrefix,
    line: u64,
    /// Whether a next hop, usable or not, was named.
    has_hop: bool,
    is_selected: bool,
    /// Whether one is still wanted.
    wanted: bool,
}

impl Grammar for CodedRoutes {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        if text.is_empty() {
            self.in_warning = false;
            return Ok(());
        }
        if self.heading(text, rows) {
            return rows.detail();
        }
        if let Some(start) = prefix_of_row(line) {
            self.end(rows);
            (self.in_legend, self.in_warning) = (false, false);
            let (prefix, rest) = self.prefix(&line[start..], rows)?;
            let is_selected = !self.marks_selected || line[..start].contains('>');
            self.current = Some(CodedRow {
                prefix,
                line: rows.line(),
                has_hop: false,
                is_selected,
                wanted: is_selected,
            });
            // A next hop below belongs to a row that was not understood.
            let read = self.hop(rest, line, rows);
            return read.inspect_err(|_| self.current = None);
        }
        if self.in_warning {
            return rows.detail();
        }
        // What follows could belong to this line, and not to the row before it.
        let read = self.hop(text.trim_start_matches(['*', '>', ' ']), line, rows);
        read.inspect_err(|_| self.end(rows))
    }

    fn end(&mut self, rows: &mut RouteRows) {
        let Some(current) = self.current.take() else {
            return;
        };
        if !current.has_hop {
            rows.no_next_hop(current.line, current.prefix);
        } else if !current.is_selected {
            rows.unused(current.prefix);
        } else if current.wanted {
            rows.leave_out_route(" whose next hops are all inactive");
        }
    }
}

impl CodedRoutes {
    /// Whether the line says something about the rows after it, or nothing at all.
    fn heading(&mut self, text: &str, rows: &mut RouteRows) -> bool {
        if text.starts_with("Codes:") || text.starts_with("Source Codes:") {
            self.in_legend = true;
            self.marks_selected = false;
        }
        if self.in_legend && text.contains(" - ") || text == "Source Codes:" {
            self.marks_selected |= text.contains("> - selected route");
        } else if let Some(name) = table_name(text) {
            self.end(rows);
            rows.table(name);
        } else if text.contains(" subnetted, ") {
            let network = text.split(' ').next();
            rows.ignore(network.unwrap_or_default());
            self.subnetted = network
                .and_then(|network| network.split_once('/'))
                .and_then(|(network, len)| Some((network.parse().ok()?, len.parse().ok()?)));
        } else {
            self.in_warning |= text.starts_with(['!', '%']) || text.starts_with("WARNING");
            let is_known = begins!(text, "Gateway of last resort" "Default gateway" "IP Routing Table" "Timers:"
                "Timestamp:" "Total" "Maximum paths" "ICMP redirect cache" "!");
            return is_known || is_preamble(text);
        }
        true
    }

    /// The prefix at the start of `text`, and what follows it.
    fn prefix<'a>(&self, text: &'a str, rows: &RouteRows) -> Result<(IpPrefix, &'a str), String> {
        let (word, mut rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        if let Some(prefix) = word.strip_suffix(',') {
            // XR: `2001:db8::/48, SRv6 Endpoint uN (shift)`.
            return Ok((rows.prefix(prefix)?, &text[prefix.len()..]));
        }
        let Ok(address) = word.parse::<Ipv4Addr>() else {
            return Ok((rows.prefix(word)?, rest));
        };
        let len = match word_at(rest, 0) {
            Some((at, mask)) if looks_like_prefix(mask) => {
                rest = &rest[at + mask.len()..];
                return Ok((rows.prefix(&format!("{word}/{mask}"))?, rest));
            }
            // A mask: the network before it is a name of the ASA, which was taken for a code.
            _ if address.octets()[0] == 255 => {
                return Err(format!("{}: no network before it", quote(word)));
            }
            _ => self.implied_len(address),
        };
        Ok((rows.prefix(&format!("{word}/{len}"))?, rest))
    }

    /// The length of a prefix that is written without one: that of the subnets, if it is in the network whose subnets
    /// were announced last, else that of its class.
    fn implied_len(&self, address: Ipv4Addr) -> u8 {
        let class = classful_len(address);
        let network = |a: Ipv4Addr| u32::from(a).checked_shr(32 - u32::from(class));
        match self.subnetted {
            Some((of, len)) if network(of) == network(address) => len,
            _ => class,
        }
    }

    /// What a row, or a line below it, leads to; the first that can be used is the route's.
    fn hop(&mut self, text: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let hop = CodedHop::of(text)?.ok_or_else(|| not_a_route(line))?;
        let Some(current) = &mut self.current else {
            return Err("a next hop without a prefix before it".to_owned());
        };
        current.has_hop |= hop != CodedHop::Nothing;
        match hop {
            CodedHop::Usable(value) if current.wanted => {
                current.wanted = false;
                rows.route(current.prefix, value);
            }
            CodedHop::Tunneled if current.wanted => {
                current.wanted = false;
                rows.leave_out_route(" for traffic of VPNs alone (tunneled)");
            }
            _ => {}
        }
        rows.detail()
    }
}

/// Where the prefix of a row begins: after one code or more, of four bytes at most, and a letter in one of them. So
/// `1.0.0.0/8 is subnetted` is no row.
fn prefix_of_row(line: &str) -> Option<usize> {
    let mut at = 0;
    let mut has_letter = false;
    while let Some((start, word)) = word_at(line, at) {
        if has_letter && looks_like_prefix(word.trim_end_matches(',')) {
            return Some(start);
        }
        let is_code = |b: u8| b.is_ascii_alphanumeric() || b"*>+%!()~&=-^".contains(&b);
        if word.len() > 4 || !word.bytes().all(is_code) || matches!(word, "via" | "is" | "VRF") {
            return None;
        }
        has_letter |= word.contains(|c: char| c.is_ascii_alphabetic());
        at = start + word.len();
    }
    None
}

/// The table that a heading names.
fn table_name(text: &str) -> Option<&str> {
    if let Some(name) = text.strip_prefix("Routing Table:") {
        return Some(name.trim());
    }
    if let Some(rest) = text.strip_prefix("Routing table for VRF=") {
        return Some(rest.trim());
    }
    // FRR names the family from version 10 on.
    let of_family = text
        .strip_prefix("IPv4 unicast ")
        .or(text.strip_prefix("IPv6 unicast "));
    if let Some(rest) = of_family.unwrap_or(text).strip_prefix("VRF") {
        let name = rest.trim_start_matches(" name").trim_matches([' ', ':']);
        return (rest.starts_with([' ', ':']) && !name.contains(' ')).then_some(name);
    }
    if let Some(rest) = text.strip_prefix("IPv6 Routing Table") {
        return Some(rest.split(" - ").nth(1).unwrap_or_default().trim());
    }
    let (_, name) = text.split_once("Route Table for VRF \"")?;
    name.split('"').next()
}

/// What a row leads to.
#[derive(Debug, PartialEq)]
enum CodedHop<'a> {
    Usable(&'a str),
    /// A backup, or one that the router can't reach.
    Unusable,
    /// For what comes out of the tunnels of an ASA.
    Tunneled,
    /// It stands on the next line.
    Nothing,
}

impl<'a> CodedHop<'a> {
    /// That of `via 10.0.0.1, eth0`, `is directly connected, eth0`, `[200/0], 2w0d, Null0`; `None` if `text` is nothing of
    /// the kind.
    ///
    /// Before it stand the preference and notes, in brackets; after the next hop come its age, interface and other
    /// attributes, which are passed over.
    fn of(text: &'a str) -> Result<Option<Self>, String> {
        let mut rest = text.trim();
        while let Some(close) = rest.chars().next().and_then(|open| match open {
            '[' => Some(']'),
            '(' => Some(')'),
            _ => None,
        }) {
            rest = rest
                .split_once(close)
                .map_or("", |(_, rest)| rest.trim_start());
        }
        let words = || {
            text.split_ascii_whitespace()
                .map(|w| w.trim_matches([',', '(', ')']))
        };
        if rest.is_empty() || rest.starts_with(", SRv6 ") {
            return Ok(Some(Self::Nothing));
        }
        if text.ends_with("(!)") || words().any(|word| word == "inactive") {
            return Ok(Some(Self::Unusable));
        }
        if words().next_back() == Some("tunneled") {
            return Ok(Some(Self::Tunneled));
        }
        if let Some(via) = rest.strip_prefix("via ") {
            let mut words = via.split_ascii_whitespace();
            let word = words.find(|&word| word != "VTEP").unwrap_or_default();
            let gateway = next_hop(word.trim_end_matches([',', ')']))?;
            let hop = match is_unspecified(gateway) {
                true => interface(rest).or(Some(gateway)),
                false => (!gateway.is_empty()).then_some(gateway),
            };
            return Ok(hop.map(Self::Usable));
        }
        // FRR: what happens to the packets stands in parentheses.
        let dropped = match rest {
            _ if rest.starts_with("unreachable (ICMP admin-prohibited)") => "prohibit",
            _ if rest.starts_with("unreachable (blackhole)") => "blackhole",
            _ if rest.starts_with("blackhole") => "blackhole",
            _ if rest.starts_with("unreachable") => "unreachable",
            _ => "",
        };
        if !dropped.is_empty() {
            return Ok(Some(Self::Usable(dropped)));
        }
        let first = rest.split(',').next().unwrap_or_default();
        let is_age = is_time(first) && !is_address(first);
        let is_known = begins!(rest, "is directly connected" "directly connected" "is a summary" "connected by VPN" ",");
        if !is_age && !is_known {
            return Ok(None);
        }
        Ok(Some(interface(rest).map_or(Self::Nothing, Self::Usable)))
    }
}

/// The interface: the first thing after a comma that is no age and no attribute, which has a word before it (`weight 1`).
fn interface(text: &str) -> Option<&str> {
    text.split(',').skip(1).find_map(|field| {
        let mut words = field.split_ascii_whitespace();
        let name = words.next().filter(|name| !is_time(name))?;
        let is_name = |more: &str| more == "onlink" || more.starts_with('(');
        words.next().is_none_or(is_name).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_hops() {
        for (text, value) in [
            (
                "[200/0] via 198.32.212.55 (recursive), weight 1, 00:00:21",
                "198.32.212.55",
            ),
            ("is directly connected, d1, weight 1, 00:00:28", "d1"),
            ("is directly connected, 04:43:54, Loopback0", "Loopback0"),
            ("directly connected, Loopback1", "Loopback1"),
            ("[200/0], 2w0d, Null0", "Null0"),
            ("is a summary, 7w0d, Null0", "Null0"),
            ("[50/0] via ::, pppoe4, 01w0d05h", "pppoe4"),
            ("via Vlan1, directly connected", "Vlan1"),
            ("via VTEP 10.0.0.9 VNI 7", "10.0.0.9"),
            ("via 192.0.2.33%default, Vlan100%default", "192.0.2.33"),
            ("via FE80::1%eth0, eth0", "FE80::1%eth0"),
            (
                "(source VRF red) is directly connected, Ethernet5",
                "Ethernet5",
            ),
            ("00:54:06, Bundle-Ether10", "Bundle-Ether10"),
            ("connected by VPN (advertised), outside", "outside"),
            ("[1/0] via 0.0.0.0, eth0 onlink, weight 1", "eth0"),
            (
                "[1/0] unreachable (blackhole), weight 1, 00:00:05",
                "blackhole",
            ),
            (
                "[1/0] unreachable (ICMP unreachable), weight 1",
                "unreachable",
            ),
            ("[1/0] unreachable (ICMP admin-prohibited)", "prohibit"),
        ] {
            assert_eq!(
                CodedHop::of(text),
                Ok(Some(CodedHop::Usable(value))),
                "{text}"
            );
        }
        for text in [
            "[110/20] via 10.0.0.1, 1d, eth0 (!)",
            "via 10.0.0.1 inactive, weight 1",
        ] {
            assert_eq!(CodedHop::of(text), Ok(Some(CodedHop::Unusable)), "{text}");
        }
        for text in [
            "",
            "[110/20]",
            "is directly connected",
            "[200/0], 2w0d",
            "[20/0], tag 1",
            "[20/0",
            ", SRv6 Endpoint uN (shift)",
        ] {
            assert_eq!(CodedHop::of(text), Ok(Some(CodedHop::Nothing)), "{text}");
        }
        for text in [
            "via",
            "[1/0] vai 10.0.0.1, eth0",
            "10.0.0.1, eth0",
            "is directly conn",
            "directly conn",
        ] {
            assert_eq!(CodedHop::of(text), Ok(None), "{text}");
        }
        assert!(CodedHop::of("[1/0] via 10.0.0., eth0").is_err());
    }
}
