//! `/ip route print terse` of MikroTik RouterOS 6 and 7: a line of flags and `KEY=VALUE` for each route in, the active
//! routes out.
//!
//! ```text
//!  0 A S  dst-address=0.0.0.0/0 gateway=23.90.232.243 distance=10
//! DAc dst-address=192.168.1.0/24 routing-table=main gateway=bridge-lan distance=0
//! ```
//! The flags stand before the first `KEY=VALUE`; `A` marks the active routes.
//! Connected routes have an interface for their gateway. Of several gateways it
//! is the first that `gateway-status` doesn't call unreachable. Values may hold
//! blanks, and nothing quotes them, so a line is not cut into all its pairs: each key that matters is looked for.
//! Messages of the log, which the console mixes in, are left out.

use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, listing};
use crate::registry::Capability::Tables;
use crate::words::{is_time, not_a_route};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "routeros",
    description: "`/ip route print terse` of MikroTik RouterOS",
    can: &[Tables],
    detect,
    open: |input, options| Ok(listing(RouterOs, input, options)),
};

fn detect(head: &[u8]) -> bool {
    let mut lines = head_text(head).take(32);
    lines.any(|line| {
        value(line, "dst-address").is_some() && flags(line).is_some() || is_heading(line)
    })
}

/// Whether a line has the names of columns, as `print` without `terse` prints them.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.contains("DST-ADDRESS")
        || line.starts_with("Columns: DST-ADDRESS")
}

#[derive(Default)]
struct RouterOs;

/// The words of flags before the first key: `0 A S`, `DAc`.
fn flags(line: &str) -> Option<impl Iterator<Item = &str> + Clone> {
    let (head, _) = line.split_once('=')?;
    let (head, _) = head.rsplit_once(' ').unwrap_or(("", head));
    let is_flag = |word: &str| word.len() <= 6 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    let mut words = head.split_ascii_whitespace();
    let legal = words
        .clone()
        .enumerate()
        .all(|(n, w)| is_flag(w) || n == 0 && is_number(w));
    legal.then(move || {
        let mut rest = words.clone();
        if words.next().is_some_and(is_number) {
            rest.next();
        }
        rest
    })
}

/// The first word of the value of `key`.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_ascii_whitespace()
        .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        .filter(|value| !value.is_empty())
}

impl Grammar for RouterOs {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let text = line.trim();
        let first = text.split(' ').next().unwrap_or_default();
        let is_message = first.contains(':') && is_time(first);
        if text.is_empty() || text.starts_with("Flags:") || text.starts_with(";;;") || is_message {
            // A comment of the route after it may be anything.
            return rows.detail();
        }
        if is_heading(text) {
            return Err(
                "columns, as of `print`; `/ip route print terse` prints what is read".into(),
            );
        }
        let (Some(flags), Some(prefix)) = (flags(line), value(line, "dst-address")) else {
            return Err(not_a_route(line));
        };
        let prefix = rows.prefix(prefix)?;
        // `A` for active, with letters for what made the route and for its type: `DAc`.
        let is_active = flags.clone().any(|word| word.contains('A'));
        let value = match value(line, "gateway") {
            Some(gateways) if gateways.contains('=') => return Err(not_a_route(line)),
            Some(gateways) => usable(gateways, line),
            None => {
                let has = |flag| flags.clone().any(|word| word.contains(flag));
                kind(line, has).ok_or_else(|| format!("no gateway after \"{prefix}\""))?
            }
        };
        if is_active {
            rows.table(
                match self::value(line, "routing-table").or(self::value(line, "routing-mark")) {
                    None | Some("main") => "",
                    Some(name) => name,
                },
            );
            rows.route(prefix, value);
        } else {
            rows.unused(prefix);
        }
        Ok(())
    }
}

/// The first of the gateways that can be reached.
fn usable<'a>(gateways: &'a str, line: &str) -> &'a str {
    let status = line
        .split_once("gateway-status=")
        .map_or("", |(_, status)| status);
    let is_unreachable = |gateway: &str| {
        status.split(',').any(|of| {
            of.strip_prefix(gateway).is_some_and(|rest| {
                rest.split_ascii_whitespace().next() == Some("unreachable") && rest.starts_with(' ')
            })
        })
    };
    gateways
        .split(',')
        .find(|&gateway| !is_unreachable(gateway))
        .unwrap_or_else(|| gateways.split(',').next().unwrap_or(gateways))
}

/// The word for a route without a gateway: by its `type`, by a word of its own, or by a flag (`B` blackhole, `U`
/// unreachable, `P` prohibit), as versions differ.
fn kind(line: &str, has_flag: impl Fn(char) -> bool) -> Option<&'static str> {
    let word = value(line, "type").unwrap_or_default();
    let bare = |kind: &str| word == kind || line.split_ascii_whitespace().any(|w| w == kind);
    if bare("blackhole") {
        Some("blackhole")
    } else if bare("unreachable") {
        Some("unreachable")
    } else if bare("prohibit") {
        Some("prohibit")
    } else if has_flag('B') {
        Some("blackhole")
    } else if has_flag('U') {
        Some("unreachable")
    } else if has_flag('P') {
        Some("prohibit")
    } else {
        None
    }
}
