//! Times as text: seconds or microseconds since 1970 in, RFC 3339 out (`2026-05-17T06:40:00Z`), and back.
//!
//! Always UTC, so that the same file gives the same text anywhere.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time in seconds since 1970, as RFC 3339 writes it; `None` for 0, which stands for an unknown one, and beyond the year 9999.
pub fn rfc3339(seconds: u64) -> Option<String> {
    // RFC 3339 has four digits for a year.
    const YEAR_10000: u64 = 253_402_300_800;
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    (1..YEAR_10000)
        .contains(&seconds)
        .then(|| humantime::format_rfc3339_seconds(time).to_string())
}

/// Seconds since 1970, with a fraction or without, in microseconds.
pub(crate) fn parse_seconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !is_number(seconds) || !is_number(fraction) {
        return None;
    }
    let seconds: u64 = seconds.parse().ok()?;
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(6);
    let micros = digits.fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}

/// A time in microseconds since 1970, of seconds or as RFC 3339 writes it in UTC.
///
/// # Errors
/// What a time looks like.
pub fn parse_time(text: &str) -> Result<u64, String> {
    let date = || {
        let midnight = || humantime::parse_rfc3339(&format!("{text}T00:00:00Z"));
        let time = humantime::parse_rfc3339(text)
            .or_else(|_| midnight())
            .ok()?;
        let since = time.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_micros()).ok()
    };
    let time = parse_seconds(text).or_else(date);
    time.ok_or_else(|| {
        "a time, please: 2026-11-25T12:00:00Z, 2026-11-25, or seconds since 1970".to_owned()
    })
}

/// The text of a time of the system, such as that of a file; `None` as by [`rfc3339`], and before 1970.
pub(crate) fn of_time(time: SystemTime) -> Option<String> {
    rfc3339(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(rfc3339(1_779_000_000).unwrap(), "2026-05-17T06:40:00Z");
        assert_eq!(rfc3339(253_402_300_799).unwrap(), "9999-12-31T23:59:59Z");
        for seconds in [0, 253_402_300_800, u64::MAX] {
            assert_eq!(rfc3339(seconds), None);
        }
        for (text, time) in [
            ("1470931499", 1_470_931_499_000_000),
            ("1470931499.25", 1_470_931_499_250_000),
            ("2016-08-11T16:04:59Z", 1_470_931_499_000_000),
            ("2016-08-11T16:04:59.25Z", 1_470_931_499_250_000),
            ("1970-01-01T00:00:00Z", 0),
        ] {
            assert_eq!(parse_time(text), Ok(time), "{text}");
        }
        for text in [
            "",
            "-1",
            "1.",
            "2016-08-11T16:04:59",
            "2016-13-11T16:04:59Z",
            "99999999999999999999",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        assert_eq!(of_time(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
