//! Boxes: the quartiles of values in groups, such as cycles at each depth.

use super::axis::Axis;
use super::frame::{Frame, Names, Sign, fill_class, line_class};

/// A chart of quartiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxChart {
    /// What the chart shows, in one line.
    pub title: String,
    /// A remark under the title: what the whiskers are, among others. May be empty.
    pub note: String,
    /// What the groups are.
    pub x: String,
    /// The vertical axis.
    pub y: Axis,
    /// The names of the groups, from left to right: depths.
    pub groups: Vec<String>,
    /// The boxes of each group, in the order of the legend.
    pub series: Vec<Boxes>,
}

/// The boxes of one series, one in each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// Its name in the legend; a single series may do without.
    pub name: String,
    /// Its box in each group; `None` where there are no values.
    pub boxes: Vec<Option<Quartiles>>,
}

impl Boxes {
    /// Boxes of this name.
    pub fn new(name: impl Into<String>, boxes: Vec<Option<Quartiles>>) -> Self {
        let name = name.into();
        Self { name, boxes }
    }
}

/// A box with its whiskers, from the lowest number to the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// Where the lower whisker ends: the 5th percentile, say.
    pub low: f64,
    /// The first quartile.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub upper: f64,
    /// Where the upper whisker ends.
    pub high: f64,
}

impl BoxChart {
    /// Draws the chart. Linear in the number of boxes.
    pub fn to_svg(&self) -> String {
        let series: Vec<_> = self.series.iter().map(|s| s.name.as_str()).collect();
        let names = Names::new(self.groups.iter().map(String::as_str));
        let below = names.height + if self.x.is_empty() { 8.0 } else { 30.0 };
        let mut frame = Frame::new(&self.title, &self.note, &series, Sign::Patch, below);
        let boxes = || self.series.iter().flat_map(|s| s.boxes.iter().flatten());
        let ends = boxes().flat_map(|b| [b.low, b.lower, b.median, b.upper, b.high]);
        let y = self.y.place(ends, true, (frame.bottom, frame.top));
        frame.y_axis(&self.y.title, &y);
        let slot = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let width = (0.84 * slot / self.series.len().max(1) as f64).min(40.0);
        for (g, name) in self.groups.iter().enumerate() {
            let middle = frame.left + (g as f64 + 0.5) * slot;
            let first = middle - width * self.series.len() as f64 / 2.0;
            for (s, series) in self.series.iter().enumerate() {
                let Some(quartiles) = series.boxes.get(g).copied().flatten() else {
                    continue;
                };
                let Quartiles {
                    low,
                    lower,
                    median,
                    upper,
                    high,
                } = quartiles;
                let places = [low, lower, median, upper, high].map(|value| y.within(value));
                let [
                    Some(low),
                    Some(lower),
                    Some(median),
                    Some(upper),
                    Some(high),
                ] = places
                else {
                    continue;
                };
                let left = first + s as f64 * width + 0.08 * width;
                let size = (0.84 * width, (lower - upper).max(1.0));
                let x = left + size.0 / 2.0;
                let svg = &mut frame.svg;
                svg.line(&line_class(s), (x, low), (x, lower));
                svg.line(&line_class(s), (x, upper), (x, high));
                for end in [low, high] {
                    svg.line(
                        &line_class(s),
                        (x - size.0 / 4.0, end),
                        (x + size.0 / 4.0, end),
                    );
                }
                svg.rect(&fill_class(s), (left, upper), size);
                // The median is a gap in the box, visible in any colour.
                svg.rect("pf-ground", (left, median - 0.8), (size.0, 1.6));
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
