//! The types of records (RFC 6396, section 4) that matter here.

pub(super) const TABLE_DUMP: u16 = 12;
pub(super) const TABLE_DUMP_V2: u16 = 13;
pub(super) const BGP4MP: u16 = 16;
pub(super) const BGP4MP_ET: u16 = 17;

/// The type of the first record of a file, if that is one that MRT defines.
pub(super) fn first_kind(head: &[u8]) -> Option<u16> {
    let [_, _, _, _, k0, k1, t0, t1, l0, l1, ..] = *head else {
        return None;
    };
    let (kind, subtype) = (u16::from_be_bytes([k0, k1]), u16::from_be_bytes([t0, t1]));
    // A body of less than 16 MiB, so that text isn't taken for a record.
    (l0 == 0 && subtype <= 12 && l1 < 0xff && matches!(kind, 11..=17 | 32 | 33 | 48 | 49))
        .then_some(kind)
}
