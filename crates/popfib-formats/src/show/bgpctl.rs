//! `bgpctl show rib` of OpenBGPD: rows of paths in, the selected ones out.
//!
//! ```text
//! flags  vs destination          gateway          lpref   med aspath origin
//! AI*>    N 10.0.0.0/8           0.0.0.0           100     0 i
//! *>      V 192.0.2.0/24         198.51.100.1      100     0 64501 i
//! ```
//! Routes with `>` are selected; the value is the gateway as printed. Flags and the states of validation (`vs`) are of no
//! fixed number, so the prefix is found first, among the first three words, and the others by their distance to it.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::Origins;
use crate::words::{begins, is_address, looks_like_prefix, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "bgpctl",
    description: "`bgpctl show rib` of OpenBGPD; next hops of selected routes",
    can: &[Origins],
    detect,
    open: |input, options| Ok(listing(Bgpctl::default(), input, options)),
};

fn is_heading(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("flags")
        && words.any(|word| word == "destination")
        && words.next() == Some("gateway")
}

fn detect(head: &[u8]) -> bool {
    head_text(head).take(16).any(is_heading)
}

#[derive(Default)]
struct Bgpctl {
    /// Whether the legend is over.
    in_rows: bool,
}

impl Grammar for Bgpctl {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        if is_heading(line) {
            self.in_rows = true;
            return rows.detail();
        }
        let text = line.trim();
        let is_legend =
            begins!(text, "flags:" "S = " "origin validation" "aspa validation" "origin:");
        if text.is_empty() || !self.in_rows && is_legend {
            return rows.detail();
        }
        let words: Vec<_> = text.split_ascii_whitespace().collect();
        let at = words.iter().position(|word| looks_like_prefix(word));
        let (Some(at @ ..3), true) = (at, self.in_rows) else {
            return Err(not_a_route(line));
        };
        let prefix = rows.prefix(words[at])?;
        let gateway = words.get(at + 1).filter(|word| is_address(word));
        let gateway = gateway.ok_or_else(|| not_a_route(line))?;
        if words[..at].iter().any(|flags| flags.contains('>')) {
            // After the local preference and the MED, before the origin.
            let path = words.get(at + 4..words.len() - 1);
            let path = path.map(|path| path.join(" "));
            rows.bgp_route(rows.line(), prefix, *gateway, path.as_deref());
        } else {
            rows.unused(prefix);
        }
        Ok(())
    }
}
