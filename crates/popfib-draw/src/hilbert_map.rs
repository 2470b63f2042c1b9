//! A RIB in, a map of the address space on Hilbert's curve out: neighbouring addresses are neighbouring pixels, and a prefix is a square, or
//! two side by side.
//!
//! A pixel is a block of addresses, coloured by what most of them have: the next hop (in a table of origins, the AS) or the length of the
//! prefix that they match. The next hops with the most addresses have the strong colours and stand in the legend. Each other one has one
//! of a few pale colours, by its number, so that borders show. Space without a route is left blank. IPv6 is so empty that the curve goes
//! through the space in use alone, and a pixel shows what most of its routed addresses have.

use std::collections::HashMap;

use popfib::intervals::Intervals;
use popfib::{Address, NextHop, Prefix, Rib};

use crate::heat_map::percent;
use crate::hilbert_curve::{borders, place};
use crate::palette::{LENGTHS, OTHERS, Rgb, STRONG, UNKNOWN, between};
use crate::pixel_image::{Colour, PixelImage};
use crate::regions::regions;
use crate::shown_span::ShownSpan;
use crate::svg::{
    Anchor, LABEL, LABEL_SIZE, SOFT, SOFT_SIZE, Svg, counted, filled, fitted, grouped, width_of,
};
use crate::used_space::UsedSpace;

/// What a next hop is called in a legend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// What is read first.
    pub name: String,
    /// What is known besides; may be empty.
    pub detail: String,
}

/// What the colours of a map mean.
#[derive(Clone, Copy)]
pub enum Colouring<'a> {
    /// The next hop, which has a name; `None` if its record has no value.
    NextHop(&'a dyn Fn(NextHop) -> Option<Holder>),
    /// The length of the longest match.
    Length,
}

/// What a map of the address space shows.
#[derive(Clone, Copy)]
pub struct HilbertMap<'a, A> {
    /// The title.
    pub title: &'a str,
    /// A line below it that names the table.
    pub note: &'a str,
    /// The addresses shown; `None` for all of them, of IPv6 for 2000::/3.
    pub within: Option<Prefix<A>>,
    /// Pixels along a side, at least 1. The map has the highest power of two that is not more.
    pub size: usize,
    /// What colours mean.
    pub colouring: Colouring<'a>,
}

/// Side of the map, in units of the SVG.
const SIDE: f64 = 720.0;

const LEFT: f64 = 16.0;
const TOP: f64 = 84.0;
const LEGEND: f64 = 236.0;

/// Draws the map of `rib`. O(routes * key width / 6 + pixels) time.
///
/// Keys of more than 64 bits are shown without the gaps between their routes. Shares in the legend are shares of the space shown, with or
/// without routes.
pub fn hilbert_map<A: Address>(rib: &Rib<A>, what: &HilbertMap<'_, A>) -> String {
    let span = ShownSpan::of(what.within);
    // A pixel holds at least one address.
    let bits = (A::WIDTH - span.prefix.len()) / 2;
    let order = what.size.max(1).ilog2().min(u32::from(bits));
    let count = 1usize << (2 * order);
    let used = (A::WIDTH > 64)
        .then(|| UsedSpace::new(rib, span, count))
        .flatten();
    let before = |address: A| match &used {
        Some(used) => used.before(address),
        None => span.at(address),
    };
    let values = PixelValues::new(rib, span, &what.colouring, order, &before);

    let mut image = PixelImage::new(1 << order);
    let side = image.side;
    let legend = match what.colouring {
        Colouring::NextHop(name) => by_next_hop(&mut image, &values, name),
        Colouring::Length => by_length(&mut image, &values),
    };
    for (at, value) in values.pixels.iter().enumerate() {
        if let Some(value) = value {
            let (x, y) = place(order, at);
            image.pixels[y * side + x] = legend.colour_of(*value);
        }
    }

    let mut svg = Svg::new(
        LEFT + SIDE + LEGEND,
        TOP + SIDE + 16.0,
        what.title,
        what.note,
    );
    let about = match &used {
        Some(used) => format!(
            "the {} of {} with a route, a /{} each, in their order",
            counted(used.count() as u64, "block"),
            span.prefix,
            used.len::<A>()
        ),
        None => format!(
            "{}, a pixel is a /{}",
            span.prefix,
            u32::from(span.prefix.len()) + 2 * order
        ),
    };
    svg.line_of_head(67.0, (SOFT, SOFT_SIZE), &about);
    svg.element(format_args!(
        "image x=\"{LEFT}\" y=\"{TOP}\" width=\"{SIDE}\" height=\"{SIDE}\" \
         image-rendering=\"optimizeSpeed\" href=\"{}\"",
        image.data_url()
    ));
    let is_all_of_ipv4 = A::WIDTH == 32 && span.prefix.len() == 0;
    let most = if is_all_of_ipv4 {
        1.0 / 256.0
    } else {
        1.0 / 16.0
    };
    // What is used without gaps needs no names for its smallest regions.
    let longest = used
        .as_ref()
        .map_or(A::WIDTH, |used| used.len::<A>().min(span.prefix.len() + 13));
    let regions = regions(span.prefix, most, longest, &before);
    let frame = (LEFT, TOP, SIDE);
    borders(
        &mut svg,
        order,
        frame,
        &regions,
        |region| match is_all_of_ipv4 {
            true => region.prefix.address().leading(8).to_string(),
            false => region.prefix.to_string(),
        },
    );
    legend.draw(&mut svg);
    svg.finish()
}

/// What pixels show, in the curve's order.
struct PixelValues {
    /// The value that most addresses of each pixel have; `None` if most have none.
    pixels: Vec<Option<u32>>,
    /// The share of the addresses shown that each value has.
    shares: HashMap<u32, f64>,
}

impl PixelValues {
    fn new<A: Address>(
        rib: &Rib<A>,
        span: ShownSpan<A>,
        colouring: &Colouring<'_>,
        order: u32,
        before: &impl Fn(A) -> f64,
    ) -> Self {
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
            let begin = before(interval.first.max(first)) * count as f64;
            let end = match interval.last.min(last).checked_next() {
                Some(next) if interval.last < last => before(next) * count as f64,
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

/// The value with the largest part. If parts are equal, a route comes before none; for keys of more than 64 bits it always does.
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

/// Which value has which colour, and the rows that explain the colours.
struct Legend {
    indices: HashMap<u32, u8>,
    /// The first of the palette's colours for all other values, and how many such colours there are.
    others: (u8, u32),
    rows: Vec<LegendRow>,
}

/// A colour, `None` for the ground, and what has this colour.
struct LegendRow {
    colour: Option<Colour>,
    holder: Holder,
    share: f64,
}

impl Legend {
    fn colour_of(&self, value: u32) -> u8 {
        let (first, count) = self.others;
        let other = || first + (value.wrapping_mul(0x9e37_79b1) >> 16) as u8 % count as u8;
        self.indices.get(&value).copied().unwrap_or_else(other)
    }

    fn row(&mut self, colour: Option<Colour>, name: &str, share: f64) {
        let holder = Holder {
            name: name.to_owned(),
            ..Holder::default()
        };
        self.rows.push(LegendRow {
            colour,
            holder,
            share,
        });
    }

    /// Draws the rows beside the map; those with details have a second line.
    fn draw(&self, svg: &mut Svg) {
        let has_details = self.rows.iter().any(|row| !row.holder.detail.is_empty());
        let height = if has_details { 40.0 } else { 24.0 };
        let (left, right) = (LEFT + SIDE + 18.0, LEFT + SIDE + LEGEND - 14.0);
        // Rows for which there is no room are left out of the legend; the map has their colours.
        let most = (SIDE / height) as usize;
        for (row, line) in self.rows.iter().take(most).enumerate() {
            let y = TOP + 12.0 + height * row as f64;
            let none = || "class=\"pf-axis\" fill=\"none\"".to_owned();
            let paint = line.colour.map_or_else(none, filled);
            svg.rect(&format!("{paint} rx=\"2\""), (left, y - 11.0), (13.0, 13.0));
            let share = percent(line.share);
            let Holder { name, detail } = &line.holder;
            let (x, below) = (left + 21.0, y + 16.0);
            if has_details {
                let name = fitted(name, LABEL_SIZE, right - x);
                svg.label((x, y), Anchor::Start, LABEL, &name);
                let room = right - x - width_of(", ", SOFT_SIZE) - width_of(&share, SOFT_SIZE);
                let line = match fitted(detail, SOFT_SIZE, room) {
                    detail if detail.is_empty() => share,
                    detail => format!("{detail}, {share}"),
                };
                svg.label((x, below), Anchor::Start, SOFT, &line);
            } else {
                let name = fitted(
                    name,
                    LABEL_SIZE,
                    right - x - 8.0 - width_of(&share, SOFT_SIZE),
                );
                svg.label((x, y), Anchor::Start, LABEL, &name);
                svg.label((right, y), Anchor::End, SOFT, &share);
            }
        }
    }
}

fn by_next_hop(
    image: &mut PixelImage,
    values: &PixelValues,
    name: &dyn Fn(NextHop) -> Option<Holder>,
) -> Legend {
    let mut ranks: Vec<(u32, f64)> = values.shares.iter().map(|(v, s)| (*v, *s)).collect();
    ranks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut legend = Legend {
        indices: HashMap::new(),
        others: (STRONG.len() as u8 + 1, OTHERS.len() as u32),
        rows: Vec::new(),
    };
    image.palette.extend(STRONG.map(opaque));
    image.palette.extend(OTHERS);
    image.palette.push(UNKNOWN);
    let holder = |value: u32| NextHop::new(value).and_then(name);
    let is_unknown = |(value, _): &(u32, f64)| holder(*value).is_none();
    let (unknown, known): (Vec<_>, Vec<_>) = ranks.into_iter().partition(is_unknown);
    for (rank, (value, share)) in known.iter().take(STRONG.len()).enumerate() {
        legend.indices.insert(*value, rank as u8 + 1);
        legend.rows.push(LegendRow {
            colour: Some(opaque(STRONG[rank])),
            holder: holder(*value).unwrap_or_default(),
            share: *share,
        });
    }
    let sum = |ranks: &[(u32, f64)]| ranks.iter().map(|(_, share)| share).sum::<f64>();
    let others = &known[known.len().min(STRONG.len())..];
    if !others.is_empty() {
        let name = format!("{} others", grouped(others.len() as u64));
        legend.row(Some(OTHERS[1]), &name, sum(others));
    }
    if !unknown.is_empty() {
        legend.row(Some(UNKNOWN), "without a value", sum(&unknown));
        let colour = image.palette.len() as u8 - 1;
        let numbers = unknown.iter().map(|(value, _)| (*value, colour));
        legend.indices.extend(numbers);
    }
    no_route(&mut legend);
    legend
}

fn by_length(image: &mut PixelImage, values: &PixelValues) -> Legend {
    let mut lengths: Vec<(u32, f64)> = values.shares.iter().map(|(v, s)| (*v, *s)).collect();
    lengths.sort_by_key(|(length, _)| *length);
    let mut legend = Legend {
        indices: HashMap::new(),
        others: (0, 1),
        rows: Vec::new(),
    };
    let most = lengths.len().saturating_sub(1).max(1) as f64;
    for (i, (length, share)) in lengths.into_iter().enumerate() {
        let colour = opaque(between(&LENGTHS, i as f64 / most));
        image.palette.push(colour);
        legend.indices.insert(length, i as u8 + 1);
        legend.row(Some(colour), &format!("/{length}"), share);
    }
    no_route(&mut legend);
    legend
}

/// What is left of the space that is shown.
fn no_route(legend: &mut Legend) {
    let routed: f64 = legend.rows.iter().map(|row| row.share).sum();
    // A smaller difference is only the error of the sum.
    if routed < 1.0 - 1e-9 {
        legend.row(None, "no route", 1.0 - routed);
    }
}

fn opaque([red, green, blue]: Rgb) -> Colour {
    [red, green, blue, 255]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(routes: &[(&str, u32)], order: u32, colouring: &Colouring<'_>) -> PixelValues {
        let routes = routes.iter();
        let rib: Rib<u32> = routes
            .map(|(prefix, next_hop)| (prefix.parse().unwrap(), NextHop::new(*next_hop).unwrap()))
            .collect();
        let span = ShownSpan::of(None);
        PixelValues::new(&rib, span, colouring, order, &|address| span.at(address))
    }

    #[test]
    fn pixels_have_what_most_of_their_addresses_have() {
        let name = |_| None;
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
