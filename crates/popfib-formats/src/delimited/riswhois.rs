//! RIPE RIS's dumps for whois: origin AS, prefix, and how many peers see it in a line; the origin that most peers see out.
//!
//! ```text
//! 13335    1.0.0.0/24    394
//! {64500,64501}    2001:db8::/32    12
//! ```

use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};
use crate::origins::is_as_list;
use crate::registry::Capability::Origins;
use crate::words::looks_like_prefix;

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "riswhois",
    description: "RIPE RIS's dumps for whois: origin AS, prefix, number of peers",
    can: &[Origins],
    detect,
    open: |input, options| Ok(lines(RisWhois, input, options)),
};

/// Whether the first row is an AS, a prefix and a number.
fn detect(head: &[u8]) -> bool {
    head_text(head)
        .find(|line| !is_skipped(line))
        .is_some_and(|line| row(line).is_ok())
}

/// Whether a line is empty or a comment.
fn is_skipped(line: &str) -> bool {
    matches!(line.trim_start().as_bytes(), [] | [b'%' | b'#', ..])
}

/// The three fields of a line.
fn row(line: &str) -> Result<(&str, &str, u64), String> {
    let mut words = line.split_ascii_whitespace();
    let fields = (words.next(), words.next(), words.next(), words.next());
    if let (Some(origin), Some(prefix), Some(peers), None) = fields
        && is_as_list(origin)
        && looks_like_prefix(prefix)
        && let Ok(peers) = peers.parse()
    {
        return Ok((origin, prefix, peers));
    }
    Err(not(line, "an AS, a prefix and a number of peers"))
}

/// Of rows for one prefix that follow each other, the one that most peers have counts, the first of equals.
struct RisWhois;

impl Grammar for RisWhois {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        if is_skipped(line) {
            return rows.free_text();
        }
        let (origin, prefix, peers) = row(line)?;
        let prefix = rows.prefix(prefix)?;
        rows.by_metric(prefix, u64::MAX - peers, origin);
        Ok(())
    }
}
