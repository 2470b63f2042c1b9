//! Who holds what in the address space, on Hilbert's curve: neighbouring
//! addresses are neighbouring pixels, and a prefix is a square, or two side by side.
//!
//! A pixel is a block of addresses, coloured by what most of them have: the
//! next hop (where tables name origins, the AS) or the length of the prefix that
//! they match. The next hops with the most addresses have the strong colours
//! and the legend; all others have one of a few pale ones each, by number, so
//! that borders show. Where no route is, nothing is drawn. IPv6 is so empty that
//! there a pixel shows what most of its routed addresses have.

use std::collections::HashMap;

use popfib::{Address, Intervals, NextHop, Prefix, Rib};

use crate::density::colour_at;
use crate::heatmap::percent;
use crate::layer::Layer;
use crate::span::Span;
use crate::svg::{Anchor, LABEL, Number, SOFT, Svg, TITLE};

/// What colours mean.
#[derive(Clone, Copy)]
pub enum Colouring<'a> {
    /// The next hop, which has a name.
    NextHop(&'a dyn Fn(NextHop) -> String),
    /// The length of the longest match.
    Length,
}

/// What a map of the address space shows.
#[derive(Clone, Copy)]
pub struct Hilbert<'a, A> {
    /// The title.
    pub title: &'a str,
    /// A line below it that names the table.
    pub note: &'a str,
    /// The addresses shown; `None` for all of them, of IPv6 for 2000::/3.
    pub within: Option<Prefix<A>>,
    /// Pixels along a side, at least 1: those of the map are the next lower power of two.
    pub size: usize,
    /// What colours mean.
    pub colouring: Colouring<'a>,
}

/// Side of the map, in units of the SVG.
const SIDE: f64 = 720.0;

const LEFT: f64 = 20.0;
const TOP: f64 = 84.0;
const LEGEND: f64 = 200.0;

/// Of the next hops with the most addresses.
const STRONG: [[u8; 3]; 12] = [
    [0x1f, 0x77, 0xc9],
    [0xe8, 0x6a, 0x17],
    [0x16, 0xa0, 0x75],
    [0xc2, 0x4a, 0x9e],
    [0xd9, 0xa4, 0x0e],
    [0x2b, 0xb0, 0xd9],
    [0xd6, 0x3c, 0x3c],
    [0x7d, 0x5b, 0xd0],
    [0x6b, 0x9e, 0x1f],
    [0xa2, 0x6a, 0x3d],
    [0xe0, 0x7b, 0xa8],
    [0x4b, 0x6e, 0x8f],
];

/// Of all others.
const PALE: [[u8; 3]; 8] = [
    [0x8d, 0x9b, 0xaa],
    [0xa3, 0x98, 0x8c],
    [0x8c, 0xa5, 0x99],
    [0xa5, 0x92, 0xa8],
    [0x9a, 0xa3, 0x85],
    [0x84, 0x9f, 0xb2],
    [0xb0, 0x9e, 0x92],
    [0x93, 0x93, 0xad],
];

/// Draws the map of `rib`. O(routes * key width / 6 + pixels) time.
///
/// A share in the legend is one of the addresses shown, with or without a route.
pub fn hilbert<A: Address>(rib: &Rib<A>, what: &Hilbert<'_, A>) -> String {
    let span = Span::of(what.within);
    // A pixel holds at least one address.
    let bits = (A::WIDTH - span.prefix.len()) / 2;
    let order = what.size.max(1).ilog2().min(u32::from(bits));
    let values = Values::new(rib, span, &what.colouring, order);

    let mut layer = Layer::new(1 << order);
    let side = layer.side;
    let legend = match what.colouring {
        Colouring::NextHop(name) => by_next_hop(&mut layer, &values, name),
        Colouring::Length => by_length(&mut layer, &values),
    };
    for (at, value) in values.pixels.iter().enumerate() {
        if let Some(value) = value {
            let (x, y) = place(order, at);
            layer.pixels[y * side + x] = legend.colour_of(*value);
        }
    }

    let mut svg = Svg::new(LEFT + SIDE + LEGEND, TOP + SIDE + 20.0, what.title);
    svg.label((16.0, 30.0), Anchor::Start, TITLE, what.title);
    svg.label((16.0, 50.0), Anchor::Start, SOFT, what.note);
    let pixel = u32::from(span.prefix.len()) + 2 * order;
    let about = format!("{}, a pixel is a /{pixel}", span.prefix);
    svg.label((16.0, 67.0), Anchor::Start, SOFT, &about);
    svg.element(format_args!(
        "image x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" \
         image-rendering=\"optimizeSpeed\" href=\"{}\"",
        layer.data_url()
    ));
    blocks(&mut svg, span);
    for (row, (colour, name, share)) in legend.lines.iter().enumerate() {
        let (x, y) = (LEFT + SIDE + 20.0, TOP + 12.0 + 24.0 * row as f64);
        svg.element(format_args!(
            "rect x=\"{}\" y=\"{}\" width=\"13\" height=\"13\" rx=\"2\" fill=\"{}\"",
            Number(x),
            Number(y - 11.0),
            crate::theme::hex(*colour)
        ));
        svg.label((x + 20.0, y), Anchor::Start, LABEL, &shortened(name));
        let share = percent(*share);
        svg.label((LEFT + SIDE + LEGEND - 12.0, y), Anchor::End, SOFT, &share);
    }
    svg.finish()
}

/// What pixels show, in the curve's order.
struct Values {
    /// The value that most addresses of each pixel have; `None` where most have none.
    pixels: Vec<Option<u32>>,
    /// The share of the addresses shown that each value has.
    shares: HashMap<u32, f64>,
}

impl Values {
    fn new<A: Address>(rib: &Rib<A>, span: Span<A>, colouring: &Colouring<'_>, order: u32) -> Self {
        let count = 1usize << (2 * order);
        let mut values = Self {
            pixels: vec![None; count],
            shares: HashMap::new(),
        };
        let (first, last) = (span.prefix.first(), span.prefix.last());
        // What the pixel that is being filled has, in pixels.
        let mut parts: Vec<(Option<u32>, f64)> = Vec::new();
        let mut filling = 0;
        for interval in Intervals::new(rib) {
            if interval.last < first || interval.first > last {
                continue;
            }
            let value = match colouring {
                Colouring::NextHop(_) => interval.next_hop.map(NextHop::get),
                Colouring::Length => rib
                    .longest_match(interval.first)
                    .map(|(prefix, _)| prefix.len().into()),
            };
            let begin = span.at(interval.first.max(first)) * count as f64;
            let end = match interval.last.min(last).checked_next() {
                Some(next) if interval.last < last => span.at(next) * count as f64,
                _ => count as f64,
            };
            if let Some(value) = value {
                *values.shares.entry(value).or_default() += (end - begin) / count as f64;
            }
            let mut at = begin;
            while at < end {
                let pixel = (at as usize).min(count - 1);
                if pixel > filling {
                    values.pixels[filling] = most::<A>(&mut parts);
                    filling = pixel;
                }
                let until = end.min(pixel as f64 + 1.0);
                match parts.iter_mut().find(|part| part.0 == value) {
                    Some(part) => part.1 += until - at,
                    None => parts.push((value, until - at)),
                }
                at = until;
            }
        }
        values.pixels[filling] = most::<A>(&mut parts);
        values
    }
}

/// The value with the largest part; a route rather than none where they are equal, and for keys
/// beyond 64 bits always.
fn most<A: Address>(parts: &mut Vec<(Option<u32>, f64)>) -> Option<u32> {
    if A::WIDTH > 64 {
        parts.retain(|part| part.0.is_some());
    }
    let largest = parts
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.is_some().cmp(&b.0.is_some())));
    let value = largest.and_then(|part| part.0);
    parts.clear();
    value
}

/// Which value has which colour, and what is said about it.
struct Legend {
    indices: HashMap<u32, u8>,
    /// The first of the palette's colours for the others, and how many there are.
    others: (u8, u32),
    lines: Vec<([u8; 3], String, f64)>,
}

impl Legend {
    fn colour_of(&self, value: u32) -> u8 {
        let (first, count) = self.others;
        let other = || first + (value.wrapping_mul(0x9e37_79b1) >> 16) as u8 % count as u8;
        self.indices.get(&value).copied().unwrap_or_else(other)
    }
}

fn by_next_hop(layer: &mut Layer, values: &Values, name: &dyn Fn(NextHop) -> String) -> Legend {
    let mut ranks: Vec<(u32, f64)> = values.shares.iter().map(|(v, s)| (*v, *s)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut legend = Legend {
        indices: HashMap::new(),
        others: (STRONG.len() as u8 + 1, PALE.len() as u32),
        lines: Vec::new(),
    };
    for (rank, colour) in STRONG.into_iter().enumerate() {
        layer.palette.push(opaque(colour));
        if let Some((value, share)) = ranks.get(rank) {
            legend.indices.insert(*value, rank as u8 + 1);
            let name = NextHop::new(*value).map_or_else(String::new, name);
            legend.lines.push((colour, name, *share));
        }
    }
    layer.palette.extend(PALE.map(opaque));
    let others = ranks.iter().skip(STRONG.len());
    let count = others.clone().count();
    if count > 0 {
        let share = others.map(|(_, share)| share).sum();
        let name = format!("{} others", crate::svg::grouped(count as u64));
        legend.lines.push((PALE[0], name, share));
    }
    legend
}

fn by_length(layer: &mut Layer, values: &Values) -> Legend {
    let mut lengths: Vec<(u32, f64)> = values.shares.iter().map(|(v, s)| (*v, *s)).collect();
    lengths.sort_by_key(|(length, _)| *length);
    let mut legend = Legend {
        indices: HashMap::new(),
        others: (0, 1),
        lines: Vec::new(),
    };
    let most = lengths.len().saturating_sub(1).max(1) as f64;
    for (i, (length, share)) in lengths.into_iter().enumerate() {
        let colour = colour_at(i as f64 / most);
        layer.palette.push(opaque(colour));
        legend.indices.insert(length, i as u8 + 1);
        legend.lines.push((colour, format!("/{length}"), share));
    }
    // What there is no room for is in the picture and not in the legend.
    legend.lines.truncate(30);
    legend
}

fn opaque([red, green, blue]: [u8; 3]) -> [u8; 4] {
    [red, green, blue, 255]
}

/// Names as long as there is room.
fn shortened(name: &str) -> String {
    match name.chars().count() {
        0..=16 => name.to_owned(),
        _ => name.chars().take(15).chain(['\u{2026}']).collect(),
    }
}

/// Borders and names of the parts that an address's first bits tell: each /8 of IPv4, and
/// elsewhere the sixteen parts of what is shown.
fn blocks<A: Address>(svg: &mut Svg, span: Span<A>) {
    let shown = span.prefix;
    let is_all_of_ipv4 = A::WIDTH == 32 && shown.len() == 0;
    let order = if is_all_of_ipv4 { 4 } else { 2 };
    let len = shown.len() + 2 * order as u8;
    if len > A::WIDTH {
        return;
    }
    let size = SIDE / f64::from(1u32 << order);
    for i in 0..=1u32 << order {
        let at = f64::from(i) * size;
        svg.line("pf-axis", (LEFT + at, TOP), (LEFT + at, TOP + SIDE));
        svg.line("pf-axis", (LEFT, TOP + at), (LEFT + SIDE, TOP + at));
    }
    let halo = "class=\"pf-ink pf-halo\" font-size=\"10.5\" font-weight=\"600\" stroke-width=\"3\" \
                stroke-linejoin=\"round\" paint-order=\"stroke\"";
    for block in 0..1usize << (2 * order) {
        let (x, y) = place(order, block);
        let text = if is_all_of_ipv4 {
            block.to_string()
        } else {
            let below = A::from_leading(block as u32, 2 * order as u8).shift_down(shown.len());
            let prefix = Prefix::new_masked(shown.address() | below, len);
            prefix.expect("within the key").to_string()
        };
        let at = (LEFT + x as f64 * size + 4.0, TOP + y as f64 * size + 13.0);
        svg.label(at, Anchor::Start, halo, &text);
    }
}

/// The pixel at step `at` of the curve through `2^order` times `2^order` of them, which begins
/// at the upper left and ends at the upper right.
fn place(order: u32, at: usize) -> (usize, usize) {
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

    fn values(routes: &[(&str, u32)], order: u32, colouring: &Colouring<'_>) -> Values {
        let routes = routes.iter();
        let rib: Rib<u32> = routes
            .map(|(prefix, next_hop)| (prefix.parse().unwrap(), NextHop::new(*next_hop).unwrap()))
            .collect();
        Values::new(&rib, Span::of(None), colouring, order)
    }

    #[test]
    fn pixels_have_what_most_of_their_addresses_have() {
        let name = |_| String::new();
        let by = Colouring::NextHop(&name);
        let routes = [
            ("0.0.0.0/2", 1),
            ("0.0.0.0/3", 2),
            ("64.0.0.0/4", 3),
            ("128.0.0.0/3", 4),
        ];
        let map = values(&routes, 1, &by);
        // Halves: the larger number, or the route.
        assert_eq!(map.pixels, [Some(1), None, Some(4), None]);
        let map = values(&routes, 2, &by);
        let quarter = [Some(2), Some(2), Some(1), Some(1)];
        assert_eq!(map.pixels[..4], quarter);
        assert_eq!(
            map.pixels[4..],
            [
                Some(3),
                None,
                None,
                None,
                Some(4),
                Some(4),
                None,
                None,
                None,
                None,
                None,
                None
            ]
        );
        assert_eq!(map.shares[&1], 0.125);
        let map = values(&routes, 2, &Colouring::Length);
        assert_eq!(
            map.pixels[..5],
            [Some(3), Some(3), Some(2), Some(2), Some(4)]
        );
        for order in 0..4 {
            assert!(values(&[], order, &by).pixels.iter().all(Option::is_none));
            let all = values(&[("0.0.0.0/0", 9)], order, &by);
            assert!(all.pixels.iter().all(|value| *value == Some(9)));
            assert_eq!(all.shares[&9], 1.0);
        }
        // A host route colours its pixel only if that is all there is in it.
        let host = [("0.0.0.0/0", 1), ("1.2.3.4/32", 2)];
        assert!(
            values(&host, 3, &by)
                .pixels
                .iter()
                .all(|value| *value == Some(1))
        );
        assert_eq!(values(&host, 3, &by).shares[&2], 0.5f64.powi(32));
    }
}
