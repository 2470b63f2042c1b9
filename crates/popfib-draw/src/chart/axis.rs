//! An axis: what it shows, and from a value to a place.

use super::ticks;

/// How an axis is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally long.
    #[default]
    Linear,
    /// Equal factors are equally long.
    Log,
}

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit: `rate (Mlps)`.
    pub title: String,
    /// How it is divided.
    pub scale: Scale,
    /// The lowest and the highest value shown; `None` for what the data needs.
    pub range: Option<(f64, f64)>,
    /// Whether there is nothing between one number and the next, as of things that are counted.
    pub is_whole: bool,
}

impl Axis {
    /// An axis of equal steps.
    pub fn linear(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// An axis of equal factors.
    pub fn log(title: impl Into<String>) -> Self {
        Self {
            scale: Scale::Log,
            ..Self::linear(title)
        }
    }

    /// The same from `low` to `high`, whatever the data.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// The same with ticks at whole numbers only.
    #[must_use]
    pub fn of_whole_numbers(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// The axis for these values over a stretch of pixels; `zero` if it begins
    /// at 0 where it is linear.
    pub(super) fn place(
        &self,
        values: impl Iterator<Item = f64>,
        zero: bool,
        pixels: (f64, f64),
    ) -> Placed {
        let (low, high) = match self.range {
            Some((low, high)) if self.is_possible(low) && self.is_possible(high) && low < high => {
                (low, high)
            }
            _ => self.range_of(values, zero),
        };
        Placed {
            scale: self.scale,
            low,
            high,
            is_whole: self.is_whole,
            pixels,
        }
    }

    fn is_possible(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Round ends around all of `values`.
    fn range_of(&self, values: impl Iterator<Item = f64>, zero: bool) -> (f64, f64) {
        let (low, high) = values
            .filter(|value| self.is_possible(*value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return match self.scale {
                Scale::Linear => (0.0, 1.0),
                Scale::Log => (1.0, 10.0),
            };
        }
        match self.scale {
            Scale::Linear => {
                let (mut low, mut high) = (low, high);
                if zero {
                    (low, high) = (low.min(0.0), high.max(0.0));
                }
                if low == high {
                    (low, high) = (low - 0.5, high + 0.5);
                }
                let step = ticks::step(low, high, 10);
                ((low / step).floor() * step, (high / step).ceil() * step)
            }
            Scale::Log => {
                // To the next 1, 2 or 5.
                let down = |value: f64| {
                    let power = 10f64.powf(value.log10().floor());
                    let digits = [5.0, 2.0].into_iter().map(|digit| digit * power);
                    digits
                        .into_iter()
                        .find(|at| *at <= value * 1.000_001)
                        .unwrap_or(power)
                };
                let up = |value: f64| {
                    let power = 10f64.powf(value.log10().floor());
                    let digits = [1.0, 2.0, 5.0].into_iter().map(|digit| digit * power);
                    digits
                        .into_iter()
                        .find(|at| *at >= value * 0.999_999)
                        .unwrap_or(10.0 * power)
                };
                let (low, high) = (down(low), up(high));
                if low == high {
                    (low, 10.0 * high)
                } else {
                    (low, high)
                }
            }
        }
    }
}

/// An axis with its place in the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    scale: Scale,
    low: f64,
    high: f64,
    is_whole: bool,
    /// Where the lowest and the highest value are.
    pixels: (f64, f64),
}

impl Placed {
    /// Where `value` is, which may be outside of the axis; `None` if it can have no place.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Log => return None,
        };
        let (from, to) = self.pixels;
        let at = from + share * (to - from);
        at.is_finite().then_some(at)
    }

    /// As [`at`](Self::at), moved onto the axis if it is outside.
    pub(super) fn within(&self, value: f64) -> Option<f64> {
        let value = if value.is_finite() {
            value
        } else {
            return None;
        };
        if self.scale == Scale::Log && value <= 0.0 {
            return None;
        }
        self.at(value.clamp(self.low, self.high))
    }

    /// Where bars stand.
    pub(super) fn base(&self) -> f64 {
        self.within(0.0).unwrap_or(self.pixels.0)
    }

    /// The ticks: where, and what is written there.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => ticks::linear(self.low, self.high, count),
            Scale::Log => ticks::logarithmic(self.low, self.high, count),
        };
        // Less than a decade may hold but one of its ticks.
        let values = if values.len() < 2 {
            ticks::linear(self.low, self.high, count)
        } else {
            values
        };
        values
            .into_iter()
            .filter(|value| !self.is_whole || (value - value.round()).abs() < 1e-9)
            .filter_map(|value| Some((self.at(value)?, ticks::number(value))))
            .collect()
    }
}
