//! Sets of prefixes as firewalls and routers hold them: what `ipset`, `nft`, `pfctl` and
//! the filters of routers have.
//!
//! An element is a prefix, an address or a range of addresses; its value is the name of
//! its set. Each element counts: of several sets with one prefix the last answers. What a
//! table of prefixes cannot say is an error: exceptions (`nomatch`, `deny`, `!`) and
//! elements that are more than an address. Bounds of length (`le 24`) are left out and counted.

pub(crate) mod filters;
pub(crate) mod ipset;
pub(crate) mod iptables;
pub(crate) mod nft;
pub(crate) mod prefix_lists;
mod tokens;

/// The note that `count` sets held something else than addresses.
pub(crate) fn other_sets(count: u64) -> Vec<String> {
    match count {
        0 => Vec::new(),
        1 => vec!["1 set of something else than addresses left out".to_owned()],
        n => vec![format!(
            "{n} sets of something else than addresses left out"
        )],
    }
}
