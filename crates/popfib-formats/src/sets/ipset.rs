//! `ipset save`: commands that make the sets of the Linux kernel again in, their addresses and networks out.
//!
//! ```text
//! create bl hash:net family inet hashsize 1024 maxelem 65536 bucketsize 12 initval 0x34e8c0fb
//! add bl 10.0.0.0/8
//! add bl 192.0.2.1 timeout 60 comment "a b"
//! ```
//! The type of a set says what its elements are. Those of other types (`hash:ip,port`, `hash:mac`) are left out, and the
//! sets counted. A `flush` of elements that were read is refused. Scripts with the options of old (`-N`, `-A`) are read too, and lines of `add` alone, whose set is then
//! taken for one of addresses.

use std::collections::HashMap;

use super::tokens::tokens;
use super::{FilledSets, other_set};
use crate::error::{not, quote};
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "ipset",
    description: "`ipset save`: sets of addresses and networks, by name",
    can: &[],
    detect,
    open: |input, options| Ok(lines(Ipset::default(), input, options)),
};

/// The types whose elements are addresses or networks.
const TYPES: [&str; 3] = ["hash:net", "hash:ip", "bitmap:ip"];

fn detect(head: &[u8]) -> bool {
    head_text(head)
        .map(str::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .is_some_and(|line| {
            let words: Vec<_> = line.split_ascii_whitespace().take(4).collect();
            match words[..] {
                ["create" | "-N", _, kind, ..] => kind.contains(':'),
                ["add" | "-A", _, element, ..] => {
                    element.starts_with(|c: char| c.is_ascii_hexdigit() || c == ':')
                        && element.contains(['.', ':'])
                }
                _ => false,
            }
        })
}

#[derive(Default)]
struct Ipset {
    /// What the elements of each set are, by its name.
    sets: HashMap<String, IpsetElements>,
    filled: FilledSets,
}

/// What the elements of a set are.
#[derive(Clone, Copy)]
enum IpsetElements {
    /// Addresses, networks and ranges, as they are written.
    Addresses,
    /// Addresses that stand for networks of this length (`netmask 24`).
    Networks(u8),
    Other,
}

impl Grammar for Ipset {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let mut words = tokens(line, "");
        let (command, name, third) = (words.next(), words.next(), words.next());
        match (command, name, third) {
            (None | Some("COMMIT"), None, _) => rows.detail(),
            (Some("flush" | "destroy" | "-F" | "-X"), name, None) => {
                self.filled.removal(name, line, rows)
            }
            (Some("create" | "-N"), Some(name), Some(third)) => {
                let mut kind = IpsetElements::Addresses;
                if !TYPES.contains(&third) {
                    other_set(rows)?;
                    kind = IpsetElements::Other;
                } else if let Some(len) = words.skip_while(|&word| word != "netmask").nth(1) {
                    let len = len.parse();
                    kind = IpsetElements::Networks(len.map_err(|_| not_a_line(line))?);
                }
                self.sets.insert(name.to_owned(), kind);
                rows.detail()
            }
            (Some("add" | "-A"), Some(name), Some(third)) => {
                let kind = self
                    .sets
                    .get(name)
                    .copied()
                    .unwrap_or(IpsetElements::Addresses);
                if matches!(kind, IpsetElements::Other) {
                    return rows.free_text();
                }
                while let Some(word) = words.next() {
                    match word {
                        "nomatch" => {
                            return Err(format!("{}: an exception to the set", quote(third)));
                        }
                        "timeout" | "comment" | "packets" | "bytes" | "skbmark" | "skbprio"
                        | "skbqueue" => _ = words.next(),
                        "-exist" | "-!" => {}
                        _ => return Err(not_a_line(line)),
                    }
                }
                self.filled.add(name);
                match kind {
                    IpsetElements::Networks(len) if !third.contains(['/', '-']) => {
                        rows.elements(&format!("{third}/{len}"), name)
                    }
                    _ => rows.elements(third, name),
                }
            }
            _ => Err(not_a_line(line)),
        }
    }
}

fn not_a_line(line: &str) -> String {
    not(line.trim(), "a line of ipset")
}
