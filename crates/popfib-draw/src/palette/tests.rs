//! How different colours look: CIEDE2000 between them, as they are and as people with protanopia and deuteranopia see them (Machado,
//! Oliveira and Fernandes 2009, severity 1); contrast by WCAG 2.

use super::*;
use crate::theme::GROUND;

type Vector = [f64; 3];
type Matrix = [Vector; 3];

/// As all see, protanopia, deuteranopia.
const VISIONS: [Matrix; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
];

/// From linear sRGB to CIE XYZ, white D65.
const TO_XYZ: Matrix = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
];
const WHITE: Vector = [0.95047, 1.0, 1.08883];

fn times(matrix: &Matrix, vector: Vector) -> Vector {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

fn linear(colour: Rgb) -> Vector {
    colour.map(|part| match f64::from(part) / 255.0 {
        part if part <= 0.04045 => part / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    })
}

fn lab(linear: Vector) -> Vector {
    let xyz = times(&TO_XYZ, linear);
    let f = |i: usize| match xyz[i] / WHITE[i] {
        part if part > 216.0 / 24389.0 => part.cbrt(),
        part => (24389.0 / 27.0 * part + 16.0) / 116.0,
    };
    [
        116.0 * f(1) - 16.0,
        500.0 * (f(0) - f(1)),
        200.0 * (f(1) - f(2)),
    ]
}

/// CIEDE2000, by the names and equations of Sharma, Wu and Dalal (2005).
fn ciede2000([l1, a1, b1]: Vector, [l2, a2, b2]: Vector) -> f64 {
    let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25f64.powi(7))).sqrt();
    let g = 0.5 * (1.0 - seventh((a1.hypot(b1) + a2.hypot(b2)) / 2.0));
    let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue = |a: f64, b: f64| b.atan2(a).to_degrees().rem_euclid(360.0);
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let is_grey = c1 * c2 == 0.0;
    let turn = match h2 - h1 {
        _ if is_grey => 0.0,
        turn if turn > 180.0 => turn - 360.0,
        turn if turn < -180.0 => turn + 360.0,
        turn => turn,
    };
    let (dl, dc) = (l2 - l1, c2 - c1);
    let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
    let (l, c) = ((l1 + l2) / 2.0, (c1 + c2) / 2.0);
    let h = match h1 + h2 {
        sum if is_grey => sum,
        sum if (h1 - h2).abs() <= 180.0 => sum / 2.0,
        sum if sum < 360.0 => (sum + 360.0) / 2.0,
        sum => (sum - 360.0) / 2.0,
    };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.20 * cos(4.0 * h - 63.0);
    let rotation = 30.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
    let rt = -(2.0 * rotation).to_radians().sin() * 2.0 * seventh(c);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let (dl, dc, dh) = (dl / sl, dc / sc, dh / sh);
    (dl * dl + dc * dc + dh * dh + rt * dc * dh).sqrt()
}

/// How different two colours are at least, for whichever of the three looks.
fn difference(a: Rgb, b: Rgb) -> f64 {
    let seen = |colour, vision: &Matrix| {
        let seen = times(vision, linear(colour));
        lab(seen.map(|part| part.clamp(0.0, 1.0)))
    };
    let differences = VISIONS
        .iter()
        .map(|vision| ciede2000(seen(a, vision), seen(b, vision)));
    differences.fold(f64::MAX, f64::min)
}

/// Contrast by WCAG 2: 1 for equal colours, 21 for black and white.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let [a, b] = [a, b].map(|colour| times(&TO_XYZ, linear(colour))[1] + 0.05);
    a.max(b) / a.min(b)
}

fn rgb(hex: &str) -> Rgb {
    let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    [part(1), part(3), part(5)]
}

/// What is seen of a colour that lets the ground through.
fn over([red, green, blue, opacity]: Colour, ground: Rgb) -> Rgb {
    let share = f64::from(opacity) / 255.0;
    let mix = |i: usize, part: u8| {
        (share * f64::from(part) + (1.0 - share) * f64::from(ground[i])).round() as u8
    };
    [mix(0, red), mix(1, green), mix(2, blue)]
}

#[track_caller]
fn assert_apart(names: &str, a: Rgb, b: Rgb, least: f64) {
    let found = difference(a, b);
    assert!(
        found >= least,
        "{names}: {} and {}: {found:.1}",
        hex(a),
        hex(b)
    );
}

#[track_caller]
fn assert_all_apart(names: &str, colours: &[Rgb], least: f64) {
    for (i, a) in colours.iter().enumerate() {
        for b in &colours[..i] {
            assert_apart(names, *a, *b, least);
        }
    }
}

fn grounds() -> [Rgb; 2] {
    GROUND.map(|colours| rgb(colours[0]))
}

#[test]
fn the_measure_gives_the_published_figures() {
    // Pairs 1, 7, 17, 19 and 25 of the test data of Sharma, Wu and Dalal.
    for (a, b, expected) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, 0.0, 0.0], [50.0, -1.0, 2.0], 2.3669),
        ([50.0, 2.5, 0.0], [73.0, 25.0, -18.0], 27.1492),
        ([50.0, 2.5, 0.0], [56.0, -27.0, -3.0], 31.9030),
        (
            [60.2574, -34.0099, 36.2677],
            [60.4626, -34.1751, 39.4387],
            1.2644,
        ),
    ] {
        assert!((ciede2000(a, b) - expected).abs() < 1e-4, "{a:?}");
        assert!((ciede2000(b, a) - expected).abs() < 1e-4, "{a:?}");
    }
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-4);
    let [l, a, b] = lab(linear([255; 3]));
    assert!((l - 100.0).abs() < 0.01 && a.abs() < 0.02 && b.abs() < 0.02);
    // What one in twelve men hardly tells apart: red and green of the same lightness.
    let (red, green) = ([0xd6, 0x3c, 0x3c], [0x6b, 0x7e, 0x1f]);
    assert!(difference(red, green) < 6.0);
}

/// Of values, any two of which may be neighbours on a map.
const LEAST_ON_MAPS: f64 = 12.0;
/// Of what is no value of its own: other values, an unknown one.
const LEAST_OF_GREYS: f64 = 8.0;
/// Of what is drawn on the ground.
const LEAST_ON_GROUND: f64 = 15.0;
/// Of lines in a chart, which may cross.
const LEAST_OF_LINES: f64 = 10.0;
/// Of the steps of a scale, which have an order.
const LEAST_OF_STEPS: f64 = 10.0;

#[test]
fn values_on_a_map_can_be_told_apart() {
    assert_all_apart("strong", &STRONG, LEAST_ON_MAPS);
    for ground in grounds() {
        let others = OTHERS.map(|colour| over(colour, ground));
        let unknown = over(UNKNOWN, ground);
        for strong in STRONG {
            assert_apart("strong and ground", strong, ground, LEAST_ON_GROUND);
            assert_apart("strong and unknown", strong, unknown, LEAST_OF_GREYS);
            for other in others {
                assert_apart("strong and other", strong, other, LEAST_OF_GREYS);
            }
        }
        for other in others {
            assert_apart("other and ground", other, ground, LEAST_OF_GREYS);
            assert_apart("other and unknown", other, unknown, LEAST_OF_GREYS);
        }
    }
}

#[test]
fn lines_can_be_told_apart() {
    for (colours, ground) in SERIES_COLOURS.into_iter().zip(grounds()) {
        let colours = colours.map(rgb);
        assert_all_apart("series", &colours, LEAST_OF_LINES);
        for colour in colours {
            // WCAG 2, criterion 1.4.11: what is needed to understand a graphic.
            let contrast = contrast(colour, ground);
            assert!(contrast >= 3.0, "{}: {contrast:.2}", hex(colour));
        }
    }
}

#[test]
fn steps_of_a_scale_can_be_told_apart() {
    for steps in [&LENGTHS[..], &RAMPS[0], &RAMPS[1]] {
        for pair in steps.windows(2) {
            assert_apart("steps", pair[0], pair[1], LEAST_OF_STEPS);
        }
    }
    // Of lengths also the ends, between which there is no order of lightness.
    assert_all_apart("lengths", &LENGTHS, LEAST_ON_MAPS);
    for (ramp, ground) in RAMPS.into_iter().zip(grounds()) {
        let lightness = ramp.map(|colour| (lab(linear(colour))[0] - lab(linear(ground))[0]).abs());
        assert!(lightness.is_sorted(), "{lightness:?}");
        assert_apart("ramp and ground", ramp[0], ground, LEAST_OF_STEPS);
    }
    for length in LENGTHS {
        for ground in grounds() {
            assert_apart("length and ground", length, ground, LEAST_ON_GROUND);
        }
    }
}

#[test]
fn text_can_be_read() {
    for colours in GROUND {
        let [ground, ink, soft, ..] = colours.map(rgb);
        // WCAG 2, criterion 1.4.3, and 1.4.6 for what is read first.
        assert!(contrast(ink, ground) >= 7.0);
        assert!(contrast(soft, ground) >= 4.5);
    }
}
