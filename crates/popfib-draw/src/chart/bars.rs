//! Bars: one value for each of several things, in groups, with their errors.

use crate::svg::{Anchor, SOFT};

use super::axis::Axis;
use super::frame::{Frame, Names, Sign, fill_class, texture};

/// A chart of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What the chart shows, in one line.
    pub title: String,
    /// A remark under the title. May be empty.
    pub note: String,
    /// What the groups are; may be empty.
    pub x: String,
    /// The vertical axis. Bars stand on 0, or on its lowest value if it is logarithmic.
    pub y: Axis,
    /// The names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The bars of each group, in the order of the legend.
    pub series: Vec<Bars>,
}

/// The bars of one series, one in each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Its name in the legend; a single series may do without.
    pub name: String,
    /// Its bar in each group; `None` where there is no value, which is marked with a dash.
    pub bars: Vec<Option<Bar>>,
}

impl Bars {
    /// Bars of this name.
    pub fn new(name: impl Into<String>, bars: Vec<Option<Bar>>) -> Self {
        let name = name.into();
        Self { name, bars }
    }
}

/// A bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Its value.
    pub value: f64,
    /// How far the value may be off to either side, such as its standard deviation.
    pub error: Option<f64>,
}

impl From<f64> for Bar {
    /// Without error.
    fn from(value: f64) -> Self {
        Self { value, error: None }
    }
}

impl BarChart {
    /// Draws the chart. Linear in the number of bars.
    pub fn to_svg(&self) -> String {
        let series: Vec<_> = self.series.iter().map(|s| s.name.as_str()).collect();
        let names = Names::new(self.groups.iter().map(String::as_str));
        let below = names.height + if self.x.is_empty() { 8.0 } else { 30.0 };
        let mut frame = Frame::new(&self.title, &self.note, &series, Sign::Patch, below);
        let bars = || self.series.iter().flat_map(|s| s.bars.iter().flatten());
        let ends = bars().flat_map(|bar| {
            let error = bar.error.unwrap_or(0.0);
            // On an axis without 0, the lowest bar needs something to stand on.
            [0.7 * bar.value, bar.value - error, bar.value + error]
        });
        let y = self.y.place(ends, true, (frame.bottom, frame.top));
        frame.y_axis(&self.y.title, &y);
        let slot = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let width = (0.8 * slot / self.series.len().max(1) as f64).min(56.0);
        let base = y.base();
        for (g, name) in self.groups.iter().enumerate() {
            let middle = frame.left + (g as f64 + 0.5) * slot;
            let first = middle - width * self.series.len() as f64 / 2.0;
            for (s, series) in self.series.iter().enumerate() {
                let left = first + s as f64 * width;
                let gap = (width * 0.08).min(2.0);
                let bar = series.bars.get(g).copied().flatten();
                let Some((bar, end)) = bar.and_then(|bar| Some((bar, y.within(bar.value)?))) else {
                    let at = (left + width / 2.0, base - 4.0);
                    frame.svg.label(at, Anchor::Middle, SOFT, "\u{2013}");
                    continue;
                };
                let at = (left + gap / 2.0, end.min(base));
                let size = (width - gap, (end - base).abs());
                frame.svg.rect(&fill_class(s), at, size);
                texture(&mut frame.svg, s, at, size);
                let Some(error) = bar.error.filter(|error| *error > 0.0) else {
                    continue;
                };
                let low = y.within(bar.value - error).unwrap_or(base);
                let high = y.within(bar.value + error).unwrap_or(end);
                let (x, arm) = (left + width / 2.0, (width / 4.0).min(5.0));
                frame.svg.line("pf-rule", (x, low), (x, high));
                frame.svg.line("pf-rule", (x - arm, low), (x + arm, low));
                frame.svg.line("pf-rule", (x - arm, high), (x + arm, high));
            }
            names.write(&mut frame, g, middle, name);
        }
        if !self.x.is_empty() {
            let at = frame.bottom + names.height + 14.0;
            frame.x_title(&self.x, at);
        }
        frame.finish()
    }
}
