//! Charts in one style: rates as bars, drawn by popfib-draw, or lines; boxes of percentiles, and distributions, drawn by charts-rs.
//!
//! charts-rs writes colours as attributes. A style sheet inside each picture
//! exchanges them for a reader who prefers dark; what draws pixels ignores it.

use std::sync::Once;

use charts_rs::{
    BarChart, BoxPlotChart, BoxPlotSeries, Chart, ChartBase, LegendCategory, LineChart, LineStep,
    Series, SeriesBand, SeriesCategory, Symbol, TextConfig, YAxisConfig, add_theme,
    measure_text_width_family, svg_with_accessibility,
};
use popfib_draw::{Bar, BarPanel, BarRow, SERIES_COLOURS};

use super::format::short;
use crate::experiments::Figures;

/// More bars than these are too thin, and become lines.
const MOST_BARS: usize = 100;

/// What is written around the data.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) x: &'static str,
    pub(super) y: &'static str,
}

impl Words {
    /// Those of a chart of rates, by [`bars`] or [`lines`].
    pub(super) fn of_rates(title: String, runs: usize) -> Self {
        Self {
            title,
            note: format!("median and quartiles of {runs} passes"),
            x: "",
            y: "million lookups a second",
        }
    }
}

/// A name in the legend, and what is drawn for it in each place; a name for a single series may be empty.
pub(super) type Named<T> = (String, Vec<T>);

/// Median and quartiles, if there are any.
fn spread(figures: &Figures) -> Option<[f64; 3]> {
    let (low, high) = figures.quartiles();
    let spread = [low, figures.median(), high];
    spread
        .iter()
        .all(|value| value.is_finite())
        .then_some(spread)
}

/// Medians and quartiles as bars: in each place of a name one of each series, or none. A single series without a name has all its
/// bars one below the other. More bars than are seen at once become lines.
pub(super) fn bars(
    words: &Words,
    names: Vec<String>,
    series: Vec<Named<Option<&Figures>>>,
) -> String {
    if names.len() * series.len() > MOST_BARS {
        return lines(words, names, series);
    }
    let bar = |figures: &Figures| {
        let [low, median, high] = spread(figures)?;
        Some(Bar {
            value: median,
            spread: Some((low, high)),
            label: short(median),
        })
    };
    let row = |name: &String| BarRow {
        name: name.clone(),
        is_strong: name.starts_with("Poptrie") || name.starts_with("popfib"),
    };
    let (rows, panels) = match &series[..] {
        [(name, figures)] if name.is_empty() => {
            let bars = figures.iter().map(|figures| bar((*figures)?));
            let panel = BarPanel {
                name: String::new(),
                bars: bars.collect(),
            };
            (names.iter().map(row).collect(), vec![panel])
        }
        _ => {
            let panel = |(place, name): (usize, &String)| BarPanel {
                name: name.clone(),
                bars: series
                    .iter()
                    .map(|(_, figures)| bar(figures[place]?))
                    .collect(),
            };
            let rows = series.iter().map(|(name, _)| row(name)).collect();
            (rows, names.iter().enumerate().map(panel).collect())
        }
    };
    popfib_draw::bar_chart(&popfib_draw::BarChart {
        title: &words.title,
        note: &words.note,
        unit: words.y,
        rows,
        panels,
    })
}

/// Medians and quartiles as lines: in each place of a name one of each series, or none.
pub(super) fn lines(
    words: &Words,
    names: Vec<String>,
    series: Vec<Named<Option<&Figures>>>,
) -> String {
    let list = series.into_iter().map(|(name, figures)| {
        let spreads = figures.into_iter().map(|figures| spread(figures?));
        let spreads: Vec<_> = spreads.collect();
        let at = |i: usize| {
            spreads
                .iter()
                .map(|all| all.map(|all| all[i] as f32))
                .collect()
        };
        Series {
            category: Some(SeriesCategory::Line),
            error_bar: Some(SeriesBand {
                lower: at(0),
                upper: at(2),
                stroke_width: Some(1.0),
            }),
            ..Series::new_nullable(name, at(1))
        }
    });
    let mut chart = BarChart::new_with_theme(list.collect(), names, style());
    label(&mut chart.base, &mut chart.y_axis_configs[0], words);
    slant(&mut chart.base);
    finish(&chart, words)
}

/// Distributions: the shares of all that each value up to `end` reaches.
pub(super) fn shares(words: &Words, end: f64, series: Vec<Named<(f64, f64)>>) -> String {
    let list = series.into_iter().map(|(name, mut points)| {
        points.retain(|(x, _)| *x <= end);
        // A line ends at the axis, as high as it is there.
        let last = points.last().map(|(_, share)| (end, *share));
        // Steps of less than a pixel are not seen.
        points.dedup_by(|next, kept| next.0 - kept.0 < end / 760.0);
        points.extend(last);
        let shares = points.iter().map(|(_, share)| *share as f32);
        Series {
            x_values: Some(points.iter().map(|(x, _)| *x).collect()),
            step: Some(LineStep::End),
            symbol: Some(Symbol::None),
            ..Series::new(name, shares.collect())
        }
    });
    let mut chart = LineChart::new_with_theme(list.collect(), Vec::new(), style());
    (chart.x_axis.min, chart.x_axis.max) = (Some(0.0), Some(end));
    let y = &mut chart.y_axis_configs[0];
    (y.min, y.max, y.split_number) = (Some(0.0), Some(1.0), 5);
    label(&mut chart.base, y, words);
    finish(&chart, words)
}

/// Boxes between quartiles with the median, and whiskers: all five in order, in each of `groups`
/// one of each series.
pub(super) fn boxes(words: &Words, groups: Vec<String>, series: Vec<Named<[f64; 5]>>) -> String {
    let list = series.into_iter().map(|(name, boxes)| BoxPlotSeries {
        name,
        data: boxes
            .into_iter()
            .map(|five| five.map(|value| value as f32))
            .collect(),
        ..BoxPlotSeries::default()
    });
    let mut chart = BoxPlotChart::new_with_theme(list.collect(), groups, style());
    label(&mut chart.base, &mut chart.y_axis_configs[0], words);
    chart.legend.category = LegendCategory::Rect;
    chart.series.stroke_width = 1.0;
    finish(&chart, words)
}

/// The name of the style that all charts have.
fn style() -> &'static str {
    const NAME: &str = "popfib";
    static ADDED: Once = Once::new();
    ADDED.call_once(|| {
        let style = serde_json::from_str(include_str!("chart.json"));
        let mut style: serde_json::Value = style.expect("the file is of this crate");
        style["series"]["colors"] = SERIES_COLOURS[0].as_slice().into();
        let style = serde_json::from_value(style);
        add_theme(NAME, style.expect("the file is of this crate"));
    });
    NAME
}

fn label(base: &mut ChartBase, y: &mut YAxisConfig, words: &Words) {
    base.title.text.clone_from(&words.title);
    base.sub_title.text.clone_from(&words.note);
    base.x_axis.title = words.x.into();
    y.title = Some(words.y.into());
    // One nameless series needs no legend.
    base.legend.show = Some(base.series_list.iter().any(|line| !line.name.is_empty()));
}

/// Slants names that would touch each other: the library would leave most of them out.
fn slant(base: &mut ChartBase) {
    let left = base.grid.left.unwrap_or_default();
    let slot = (base.width - left - base.margin.right) / base.x_axis.data.len().max(1) as f32;
    let widths = base.x_axis.data.iter().map(|name| {
        let size = measure_text_width_family(&base.font_family, base.x_axis.font.size, name);
        size.map_or(0.0, |size| size.width())
    });
    let widest = widths.fold(0.0, f32::max);
    if widest + 8.0 <= slot {
        return;
    }
    base.x_axis.height = 16.0 + 0.8 * widest;
    let top = base.height - base.margin.bottom - base.x_axis.height + 4.0;
    for (i, name) in base.x_axis.data.iter_mut().enumerate() {
        base.texts.push(TextConfig {
            text: std::mem::take(name),
            right: Some(base.width - left - (i as f32 + 0.5) * slot),
            top: Some(top),
            rotate: -50.0,
            font: base.x_axis.font.clone(),
            ..TextConfig::default()
        });
    }
}

/// The picture, with a name for those who cannot see it, and with the colours of a dark ground.
fn finish(chart: &impl Chart, words: &Words) -> String {
    let svg = chart.svg().expect("its font is there");
    let svg = svg_with_accessibility(&svg, &words.title, &words.note);
    let mut style = include_str!("chart.css").trim_end().to_owned();
    for (light, dark) in SERIES_COLOURS[0].iter().zip(SERIES_COLOURS[1]) {
        // As the library writes it.
        let light = light.to_uppercase();
        style +=
            &format!("\n[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}");
    }
    svg.replacen('>', &format!("><style>{style}\n}}\n</style>"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib_draw::Theme;
    use roxmltree::{Document, Node};

    fn words() -> Words {
        Words {
            title: "Cycles < & >".into(),
            note: "\"quoted\"".into(),
            x: "places",
            y: "ticks",
        }
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|i| format!("name <{i}>")).collect()
    }

    fn spread(value: f64) -> Figures {
        Figures(vec![0.8 * value, value, 1.1 * value])
    }

    /// How many elements of the chart are `wanted`, which every chart's numbers and colours must allow to ask.
    #[track_caller]
    fn count(svg: &str, wanted: impl Fn(&Node) -> bool) -> usize {
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let document = Document::parse(svg).unwrap();
        document.descendants().filter(wanted).count()
    }

    fn is_value(node: &Node) -> bool {
        node.has_tag_name(("http://www.w3.org/2000/svg", "rect"))
            && node.has_attribute("data-series")
    }

    /// A bar of popfib-draw.
    fn is_bar(node: &Node) -> bool {
        matches!(node.attribute("class"), Some("pf-strong" | "pf-weak"))
    }

    fn is_whisker(node: &Node) -> bool {
        node.tag_name().name() == "path" && node.attribute("class") == Some("pf-rule")
    }

    #[track_caller]
    fn texts(svg: &str, wanted: &str) -> usize {
        count(svg, |node| {
            node.tag_name().name() == "text" && node.text().map(str::trim) == Some(wanted)
        })
    }

    #[test]
    fn bars_show_each_value_once() {
        let (some, flat) = (spread(90.0), Figures(vec![5.0; 3]));
        let none = Figures(vec![f64::NAN]);
        let series = || {
            let series = names(10).into_iter();
            let marks = vec![Some(&some), Some(&flat), None, Some(&none)];
            series.map(move |name| (name, marks.clone())).collect()
        };
        let svg = bars(&words(), names(4), series());
        assert_eq!((count(&svg, is_bar), count(&svg, is_whisker)), (20, 20));
        for text in ["Cycles < & >", "\"quoted\""] {
            assert_eq!(texts(&svg, text), 1, "{text}");
        }
        assert_eq!(texts(&svg, "ticks"), 2);
        // Above their panels, and before each line of panels.
        assert_eq!((texts(&svg, "name <3>"), texts(&svg, "name <9>")), (3, 2));
        assert_eq!(texts(&svg, "90.00"), 10);
        // Of a single series each bar has the name.
        let single = vec![(String::new(), vec![Some(&some), None, Some(&flat)])];
        let svg = bars(&words(), names(3), single);
        assert_eq!((count(&svg, is_bar), texts(&svg, "name <2>")), (2, 1));
        for drawn in [bars, lines] {
            Document::parse(&drawn(&words(), Vec::new(), Vec::new())).unwrap();
            let none = vec![("a".into(), vec![None])];
            Document::parse(&drawn(&words(), names(1), none)).unwrap();
        }
    }

    #[test]
    fn names_that_would_touch_are_slanted_and_all_there() {
        let all: Vec<Figures> = (1..=17).map(|i| spread(f64::from(i))).collect();
        let series = || vec![(String::new(), all.iter().map(Some).collect())];
        let long: Vec<String> = (0..17).map(|i| format!("Tree BitMap {i}")).collect();
        let svg = lines(&words(), long.clone(), series());
        assert!(long.iter().all(|name| texts(&svg, name) == 1));
        assert!(svg.contains("rotate(-50 "));
        let short: Vec<String> = (1..=17).map(|i| i.to_string()).collect();
        let svg = lines(&words(), short, series());
        assert!(!svg.contains("rotate(-50 "));
    }

    #[test]
    fn bars_that_would_be_too_thin_are_lines() {
        let one = spread(1.0);
        let series = |places: usize| vec![(String::from("a"), vec![Some(&one); places])];
        let drawn = |places| bars(&words(), names(places), series(places));
        assert_eq!(count(&drawn(MOST_BARS), is_bar), MOST_BARS);
        assert_eq!(count(&drawn(MOST_BARS + 1), is_bar), 0);
    }

    #[test]
    fn a_line_has_a_gap_where_there_is_no_value() {
        let all: Vec<Figures> = (1..=5).map(|i| spread(f64::from(i))).collect();
        let mut line: Vec<Option<&Figures>> = all.iter().map(Some).collect();
        let drawn = |line: Vec<_>| lines(&words(), names(5), vec![("a".into(), line)]);
        let is_path = |node: &Node| node.tag_name().name() == "path";
        let whole = count(&drawn(line.clone()), is_path);
        line[2] = None;
        assert_eq!(count(&drawn(line), is_path), whole + 1);
    }

    #[test]
    fn distributions_end_at_the_axis_and_stay_small() {
        let points =
            |last: u32| (1..=last).map(move |x| (f64::from(x), f64::from(x) / f64::from(last)));
        let series = vec![
            ("a".to_owned(), points(4_000).collect()),
            ("b".to_owned(), Vec::new()),
            ("c".to_owned(), vec![(9_000.0, 1.0)]),
            ("d".to_owned(), points(10).collect()),
        ];
        let svg = shares(&words(), 2_000.0, series);
        assert!(svg.len() < 40_000, "{}", svg.len());
        let is_line = |node: &Node| node.tag_name().name() == "path";
        assert_eq!(count(&svg, is_line), 2);
        for tick in ["0.2", "1", "0.2k", "2k"] {
            assert_eq!(texts(&svg, tick), 1, "{tick}");
        }
        Document::parse(&shares(&words(), 10.0, Vec::new())).unwrap();
    }

    #[test]
    fn boxes_show_each_depth_once() {
        let five = |at: usize| [9, 14, 18, 22, 38].map(|more| 30.0 * (at + more) as f64);
        let depths: Vec<String> = (8..33).map(|depth| depth.to_string()).collect();
        let series = names(4)
            .into_iter()
            .map(|name| (name, (0..25).map(five).collect()));
        let svg = boxes(&words(), depths.clone(), series.collect());
        assert_eq!(count(&svg, is_value), 100);
        assert!(depths.iter().all(|depth| texts(&svg, depth) == 1));
        // Ticks of 1,280 and 1,600 are no "1.3k" and "1.6k".
        let is_rounded = |node: &Node| node.text().is_some_and(|text| text.trim().ends_with('k'));
        assert_eq!(count(&svg, is_rounded), 0);
        Document::parse(&boxes(&words(), Vec::new(), Vec::new())).unwrap();
    }

    #[test]
    fn every_colour_has_one_for_dark_ground() {
        let value = spread(1.0);
        let series = names(8).into_iter().map(|name| (name, vec![Some(&value)]));
        let svg = lines(&words(), names(1), series.collect());
        let document = Document::parse(&svg).unwrap();
        let nodes = document.descendants();
        let colours = nodes.flat_map(|node| [node.attribute("fill"), node.attribute("stroke")]);
        for colour in colours.flatten().filter(|colour| *colour != "none") {
            assert!(
                svg.contains(&format!("[fill=\"{colour}\"]{{fill:#")),
                "{colour}"
            );
        }
        // The same rules, as a reader who prefers dark has them.
        let dark = svg.replacen("@media (prefers-color-scheme:dark){", "", 1);
        let dark = dark.replacen("}\n</style>", "</style>", 1);
        let picture = |svg: &str| crate::png(svg, 1.0, Theme::Light).unwrap();
        let ground = |png: &[u8]| {
            let mut reader = png::Decoder::new(std::io::Cursor::new(png))
                .read_info()
                .unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            [pixels[0], pixels[1], pixels[2]]
        };
        assert_eq!(ground(&picture(&svg)), [255; 3]);
        assert_eq!(ground(&picture(&dark)), [0x12, 0x16, 0x1b]);
    }
}
