//! Dates as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time in seconds since 1970, as RFC 3339 writes it; `None` for 0, which stands for an unknown one, and beyond the year 9999.
pub fn rfc3339(seconds: u64) -> Option<String> {
    const YEAR_10000: u64 = 253_402_300_800;
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    (1..YEAR_10000)
        .contains(&seconds)
        .then(|| humantime::format_rfc3339_seconds(time).to_string())
}

/// The same of the system's time; `None` before 1970, too.
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
        assert_eq!(of_time(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
