//! What all charts share: title, legend, the frame with its axes.

use crate::svg::{Anchor, LABEL, SOFT, Svg, TITLE, width_of};
use crate::theme::COLOURS;

use super::axis::Placed;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
/// Of the part that data is drawn in.
const PLOT: f64 = 300.0;
const LEGEND_ROW: f64 = 20.0;

/// How the legend shows a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Line,
    Patch,
}

/// A chart that is being drawn: its title and legend are there, and the place for data is known.
pub(super) struct Frame {
    pub(super) svg: Svg,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// Begins a chart with room of `below` pixels under its data.
    pub(super) fn new(title: &str, note: &str, names: &[&str], sign: Sign, below: f64) -> Self {
        let legend = legend_places(names);
        let rows = legend.last().map_or(0, |&(row, _)| row + 1);
        let mut top = 40.0;
        if !note.is_empty() {
            top += 18.0;
        }
        let first_row = top + 8.0;
        top += rows as f64 * LEGEND_ROW + 16.0;
        let bottom = top + PLOT;
        let mut svg = Svg::new(WIDTH, bottom + below, title);
        svg.label((16.0, 28.0), Anchor::Start, TITLE, title);
        if !note.is_empty() {
            svg.label((16.0, 47.0), Anchor::Start, SOFT, note);
        }
        for (i, (name, (row, x))) in names.iter().zip(legend).enumerate() {
            let y = first_row + row as f64 * LEGEND_ROW;
            match sign {
                Sign::Line => svg.element(format_args!(
                    "path class=\"{}\" stroke-width=\"2.5\"{} d=\"M{x} {y}h22\"",
                    line_class(i),
                    dashes(i)
                )),
                Sign::Patch => {
                    svg.rect(&fill_class(i), (x, y - 6.0), (12.0, 12.0));
                    texture(&mut svg, i, (x, y - 6.0), (12.0, 12.0));
                }
            }
            let text = x + if sign == Sign::Line { 28.0 } else { 18.0 };
            svg.label((text, y + 4.5), Anchor::Start, LABEL, name);
        }
        Self {
            svg,
            left: LEFT,
            right: WIDTH - RIGHT,
            top,
            bottom,
        }
    }

    /// Draws the grid, the numbers and the title of the vertical axis.
    pub(super) fn y_axis(&mut self, title: &str, axis: &Placed) {
        for (y, number) in axis.ticks(6) {
            self.svg.line("pf-grid", (self.left, y), (self.right, y));
            self.svg
                .label((self.left - 8.0, y + 4.0), Anchor::End, SOFT, &number);
        }
        let middle = (self.top + self.bottom) / 2.0;
        self.svg
            .turned((18.0, middle), -90.0, Anchor::Middle, LABEL, title);
    }

    /// Draws the grid, the numbers and the title of the horizontal axis.
    pub(super) fn x_axis(&mut self, title: &str, axis: &Placed) {
        for (x, number) in axis.ticks(8) {
            self.svg.line("pf-grid", (x, self.top), (x, self.bottom));
            self.svg
                .label((x, self.bottom + 18.0), Anchor::Middle, SOFT, &number);
        }
        self.x_title(title, self.bottom + 40.0);
    }

    /// Writes the title of the horizontal axis at a height.
    pub(super) fn x_title(&mut self, title: &str, y: f64) {
        let middle = (self.left + self.right) / 2.0;
        self.svg.label((middle, y), Anchor::Middle, LABEL, title);
    }

    /// Draws the line that data stands on, and ends the chart.
    pub(super) fn finish(mut self) -> String {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        self.svg.line("pf-axis", (left, bottom), (right, bottom));
        self.svg.finish()
    }
}

/// Row and position of each name, as many in a row as there is room for.
fn legend_places(names: &[&str]) -> Vec<(usize, f64)> {
    let (mut row, mut x) = (0, 16.0);
    let mut places = Vec::with_capacity(names.len());
    // One nameless series needs no legend.
    if let [""] = names {
        return places;
    }
    for name in names {
        let width = 28.0 + width_of(name, 12.5) + 18.0;
        if x + width > WIDTH - 8.0 && x > 16.0 {
            (row, x) = (row + 1, 16.0);
        }
        places.push((row, x));
        x += width;
    }
    places
}

/// Names along the horizontal axis: turned if they would touch, and left out where even that
/// gives no room.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Names {
    turned: bool,
    every: usize,
    /// Room below the data, without the axis's title.
    pub(super) height: f64,
}

impl Names {
    pub(super) fn new<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let slot = (WIDTH - LEFT - RIGHT) / names.len().max(1) as f64;
        let count = names.len();
        let widest = names.map(|name| width_of(name, 12.0)).fold(0.0, f64::max);
        let numbers = widest < 22.0;
        if numbers || widest + 8.0 <= slot {
            let every = ((widest + 8.0) / slot).ceil().max(1.0) as usize;
            Self {
                turned: false,
                every,
                height: 26.0,
            }
        } else {
            let every = (14.0 / slot).ceil().max(1.0) as usize;
            debug_assert!(every <= count.max(1));
            Self {
                turned: true,
                every,
                height: 20.0 + 0.6 * widest.min(200.0),
            }
        }
    }

    /// Writes name `i` below the position `x`.
    pub(super) fn write(&self, frame: &mut Frame, i: usize, x: f64, name: &str) {
        if !i.is_multiple_of(self.every) {
            return;
        }
        if self.turned {
            let at = (x + 4.0, frame.bottom + 14.0);
            frame.svg.turned(at, -36.0, Anchor::End, SOFT, name);
        } else {
            let at = (x, frame.bottom + 18.0);
            frame.svg.label(at, Anchor::Middle, SOFT, name);
        }
    }
}

/// The class that fills in the colour of series `i`.
pub(super) fn fill_class(i: usize) -> String {
    format!("pf-f{}", i % COLOURS)
}

/// The class that draws lines in the colour of series `i`.
pub(super) fn line_class(i: usize) -> String {
    format!("pf-l{}", i % COLOURS)
}

/// The attribute that tells series of one colour apart.
pub(super) fn dashes(i: usize) -> &'static str {
    match i / COLOURS % 3 {
        0 => "",
        1 => " stroke-dasharray=\"7 4\"",
        _ => " stroke-dasharray=\"2 3\"",
    }
}

/// Stripes over a filled place, which tell series of one colour apart.
pub(super) fn texture(svg: &mut Svg, i: usize, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let stripes = i / COLOURS;
    if stripes == 0 || height < 2.0 || width < 2.0 {
        return;
    }
    let step = if stripes == 1 { 5.0 } else { 3.0 };
    let count = (height / step) as usize;
    for stripe in 0..count {
        let y = y + (stripe as f64 + 0.5) * step;
        svg.rect("pf-ground", (x, y), (width, 1.2_f64.min(step)));
    }
}
