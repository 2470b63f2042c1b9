//! The types of records (RFC 6396, section 4) that matter here, and how a file of such records is recognised.

pub(super) const TABLE_DUMP: u16 = 12;
pub(super) const TABLE_DUMP_V2: u16 = 13;
pub(super) const BGP4MP: u16 = 16;
pub(super) const BGP4MP_ET: u16 = 17;

/// The bytes of a record before its body: time, type, subtype, length.
const HEADER: usize = 12;

/// The type of the first record of a file, if that is one that MRT defines and another type follows it, or nothing:
/// a small tree of another format has many zeros, and looks like one header.
pub(super) fn first_kind(head: &[u8]) -> Option<u16> {
    let [_, _, _, _, k0, k1, t0, t1, l0, l1, l2, l3, ..] = *head else {
        return None;
    };
    let (kind, subtype) = (u16::from_be_bytes([k0, k1]), u16::from_be_bytes([t0, t1]));
    let len = u32::from_be_bytes([l0, l1, l2, l3]) as usize;
    // A body of less than 16 MiB, so that text isn't taken for a record, and more than none.
    let is_record = l0 == 0 && l1 < 0xff && len > 0 && subtype <= 12 && is_kind(kind);
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
