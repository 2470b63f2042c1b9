//! `show routing route` of Palo Alto PAN-OS: rows in, the active routes out.
//!
//! ```text
//! VIRTUAL ROUTER: default (id 1)
//! destination      nexthop          metric flags      age   interface          next-AS
//! 10.6.15.0/24     10.6.15.1        0      A C              ae1.15
//! 10.0.0.0/8       discard          10     A S
//! ```
//! Cells may be empty, so the heading tells where the columns are. `A` among
//! the flags marks the active routes. Connected ones (`C`) show their own
//! address as the next hop; what tells is the interface.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::Tables;
use crate::words::{begins, looks_like_prefix, next_hop, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "panos",
    description: "`show routing route` of Palo Alto PAN-OS",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(Panos::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    let mut lines = head_text(head).take(32);
    lines.any(|line| PanosColumns::of(line).is_some())
}

#[derive(Default)]
struct Panos {
    columns: Option<PanosColumns>,
}

/// Where the columns begin that matter, and those after them.
#[derive(Clone, Copy)]
struct PanosColumns {
    flags: usize,
    age: usize,
    interface: usize,
    next_as: usize,
}

impl PanosColumns {
    fn of(line: &str) -> Option<Self> {
        if !line.starts_with("destination ") {
            return None;
        }
        Some(Self {
            flags: line.find(" flags ")? + 1,
            age: line.find(" age ")? + 1,
            interface: line.find(" interface ")? + 1,
            next_as: line.find(" next-AS")? + 1,
        })
    }
}

impl Grammar for Panos {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        if let Some(columns) = PanosColumns::of(line) {
            self.columns = Some(columns);
            return rows.detail();
        }
        if let Some(name) = text.strip_prefix("VIRTUAL ROUTER:") {
            rows.table(name.split(" (id").next().unwrap_or(name).trim());
            return rows.detail();
        }
        if text.is_empty() || begins!(text, "flags:" "Oi:" "==" "total routes shown") {
            return rows.detail();
        }
        let mut words = text.split_ascii_whitespace();
        let prefix = words.next().unwrap_or_default();
        let Some(columns) = self.columns.filter(|_| looks_like_prefix(prefix)) else {
            return Err(not_a_route(line));
        };
        let cell = |from: usize, to: usize| line.get(from..to.min(line.len())).unwrap_or("").trim();
        let flags = cell(columns.flags, columns.age);
        let prefix = rows.prefix(prefix)?;
        let hop = words
            .find(|word| *word != "vr")
            .ok_or_else(|| format!("no next hop after \"{prefix}\""))?;
        // Every route has flags: without them the row does not fit the heading.
        if flags.is_empty() {
            return Err(format!("no flags after \"{prefix}\""));
        }
        if flags.starts_with('A') {
            let interface = cell(columns.interface, columns.next_as);
            let connected = flags.contains('C') && !interface.is_empty();
            rows.route(prefix, if connected { interface } else { next_hop(hop)? });
        } else {
            rows.unused(prefix);
        }
        Ok(())
    }
}
