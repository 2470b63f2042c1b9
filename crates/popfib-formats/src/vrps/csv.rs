//! VRPs as CSV: lines in, the VRP of each out.
//!
//! ```text
//! ASN,IP Prefix,Max Length,Trust Anchor,Expires
//! AS64500,192.0.2.0/24,24,ripe,1765000000
//! ```
//! The heading says where the columns are; without one they are the first three, in this order. Each line has as many as the first.

use super::row::{AnyVrp, VrpEntry, lines, vrp};
use crate::delimited::fields::CsvFields;
use crate::delimiter::delimiter;
use crate::lines::text;
use crate::names::{PREFIX, rank};

/// What holds the AS, and the maximum length.
const ASN: &[&str] = &["asn", "asnumber", "originas", "origin", "as"];
const MAX_LENGTH: &[&str] = &["maxlength", "maxlen", "maximumlength", "maxprefixlength"];

pub(super) const FORMAT: VrpEntry = VrpEntry {
    name: "csv",
    description: "CSV of rpki-client, routinator, StayRTR",
    can: &[],
    // What is nothing else.
    detect: |_| true,
    open: |input, options| {
        let (mask, mut layout) = (options.mask, None);
        Ok(lines(input, move |line| read(line, mask, &mut layout)))
    },
};

/// How lines are split, how many columns they have, and which are those of AS, prefix and maximum length.
type VrpCsvLayout = (CsvFields, usize, [usize; 3]);

/// Whether a line is a heading.
pub(super) fn is_heading(line: &str) -> bool {
    learn(line).is_ok_and(|(_, is_heading)| is_heading)
}

/// Learns the columns from the first line; whether that is a heading.
fn learn(line: &str) -> Result<(VrpCsvLayout, bool), String> {
    let mut fields = CsvFields::new(delimiter(line.as_bytes()).unwrap_or(b','));
    fields.split(line)?;
    let column = |names| (0..fields.len()).find(|&n| rank(fields.get(n), names).is_some());
    let (columns, is_heading) = match [column(ASN), column(PREFIX), column(MAX_LENGTH)] {
        [Some(asn), Some(prefix), Some(max_length)] => ([asn, prefix, max_length], true),
        _ => ([0, 1, 2], false),
    };
    let count = fields.len();
    Ok(((fields, count, columns), is_heading))
}

/// The VRP of a line; `None` if it is the heading, empty or a comment.
fn read(
    line: &[u8],
    mask: bool,
    layout: &mut Option<VrpCsvLayout>,
) -> Result<Option<AnyVrp>, String> {
    if matches!(line.trim_ascii(), [] | [b'#', ..]) {
        return Ok(None);
    }
    let line = text(line)?;
    let (fields, count, [asn, prefix, max_length]) = match layout {
        Some(layout) => layout,
        none => {
            let (learned, is_heading) = learn(line)?;
            let layout = none.insert(learned);
            if is_heading {
                return Ok(None);
            }
            layout
        }
    };
    fields.split(line)?;
    if fields.len() < 3 {
        return Err("no ASN, IP Prefix and Max Length on this line".to_owned());
    }
    if fields.len() != *count {
        let found = fields.len();
        return Err(format!("{found} columns, where the first line has {count}"));
    }
    let [prefix, max_length, asn] = [prefix, max_length, asn].map(|&mut n| fields.get(n).trim());
    vrp(prefix, max_length, asn, mask).map(Some)
}
