//! The numbers that `--weight` adds up: rows of a batch in, the number of each out, and sums of them.
//!
//! They are integers of billionths, and not floating point: its sums depend on the order of the rows, and are not exact beyond
//! 2^53, which bytes of flows reach.

use std::fmt;
use std::ops::AddAssign;

use popfib_formats::AddressBatch;
use popfib_program::failure::Failure;
use serde::{Serialize, Serializer};

use crate::stream::row_part::RowPart;
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
    /// What stands in a row of text.
    Part(RowPart),
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
        match weight {
            "packets" if source.is_packets() => Ok(Self::Packets),
            "bytes" if source.is_packets() => Ok(Self::Bytes),
            _ if source.is_packets() => {
                Err(format!("{name}: of a capture, --weight is packets or bytes").into())
            }
            _ => RowPart::new("--weight", weight, delimiter, name, source).map(Self::Part),
        }
    }

    /// The number of each row of `batch`; `None` if the row has none.
    pub(super) fn of_rows(&self, batch: &AddressBatch) -> Vec<Option<Sum>> {
        let lengths = batch.packet_lengths().iter();
        match self {
            Self::Packets => lengths.map(|_| Some(Sum::of(1))).collect(),
            Self::Bytes => lengths
                .map(|&length| Some(Sum::of(length.into())))
                .collect(),
            Self::Part(part) => {
                let mut sums = Vec::new();
                part.each(batch, |text| sums.push(Sum::parse(text)));
                sums
            }
        }
    }
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
