//! `route -n` and `netstat -rn` of Linux: rows of the kernel's table in, the route of each prefix out.
//!
//! ```text
//! Kernel IP routing table
//! Destination     Gateway         Genmask         Flags Metric Ref    Use Iface
//! 0.0.0.0         10.0.0.9        0.0.0.0         UG    0      0        0 eth0
//! Kernel IPv6 routing table
//! Destination                    Next Hop                   Flag Met Ref  Use If
//! 2001:db8:1::/48                2001:db8::2                UG   1024 1     0 eth0
//! ```
//! The value is the gateway, else the interface; of routes that refuse packets (flag `!`) `reject`. Of
//! rows for one prefix the one with the lowest metric counts; `netstat` prints no metrics of IPv4. Rows of IPv6 that refuse
//! packets with a metric of -1 are no routes: there the kernel keeps what holds if there is none.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::words::{is_unspecified, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "route-n",
    description: "`route -n`, `route -n -6` and `netstat -rn` of Linux",
    can: &[],
    detect,
    open: |input, options| Ok(listing(RouteN::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_lines(head).take(5).any(|line| {
        let title = line.trim_ascii();
        title == b"Kernel IP routing table" || title == b"Kernel IPv6 routing table"
    })
}

#[derive(Default)]
struct RouteN {
    is_ipv6: bool,
    /// Whether the column after the flags is the metric.
    has_metric: bool,
}

impl Grammar for RouteN {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let (destination, gateway, flags, metric, interface) = match words[..] {
            [] => return rows.detail(),
            ["Kernel", family @ ("IP" | "IPv6"), ..] => {
                self.is_ipv6 = family == "IPv6";
                return rows.detail();
            }
            ["Destination", ..] => {
                self.has_metric = words.iter().any(|&word| matches!(word, "Metric" | "Met"));
                return rows.detail();
            }
            [destination, gateway, flags, metric, .., interface] if self.is_ipv6 => {
                (destination.to_owned(), gateway, flags, metric, interface)
            }
            [network, gateway, mask, flags, metric, .., interface] => (
                format!("{network}/{mask}"),
                gateway,
                flags,
                metric,
                interface,
            ),
            _ => return Err(not_a_route(line)),
        };
        let prefix = rows.prefix(&destination)?;
        let is_refused = flags.contains('!');
        if is_refused && metric == "-1" {
            return Ok(());
        }
        let metric = match self.has_metric {
            true => metric.parse().map_err(|_| not_a_route(line))?,
            false => 0,
        };
        let value = match gateway {
            _ if is_refused => "reject",
            gateway if is_unspecified(gateway) || gateway == "[::]" => interface,
            gateway => gateway,
        };
        rows.by_metric(prefix, metric, value);
        Ok(())
    }
}
