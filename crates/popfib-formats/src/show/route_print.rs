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
use crate::ip_route::{BestByMetric, MetricRoute};
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
    best: BestByMetric,
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
                return self.add(&prefix, gateway, &interface, &metric, rows);
            }
            [network, mask, gateway, interface, metric] => {
                return self.add(
                    &format!("{network}/{mask}"),
                    gateway,
                    interface,
                    metric,
                    rows,
                );
            }
            [interface, metric, prefix, gateway] => {
                return self.add(prefix, gateway, interface, metric, rows);
            }
            [interface, metric, prefix] => {
                rows.ignore(prefix);
                self.begun = Some([metric, prefix, interface].map(str::to_owned));
            }
            _ => return Err(not_a_route(line)),
        }
        Ok(())
    }

    fn end(&mut self, rows: &mut RouteRows) {
        self.best.end(rows);
    }
}

impl RoutePrint {
    fn add(
        &mut self,
        prefix: &str,
        gateway: &str,
        interface: &str,
        metric: &str,
        rows: &mut RouteRows,
    ) -> Result<(), String> {
        let is_direct = gateway == "On-link";
        let candidate = MetricRoute {
            line: rows.line(),
            prefix: rows.prefix(prefix)?,
            metric: metric.parse().map_err(|_| not_a_route(metric))?,
            table: String::new(),
            value: if is_direct { interface } else { gateway }.to_owned(),
        };
        self.best.add(candidate, rows);
        Ok(())
    }
}
