//! `show route` and `show route all` of BIRD 2 and 3: lines of networks, routes and attributes in, the best route of each
//! network out.
//!
//! ```text
//! Table master4:
//! 14.201.218.0/24      unicast [s4 19:18:32.749] * (200)
//!     via 206.72.210.141 on d0 onlink
//!     Type: static univ
//!                      blackhole [s5 19:18:32.749] (100)
//! ```
//! A network's first route stands beside it, the others below; `*` marks the
//! best. Lines that begin with a tab belong to the route above: next hops, of which the first counts, and
//! attributes, of which the AS path matters. Without `all` there are no attributes, but the origin stands at the end of the
//! route's line (`[AS64500i]`), which is all that a table of origins needs.

use popfib::IpPrefix;

use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::{Origins, Tables};
use crate::words::{is_address, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "bird",
    description: "`show route` and `show route all` of BIRD 2",
    can: &[Tables, Origins],
    detect,
    open: |input, options| Ok(listing(Bird::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    let mut lines = head_text(head).filter(|line| !line.trim().is_empty());
    lines.by_ref().take(8).any(|line| {
        line.starts_with("BIRD ") && line.ends_with(" ready.")
            || line.starts_with("Table ") && line.ends_with(':')
            || kind_of(line).is_some_and(|(network, _)| network.contains('/'))
    })
}

#[derive(Default)]
struct Bird {
    network: Option<IpPrefix>,
    /// The best route, while lines about it may come.
    best: Option<BirdBestRoute>,
}

/// A best route while it is read: its next hop comes on a line of its own.
struct BirdBestRoute {
    prefix: IpPrefix,
    line: u64,
    next_hop: Option<String>,
    as_path: Option<String>,
}

/// The kinds of routes; all but the last have no next hop, and are the value themselves.
const KINDS: [&str; 4] = ["blackhole", "unreachable", "prohibited", "unicast"];

/// What stands before the kind of route in a line of one, and the kind.
fn kind_of(line: &str) -> Option<(&str, &str)> {
    let (head, rest) = line.split_once('[')?;
    let mut words = head.split_ascii_whitespace();
    let (first, second) = (words.next()?, words.next());
    let (network, kind) = match second {
        Some(kind) => (first, kind),
        None => ("", first),
    };
    let is_route = rest.contains(']') && words.next().is_none() && KINDS.contains(&kind);
    is_route.then_some((network, kind))
}

/// The origin AS at the end of the line of a route (`[AS64500i]`), where its AS path is not printed.
fn origin_of(line: &str) -> Option<&str> {
    let (_, origin) = line.trim_end().strip_suffix(']')?.rsplit_once("[AS")?;
    origin.strip_suffix(['i', 'e', '?'])
}

impl Grammar for Bird {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        if line.starts_with('\t') {
            let Some(best) = &mut self.best else {
                return rows.detail();
            };
            let mut words = line.split_ascii_whitespace();
            match (words.next(), words.next()) {
                (Some(key @ ("via" | "dev")), Some(hop)) => {
                    if key == "via" && !is_address(hop) {
                        return Err(not(hop, "an address"));
                    }
                    best.next_hop.get_or_insert_with(|| hop.to_owned());
                }
                (Some("BGP.as_path:" | "bgp_path:"), _) => {
                    best.as_path = line.split_once(": ").map(|(_, path)| path.to_owned());
                }
                _ => {}
            }
            return rows.detail();
        }
        if let Some((network, kind)) = kind_of(line) {
            self.end(rows);
            if !network.is_empty() {
                self.network = None;
                self.network = Some(rows.prefix(network)?);
            }
            let Some(prefix) = self.network else {
                return Err("a route without a network before it".to_owned());
            };
            // After the brackets of the protocol, before those of the AS.
            let is_best = line.contains("] *");
            if is_best {
                self.best = Some(BirdBestRoute {
                    prefix,
                    line: rows.line(),
                    next_hop: (kind != "unicast").then(|| kind.to_owned()),
                    as_path: origin_of(line).map(str::to_owned),
                });
            } else {
                rows.unused(prefix);
            }
            return rows.detail();
        }
        let text = line.trim();
        if let Some(name) = text
            .strip_prefix("Table ")
            .and_then(|t| t.strip_suffix(':'))
        {
            self.end(rows);
            self.network = None;
            rows.table(name);
            return rows.detail();
        }
        if text.is_empty() || text.starts_with("BIRD ") || text.starts_with("Access restricted") {
            return rows.detail();
        }
        Err(not_a_route(line))
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Some(best) = self.best.take() {
            let (hop, path) = (best.next_hop.as_deref(), best.as_path.as_deref());
            rows.bgp_route(best.line, best.prefix, hop, path);
        }
    }
}
