//! Prefix lists and access lists of Cisco's kind (IOS, FRR, Arista EOS, Huawei): lines of a configuration in, the
//! prefixes of entries that permit out.
//!
//! ```text
//! no ip prefix-list NN
//! ip prefix-list NN seq 5 permit 1.0.4.0/22 le 24
//! ipv6 prefix-list NN permit 2001:db8::/32
//! ip access-list standard NN
//!  permit 10.0.0.0 0.255.255.255
//! ip ip-prefix NN permit 1.0.0.0 24
//! ```
//! An entry is a line, either with the command and the name of its list or below a line with these. Also read is what
//! `show ip prefix-list` prints of FRR, where the process stands before each line (`ZEBRA: ip prefix-list NN: 2 entries`).
//!
//! Access lists have wildcards, whose ones are the host bits: `0.255.255.255` is a /8. One with
//! gaps (`0.0.255.0`) is no prefix and an error. A `deny` of everything is what every list ends
//! with; others are exceptions, which a table cannot say.

use std::net::Ipv4Addr;

use popfib::{IpPrefix, Prefix};

use super::FilledSets;
use crate::error::not;
use crate::grammar::{Grammar, RouteRows, TableEntry, head_text, lines};

pub(crate) static FORMAT: TableEntry = TableEntry {
    name: "prefix-lists",
    description: "prefix lists and access lists of Cisco IOS, FRR, Arista EOS and Huawei, as bgpq4 writes them, too; their names",
    can: &[],
    detect,
    open: |input, options| Ok(lines(PrefixLists::default(), input, options)),
};

fn detect(head: &[u8]) -> bool {
    head_text(head)
        .map(str::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(['!', '#']))
        .is_some_and(|line| {
            let words: Vec<_> = line.split_ascii_whitespace().take(6).collect();
            let words = match words[..] {
                ["no" | "undo", ref rest @ ..] => rest,
                [process, ref rest @ ..] if process.ends_with(':') => rest,
                _ => &words,
            };
            match words {
                ["ip" | "ipv6", kind, _, ..] => CiscoListType::of(kind).is_some(),
                ["access-list", number, "permit" | "deny" | "remark", ..] => {
                    number.bytes().all(|b| b.is_ascii_digit())
                }
                _ => false,
            }
        })
}

/// Which kind of list it is, which says what entries look like.
#[derive(Clone, Copy, Default)]
enum CiscoListType {
    #[default]
    PrefixList,
    AccessList,
}

impl CiscoListType {
    fn of(word: &str) -> Option<Self> {
        match word {
            "prefix-list" | "ip-prefix" | "ipv6-prefix" => Some(Self::PrefixList),
            "access-list" => Some(Self::AccessList),
            _ => None,
        }
    }
}

/// The list at hand: entries below its first line have neither name nor kind.
#[derive(Default)]
struct PrefixLists {
    name: String,
    list_type: CiscoListType,
    is_ipv6: bool,
    /// Those of IPv4 and of IPv6, which share no names; and those that end with a `deny` of all.
    filled: [FilledSets; 2],
    ended: [FilledSets; 2],
}

impl Grammar for PrefixLists {
    fn read(&mut self, _: &str, line: &str, rows: &mut RouteRows) -> Result<(), String> {
        let line = line.trim();
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let words = match words[..] {
            [process, "ip" | "ipv6", ..] if process.ends_with(':') => &words[1..],
            _ => &words[..],
        };
        let entry = match words {
            []
            | [
                "end" | "exit" | "exit-address-family" | "remark" | "description",
                ..,
            ] => {
                return rows.detail();
            }
            ["no" | "undo", undone @ ..] => {
                let is_ipv6 = match undone[..] {
                    [family @ ("ip" | "ipv6"), ..] => family == "ipv6",
                    _ => self.is_ipv6,
                };
                let name = match undone {
                    ["ip" | "ipv6", kind, "standard" | "extended", name, ..]
                    | ["ip" | "ipv6", kind, name, ..]
                        if CiscoListType::of(kind).is_some() =>
                    {
                        name
                    }
                    ["access-list", name, ..] => name,
                    // An entry of the list at hand, or something else.
                    ["seq" | "permit" | "deny", ..] => &*self.name,
                    [number] if number.bytes().all(|b| b.is_ascii_digit()) => &*self.name,
                    _ => return rows.detail(),
                };
                return self.filled[usize::from(is_ipv6)].removal(Some(name), line, rows);
            }
            [first, ..] if first.starts_with(['!', '#']) => return rows.detail(),
            [family @ ("ip" | "ipv6"), kind, rest @ ..] if CiscoListType::of(kind).is_some() => {
                self.is_ipv6 = *family == "ipv6";
                self.list_type = CiscoListType::of(kind).unwrap_or_default();
                let rest = match rest {
                    ["standard" | "extended", rest @ ..] => rest,
                    rest => rest,
                };
                self.take_name(rest)
            }
            ["access-list", rest @ ..] => {
                (self.is_ipv6, self.list_type) = (false, CiscoListType::AccessList);
                self.take_name(rest)
            }
            entry => entry,
        };
        self.entry(entry, rows)
            .map_err(|reason| reason.unwrap_or_else(|| not(line, "an entry of a list")))
    }
}

/// Why an entry cannot be read; `None` if it is none at all.
type EntryError = Option<String>;

impl PrefixLists {
    /// Takes the name; what follows it, without what only describes the list.
    fn take_name<'a, 'b>(&mut self, words: &'a [&'b str]) -> &'a [&'b str] {
        let Some((name, rest)) = words.split_first() else {
            return words;
        };
        if matches!(*name, "seq" | "index" | "permit" | "deny") {
            // There is no name.
            return words;
        }
        name.trim_end_matches(':').clone_into(&mut self.name);
        match rest {
            ["description" | "remark", ..] | [_, "entries"] => &[],
            rest => rest,
        }
    }

    /// `seq 5 permit 1.0.4.0/22 le 24`, `10 permit 10.0.0.0 0.255.255.255`.
    fn entry(&mut self, words: &[&str], rows: &mut RouteRows) -> Result<(), EntryError> {
        let words = match words {
            ["seq" | "index", _, rest @ ..] => rest,
            [number, rest @ ..] if number.bytes().all(|b| b.is_ascii_digit()) => rest,
            words => words,
        };
        let (is_permit, rest) = match words {
            [] | ["remark" | "description", ..] => return Ok(rows.detail()?),
            ["permit", rest @ ..] => (true, rest),
            ["deny", rest @ ..] => (false, rest),
            _ => return Err(None),
        };
        let (prefix, is_bounded) = match self.list_type {
            CiscoListType::PrefixList => self.prefix(rest, rows)?,
            CiscoListType::AccessList => self.source(rest, rows)?,
        };
        let family = usize::from(self.is_ipv6);
        if is_permit && self.ended[family].0.contains(&self.name) {
            return Err(Some(format!(
                "a permit of {prefix} after a deny of all: it is of no effect"
            )));
        }
        if is_permit {
            self.filled[family].add(&self.name);
            rows.element(prefix, &*self.name)?;
            if is_bounded {
                rows.bounded();
            }
        } else if prefix.len() != 0 {
            return Err(Some(format!(
                "a deny of {prefix}: an exception to the list"
            )));
        } else if matches!(self.list_type, CiscoListType::AccessList)
            || matches!(
                rest,
                ["any"]
                    | [
                        ..,
                        "0.0.0.0/0" | "::/0" | "0",
                        "le" | "less-equal",
                        "32" | "128"
                    ]
            )
        {
            // Others are about routes of some lengths, such as the default route itself.
            self.ended[family].add(&self.name);
        }
        Ok(rows.detail()?)
    }

    /// `any`: all addresses of the list's family.
    fn all(&self) -> IpPrefix {
        if self.is_ipv6 {
            IpPrefix::V6(Prefix::DEFAULT_ROUTE)
        } else {
            IpPrefix::V4(Prefix::DEFAULT_ROUTE)
        }
    }

    /// `1.0.4.0/22 ge 23 le 24`, of Huawei `1.0.4.0 22 greater-equal 23 less-equal 24`.
    fn prefix(&self, words: &[&str], rows: &RouteRows) -> Result<(IpPrefix, bool), EntryError> {
        let (prefix, bounds) = match words {
            ["any", rest @ ..] => (self.all(), rest),
            [address, len, rest @ ..] if len.bytes().all(|b| b.is_ascii_digit()) => {
                (rows.prefix(&format!("{address}/{len}"))?, rest)
            }
            [prefix, rest @ ..] => (rows.prefix(prefix)?, rest),
            [] => return Err(None),
        };
        for pair in bounds.chunks(2) {
            match pair {
                ["ge" | "le" | "eq" | "greater-equal" | "less-equal", len]
                    if len.parse::<u8>().is_ok() => {}
                _ => return Err(None),
            }
        }
        Ok((prefix, !bounds.is_empty()))
    }

    /// `10.0.0.0 0.255.255.255`, `host 10.0.0.1`, `ipv6 2001:db8::/32 any`; of routes
    /// `ip host 10.0.0.0 host 255.0.0.0`, a network and its mask.
    fn source(&self, words: &[&str], rows: &RouteRows) -> Result<(IpPrefix, bool), EntryError> {
        let words = match words {
            ["ip" | "ipv6", rest @ ..] => rest,
            words => words,
        };
        let ipv4 = |text: &str| text.parse::<Ipv4Addr>().ok();
        let (text, host_bits, rest) = match words {
            ["any", rest @ ..] => return self.alone(self.all(), rest),
            ["host", host, rest @ ..] => (*host, Ipv4Addr::UNSPECIFIED, rest),
            [prefix, rest @ ..] => match rest.split_first() {
                Some((&wildcard, rest)) if ipv4(wildcard).is_some() => (
                    *prefix,
                    ipv4(wildcard).unwrap_or(Ipv4Addr::UNSPECIFIED),
                    rest,
                ),
                _ => return self.alone(rows.prefix(prefix)?, rest),
            },
            [] => return Err(None),
        };
        let Some(address) = ipv4(text) else {
            return self.alone(rows.prefix(text)?, rest);
        };
        let host_bits = host_bits.to_bits();
        match rest {
            // The extended lists that filter routes have the network as source and its mask as destination.
            ["host", mask] if let Some(mask) = ipv4(mask) => {
                let network = network(address, host_bits | !mask.to_bits(), rows)?;
                Ok((network, host_bits != 0))
            }
            rest => self.alone(network(address, host_bits, rows)?, rest),
        }
    }

    /// An entry of this source to all destinations; others are about more than an address.
    fn alone(&self, prefix: IpPrefix, rest: &[&str]) -> Result<(IpPrefix, bool), EntryError> {
        match rest {
            [] | ["any"] | ["log"] | ["any", "log"] => Ok((prefix, false)),
            _ => Err(Some(format!(
                "an entry about more than the source {prefix}"
            ))),
        }
    }
}

/// The network of an address and a mask of its host bits.
fn network(address: Ipv4Addr, host_bits: u32, rows: &RouteRows) -> Result<IpPrefix, String> {
    // Only ones at the end, as one less than a power of two has.
    if host_bits & host_bits.wrapping_add(1) != 0 {
        let wildcard = Ipv4Addr::from(host_bits);
        return Err(format!("{address} {wildcard}: the wildcard has gaps"));
    }
    rows.prefix(&format!("{address}/{}", host_bits.leading_zeros()))
}
