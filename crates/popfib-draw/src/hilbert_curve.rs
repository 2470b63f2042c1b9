//! Hilbert's curve: a step in, its pixel out; and regions along the curve in, their borders and names on a map out.

use popfib::Address;

use crate::regions::Region;
use crate::svg::{Anchor, Coordinate, HALO, HALO_SIZE, Svg, width_of};

/// Draws the borders of the regions on a map whose upper left corner and side are given, and the name of each region inside the largest
/// square in it, if there is room.
pub(crate) fn borders<A: Address>(
    svg: &mut Svg,
    order: u32,
    (left, top, length): (f64, f64, f64),
    regions: &[Region<A>],
    name: impl Fn(&Region<A>) -> String,
) {
    let side = 1usize << order;
    let count = side * side;
    let mut owners = vec![0usize; count];
    for (number, region) in regions.iter().enumerate() {
        let [from, to] =
            [region.from, region.to].map(|share| (share * count as f64).round() as usize);
        for at in from..to {
            let (x, y) = place(order, at);
            owners[y * side + x] = number;
        }
    }
    let unit = length / side as f64;
    let mut path = String::new();
    // Lines across and lines down, each as long as there are borders.
    for is_down in [false, true] {
        let owner = |line: usize, at: usize| match is_down {
            false => owners[line * side + at],
            true => owners[at * side + line],
        };
        for line in 0..=side {
            let is_border =
                |at: usize| line == 0 || line == side || owner(line - 1, at) != owner(line, at);
            let mut at = 0;
            while at < side {
                let from = at;
                while at < side && is_border(at) {
                    at += 1;
                }
                if at > from {
                    let [line, from, to] = [line, from, at].map(|place| place as f64 * unit);
                    path += &match is_down {
                        false => format!(
                            "M{} {}H{}",
                            Coordinate(left + from),
                            Coordinate(top + line),
                            Coordinate(left + to)
                        ),
                        true => format!(
                            "M{} {}V{}",
                            Coordinate(left + line),
                            Coordinate(top + from),
                            Coordinate(top + to)
                        ),
                    };
                }
                at += 1;
            }
        }
    }
    svg.element(format_args!(
        "path class=\"pf-axis\" fill=\"none\" d=\"{path}\""
    ));
    for (region, (x, y, size)) in regions.iter().zip(squares(&owners, side, regions.len())) {
        let name = name(region);
        if width_of(&name, HALO_SIZE) + 6.0 <= size as f64 * unit && 15.0 <= size as f64 * unit {
            let at = (left + x as f64 * unit + 4.0, top + y as f64 * unit + 13.0);
            svg.label(at, Anchor::Start, HALO, &name);
        }
    }
}

/// The upper left pixel and the side of the largest square of each owner.
fn squares(owners: &[usize], side: usize, count: usize) -> Vec<(usize, usize, usize)> {
    let mut largest = vec![(0, 0, 0); count];
    // The sides of the largest squares whose lower right corner is each pixel of the row above, and of this row.
    let (mut above, mut sizes) = (vec![0usize; side], vec![0usize; side]);
    for y in 0..side {
        for x in 0..side {
            let owner = owners[y * side + x];
            let is_inside = x > 0
                && y > 0
                && [(x - 1, y), (x, y - 1), (x - 1, y - 1)]
                    .iter()
                    .all(|(x, y)| owners[y * side + x] == owner);
            let size = match is_inside {
                true => 1 + sizes[x - 1].min(above[x]).min(above[x - 1]),
                false => 1,
            };
            sizes[x] = size;
            if size > largest[owner].2 {
                largest[owner] = (x + 1 - size, y + 1 - size, size);
            }
        }
        std::mem::swap(&mut above, &mut sizes);
    }
    largest
}

/// The pixel at step `at` of the curve through `2^order` times `2^order` of them, which begins
/// at the upper left and ends at the upper right.
pub(crate) fn place(order: u32, at: usize) -> (usize, usize) {
    let (mut x, mut y) = (0, 0);
    for level in 0..order {
        let quarter = at >> (2 * level) & 3;
        let (right, down) = (quarter >> 1, (quarter ^ quarter >> 1) & 1);
        let side = 1 << level;
        // What is below was made for the first quarter; the first and the last are turned.
        if down == 0 {
            if right == 1 {
                (x, y) = (side - 1 - x, side - 1 - y);
            }
            (x, y) = (y, x);
        }
        x += side * right;
        y += side * down;
    }
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_every_pixel_by_neighbours() {
        for order in 0..6 {
            let side = 1usize << order;
            let mut seen = vec![false; side * side];
            let mut before: Option<(usize, usize)> = None;
            for at in 0..side * side {
                let (x, y) = place(order, at);
                assert!(!std::mem::replace(&mut seen[y * side + x], true));
                if let Some((a, b)) = before {
                    assert_eq!(a.abs_diff(x) + b.abs_diff(y), 1, "{order}: step {at}");
                }
                before = Some((x, y));
            }
            assert_eq!(place(order, 0), (0, 0));
            assert_eq!(before, Some((side - 1, 0)));
        }
    }

    #[test]
    fn squares_are_the_largest_of_their_owners() {
        #[rustfmt::skip]
        let owners = [
            0, 0, 1, 1,
            0, 0, 1, 2,
            1, 1, 1, 2,
            1, 1, 1, 3,
        ];
        let found = squares(&owners, 4, 5);
        assert_eq!(
            found,
            [(0, 0, 2), (0, 2, 2), (3, 1, 1), (3, 3, 1), (0, 0, 0)]
        );
    }
}
