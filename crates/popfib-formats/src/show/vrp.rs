//! `display ip routing-table [verbose]` of Huawei VRP and HP Comware: rows or records in, the active routes out.
//!
//! VRP is Huawei's Versatile Routing Platform here; the validated payloads of the RPKI are read in [`vrps`](crate::vrps).
//!
//! ```text
//! Destination/Mask    Proto  Pre  Cost         NextHop         Interface
//! 9.72.47.0/24        OSPF   150  1            172.16.43.2     Vlan1600
//!                                              172.16.43.6     Vlan1601
//!
//! Destination: 100.95.15.240/30
//!      Protocol: Direct           Process ID: 0
//!       NextHop: 100.95.15.241    Neighbour: 0.0.0.0
//!         State: Active Adv             Age: 1d01h58m15s
//!  RelayNextHop: 0.0.0.0          Interface: Vlanif100
//! ```
//! Direct routes show an address of the router's own as the next hop; what
//! tells is the interface, also where it is NULL0. Of the verbose records,
//! which show all routes, those whose state is not active are left out.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, listing};
use crate::registry::Capability::Tables;
use crate::words::{begins, is_address, looks_like_prefix};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "vrp",
    description: "`display ip routing-table [verbose]` of Huawei VRP and HP Comware",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(HuaweiVrp::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_lines(head).take(64).any(|line| {
        let line = line.trim_ascii();
        line.starts_with(b"Destination/Mask")
            || line.starts_with(b"Destination:")
            || line.starts_with(b"Destination  :")
            || line.starts_with(b"Routing Tables: ")
    })
}

#[derive(Default)]
struct HuaweiVrp {
    /// Below the heading of columns.
    in_columns: bool,
    /// Whether a row may be one more next hop of one before it.
    has_row: bool,
    record: Option<VerboseRoute>,
}

/// A verbose record while it is read: `KEY: VALUE` on several lines, ended by the next `Destination`.
#[derive(Default)]
struct VerboseRoute {
    line: u64,
    destination: String,
    len: Option<String>,
    protocol: String,
    next_hop: String,
    interface: String,
    inactive: bool,
}

impl Grammar for HuaweiVrp {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        if text.starts_with("Destination/Mask") {
            self.in_columns = true;
            return rows.detail();
        }
        if begins!(text, "Destinations" "Summary") || text.is_empty() {
            return rows.detail();
        }
        if let Some(name) = table_name(text) {
            let done = self.finish(rows);
            self.in_columns = false;
            rows.table(name);
            return done.and_then(|()| rows.detail());
        }
        if let Some(destination) = field(line, "Destination") {
            self.in_columns = false;
            let done = self.finish(rows);
            // It is read when the record ends.
            rows.ignore(destination);
            self.record = Some(VerboseRoute {
                line: rows.line(),
                destination: destination.to_owned(),
                ..VerboseRoute::default()
            });
            self.fields(line);
            return done.and_then(|()| rows.detail());
        }
        if self.record.is_some() && line.contains(':') {
            self.fields(line);
            return rows.detail();
        }
        if self.in_columns {
            return self.row(line, rows);
        }
        rows.detail_if(begins!(text, "Route Flags" "Proto: " "---"), line)
    }

    fn end(&mut self, rows: &mut RouteRows) {
        if let Err(reason) = self.finish(rows) {
            rows.complain(rows.line(), reason);
        }
    }
}

impl HuaweiVrp {
    /// A row of columns; of `Flags`, which VRP has before the next hop, some are empty.
    fn row(&mut self, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if text.starts_with("---") {
            return rows.detail();
        }
        let at_hop = words
            .iter()
            .skip(1)
            .rposition(|w| is_address(w))
            .map(|at| at + 1);
        if !words[0].contains('/') || !looks_like_prefix(words[0]) {
            // One more next hop: the address and interface alone, or with a protocol.
            let is_indented = line.starts_with([' ', '\t']);
            let more = self.has_row && is_indented && words.iter().any(|w| is_address(w));
            return rows.detail_if(more, text);
        }
        self.has_row = true;
        let prefix = rows.prefix(words[0])?;
        let (Some(at_hop), Some(protocol)) = (at_hop.filter(|&at| at >= 4), words.get(1)) else {
            return Err(format!("no next hop after \"{prefix}\""));
        };
        let interface = words.get(at_hop + 1).copied().unwrap_or_default();
        rows.route(prefix, value(protocol, words[at_hop], interface));
        Ok(())
    }

    /// Takes what a line says of the record; two keys may stand on it.
    fn fields(&mut self, line: &str) {
        let Some(record) = &mut self.record else {
            return;
        };
        let set = |to: &mut String, key| {
            if let Some(value) = field(line, key) {
                value.clone_into(to);
            }
        };
        set(&mut record.protocol, "Protocol");
        set(&mut record.next_hop, "NextHop");
        set(&mut record.interface, "Interface");
        if let Some(len) = field(line, "PrefixLength") {
            record.len = Some(len.to_owned());
        }
        if let Some(state) = field(line, "State") {
            record.inactive = state != "Active";
        }
    }

    /// The record is complete.
    fn finish(&mut self, rows: &mut RouteRows) -> Result<(), String> {
        let Some(record) = self.record.take() else {
            return Ok(());
        };
        let prefix = match &record.len {
            Some(len) => rows.prefix(&format!("{}/{len}", record.destination)),
            None => rows.prefix(&record.destination),
        };
        let prefix = match prefix {
            Ok(prefix) => prefix,
            Err(reason) => {
                rows.complain(record.line, reason);
                return Ok(());
            }
        };
        if record.next_hop.is_empty() {
            rows.no_next_hop(record.line, prefix);
        } else if !record.inactive {
            rows.route(
                prefix,
                value(&record.protocol, &record.next_hop, &record.interface),
            );
        } else {
            rows.unused(prefix);
        }
        Ok(())
    }
}

/// The next hop, or the interface if that is what tells.
fn value<'a>(protocol: &str, next_hop: &'a str, interface: &'a str) -> &'a str {
    let is_interface = protocol == "Direct" || interface == "NULL0";
    if is_interface && !interface.is_empty() {
        interface
    } else {
        next_hop
    }
}

/// The value's first word in `KEY: VALUE` or `KEY  : VALUE`.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let at = line.match_indices(key).find_map(|(at, _)| {
        let begins = line[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        let rest = line[at + key.len()..].trim_start_matches(' ');
        (begins && rest.starts_with(':')).then(|| line.len() - rest.len() + 1)
    })?;
    line[at..].split_ascii_whitespace().next()
}

/// The table that a heading names: `Routing Tables: blue`; `Public` is the one without a name.
fn table_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("Routing Table")?;
    let name = rest
        .trim_start_matches('s')
        .trim_start()
        .strip_prefix(':')?
        .trim();
    Some(if name == "Public" { "" } else { name })
}
