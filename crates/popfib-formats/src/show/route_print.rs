//! `route print` of Windows, in English: rows of the active routes in, the route of each prefix out.
//!
//! ```text
//! IPv4 Route Table
//! ===========================================================================
//! Active Routes:
//! Network Destination        Netmask          Gateway       Interface  Metric
//!           0.0.0.0          0.0.0.0      192.168.1.1    192.168.1.50     25
//!         127.0.0.0        255.0.0.0         On-link         127.0.0.1    331
//! Persistent Routes:
//!   None
//!
//! IPv6 Route Table
//! ===========================================================================
//! Active Routes:
//!  If Metric Network Destination      Gateway
//!   1    331 ::1/128                  On-link
//! ```
//! The value is the gateway, else the interface, which is a number for IPv6. Of rows for one prefix the one with the lowest
//! metric counts. Persistent routes are passed over: those in use are among the active ones. After a long prefix the
//! gateway stands on the next line. Rows are told apart by their number of words, as no cell is ever empty.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::words::not_a_route;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "route-print",
    description: "`route print` of Windows, in English",
    can: &[],
    detect,
    open: |input, options| Ok(listing(RoutePrint::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    // After the list of interfaces.
    head_lines(head)
        .take(100)
        .any(|line| matches!(line.trim_ascii(), b"IPv4 Route Table" | b"IPv6 Route Table"))
}

#[derive(Default)]
struct RoutePrint {
    is_active: bool,
    /// Metric, prefix and interface of a row whose gateway is on the next line.
    begun: Option<[String; 3]>,
}

impl Grammar for RoutePrint {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        rows.detail()?;
        match words[..] {
            ["Active", "Routes:"] => self.is_active = true,
            [] | ["None"] | ["Network", "Destination", ..] | ["If", "Metric", ..] => {}
            [word] if word.starts_with("===") => {}
            ["Persistent", "Routes:"] | [_, "Route", "Table"] => self.is_active = false,
            _ if !self.is_active => return rows.free_text(),
            ["Default", "Gateway:", _] => {}
            [gateway] if let Some([metric, prefix, interface]) = self.begun.take() => {
                return found(rows, &prefix, gateway, &interface, &metric);
            }
            [network, mask, gateway, interface, metric] => {
                return found(
                    rows,
                    &format!("{network}/{mask}"),
                    gateway,
                    interface,
                    metric,
                );
            }
            [interface, metric, prefix, gateway] => {
                return found(rows, prefix, gateway, interface, metric);
            }
            [interface, metric, prefix] => {
                rows.ignore(prefix);
                self.begun = Some([metric, prefix, interface].map(str::to_owned));
            }
            _ => return Err(not_a_route(line)),
        }
        Ok(())
    }
}

/// Finds a route; of a network beside the router its interface.
fn found(
    rows: &mut RouteRows,
    prefix: &str,
    gateway: &str,
    interface: &str,
    metric: &str,
) -> Result<(), String> {
    let prefix = rows.prefix(prefix)?;
    let metric = metric.parse().map_err(|_| not_a_route(metric))?;
    let is_direct = gateway == "On-link";
    rows.by_metric(prefix, metric, if is_direct { interface } else { gateway });
    Ok(())
}
