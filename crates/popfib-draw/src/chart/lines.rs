//! Lines: one value over another, for distributions and for series of sizes.

use std::fmt::Write;

use crate::svg::Number;

use super::axis::{Axis, Placed};
use super::frame::{Frame, Sign, dashes, line_class};

/// A chart of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// What the chart shows, in one line.
    pub title: String,
    /// A remark under the title: machine, table, number of values. May be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// Whether a value holds until the next point, as in the distribution of samples.
    pub steps: bool,
    /// Whether each point is marked; for lines through a few measurements.
    pub marks: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A line of this name.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        let name = name.into();
        Self { name, points }
    }
}

impl LineChart {
    /// Draws the chart. Linear in the number of points; the text is not: points that would
    /// fall onto one pixel are drawn once.
    pub fn to_svg(&self) -> String {
        let names: Vec<_> = self.series.iter().map(|s| s.name.as_str()).collect();
        let mut frame = Frame::new(&self.title, &self.note, &names, Sign::Line, 54.0);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = (frame.left, frame.right);
        let up = (frame.bottom, frame.top);
        let x = self.x.place(points().map(|point| point.0), false, across);
        let y = self.y.place(points().map(|point| point.1), true, up);
        frame.y_axis(&self.y.title, &y);
        frame.x_axis(&self.x.title, &x);
        // A picture of its own cuts off what is outside of the axes, but for half a line's width.
        let (left, top) = (frame.left - 2.0, frame.top - 2.0);
        let (width, height) = (frame.right - left + 2.0, frame.bottom - top + 2.0);
        frame.svg.begin(format_args!(
            "svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{left} {top} {width} {height}\""
        ));
        // The first series, which is the one that matters, lies on top.
        for (i, series) in self.series.iter().enumerate().rev() {
            let places = places(&series.points, &x, &y);
            frame.svg.element(format_args!(
                "path class=\"{}\" fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\"{} d=\"{}\"",
                line_class(i),
                dashes(i),
                path(&places, self.steps)
            ));
            if self.marks {
                for (x, y) in places {
                    frame.svg.element(format_args!(
                        "circle class=\"{} pf-ground\" stroke-width=\"2\" r=\"3\" cx=\"{}\" cy=\"{}\"",
                        line_class(i),
                        Number(x),
                        Number(y)
                    ));
                }
            }
        }
        frame.svg.end("svg");
        frame.finish()
    }
}

/// Where the points are that differ in the picture.
fn places(points: &[(f64, f64)], x: &Placed, y: &Placed) -> Vec<(f64, f64)> {
    let mut places: Vec<(f64, f64)> = Vec::new();
    let mut waiting = None;
    for point in points {
        let (Some(x), Some(y)) = (x.at(point.0), y.at(point.1)) else {
            continue;
        };
        // Far outside, where a renderer's numbers end.
        let place = (x.clamp(-1e5, 1e5), y.clamp(-1e5, 1e5));
        let is_new = places
            .last()
            .is_none_or(|last| (last.0 - place.0).abs() > 0.4 || (last.1 - place.1).abs() > 0.4);
        if is_new {
            places.push(place);
            waiting = None;
        } else {
            waiting = Some(place);
        }
    }
    // A line ends where its last point is.
    places.extend(waiting);
    places
}

/// The points joined.
fn path(places: &[(f64, f64)], steps: bool) -> String {
    let mut path = String::new();
    for (i, (x, y)) in places.iter().enumerate() {
        let (x, y) = (Number(*x), Number(*y));
        let written = match (i, steps) {
            (0, _) => write!(path, "M{x} {y}"),
            (_, true) => write!(path, "H{x}V{y}"),
            (_, false) => write!(path, "L{x} {y}"),
        };
        written.expect("a string takes everything");
    }
    // A single point is a dot.
    if let [_] = places {
        path.push_str("h0.1");
    }
    path
}
