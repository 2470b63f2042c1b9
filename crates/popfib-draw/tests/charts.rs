//! Charts are XML, show each value once, and survive values that no axis has a place for.

use popfib_draw::chart::{
    Axis, Bar, BarChart, Bars, BoxChart, Boxes, LineChart, Quartiles, Series,
};
use popfib_draw::{Theme, png};
use roxmltree::Document;

/// How many elements of a name and class the chart has.
#[track_caller]
fn count(svg: &str, name: &str, class: &str) -> usize {
    let document = Document::parse(svg).unwrap();
    let elements = document.descendants().filter(|node| {
        node.has_tag_name(("http://www.w3.org/2000/svg", name))
            && node
                .attribute("class")
                .is_some_and(|all| all.split(' ').any(|c| c == class))
    });
    elements.count()
}

#[track_caller]
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let nodes = document.descendants();
    let texts = nodes.filter(|node| node.tag_name().name() == "text");
    texts
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

#[test]
fn lines() {
    let chart = LineChart {
        title: "Cycles < & >".into(),
        note: "\"quoted\"".into(),
        x: Axis::log("cycles"),
        y: Axis::linear("share").between(0.0, 1.0),
        series: vec![
            Series::new(
                "a",
                (1..=20_000)
                    .map(|i| (f64::from(i), f64::from(i) / 2e4))
                    .collect(),
            ),
            Series::new(
                "b",
                vec![
                    (0.0, 0.5),
                    (-1.0, 0.5),
                    (f64::NAN, 1.0),
                    (f64::INFINITY, 1.0),
                ],
            ),
            Series::new("c", Vec::new()),
            Series::new("d", vec![(100.0, 0.5)]),
        ],
        ..LineChart::default()
    };
    let svg = chart.to_svg();
    assert!(
        svg.len() < 40_000,
        "points of one pixel are drawn once: {}",
        svg.len()
    );
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    // In the legend and in the plot.
    for i in 0..4 {
        assert_eq!(count(&svg, "path", &format!("pf-l{i}")), 2);
    }
    let texts = texts(&svg);
    for text in [
        "Cycles < & >",
        "\"quoted\"",
        "cycles",
        "share",
        "a",
        "d",
        "0.2",
        "100",
    ] {
        assert!(texts.iter().any(|t| t == text), "{text}: {texts:?}");
    }
    let steps = LineChart {
        steps: true,
        marks: true,
        ..chart
    }
    .to_svg();
    assert_eq!(count(&steps, "circle", "pf-l3"), 1);
    png(&steps, 1.0, Theme::Dark).unwrap();
}

#[test]
fn things_that_are_counted_have_no_fractions() {
    let chart = LineChart {
        x: Axis::linear("threads").of_whole_numbers(),
        series: vec![Series::new("a", vec![(1.0, 5.0), (2.0, 7.0)])],
        ..LineChart::default()
    };
    let texts = texts(&chart.to_svg());
    assert!(texts.iter().any(|text| text == "1") && texts.iter().any(|text| text == "2"));
    assert!(
        !texts.iter().any(|text| text.starts_with("1.")),
        "{texts:?}"
    );
}

#[test]
fn bars() {
    let chart = BarChart {
        title: "Rates".into(),
        y: Axis::linear("Mlps"),
        groups: ["radix", "a name that has to be turned to fit", "sail"]
            .map(String::from)
            .into(),
        series: (0..10)
            .map(|i| {
                let bar = Bar {
                    value: f64::from(i * 10),
                    error: Some(1.5),
                };
                Bars::new(format!("s{i}"), vec![Some(bar), Some(5.0.into()), None])
            })
            .collect(),
        ..BarChart::default()
    };
    let svg = chart.to_svg();
    // Two values and the legend, in eight colours for ten series.
    assert_eq!(count(&svg, "rect", "pf-f2"), 3);
    assert_eq!(count(&svg, "rect", "pf-f0"), 6);
    assert_eq!(count(&svg, "line", "pf-rule"), 30);
    // Those without a value have a mark instead.
    assert_eq!(texts(&svg).iter().filter(|t| *t == "\u{2013}").count(), 10);
    let log = BarChart {
        y: Axis::log("Mlps"),
        ..chart
    }
    .to_svg();
    // A logarithm has no place for the first series' 0.
    assert_eq!(texts(&log).iter().filter(|t| *t == "\u{2013}").count(), 11);
    Document::parse(&BarChart::default().to_svg()).unwrap();
}

#[test]
fn boxes() {
    let quartiles = |at: f64| Quartiles {
        low: at - 9.0,
        lower: at - 4.0,
        median: at,
        upper: at + 4.0,
        high: at + 20.0,
    };
    let chart = BoxChart {
        title: "Cycles by depth".into(),
        x: "depth".into(),
        y: Axis::linear("cycles"),
        groups: (0..25).map(|depth| (depth + 8).to_string()).collect(),
        series: vec![
            Boxes::new(
                "a",
                (0..25)
                    .map(|d| Some(quartiles(f64::from(d) + 20.0)))
                    .collect(),
            ),
            Boxes::new(
                "b",
                vec![None, Some(quartiles(f64::NAN)), Some(quartiles(30.0))],
            ),
        ],
        ..BoxChart::default()
    };
    let svg = chart.to_svg();
    assert_eq!(count(&svg, "rect", "pf-f0"), 26);
    assert_eq!(count(&svg, "rect", "pf-f1"), 2);
    assert!(!svg.contains("NaN"));
    let texts = texts(&svg);
    for depth in 8..33 {
        assert!(texts.iter().any(|t| *t == depth.to_string()), "{depth}");
    }
    Document::parse(&BoxChart::default().to_svg()).unwrap();
}
