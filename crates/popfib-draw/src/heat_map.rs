//! A table's binary radix depths in, their heat map out (Poptrie paper, Fig. 7): all addresses by the length of the prefix that they match
//! and by the bits that have to be looked at until that is certain.
//!
//! A cell is a rectangle, coloured by the logarithm of its addresses, as one /8 has as many of them as 65,536 /24s. On the diagonal both
//! numbers are equal, and no longer prefix is near. The further above the diagonal, the more a lookup has to read for a short match.
//! Lengths beyond the longest are not drawn.

use crate::depths::DepthMap;
use crate::svg::{Anchor, LABEL, SOFT, SOFT_SIZE, Svg};
use crate::theme::RAMP;

const LEFT: f64 = 64.0;
const TOP: f64 = 92.0;
/// Approximate side of the whole map, in units of the SVG.
const SIDE: f64 = 560.0;
const BAR: f64 = 16.0;

/// Draws the heat map of the depths of keys of `width` bits: 32 for IPv4.
///
/// `note` says which table it is. A line below it has the shares of addresses deeper than 18 and 24 bits, which direct pointing and
/// DIR-24-8 cannot answer from their first table. An empty map gives an empty picture.
pub fn heat_map(title: &str, note: &str, map: &DepthMap, width: u8) -> String {
    let deepest = map.cells.iter().map(|(_, depth, _)| *depth).max();
    // Half of a long key, unless there is something in the other.
    let rows = match deepest.unwrap_or(0) {
        depth if depth <= width.min(64) => width.min(64),
        depth => depth,
    };
    let cell = (SIDE / f64::from(rows + 1)).floor().max(4.0);
    // Prefix lengths, and before them a column for addresses without a route.
    let side = cell * f64::from(rows + 1);
    let (left, bottom) = (LEFT + cell + 6.0, TOP + side);
    let right = left + side;
    let mut svg = Svg::new(right + 112.0, bottom + 58.0, title, note);
    let shares = format!(
        "share of addresses deeper than 18 bits: {}, than 24: {}",
        percent(map.share_deeper(18)),
        percent(map.share_deeper(24))
    );
    svg.line_of_head(67.0, (SOFT, SOFT_SIZE), &shares);

    let column = |length: Option<u8>| match length {
        Some(length) => left + f64::from(length) * cell,
        None => LEFT,
    };
    let row = |depth: u8| bottom - f64::from(depth + 1) * cell;
    let step = if rows > 64 { 16 } else { 8 };
    for at in (0..=rows).step_by(step) {
        let middle = cell / 2.0;
        let (x, y) = (column(Some(at)) + middle, row(at) + middle);
        svg.line("pf-grid", (x, TOP), (x, bottom));
        svg.line("pf-grid", (LEFT, y), (right, y));
        // Beside "none" there is little room.
        let (x, anchor) = match at {
            0 => (left, Anchor::Start),
            _ => (x, Anchor::Middle),
        };
        svg.label((x, bottom + 18.0), anchor, SOFT, &format!("/{at}"));
        svg.label((LEFT - 8.0, y + 4.0), Anchor::End, SOFT, &at.to_string());
    }
    svg.label((LEFT + cell, bottom + 18.0), Anchor::End, SOFT, "none");
    // Where the depth is the length: nothing lies below.
    let ends = ((left, bottom), (right, TOP));
    svg.line("pf-axis", ends.0, ends.1);

    let counts = || map.cells.iter().map(|(_, _, count)| log2(*count));
    let most = counts().fold(0.0, f64::max);
    let least = counts().fold(most, f64::min);
    let colour = |bits: f64| {
        let share = (bits - least) / (most - least);
        // Equal counts are all of the most.
        let share = if share.is_nan() { 1.0 } else { share };
        (share * (RAMP - 1) as f64).round() as usize
    };
    let gap = if cell >= 8.0 { 1.0 } else { 0.5 };
    for (length, depth, count) in &map.cells {
        let at = (column(*length) + gap / 2.0, row(*depth) + gap / 2.0);
        let style = format!("class=\"pf-h{}\"", colour(log2(*count)));
        svg.rect(&style, at, (cell - gap, cell - gap));
    }
    let middle = (left + right) / 2.0;
    svg.label(
        (middle, bottom + 42.0),
        Anchor::Middle,
        LABEL,
        "length of the matching prefix",
    );
    let middle = (TOP + bottom) / 2.0;
    let depth = "binary radix depth (bits)";
    svg.turned((20.0, middle), -90.0, Anchor::Middle, LABEL, depth);
    legend(&mut svg, (right + 28.0, bottom), least, most);
    svg.finish()
}

/// The ramp with its numbers of addresses, upwards from `at`.
fn legend(svg: &mut Svg, (x, bottom): (f64, f64), least: f64, most: f64) {
    let patch = 13.0;
    for i in 0..RAMP {
        let y = bottom - (i + 1) as f64 * patch;
        svg.rect(&format!("class=\"pf-h{i}\""), (x, y), (BAR, patch));
        if i % 5 == 0 {
            let bits = least + (most - least) * i as f64 / (RAMP - 1) as f64;
            let label = format!("2^{bits:.0}");
            svg.label(
                (x + BAR + 6.0, y + patch - 2.0),
                Anchor::Start,
                SOFT,
                &label,
            );
        }
    }
    let top = bottom - RAMP as f64 * patch - 8.0;
    svg.label((x, top), Anchor::Start, SOFT, "addresses");
}

/// The logarithm of a count, which is at least 1.
fn log2(count: u128) -> f64 {
    (count.max(1) as f64).log2()
}

/// `22.10 %`; a share that is not 0 is never shown as 0.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share.is_nan() => "none".to_owned(),
        share if share > 0.0 && share < 0.005 => "< 0.01 %".to_owned(),
        // A sum of nothing is minus zero.
        share => format!("{:.2} %", share + 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme;

    /// The classes of the cells, without the style and the legend's.
    fn cells(svg: &str) -> usize {
        let body = svg.replace(&theme::style(), "");
        body.matches("class=\"pf-h").count() - RAMP
    }

    #[test]
    fn a_rectangle_for_each_cell() {
        let cells_of = |cells: &[(Option<u8>, u8, u128)]| DepthMap {
            cells: cells.to_vec(),
        };
        let map = cells_of(&[
            (None, 8, 1 << 31),
            (Some(8), 24, 1 << 30),
            (Some(24), 24, 1 << 30),
        ]);
        let svg = heat_map("A & B", "<note>", &map, 32);
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(cells(&svg), 3);
        assert!(svg.contains("deeper than 18 bits: 50.00 %, than 24: 0.00 %"));
        for empty in [
            heat_map("", "", &cells_of(&[]), 32),
            heat_map("", "", &cells_of(&[]), 128),
        ] {
            roxmltree::Document::parse(&empty).unwrap();
            assert_eq!(cells(&empty), 0);
        }
        // A /128, and all of the space in one cell.
        let svg = heat_map(
            "",
            "",
            &cells_of(&[(Some(128), 128, 1), (None, 0, u128::MAX)]),
            128,
        );
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(cells(&svg), 2);
        assert!(svg.contains(">/128<"));
    }

    #[test]
    fn a_real_table_leaves_no_address_out() {
        let table = crate::built_in();
        let map = crate::Depths::new(&table.ribs.ipv4).map();
        assert_eq!(map.total(), 1 << 32);
        assert_eq!(cells(&heat_map("", "", &map, 32)), map.cells.len());
    }

    #[test]
    fn shares_are_said_as_they_are() {
        let said = [f64::NAN, -0.0, 1e-9, 0.2211, 1.0].map(percent);
        assert_eq!(said, ["none", "0.00 %", "< 0.01 %", "22.11 %", "100.00 %"]);
    }
}
