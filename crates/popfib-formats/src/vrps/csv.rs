//! VRPs as CSV: lines in, the VRP of each out.
//!
//! ```text
//! ASN,IP Prefix,Max Length,Trust Anchor,Expires
//! AS64500,192.0.2.0/24,24,ripe,1765000000
//! ```
//! The heading says where the columns are; without one they are the first three, in this order. If the first field is a
//! prefix with a maximum length, lines are `PREFIX-MAX ASN`, with a blank or a comma between them, and whatever follows:
//!
//! ```text
//! 49.10.0.0/19-24 4910 DTAG
//! ```

use super::row::{AnyVrp, VrpSource, vrp};
use crate::delimited::fields::CsvFields;
use crate::delimiter::delimiter;
use crate::error::ReadError;
use crate::input::Input;
use crate::lines::{Lines, text};
use crate::names::{PREFIX, rank};

/// What holds the AS, and the maximum length.
const ASN: &[&str] = &["asn", "asnumber", "originas", "origin", "as"];
const MAX_LENGTH: &[&str] = &["maxlength", "maxlen", "maximumlength", "maxprefixlength"];

/// Where in a line AS, prefix and maximum length are, as the first line shows.
enum VrpCsvLayout {
    /// How lines are split, and the columns of AS, prefix and maximum length.
    Columns(CsvFields, [usize; 3]),
    /// The prefix first, with its maximum length.
    PrefixFirst,
}

/// A [`VrpSource`] of lines.
pub(super) struct VrpRows {
    lines: Lines,
    layout: Option<VrpCsvLayout>,
}

impl VrpRows {
    pub(super) fn new(input: Input) -> Self {
        Self {
            lines: Lines::new(input),
            layout: None,
        }
    }

    /// Learns the columns from the first line; whether that is a heading.
    fn learn(&mut self) -> Result<bool, String> {
        let line = text(self.lines.line())?;
        // One without a maximum length is more likely a table.
        let is_vrp = |word| {
            let (prefix, max_length) = prefix_and_max(word);
            prefix.contains('/') && !max_length.is_empty()
        };
        if words(line).next().is_some_and(is_vrp) {
            self.layout = Some(VrpCsvLayout::PrefixFirst);
            return Ok(false);
        }
        let mut fields = CsvFields::new(delimiter(line.as_bytes()).unwrap_or(b','));
        fields.split(line)?;
        let column = |names| (0..fields.len()).find(|&n| rank(fields.get(n), names).is_some());
        let columns = [column(ASN), column(PREFIX), column(MAX_LENGTH)];
        let (columns, is_heading) = match columns {
            [Some(asn), Some(prefix), Some(max_length)] => ([asn, prefix, max_length], true),
            _ => ([0, 1, 2], false),
        };
        self.layout = Some(VrpCsvLayout::Columns(fields, columns));
        Ok(is_heading)
    }

    /// The VRP of the line at hand; `None` if it is the heading.
    fn read(&mut self) -> Result<Option<AnyVrp>, String> {
        if self.layout.is_none() && self.learn()? {
            return Ok(None);
        }
        let line = text(self.lines.line())?;
        let (fields, [asn, prefix, max_length]) = match &mut self.layout {
            None => return Ok(None),
            Some(VrpCsvLayout::Columns(fields, columns)) => (fields, columns),
            Some(VrpCsvLayout::PrefixFirst) => {
                let mut words = words(line);
                let (Some(first), Some(asn)) = (words.next(), words.next()) else {
                    return Err("no prefix and AS number on this line".to_owned());
                };
                let (prefix, max_length) = prefix_and_max(first);
                return vrp(prefix, max_length, asn).map(Some);
            }
        };
        fields.split(line)?;
        if fields.len() < 3 {
            return Err("no ASN, IP Prefix and Max Length on this line".to_owned());
        }
        vrp(
            fields.get(*prefix).trim(),
            fields.get(*max_length).trim(),
            fields.get(*asn).trim(),
        )
        .map(Some)
    }
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let words = line
        .split([' ', '\t', ',', ';'])
        .map(|word| word.trim_matches('"'));
    words.filter(|word| !word.is_empty())
}

/// `49.10.0.0/19-24` as its two parts; the second is empty if there is none.
fn prefix_and_max(word: &str) -> (&str, &str) {
    word.split_once('-').unwrap_or((word, ""))
}

impl VrpSource for VrpRows {
    fn next(&mut self) -> Result<Option<AnyVrp>, ReadError> {
        while self.lines.advance()? {
            if matches!(self.lines.line().trim_ascii(), [] | [b'#', ..]) {
                continue;
            }
            match self.read() {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(reason) => return Err(self.lines.invalid(reason)),
            }
        }
        Ok(None)
    }
}
