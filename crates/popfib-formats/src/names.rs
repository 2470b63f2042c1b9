//! The names under which columns and members hold a prefix, a range, a value: the heading of a file in, what each column is out.
//!
//! Spelling varies from file to file: letter case, and whether words are joined
//! by `_`, `-`, a blank or a capital, make no difference. So the lists below have lower case and no signs. The names are
//! those of files that people publish; of several that a file has, the one that comes first in its list counts.

/// What holds the prefix of a row.
#[rustfmt::skip]
pub(crate) const PREFIX: &[&str] = &[
    "prefix", "cidr", "network", "subnet", "ipprefix", "ipv4prefix", "ipv6prefix", "prefix4", "prefix6", "cidrblock", "ipv6cidrblock",
    "cidrip", "cidripv6", "ipcidrrange", "iprange", "range",
];

/// What holds a network around that of a row, which is no prefix of it.
#[rustfmt::skip]
pub(crate) const AROUND: &[&str] = &[
    "parent", "parents", "parentprefix", "parentnetwork", "parentcidr", "container", "supernet", "supernets", "lessspecific",
    "lessspecifics", "aggregate", "covering", "coveringprefix", "coveringprefixes",
];

/// What holds the address of a row without a prefix: a route for this one address.
pub(crate) const ADDRESS: &[&str] = &["ip", "address", "ipaddress", "addr"];

/// What holds the length of a prefix that is an address alone, as a number or a network mask.
#[rustfmt::skip]
pub(crate) const LENGTH: &[&str] = &[
    "netmask", "subnetmask", "networkmask", "mask", "prefixlength", "prefixlen", "masklength", "masklen",
];

/// What holds the mask of the bits that do not belong to it.
pub(crate) const WILDCARD: &[&str] = &["wildcardmask", "wildcard", "hostmask", "inversemask"];

/// What holds a length beside a network; beside an address it may be that of anything.
pub(crate) const BARE_LENGTH: &[&str] = &["length", "len"];

/// What holds the first address of a range, and the last.
#[rustfmt::skip]
pub(crate) const FIRST: &[&str] = &[
    "startip", "ipstart", "rangestart", "networkstart", "networkstartip", "startipaddress", "startaddress",
    "firstip", "firstaddress", "beginip", "ipfrom", "networkstartinteger", "startipnum", "beginipnum", "start",
    "first", "from", "begin",
];
/// See [`FIRST`].
#[rustfmt::skip]
pub(crate) const LAST: &[&str] = &[
    "endip", "ipend", "rangeend", "networkend", "networklastip", "networkendip", "endipaddress", "endaddress",
    "lastip", "lastaddress", "ipto", "networklastinteger", "networkendinteger", "endipnum", "end", "last", "to",
];

/// Of the names of an end of a range those that are of nothing else: `start`, `from` and the like may be a date, or a host's.
pub(crate) fn explicit(names: &'static [&'static str]) -> &'static [&'static str] {
    let common = names
        .iter()
        .position(|name| matches!(*name, "start" | "end"));
    &names[..common.unwrap_or(names.len())]
}

/// What holds the value, the most telling first.
#[rustfmt::skip]
pub(crate) const VALUE: &[&str] = &[
    "nexthop", "value", "asn", "asnumber", "autonomoussystemnumber", "originas", "origin", "as", "countrycode",
    "countryisocode", "isocode", "country", "geonameid", "registeredcountrygeonameid", "name", "label", "site",
    "tenant", "sblid",
];

/// `1 row`, `2 rows`, `2 prefixes`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if noun.ends_with('x') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}

/// The note that `count` things were left out, with what says which; none if there are none.
pub(crate) fn note_left_out(count: u64, what: &str, which: &str) -> Vec<String> {
    match count {
        0 => Vec::new(),
        _ => vec![format!("{}{which} left out", counted(count, what))],
    }
}

/// The rank of `name` among `names`; 0 is the best.
pub(crate) fn rank(name: &str, names: &[&str]) -> Option<usize> {
    rank_by(name, names, |name, known| name == known)
}

/// The rank among `names` of the first that `name` ends with: `ip_netmask` is a netmask.
pub(crate) fn rank_of_end(name: &str, names: &[&str]) -> Option<usize> {
    rank_by(name, names, |name, known| name.ends_with(known))
}

/// The rank by any comparison with the plain form of `name`; a longer name than all known ones is none of them.
fn rank_by(name: &str, names: &[&str], is: impl Fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    let mut plain = [0; 32];
    let mut len = 0;
    for byte in name
        .trim()
        .bytes()
        .filter(|b| !matches!(b, b'_' | b'-' | b' '))
    {
        *plain.get_mut(len)? = byte.to_ascii_lowercase();
        len += 1;
    }
    names
        .iter()
        .position(|known| is(&plain[..len], known.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_makes_no_difference() {
        for name in ["next_hop", "nexthop", "nextHop", "Next Hop", " NEXT-HOP "] {
            assert_eq!(rank(name, VALUE), Some(0), "{name}");
        }
        for name in ["", "next", "nexthops", &"x".repeat(99)] {
            assert_eq!(rank(name, VALUE), None, "{name}");
        }
        assert!(rank("asn", VALUE) < rank("country", VALUE));
    }
}
