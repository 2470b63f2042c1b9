//! MRT, the binary files of route collectors (RFC 6396): tables and updates.
//!
//! Tables are TABLE_DUMP_V2 (unicast, also with additional paths, RFC 8050) and
//! TABLE_DUMP; updates are BGP4MP and BGP4MP_ET. Records of other kinds are
//! left out, counted and noted. What a record holds is read as strictly as it
//! takes to be sure of its routes: a length that doesn't fit makes the record
//! invalid, and the next one is read all the same.
//!
//! Rejected: the parser `bgpkit-parser`. It decodes every attribute into values
//! of its own, which takes many times as long (`bench/mrt`); it
//! leaves out what is damaged without telling, where a table must not be silent
//! about missing routes; and it brings 40 crates for what are five attributes
//! here. It is the oracle of the tests.

mod attributes;
mod bytes;
mod records;
mod table;
mod updates;

pub(crate) use table::FORMAT;
pub(crate) use updates::FORMAT as UPDATE_FORMAT;

const TABLE_DUMP: u16 = 12;
const TABLE_DUMP_V2: u16 = 13;
const BGP4MP: u16 = 16;
const BGP4MP_ET: u16 = 17;

/// The type of the first record of a file, if that is one that MRT defines.
fn first_kind(head: &[u8]) -> Option<u16> {
    let [_, _, _, _, k0, k1, t0, t1, l0, l1, ..] = *head else {
        return None;
    };
    let (kind, subtype) = (u16::from_be_bytes([k0, k1]), u16::from_be_bytes([t0, t1]));
    // A body of less than 16 MiB, so that text isn't taken for a record.
    (l0 == 0 && subtype <= 12 && l1 < 0xff && matches!(kind, 11..=17 | 32 | 33 | 48 | 49))
        .then_some(kind)
}
