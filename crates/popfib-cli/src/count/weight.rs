//! The numbers that `--weight` adds up: rows of a batch in, the number of each out, and sums of them.
//!
//! They are integers of billionths, and not floating point: its sums depend on the order of the rows, and are not exact beyond
//! 2^53, which bytes of flows reach.

use std::fmt;
use std::ops::AddAssign;

use popfib_formats::addresses::{CsvRecord, LinePart, line_part};
use popfib_formats::{AddressBatch, quote};
use popfib_program::failure::Failure;
use serde::{Serialize, Serializer};

use crate::stream::source::StreamSource;

/// Billionths in one.
const ONE: u128 = 1_000_000_000;

/// The digits of a billionth.
const DIGITS: usize = 9;

/// A sum of numbers from 0 on, in billionths. More rows than a disk holds, with the largest number that is read, fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum(u128);

impl Sum {
    pub(super) fn of(count: u64) -> Self {
        Self(u128::from(count) * ONE)
    }

    /// A number as text: digits, perhaps with a fraction or an exponent, at most 2^64 - 1.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_plain(whole) || !is_plain(fraction) || whole.is_empty() {
            let number: f64 = text.parse().ok()?;
            let is_right = number >= 0.0 && number <= u64::MAX as f64;
            return is_right.then(|| Self((number * ONE as f64).round() as u128));
        }
        let whole: u64 = whole.parse().ok()?;
        let kept = &fraction[..fraction.len().min(DIGITS)];
        let billionths: u128 = format!("{kept:0<DIGITS$}").parse().ok()?;
        let is_more = fraction
            .as_bytes()
            .get(DIGITS)
            .is_some_and(|&next| next >= b'5');
        Some(Self(
            u128::from(whole) * ONE + billionths + u128::from(is_more),
        ))
    }

    /// For shares.
    pub(super) fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / ONE, self.0 % ONE);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:0DIGITS$}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % ONE {
            0 => serializer.serialize_u128(self.0 / ONE),
            _ => serializer.serialize_f64(self.as_f64()),
        }
    }
}

/// Where in a row the number is that is added.
pub(super) enum Weight {
    /// A part of a line or object.
    Part(LinePart),
    /// A column of a table, by its place from 0, and what splits rows into columns.
    Column(usize, Box<CsvRecord>),
    /// The text of a row of a Parquet file, which is that of a column.
    Row,
    /// One for each packet of a capture.
    Packets,
    /// The bytes of each packet of a capture.
    Bytes,
}

impl Weight {
    /// What `--weight` means in the file `name`, whose fields are separated by `delimiter`.
    pub(super) fn new(
        weight: &str,
        delimiter: Option<u8>,
        name: &str,
        source: &StreamSource,
    ) -> Result<Self, Failure> {
        if source.is_packets() {
            return match weight {
                "packets" => Ok(Self::Packets),
                "bytes" => Ok(Self::Bytes),
                _ => Err(format!("{name}: of a capture, --weight is packets or bytes").into()),
            };
        }
        if source.is_parquet() {
            return Ok(Self::Row);
        }
        if !source.is_text() {
            return Err(format!("{name}: --weight needs lines of text with a field for it").into());
        }
        let number: Option<usize> = weight.parse().ok().filter(|&number| number > 0);
        if let Some(table) = source.table() {
            let mut record = CsvRecord::new(table.delimiter);
            record.split(table.names());
            let named = record
                .cells()
                .position(|cell| cell.trim_ascii() == weight.as_bytes());
            let column = named.or(number.map(|number| number - 1));
            let Some(column) = column else {
                let there = record.cells().map(quote);
                let there: Vec<_> = there.take(20).collect();
                let (weight, there) = (quote(weight.as_bytes()), there.join(", "));
                return Err(
                    format!("{name}: no column {weight} for --weight; there are {there}").into(),
                );
            };
            return Ok(Self::Column(column, Box::new(record)));
        }
        if let Some(field) = source.field(weight) {
            return Ok(Self::Part(field));
        }
        if source.is_json() {
            return Ok(Self::Part(LinePart::Path(weight.to_owned())));
        }
        let missing = || format!("{name}: --weight is the number of a field, from 1 on");
        Ok(Self::Part(LinePart::Field(
            number.ok_or_else(missing)?,
            delimiter,
        )))
    }

    /// The number of each row of `batch`; `None` if the row has none.
    pub(super) fn of_rows(&mut self, batch: &AddressBatch) -> Vec<Option<Sum>> {
        let lengths = batch.packet_lengths().iter();
        match self {
            Self::Packets => lengths.map(|_| Some(Sum::of(1))).collect(),
            Self::Bytes => lengths
                .map(|&length| Some(Sum::of(length.into())))
                .collect(),
            Self::Row => batch.rows().map(|row| of_text(Some(row))).collect(),
            Self::Part(part) => {
                let texts = batch.rows().map(|row| line_part(row, part));
                texts.map(of_text).collect()
            }
            Self::Column(index, record) => {
                let rows = batch.rows().map(|row| {
                    record.split(row);
                    of_text(record.cell(*index))
                });
                rows.collect()
            }
        }
    }
}

/// The number in a field, with quotes or without.
fn of_text(text: Option<&[u8]>) -> Option<Sum> {
    let text = text?.trim_ascii();
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    Sum::parse(std::str::from_utf8(text).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_shown() {
        for (text, shown) in [
            ("0", "0"),
            ("12", "12"),
            ("007", "7"),
            ("1.5", "1.5"),
            ("1.", "1"),
            ("0.000000001", "0.000000001"),
            ("0.0000000015", "0.000000002"),
            ("0.9999999999", "1"),
            ("18446744073709551615.123", "18446744073709551615.123"),
            ("1e3", "1000"),
            ("2.5E-1", "0.25"),
        ] {
            let sum = Sum::parse(text).map(|sum| sum.to_string());
            assert_eq!(sum.as_deref(), Some(shown), "{text}");
        }
        for text in [
            "",
            "-",
            "-1",
            "x",
            "1,5",
            "NaN",
            "inf",
            "18446744073709551616",
            "1e20",
            ".",
        ] {
            assert_eq!(Sum::parse(text), None, "{text}");
        }
    }

    #[test]
    fn sums_go_on_beyond_64_bits() {
        let mut sum = Sum::of(u64::MAX);
        sum += Sum::of(u64::MAX);
        sum += Sum::parse("0.5").unwrap();
        assert_eq!(sum.to_string(), "36893488147419103230.5");
        let mut whole = Sum::of(u64::MAX);
        whole += Sum::of(1);
        assert_eq!(
            serde_json::to_string(&whole).unwrap(),
            "18446744073709551616"
        );
        assert_eq!(
            serde_json::to_string(&Sum::parse("0.3").unwrap()).unwrap(),
            "0.3"
        );
    }
}
