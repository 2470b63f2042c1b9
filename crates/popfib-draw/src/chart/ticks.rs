//! Where an axis has its ticks, and how their numbers are written.

/// About `count` round values (1, 2 or 5 times a power of ten apart) between `low` and `high`.
pub(super) fn linear(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = step(low, high, count);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// The distance between the ticks of [`linear`].
pub(super) fn step(low: f64, high: f64, count: usize) -> f64 {
    let rough = (high - low) / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter();
    let mut steps = factor.map(|factor| factor * power);
    steps
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(10.0 * power)
}

/// The powers of ten between `low` and `high`, or every other one and so on if there are more
/// than `count`; with 2 and 5 between where there are only a few.
pub(super) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<f64> {
    let first = (low.log10() + 1e-9).floor() as i32;
    let last = (high.log10() - 1e-9).ceil() as i32;
    let decades = (last - first).max(1) as usize;
    let between: &[f64] = match decades {
        1 | 2 => &[1.0, 2.0, 5.0],
        3 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = decades.div_ceil(count.max(1)).max(1);
    (first..=last)
        .step_by(every)
        .flat_map(|power| between.iter().map(move |at| at * 10f64.powi(power)))
        .filter(|at| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(at))
        .collect()
}

/// A tick's number: `0.25`, `1,500`, `20 k`, `3 M`.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    let (scaled, unit) = match size {
        _ if size >= 1e12 || (size > 0.0 && size < 1e-4) => return format!("{value:e}"),
        _ if size >= 1e9 => (value / 1e9, " G"),
        _ if size >= 1e6 => (value / 1e6, " M"),
        _ if size >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    // Enough digits for steps of 1, 2, 5, without those that floating point invents.
    let text = format!("{scaled:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let text = match text.strip_prefix('-') {
        Some("0") => "0".to_owned(),
        Some(text) => format!("\u{2212}{text}"),
        None => text.to_owned(),
    };
    match text.len() {
        4 if !text.contains(['.', '\u{2212}']) => format!("{},{}", &text[..1], &text[1..]),
        _ => text + unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_values_within_the_range() {
        assert_eq!(
            linear(0.0, 1.0, 5),
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
        );
        assert_eq!(linear(0.0, 873.0, 5), [0.0, 200.0, 400.0, 600.0, 800.0]);
        assert_eq!(linear(-3.0, 3.0, 3), [-2.0, 0.0, 2.0]);
        assert_eq!(
            logarithmic(1.0, 100.0, 6),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        );
        assert_eq!(logarithmic(3.0, 5000.0, 6), [10.0, 100.0, 1000.0]);
        assert_eq!(logarithmic(1.0, 1e8, 4), [1.0, 1e2, 1e4, 1e6, 1e8]);
    }

    #[test]
    fn numbers_are_short() {
        let written = [
            0.0,
            -0.0,
            0.25,
            0.6000000000000001,
            7.0,
            1500.0,
            20_000.0,
            3e6,
            2.5e9,
            -40.0,
        ];
        let expected = [
            "0",
            "0",
            "0.25",
            "0.6",
            "7",
            "1,500",
            "20 k",
            "3 M",
            "2.5 G",
            "\u{2212}40",
        ];
        assert_eq!(written.map(number), expected);
        assert_eq!(number(1e-5), "1e-5");
    }
}
