//! A command in, the changes that it asks for out: `announce PREFIX VALUE`, `withdraw PREFIX`, and of ExaBGP `announce route`,
//! `announce ipv4 unicast`, `announce attributes` and the same of `withdraw`.
//!
//! ```text
//! announce 10.0.0.0/8 VALUE
//! announce route 10.0.0.0/8 next-hop 192.0.2.1 as-path [ 64500 64501 ]
//! neighbor 192.0.2.9 withdraw attributes next-hop 192.0.2.1 nlri 10.1.0.0/16 10.2.0.0/16
//! ```
//! The next hop `self` is ExaBGP's own address in the session, which no command has: it is the unspecified address, as routers show it
//! for routes of their own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::SplitAsciiWhitespace;

use popfib::IpPrefix;

use crate::mrt::BgpChange;
use crate::name_rule::checked;
use crate::ranges;
use crate::update_lines::LineUpdates;

/// One command has at most this many prefixes, and splits one into at most 2 to the power of this many.
const MAX_PREFIXES: usize = 1 << MAX_SPLIT;
const MAX_SPLIT: u8 = 16;

/// Whether a line begins with a word of a command.
pub(super) fn is_command(line: &[u8]) -> bool {
    const WORDS: [&[u8]; 3] = [b"announce ", b"withdraw ", b"neighbor "];
    WORDS.iter().any(|word| line.starts_with(word))
}

/// Reads a command, and sets in `to` what it says.
pub(super) fn read_command(line: &str, mask: bool, to: &mut LineUpdates) -> Result<(), String> {
    to.clear();
    let mut words = line.split_ascii_whitespace();
    let mut verb = words.next().unwrap_or_default();
    if verb == "neighbor" {
        let address = words.next().unwrap_or_default();
        let peer = address
            .parse()
            .map_err(|_| format!("{address}: not an address"))?;
        to.peer = Some((peer, 0));
        verb = words.next().unwrap_or_default();
    }
    let is_new = match verb {
        "announce" => true,
        "withdraw" => false,
        _ => return Err("neither announce nor withdraw".to_owned()),
    };
    if let Some(form) = kind(&mut words) {
        return read(form, &mut words, is_new, mask, to);
    }
    let prefix = prefix(words.next().ok_or("no prefix in this line")?, mask)?;
    to.name = match (is_new, words.next()) {
        (true, Some(value)) => Some(checked(value)?.to_owned()),
        (true, None) => return Err("no value in this line".to_owned()),
        (false, None) => None,
        (false, Some(_)) => return Err("a value after withdraw".to_owned()),
    };
    if let Some(more) = words.next() {
        return Err(format!("more than a value: {more}"));
    }
    to.changes.push(BgpChange {
        prefix,
        id: None,
        next_hop: None,
    });
    Ok(())
}

/// Takes the words that say what kind of command it is; `None`, and no word taken, if it is none of ExaBGP's.
fn kind(words: &mut SplitAsciiWhitespace<'_>) -> Option<ExabgpForm> {
    let mut after = words.clone();
    let kind = match (after.next()?, after.clone().next()) {
        ("route", _) => ExabgpForm::Route,
        ("attributes" | "attribute", _) => ExabgpForm::Attributes,
        ("ipv4" | "ipv6", Some("unicast")) => {
            after.next();
            ExabgpForm::Route
        }
        ("ipv4" | "ipv6" | "flow" | "vpls" | "l2vpn", Some(_)) => ExabgpForm::OtherFamily,
        ("eor", _) => ExabgpForm::EndOfRib,
        _ => return None,
    };
    *words = after;
    Some(kind)
}

/// Where a command has its prefixes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExabgpForm {
    /// One, before the attributes.
    Route,
    /// Any number, after them and `nlri`.
    Attributes,
    /// None of a unicast route.
    OtherFamily,
    /// That all routes of a family have been sent.
    EndOfRib,
}

fn prefix(text: &str, mask: bool) -> Result<IpPrefix, String> {
    ranges::prefix(text, mask).map_err(|e| format!("{text}: {e}"))
}

/// Reads the rest of a command of ExaBGP. In a withdrawal, attributes have no effect, so their values may be anything.
fn read(
    form: ExabgpForm,
    words: &mut SplitAsciiWhitespace<'_>,
    is_new: bool,
    mask: bool,
    to: &mut LineUpdates,
) -> Result<(), String> {
    let mut prefixes = match form {
        ExabgpForm::Route => vec![prefix(words.next().ok_or("no prefix")?, mask)?],
        ExabgpForm::Attributes => Vec::new(),
        ExabgpForm::OtherFamily => {
            to.left_out.push(("update", " of other families"));
            return Ok(());
        }
        // A family has two words.
        ExabgpForm::EndOfRib => {
            return match words.nth(2) {
                None => Ok(()),
                Some(more) => Err(format!("{more}: not after a family")),
            };
        }
    };
    let (mut id, mut next_hop, mut is_labelled) = (None, None, false);
    let path = &mut to.path;
    let mut is_self = false;
    let mut seen = Vec::new();
    while let Some(name) = words.next() {
        // Communities may come one by one.
        if !name.ends_with("community") && seen.contains(&name) {
            return Err(format!("{name}: twice"));
        }
        seen.push(name);
        let mut value = || words.next().ok_or_else(|| format!("no value after {name}"));
        match name {
            // They have no value.
            "atomic-aggregate" => path.is_atomic = true,
            "withdraw" => return Err("withdraw: not after announce route".to_owned()),
            "path-information" => id = Some(path_id(value()?)?),
            "split" => {
                let to = value()?;
                let [prefix] = prefixes[..] else {
                    return Err(format!("split {to}: not after one prefix"));
                };
                prefixes = split(prefix, to)?;
            }
            "nlri" if form == ExabgpForm::Attributes => {
                let some = words.by_ref().take(MAX_PREFIXES);
                prefixes = some
                    .map(|text| prefix(text, mask))
                    .collect::<Result<_, _>>()?;
                if words.next().is_some() {
                    return Err("nlri: more than 65,536 prefixes".to_owned());
                }
            }
            "label" | "rd" | "route-distinguisher" => {
                list(words, name)?;
                is_labelled = true;
            }
            // They have no effect.
            "extended-community" | "originator-id" | "cluster-list" | "aigp" | "attribute"
            | "name" | "watchdog" => _ = list(words, name)?,
            "next-hop" | "origin" | "med" | "local-preference" | "as-path" | "aggregator"
            | "community" | "large-community"
                if !is_new =>
            {
                list(words, name)?;
            }
            "next-hop" => match value()? {
                "self" => is_self = true,
                address => next_hop = Some(parsed(name, address)?),
            },
            "origin" => path.origin = value()?.to_ascii_uppercase(),
            "med" => path.med = Some(parsed(name, value()?)?),
            "local-preference" => path.local_preference = Some(parsed(name, value()?)?),
            "as-path" => {
                let numbers = list(words, name)?;
                for number in &numbers {
                    parsed::<u32>(name, number)?;
                }
                path.as_path = numbers.join(" ");
            }
            "aggregator" => path.aggregator = list(words, name)?.join(" ").replace(':', " "),
            "community" | "large-community" => {
                if !path.communities.is_empty() {
                    path.communities.push(' ');
                }
                path.communities.push_str(&list(words, name)?.join(" "));
            }
            _ => return Err(format!("{name}: not an attribute")),
        }
    }
    let Some(first) = prefixes.first() else {
        return Err("no prefix after nlri".to_owned());
    };
    if is_labelled {
        to.left_out
            .push(("update", " with a label or route distinguisher"));
        return Ok(());
    }
    let next_hop = match (is_new, is_self, first) {
        (false, ..) => None,
        (true, true, IpPrefix::V4(_)) => Some(Ipv4Addr::UNSPECIFIED.into()),
        (true, true, IpPrefix::V6(_)) => Some(Ipv6Addr::UNSPECIFIED.into()),
        (true, false, _) => Some(next_hop.ok_or("no next hop")?),
    };
    let changes = prefixes.into_iter().map(|prefix| BgpChange {
        prefix,
        id,
        next_hop,
    });
    to.changes.extend(changes);
    Ok(())
}

fn parsed<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text}: not a value of {name}"))
}

/// A path identifier, as a number or as an address.
fn path_id(text: &str) -> Result<u32, String> {
    match text.parse::<Ipv4Addr>() {
        Ok(address) => Ok(address.into()),
        Err(_) => parsed("path-information", text),
    }
}

/// The parts of this length (`/24`) that `prefix` consists of.
fn split(prefix: IpPrefix, to: &str) -> Result<Vec<IpPrefix>, String> {
    let len: u8 = parsed("split", to.strip_prefix('/').unwrap_or(to))?;
    let (bits, width) = match prefix.address() {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    let longer = len.checked_sub(prefix.len()).filter(|_| len <= width);
    let longer = longer.ok_or_else(|| format!("split {to}: not parts of {prefix}"))?;
    if longer > MAX_SPLIT {
        return Err(format!("split {to}: more than 65,536 prefixes"));
    }
    let part = |number: u128| {
        let bits = bits | number.checked_shl((width - len).into()).unwrap_or(0);
        let address = match width {
            32 => IpAddr::V4((bits as u32).into()),
            _ => IpAddr::V6(bits.into()),
        };
        IpPrefix::new(address, len).map_err(|error| error.to_string())
    };
    (0..1u128 << longer).map(part).collect()
}

/// A word, or several in brackets or parentheses. A bracket need not be separated from a word by a blank.
fn list<'a>(words: &mut SplitAsciiWhitespace<'a>, name: &str) -> Result<Vec<&'a str>, String> {
    let mut next = || words.next().ok_or_else(|| format!("no value after {name}"));
    let first = next()?;
    let (mut word, close) = match first.as_bytes()[0] {
        b'[' => (&first[1..], ']'),
        b'(' => (&first[1..], ')'),
        _ => return Ok(vec![first]),
    };
    let mut list = Vec::new();
    loop {
        let (inner, is_end) = match word.strip_suffix(close) {
            Some(inner) => (inner, true),
            None => (word, false),
        };
        list.extend(inner.split(',').filter(|part| !part.is_empty()));
        if is_end {
            return Ok(list);
        }
        word = next()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(command: &str) -> Result<Vec<String>, String> {
        let mut read = LineUpdates::default();
        read_command(&format!("withdraw route {command}"), false, &mut read)?;
        let prefixes = read.changes.iter().map(|change| change.prefix.to_string());
        Ok(prefixes.collect())
    }

    #[test]
    fn a_prefix_is_split_into_equal_parts() {
        assert_eq!(
            prefixes("10.0.0.0/22 next-hop 192.0.2.1 split /24").unwrap(),
            ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24"]
        );
        assert_eq!(
            prefixes("2001:db8::/47 split /48").unwrap(),
            ["2001:db8::/48", "2001:db8:1::/48"]
        );
        assert_eq!(prefixes("0.0.0.0/0 split /0").unwrap(), ["0.0.0.0/0"]);
        assert_eq!(prefixes("::/0 split /1").unwrap(), ["::/1", "8000::/1"]);
        assert_eq!(prefixes("10.0.0.0/8 split /24").unwrap().len(), 1 << 16);
        for command in [
            "10.0.0.0/8 split /25",
            "10.0.0.0/8 split /33",
            "10.0.0.0/8 split /7",
            "::/0 split /64",
            "10.0.0.0/8 split",
            "10.0.0.0/8 split x",
        ] {
            assert!(prefixes(command).is_err(), "{command}");
        }
    }
}
