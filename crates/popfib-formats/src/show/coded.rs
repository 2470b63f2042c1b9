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
use crate::grammar::{Grammar, listing};
use crate::input::head_lines;
use crate::registry::FormatCapabilities;
use crate::rows::RouteRows;
use crate::table_format::TableEntry;
use crate::words::{
    classful_len, is_date, is_time, is_unspecified, looks_like_prefix, not_a_route, word_at,
};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "show-route",
    description: "`show ip route` and `show ipv6 route` of FRR, Cisco IOS, IOS XR and ASA, Arista EOS, FortiOS, EdgeOS",
    can: FormatCapabilities::TABLES,
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
}

/// A row while its next hops are read.
struct CodedRow {
    prefix: IpPrefix,
    line: u64,
    /// Whether a next hop, usable or not, was named.
    has_hop: bool,
    /// Whether one is still wanted.
    wanted: bool,
}

impl Grammar for CodedRoutes {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        if text.is_empty() {
            return Ok(());
        }
        if self.heading(text, rows) {
            // "1.0.0.0/24 is subnetted" has a prefix.
            return rows.detail();
        }
        if let Some(start) = prefix_of_row(line) {
            self.end(rows);
            self.in_legend = false;
            let (prefix, rest) = self.prefix(&line[start..], rows)?;
            let selected = !self.marks_selected || line[..start].contains('>');
            self.current = Some(CodedRow {
                prefix,
                line: rows.line(),
                has_hop: false,
                wanted: selected,
            });
            return self.hop(rest, rows);
        }
        let text = text.trim_start_matches(['*', '>', ' ']);
        if ["via ", "[", "is "]
            .iter()
            .any(|start| text.starts_with(start))
        {
            return self.hop(text, rows);
        }
        // What follows could belong to this line, and not to the row before it.
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

impl CodedRoutes {
    /// Whether the line says something about the rows after it, or nothing at all.
    fn heading(&mut self, text: &str, rows: &mut RouteRows) -> bool {
        const KNOWN: [&str; 9] = [
            "Gateway of last resort",
            "Default gateway",
            "IP Routing Table",
            "Timers:",
            "Timestamp:",
            "Total",
            "Maximum paths",
            "WARNING",
            "%",
        ];
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
            self.subnetted = text
                .split(' ')
                .next()
                .and_then(|network| network.split_once('/'))
                .and_then(|(network, len)| Some((network.parse().ok()?, len.parse().ok()?)));
        } else {
            return KNOWN.iter().any(|start| text.starts_with(start)) || is_date(text);
        }
        true
    }

    /// The prefix at the start of `text`, and what follows it.
    fn prefix<'a>(&self, text: &'a str, rows: &RouteRows) -> Result<(IpPrefix, &'a str), String> {
        let (word, mut rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
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
                return Err(format!("{}: no network before it", quote(word.as_bytes())));
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
    fn hop(&mut self, text: &str, rows: &mut RouteRows) -> Result<(), String> {
        let Some(current) = &mut self.current else {
            return Err("a next hop without a prefix before it".to_owned());
        };
        if let Some(hop) = CodedHop::of(text) {
            current.has_hop = true;
            rows.detail()?;
            if let CodedHop::Usable(value) = hop
                && current.wanted
            {
                current.wanted = false;
                rows.route(current.prefix, value);
            }
        }
        Ok(())
    }
}

/// Where the prefix of a row begins: after one code or more, of four bytes at most, and a letter in one of them. So
/// `1.0.0.0/8 is subnetted` is no row.
fn prefix_of_row(line: &str) -> Option<usize> {
    let mut at = 0;
    let mut has_letter = false;
    while let Some((start, word)) = word_at(line, at) {
        if has_letter && looks_like_prefix(word) {
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
    if let Some(rest) = text.strip_prefix("VRF") {
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
}

impl<'a> CodedHop<'a> {
    /// That of `via 10.0.0.1, eth0`, `is directly connected, eth0`, `[200/0], 2w0d, Null0`; `None` if `text` names none.
    fn of(text: &'a str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        if text.ends_with("(!)") || words.clone().any(|w| matches!(w, "inactive" | "inactive,")) {
            return Some(Self::Unusable);
        }
        if words.any(|word| word == "via") {
            let word = words.find(|&word| word != "VTEP")?;
            let gateway = word.trim_end_matches([',', ')']);
            return if is_unspecified(gateway) {
                interface(text).map(Self::Usable)
            } else {
                (!gateway.is_empty()).then_some(Self::Usable(gateway))
            };
        }
        // FRR: what happens to the packets stands in parentheses.
        let word = match text {
            _ if text.contains("(ICMP unreachable)") => Some("unreachable"),
            _ if text.contains("(ICMP admin-prohibited)") => Some("prohibit"),
            _ if text.contains("blackhole") => Some("blackhole"),
            _ if text.contains(" unreachable") => Some("unreachable"),
            _ => None,
        };
        word.or_else(|| interface(text)).map(Self::Usable)
    }
}

/// The interface: the first thing after a comma that is no age and no weight.
fn interface(text: &str) -> Option<&str> {
    let mut fields = text.split(',').skip(1).map(str::trim);
    let name = fields.find(|f| !f.is_empty() && !is_time(f) && !f.starts_with("weight "))?;
    name.split_ascii_whitespace().next()
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
            ("[200/0], 2w0d, Null0", "Null0"),
            ("is a summary, 7w0d, Null0", "Null0"),
            ("[50/0] via ::, pppoe4, 01w0d05h", "pppoe4"),
            ("via Vlan1, directly connected", "Vlan1"),
            ("via VTEP 10.0.0.9 VNI 7", "10.0.0.9"),
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
            assert_eq!(CodedHop::of(text), Some(CodedHop::Usable(value)), "{text}");
        }
        for text in [
            "[110/20] via 10.0.0.1, 1d, eth0 (!)",
            "via 10.0.0.1 inactive, weight 1",
        ] {
            assert_eq!(CodedHop::of(text), Some(CodedHop::Unusable), "{text}");
        }
        for text in [
            "",
            "[110/20]",
            "is directly connected",
            "[200/0], 2w0d",
            "via",
        ] {
            assert_eq!(CodedHop::of(text), None, "{text}");
        }
    }
}
