//! `iptables-save`: rules in, the addresses that they are about out, each with the name of its chain.
//!
//! ```text
//! *filter
//! :bl - [0:0]
//! -A bl -s 10.0.0.0/8 -j DROP
//! COMMIT
//! ```
//! A rule's source counts, else its destination. Rules about no address are left out and
//! counted. What a rule does with the packets (`DROP`) is no value: a blocklist is a chain of its own, and
//! its name says more.

use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_lines, lines};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "iptables",
    description: "`iptables-save` and `ip6tables-save`: sources, or else destinations, of rules; chains",
    can: &[],
    detect,
    open: |input, options| Ok(lines(Iptables, input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_lines(head)
        .map(|line| line.trim_ascii())
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))
        .is_some_and(|line| {
            matches!(
                line,
                b"*filter" | b"*raw" | b"*nat" | b"*mangle" | b"*security"
            )
        })
}

struct Iptables;

impl Grammar for Iptables {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = line.split_ascii_whitespace().peekable();
        // The packets and bytes that a rule met: `iptables-save -c`.
        words.next_if(|word| word.starts_with('[') && word.ends_with(']'));
        let chain = match (words.next(), words.next()) {
            (Some("-A" | "--append"), Some(chain)) if !chain.starts_with('-') => chain,
            (None, _) | (Some("COMMIT"), None) => return rows.detail(),
            (Some(word), _) if word.starts_with('#') => return rows.free_text(),
            (Some(word), _) if word.starts_with(['*', ':']) => return rows.detail(),
            _ => return Err(not(line.trim(), "a rule")),
        };
        // The address, and whether a `!` stands before its option (`! -s 10.0.0.0/8`).
        let (mut found, mut is_negated, mut before) = (None, false, "");
        if words
            .peek()
            .is_some_and(|word| !word.starts_with(['-', '!']))
        {
            return Err(not(line.trim(), "a rule"));
        }
        while let Some(word) = words.next() {
            let is_source = matches!(word, "-s" | "--source" | "--src" | "--src-range");
            let is_target = matches!(word, "-d" | "--destination" | "--dst" | "--dst-range");
            if is_source || is_target {
                let address = words.next();
                rows.ignore(address.unwrap_or_default());
                if is_source || found.is_none() {
                    (found, is_negated) = (address, before == "!");
                }
            }
            before = word;
        }
        match found {
            Some(text) if is_negated => Err(format!("{}: all but these addresses", quote(text))),
            Some(text) => rows.elements(text, chain),
            None => rows.leave_out("rule", " about no address"),
        }
    }
}
