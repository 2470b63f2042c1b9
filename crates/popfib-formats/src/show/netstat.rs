//! `netstat -rn` of macOS and the BSDs: rows of the kernel's table in, a route of each out.
//!
//! ```text
//! Routing tables
//!
//! Internet:
//! Destination        Gateway            Flags               Netif Expire
//! default            192.168.1.1        UGScg                 en0
//! 127                127.0.0.1          UCS                   lo0
//! 192.168.64/18      link#6             UCS                   en0      !
//!
//! Internet6:
//! Destination        Gateway            Flags               Netif Expire
//! fe80::%lo0/64      fe80::1%lo0        UcI                   lo0
//! ```
//! The value is the gateway if that is an address, else the interface: `link#6` is the number of an interface and tells a
//! reader nothing. Of routes that drop or reject packets (flags `B` and `R`) it is `blackhole` or
//! `reject`. A network without its length has as many bytes as are written: `127` is 127.0.0.0/8. Sections of other
//! families are passed over.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::ranges::AddressSpan;
use crate::words::{is_address, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "netstat",
    description: "`netstat -rn` of macOS, FreeBSD, OpenBSD and NetBSD",
    can: &[],
    detect,
    open: |input, options| Ok(listing(Netstat::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    let mut lines = head_lines(head).take(12).map(<[u8]>::trim_ascii);
    lines.any(|line| matches!(line, b"Internet:" | b"Internet6:"))
        && lines.any(|line| line.starts_with(b"Destination"))
}

#[derive(Default)]
struct Netstat {
    section: NetstatSection,
    /// The column of the interface, from 0.
    interface: usize,
}

/// Which family the rows are of.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum NetstatSection {
    /// Above the first section, or in one of neither family.
    #[default]
    None,
    Ipv4,
    Ipv6,
}

impl Grammar for Netstat {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        match words[..] {
            [] | ["Routing", "tables", ..] => return rows.detail(),
            [section] if section.ends_with(':') => {
                self.section = match section {
                    "Internet:" => NetstatSection::Ipv4,
                    "Internet6:" => NetstatSection::Ipv6,
                    _ => NetstatSection::None,
                };
                return rows.detail();
            }
            ["Destination", ..] => {
                let is_interface = |word: &&str| matches!(*word, "Netif" | "Iface" | "Interface");
                self.interface = words.iter().position(is_interface).unwrap_or(3);
                return rows.detail();
            }
            _ if self.section == NetstatSection::None && rows.has_routes() => {
                return rows.leave_out("line", " of another family");
            }
            _ => {}
        }
        let [destination, gateway, flags, _, ..] = words[..] else {
            return Err(not_a_route(line));
        };
        if !flags.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(not_a_route(line));
        }
        let interface = words.get(self.interface).ok_or_else(|| not_a_route(line))?;
        let destination = self.full(destination);
        let AddressSpan::Prefix(prefix) = rows.span(&destination)? else {
            return Err(not_a_route(line));
        };
        let value = match gateway {
            _ if flags.contains('B') => "blackhole",
            _ if flags.contains('R') => "reject",
            gateway if is_address(gateway) => gateway,
            _ => interface,
        };
        rows.route(prefix, value);
        Ok(())
    }
}

impl Netstat {
    /// A destination without its zone (`fe80::%lo0/64`), and with its length.
    fn full(&self, destination: &str) -> String {
        let (address, len) = match destination.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (destination, None),
        };
        let address = address.split('%').next().unwrap_or_default();
        match (address, len) {
            ("default", _) if self.section == NetstatSection::Ipv6 => "::/0".to_owned(),
            ("default", _) => "0.0.0.0/0".to_owned(),
            (address, Some(len)) => format!("{address}/{len}"),
            (address, None) if self.section == NetstatSection::Ipv6 => address.to_owned(),
            (address, None) => match address.split('.').count() {
                count @ 1..4 => format!("{address}/{}", 8 * count),
                _ => address.to_owned(),
            },
        }
    }
}
