//! `show route` and `show route all` of BIRD 2 and 3.
//!
//! ```text
//! Table master4:
//! 14.201.218.0/24      unicast [s4 19:18:32.749] * (200)
//!     via 206.72.210.141 on d0 onlink
//!     Type: static univ
//!                      blackhole [s5 19:18:32.749] (100)
//! ```
//! A network's first route stands beside it, the others below; `*` marks the
//! best. Lines that begin with a tab belong to the route above: next hops, and
//! attributes, which don't matter here.

use popfib::IpPrefix;

use crate::grammar::{Grammar, listing};
use crate::input::head_lines;
use crate::registry::Capabilities;
use crate::rows::Rows;
use crate::table_format::Entry;
use crate::words::not_a_route;

pub(crate) static FORMAT: Entry = Entry {
    name: "bird",
    description: "`show route` and `show route all` of BIRD 2",
    can: Capabilities::TABLES,
    detect,
    open: |input, options| Ok(listing(Bird::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    let mut lines = head_lines(head)
        .map(|line| std::str::from_utf8(line).unwrap_or_default())
        .filter(|line| !line.trim().is_empty());
    lines.by_ref().take(8).any(|line| {
        line.starts_with("BIRD ") && line.ends_with(" ready.")
            || line.starts_with("Table ") && line.ends_with(':')
            || kind_of(line).is_some_and(|(network, _)| network.contains('/'))
    })
}

#[derive(Default)]
pub(crate) struct Bird {
    network: Option<IpPrefix>,
    /// The best route, while its next hop is still to come.
    awaits: Option<(IpPrefix, u64)>,
}

/// The kinds of routes; all but the last have no next hop.
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

impl Grammar for Bird {
    fn read(&mut self, _: &str, line: &str, rows: &mut Rows) -> Result<(), String> {
        if line.starts_with('\t') {
            let mut words = line.split_ascii_whitespace();
            if let (Some("via" | "dev"), Some(hop)) = (words.next(), words.next())
                && let Some((prefix, _)) = self.awaits.take()
            {
                rows.route(prefix, hop);
            }
            return Ok(());
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
            // Behind the brackets of the protocol, before those of the AS.
            let is_best = line.contains("] *");
            match kind {
                _ if !is_best => {}
                "unicast" => self.awaits = Some((prefix, rows.line())),
                word => rows.route(prefix, word),
            }
            return Ok(());
        }
        let text = line.trim();
        if let Some(name) = text
            .strip_prefix("Table ")
            .and_then(|t| t.strip_suffix(':'))
        {
            self.end(rows);
            self.network = None;
            rows.table(name);
            return Ok(());
        }
        if text.is_empty() || text.starts_with("BIRD ") || text.starts_with("Access restricted") {
            return Ok(());
        }
        Err(not_a_route(line))
    }

    fn end(&mut self, rows: &mut Rows) {
        if let Some((prefix, line)) = self.awaits.take() {
            rows.no_next_hop(line, prefix);
        }
    }
}
