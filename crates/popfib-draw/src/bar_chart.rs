//! Figures in, a chart of horizontal bars out. Its axis is linear and begins at 0, so a bar of twice the length is twice as much. The names
//! of the bars stand to the left of them, and no colour has to be told from another.

use crate::svg::{
    Anchor, Coordinate, HEADING, LABEL, LABEL_SIZE, MARGIN, SOFT, SOFT_SIZE, Svg, fitted, grouped,
    width_of,
};

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// A lower and an upper value, drawn as a line with caps across the bar's end.
    pub spread: Option<(f64, f64)>,
    /// The figure as text.
    pub label: String,
}

/// One of the things that are compared. It has a bar in each panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarRow {
    /// The name.
    pub name: String,
    /// Whether its bars have the strong colour.
    pub is_strong: bool,
}

/// The bars of all rows under one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarPanel {
    /// The name; may be empty if there is one panel.
    pub name: String,
    /// One for each row; `None` if it has no figure.
    pub bars: Vec<Option<Bar>>,
}

/// What a chart of bars shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart<'a> {
    /// The title.
    pub title: &'a str,
    /// A line below it.
    pub note: &'a str,
    /// What the axis shows.
    pub unit: &'a str,
    /// What is compared.
    pub rows: Vec<BarRow>,
    /// Groups of bars, all with one scale; at most three are side by side.
    pub panels: Vec<BarPanel>,
}

/// Width of the picture, in units of the SVG.
const WIDTH: f64 = 900.0;
const TOP: f64 = 72.0;
/// Between panels, and between a bar and its label.
const GAP: f64 = 22.0;
const ROW: f64 = 22.0;
const BAR: f64 = 14.0;
/// Of the name above a panel, and of the axis below one.
const HEAD: f64 = 26.0;
const AXIS: f64 = 54.0;
const ACROSS: usize = 3;
/// Of the names of rows, at most.
const NAMES: f64 = 300.0;

/// Draws bars. A value that is no number or less than 0 is shown as its label alone.
pub fn bar_chart(what: &BarChart<'_>) -> String {
    let names = what.rows.iter().map(|row| width_of(&row.name, LABEL_SIZE));
    let names = names.fold(0.0, f64::max).min(NAMES);
    let across = what.panels.len().clamp(1, ACROSS);
    let left = MARGIN + names + 10.0;
    let width = (WIDTH - MARGIN - left + GAP) / across as f64 - GAP;
    let all = || what.panels.iter().flat_map(|panel| &panel.bars).flatten();
    let labels = all().map(|bar| width_of(&bar.label, SOFT_SIZE));
    let room = width - 6.0 - labels.fold(0.0, f64::max);
    let most = all().flat_map(|bar| [bar.value, bar.spread.map_or(0.0, |(_, high)| high)]);
    let most = most.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let step = step(most, room);
    let scale = match most {
        0.0 => 0.0,
        most => room.max(20.0) / most,
    };

    let head = if what.panels.iter().any(|panel| !panel.name.is_empty()) {
        HEAD
    } else {
        0.0
    };
    let rows = what.rows.len() as f64 * ROW;
    let line = head + rows + AXIS;
    let lines = what.panels.len().div_ceil(across);
    let height = TOP + line * lines as f64 - 8.0;
    let mut svg = Svg::new(WIDTH, height, what.title, what.note);
    for (at, panel) in what.panels.iter().enumerate() {
        let x = left + (at % across) as f64 * (width + GAP);
        let y = TOP + (at / across) as f64 * line;
        svg.label(
            (x, y + 14.0),
            Anchor::Start,
            HEADING,
            &fitted(&panel.name, LABEL_SIZE, width),
        );
        let (top, bottom) = (y + head, y + head + rows);
        for tick in 0.. {
            let value = f64::from(tick) * step;
            if value > most && tick > 0 {
                break;
            }
            let at = x + value * scale;
            svg.line(
                if tick == 0 { "pf-axis" } else { "pf-grid" },
                (at, top),
                (at, bottom + 4.0),
            );
            svg.label(
                (at, bottom + 18.0),
                Anchor::Middle,
                SOFT,
                &tick_text(value, step),
            );
            if step == 0.0 {
                break;
            }
        }
        // Once a line of panels: it is the same for all of them.
        if at % across == 0 {
            let unit = fitted(what.unit, SOFT_SIZE, WIDTH - MARGIN - x);
            svg.label((x, bottom + 34.0), Anchor::Start, SOFT, &unit);
        }
        for (row, (named, bar)) in what.rows.iter().zip(&panel.bars).enumerate() {
            let y = top + row as f64 * ROW;
            if at % across == 0 {
                let name = fitted(&named.name, LABEL_SIZE, NAMES);
                svg.label((left - 10.0, y + 15.0), Anchor::End, LABEL, &name);
            }
            let style = if named.is_strong {
                "class=\"pf-strong\""
            } else {
                "class=\"pf-weak\""
            };
            draw(&mut svg, style, bar.as_ref(), (x, y), scale);
        }
    }
    svg.finish()
}

/// Draws a bar from `x` on, in the row below `y`.
fn draw(svg: &mut Svg, style: &str, bar: Option<&Bar>, (x, y): (f64, f64), scale: f64) {
    let Some(bar) = bar else {
        svg.label((x + 6.0, y + 15.0), Anchor::Start, SOFT, "\u{2013}");
        return;
    };
    let length = |value: f64| {
        if value > 0.0 && value.is_finite() {
            value * scale
        } else {
            0.0
        }
    };
    svg.rect(style, (x, y + (ROW - BAR) / 2.0), (length(bar.value), BAR));
    let mut end = x + length(bar.value);
    if let Some((low, high)) = bar.spread {
        let (low, high) = (x + length(low), x + length(high));
        let (middle, cap) = (y + ROW / 2.0, 3.0);
        svg.element(format_args!(
            "path class=\"pf-rule\" fill=\"none\" d=\"M{} {middle}H{}m0 -{cap}v6M{} {}v6\"",
            Coordinate(low),
            Coordinate(high),
            Coordinate(low),
            Coordinate(middle - cap),
        ));
        end = end.max(high);
    }
    svg.label((end + 6.0, y + 15.0), Anchor::Start, SOFT, &bar.label);
}

/// The distance between ticks: 1, 2 or 5 times a power of ten, so that the ticks up to `most` fit into `room`; 0 if `most` is 0.
fn step(most: f64, room: f64) -> f64 {
    if most <= 0.0 {
        return 0.0;
    }
    let mut step = 10f64.powf((most / 10.0).log10().floor());
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        let ticks = (most / step).floor();
        let widest = width_of(&tick_text(ticks * step, step), SOFT_SIZE) + 14.0;
        if ticks <= 6.0 && ticks * widest <= room || ticks <= 1.0 {
            break;
        }
        step *= factor;
    }
    step
}

/// A value on the axis, with as many decimals as the step has.
fn tick_text(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0);
    match decimals as usize {
        _ if step == 0.0 => "0".to_owned(),
        0 => grouped(value.round() as u64),
        decimals => format!("{value:.decimals$}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_fit() {
        for (most, room, expected) in [
            (557.0, 500.0, 100.0),
            (557.0, 60.0, 500.0),
            (0.37, 500.0, 0.1),
            (1.0, 500.0, 0.2),
            (7.0, 500.0, 2.0),
            (18_446_744_073_709_551_615.0, 300.0, 1e19),
            (0.0, 300.0, 0.0),
            (3.0, -5.0, 2.0),
        ] {
            let step = step(most, room);
            assert!(
                (step / expected - 1.0).abs() < 1e-9 || step == expected,
                "{most}: {step}"
            );
        }
        assert_eq!(tick_text(1e19, 1e19), "10,000,000,000,000,000,000");
        assert_eq!(tick_text(0.30000000000000004, 0.1), "0.3");
        assert_eq!(tick_text(2000.0, 500.0), "2,000");
    }

    fn picture(values: &[f64]) -> String {
        let bar = |value: &f64| {
            Some(Bar {
                value: *value,
                spread: None,
                label: format!("{value}"),
            })
        };
        let row = |name: usize| BarRow {
            name: format!("row <{name}>"),
            is_strong: name == 0,
        };
        bar_chart(&BarChart {
            title: "A & B",
            note: "",
            unit: "things",
            rows: (0..values.len()).map(row).collect(),
            panels: vec![BarPanel {
                name: String::new(),
                bars: values.iter().map(bar).collect(),
            }],
        })
    }

    fn lengths(svg: &str) -> Vec<f64> {
        let document = roxmltree::Document::parse(svg).unwrap();
        let is_bar = |class: Option<&str>| matches!(class, Some("pf-strong" | "pf-weak"));
        let bars = document
            .descendants()
            .filter(|node| is_bar(node.attribute("class")));
        bars.map(|node| node.attribute("width").unwrap().parse().unwrap())
            .collect()
    }

    #[test]
    fn lengths_are_in_proportion_from_zero() {
        let lengths_of = |values: &[f64]| lengths(&picture(values));
        let found = lengths_of(&[400.0, 200.0, 100.0, 1.0, 0.0]);
        assert!(found[0] > 300.0);
        for (length, value) in found.iter().zip([400.0, 200.0, 100.0, 1.0, 0.0]) {
            assert!(
                (length / found[0] - value / 400.0).abs() < 1e-3,
                "{found:?}"
            );
        }
        assert_eq!(lengths_of(&[0.0, 0.0]), [0.0, 0.0]);
        let odd = lengths_of(&[f64::NAN, f64::INFINITY, -1.0, 2.0]);
        assert_eq!(odd[..3], [0.0; 3]);
        assert!(odd[3] > 300.0);
        assert!(lengths(&bar_chart(&BarChart::default())).is_empty());
    }
}
