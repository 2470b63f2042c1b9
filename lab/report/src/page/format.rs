//! Figures as people read them.

use popfib_draw::grouped;
use popfib_eval::{Paired, Verdict};

use crate::experiments::Figures;

/// What stands where there is no figure.
pub(super) const NONE: &str = "–";

/// A number with so many digits after the point.
pub(super) fn number(value: f64, places: usize) -> String {
    if value.is_finite() {
        format!("{value:.places$}")
    } else {
        NONE.to_owned()
    }
}

/// A rate or a time: three digits or so, whatever its size.
pub(super) fn short(value: f64) -> String {
    let places = match value.abs() {
        1_000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        _ => 3,
    };
    number(value, places)
}

/// A count, in groups of three digits.
pub(super) fn count(value: impl Into<u64>) -> String {
    grouped(value.into())
}

/// Bytes in MiB.
pub(super) fn mib(bytes: usize) -> String {
    number(bytes as f64 / f64::from(1 << 20), 2)
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_05 {
        return "< 0.01 %".to_owned();
    }
    format!("{} %", number(share * 100.0, 2))
}

/// Mean and standard deviation, as the paper gives them.
pub(super) fn mean(figures: &Figures) -> String {
    if figures.0.is_empty() {
        return NONE.to_owned();
    }
    let deviation = number(figures.deviation(), 2);
    format!("{} ({deviation})", short(figures.mean()))
}

/// Median and quartiles, which a few disturbed passes leave as they are.
pub(super) fn median(figures: &Figures) -> String {
    if figures.0.is_empty() {
        return NONE.to_owned();
    }
    let (low, high) = figures.quartiles();
    format!(
        "{} ({} to {})",
        short(figures.median()),
        short(low),
        short(high)
    )
}

/// A ratio with the interval of its median; with a question mark where the passes do not decide.
pub(super) fn ratio(ratio: Option<Paired>) -> String {
    or_none(ratio, |ratio| {
        if ratio.low == 1.0 && ratio.high == 1.0 {
            // Beside itself.
            return number(1.0, 2);
        }
        let doubt = match ratio.verdict {
            Verdict::Withheld => " ?",
            Verdict::Faster | Verdict::Slower => "",
        };
        let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(|r| number(r, 2));
        format!("{median} ({low} to {high}){doubt}")
    })
}

/// What `value` gives, or nothing.
pub(super) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), show)
}

/// Names as a list: a, b and c.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(count(1_062_046usize as u64), "1,062,046");
        assert_eq!((count(0u32), count(999u32)), ("0".into(), "999".into()));
        assert_eq!(short(240.52), "240.5");
        assert_eq!(
            (short(1_234.5), short(0.041)),
            ("1234".into(), "0.041".into())
        );
        assert_eq!(number(f64::NAN, 2), NONE);
        assert_eq!(mib(1 << 20), "1.00");
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names), "a, b and c");
        let figures = Figures(vec![2.0, 4.0]);
        assert_eq!(mean(&figures), "3.000 (1.41)");
        assert_eq!(median(&figures), "3.000 (2.500 to 3.500)");
        let twice = Figures(vec![1.0, 2.0]);
        assert_eq!(ratio(figures.over(&twice)), "2.00 (2.00 to 2.00) ?");
        let (six, four) = (Figures(vec![6.0; 6]), Figures(vec![4.0; 6]));
        assert_eq!(ratio(six.over(&four)), "1.50 (1.50 to 1.50)");
    }
}
