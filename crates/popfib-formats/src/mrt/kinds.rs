//! The types of records (RFC 6396, section 4) that matter here: the head of a file in, whether it is MRT out; a type in,
//! what to tell the user about records of which nothing is read.

use super::bytes::Afi;
use crate::names::counted;

pub(super) const TABLE_DUMP: u16 = 12;
pub(super) const TABLE_DUMP_V2: u16 = 13;
pub(super) const BGP4MP: u16 = 16;
pub(super) const BGP4MP_ET: u16 = 17;

/// The subtype of TABLE_DUMP_V2 with the peers.
pub(super) const PEER_INDEX_TABLE: u16 = 1;

/// The bytes of a record before its body: time, type, subtype, length.
pub(super) const HEADER: usize = 12;

/// The family of a subtype of TABLE_DUMP_V2 with unicast routes, and whether its paths have identifiers (RFC 8050).
#[inline]
pub(super) fn rib_subtype(subtype: u16) -> Option<(Afi, bool)> {
    match subtype {
        2 => Some((Afi::Ipv4, false)),
        4 => Some((Afi::Ipv6, false)),
        8 => Some((Afi::Ipv4, true)),
        10 => Some((Afi::Ipv6, true)),
        _ => None,
    }
}

/// The types that RFC 6396 no longer has (its appendix B), from the first number on: those of collectors of the 1990s.
const FIRST_OLD: u16 = 4;
const OLD: [&str; 7] = [
    "PEER_DOWN",
    "BGP",
    "RIP",
    "IDRP",
    "RIPNG",
    "BGP4PLUS",
    "BGP4PLUS_01",
];

/// The name of a type that RFC 6396 no longer has.
fn old_name(kind: u16) -> Option<&'static str> {
    let index = kind.checked_sub(FIRST_OLD)?;
    OLD.get(usize::from(index)).copied()
}

/// The records of which nothing is read.
#[derive(Debug, Default)]
pub(super) struct UnreadRecords {
    /// How many are of types that RFC 6396 has.
    count: u64,
    /// The name of the first old type, and how many records are of one.
    old: Option<(&'static str, u64)>,
}

impl UnreadRecords {
    /// Counts one of this type.
    pub(super) fn add(&mut self, kind: u16) {
        match old_name(kind) {
            Some(name) => self.old.get_or_insert((name, 0)).1 += 1,
            None => self.count += 1,
        }
    }

    /// What to say of them to the user: those that hold none of `what`, and those of old types.
    pub(super) fn notes(&self, what: &str) -> Vec<String> {
        let records = |count| counted(count, "record");
        let holds = if self.count == 1 { "holds" } else { "hold" };
        let others = || format!("{} that {holds} no {what} left out", records(self.count));
        let old = self.old.map(|(name, count)| {
            let records = records(count);
            format!("{records} of the type {name} left out, which MRT (RFC 6396) no longer has and popfib does not read")
        });
        let others = (self.count > 0).then(others);
        others.into_iter().chain(old).collect()
    }
}

/// Type, subtype and length of the record that `head` begins with.
fn header(head: &[u8]) -> Option<(u16, u16, usize)> {
    let [_, _, _, _, k0, k1, t0, t1, l0, l1, l2, l3, ..] = *head else {
        return None;
    };
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    Some((
        u16::from_be_bytes([k0, k1]),
        u16::from_be_bytes([t0, t1]),
        len,
    ))
}

/// Whether a file begins with two records of old types: such a file is MRT, and an error about its types says
/// more than one about its text.
pub(super) fn is_old(head: &[u8]) -> bool {
    let record = |head: &[u8]| {
        let (kind, subtype, len) = header(head)?;
        let is_old = old_name(kind).is_some() && subtype <= 7 && (1..1 << 16).contains(&len);
        is_old.then_some(HEADER + len)
    };
    let second = record(head).and_then(|len| record(head.get(len..)?));
    second.is_some()
}

/// The type of the first record of a file, if that is one that MRT defines and another such type follows it, or nothing:
/// the small tree of a MaxMind database has many zeros and looks like one header.
pub(super) fn first_kind(head: &[u8]) -> Option<u16> {
    let (kind, subtype, len) = header(head)?;
    // A body of less than 16 MiB, so that text isn't taken for a record, and more than none.
    let is_record = (1..0xff_0000).contains(&len) && subtype <= 12 && is_kind(kind);
    // Where the head ends in the record or right after it, there is no more to see.
    let is_followed = match head.get(HEADER + len..) {
        Some([_, _, _, _, k0, k1, ..]) => is_kind(u16::from_be_bytes([*k0, *k1])),
        _ => true,
    };
    (is_record && is_followed).then_some(kind)
}

/// Whether MRT has such a type.
fn is_kind(kind: u16) -> bool {
    matches!(kind, 11..=17 | 32 | 33 | 48 | 49)
}
