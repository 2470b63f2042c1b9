//! A RIB in, its binary radix tree and its Poptrie out, side by side, as trees around their roots (WIDE's report on Poptrie, Figures 1 and
//! 2): addresses go clockwise around the circle from the top, prefix lengths go outwards.
//!
//! On the left every vertex of the binary tree has an edge to its parent, one bit outwards. On the right the root table resolves s bits at
//! once. Each node resolves six more, and has an edge for each child and each run of equal leaves. Both pictures count the edges through
//! each pixel on one scale, so the fuller one has more of them.

use std::f64::consts::TAU;

use popfib::{Address, CompileError, Prefix, Rib};

use crate::density::{BANDS, Density, TONES, tone};
use crate::poptrie_shape::{PoptrieShape, ShapePart};
use crate::regions::{Region, regions};
use crate::shown_span::ShownSpan;
use crate::svg::{
    Anchor, Coordinate, HALO, LABEL, SOFT, SOFT_SIZE, Svg, counted, filled, grouped, width_of,
};

/// What a picture of the two trees shows.
#[derive(Clone, Copy)]
pub struct RadialTrees<'a, A> {
    /// The title.
    pub title: &'a str,
    /// A line below it that names the table.
    pub note: &'a str,
    /// The addresses shown; `None` for all of them, of IPv6 for 2000::/3.
    pub within: Option<Prefix<A>>,
    /// Pixels along a side of each of the two densities.
    pub size: usize,
}

/// The radius of a disc, and the space around it that its labels need.
const RADIUS: f64 = 220.0;
const MARGIN: f64 = 34.0;
/// The margin to the left and the right, in which a prefix has to fit.
const MARGIN_ACROSS: f64 = 104.0;
const TOP: f64 = 76.0;
const BELOW: f64 = 58.0;
/// The weight of an edge that comes from the root table, and so is no pointer of a node.
const FROM_ROOT: f32 = 0.3;
const LEAF: f32 = 0.5;

/// Draws the tree and the Poptrie of `rib`.
///
/// O(routes * key width) time; for keys of more than 32 bits half a second more for the root table, which temporarily takes 64 MiB. Keys of
/// more than 64 bits are spread around the circle by the number of routes, since nearly all of their space is empty.
///
/// # Errors
/// [`CompileError`], if the table cannot be compiled.
pub fn radial_trees<A: Address>(
    rib: &Rib<A>,
    what: &RadialTrees<'_, A>,
) -> Result<String, CompileError> {
    let span = ShownSpan::of(what.within);
    let disc = Disc::new(rib, span, what.size);
    let (tree, vertices, left_out) = radix(rib, &disc);
    let shape = PoptrieShape::new(rib)?;
    let (poptrie, inside, levels) = nodes(&shape, &disc);
    let high = tree.high().max(poptrie.high());

    let width = 4.0 * (RADIUS + MARGIN_ACROSS);
    let centre_y = TOP + MARGIN + RADIUS;
    let height = centre_y + RADIUS + MARGIN + BELOW;
    let mut svg = Svg::new(width, height, what.title, what.note);
    let mut note = "Address clockwise from the top".to_owned();
    if disc.starts.is_some() {
        note += ", spread by the number of routes";
    }
    note += ", prefix length outwards";
    if left_out > 0 {
        let routes = counted(left_out as u64, "route");
        note += &format!("; longer than /{} and not drawn: {routes}", disc.outermost);
    }
    svg.line_of_head(67.0, (SOFT, SOFT_SIZE), &note);

    let lengths = (span.prefix.len(), disc.outermost);
    legend(&mut svg, (width - 56.0, 21.0), lengths, high);

    let s = shape.direct_bits;
    let step = if disc.outermost > 48 { 16 } else { 8 };
    let binary_rings = (span.prefix.len() + 1..=disc.outermost).filter(|d| d % step == 0);
    let poptrie_rings = (0..).map(|level| s.saturating_add(6 * level));
    let poptrie_rings = poptrie_rings
        .take_while(|depth| *depth < disc.outermost)
        .filter(|depth| *depth > span.prefix.len());
    let halves = [
        (
            &tree,
            binary_rings.collect::<Vec<u8>>(),
            "Binary radix tree".to_owned(),
            format!("{} vertices, one bit each", grouped(vertices)),
        ),
        (
            &poptrie,
            poptrie_rings.take(8).collect(),
            format!("Poptrie, s = {s}"),
            format!(
                "a root of {s} bits, {} nodes of six bits in {levels} level{}; the whole takes {:.1} MiB",
                grouped(inside),
                if levels == 1 { "" } else { "s" },
                shape.bytes as f64 / f64::from(1 << 20)
            ),
        ),
    ];
    for (side, (density, rings, name, about)) in halves.into_iter().enumerate() {
        let centre = ((2 * side + 1) as f64 * (RADIUS + MARGIN_ACROSS), centre_y);
        svg.element(format_args!(
            "image x=\"{}\" y=\"{}\" width=\"{d}\" height=\"{d}\" href=\"{}\"",
            Coordinate(centre.0 - RADIUS),
            Coordinate(centre.1 - RADIUS),
            density.image(high).data_url(),
            d = 2.0 * RADIUS,
        ));
        disc.around(&mut svg, centre, &rings);
        let y = centre_y + RADIUS + MARGIN + 22.0;
        let bold = "class=\"pf-ink\" font-size=\"15\" font-weight=\"600\"";
        svg.label((centre.0, y), Anchor::Middle, bold, &name);
        svg.label((centre.0, y + 20.0), Anchor::Middle, LABEL, &about);
    }
    Ok(svg.finish())
}

/// The prefix length at the rim: the key's width, or 64 if hardly any prefix is longer.
fn outermost<A: Address>(rib: &Rib<A>, span: ShownSpan<A>) -> u8 {
    if A::WIDTH <= 64 || span.prefix.len() >= 64 {
        return A::WIDTH;
    }
    let longer = rib.iter().filter(|(prefix, _)| prefix.len() > 64).count();
    if longer * 100 > rib.len() {
        A::WIDTH
    } else {
        64
    }
}

/// Turns addresses and lengths into places on a disc.
struct Disc<A> {
    span: ShownSpan<A>,
    outermost: u8,
    size: usize,
    /// The first addresses of all routes shown, which spread long keys.
    starts: Option<Vec<A>>,
}

impl<A: Address> Disc<A> {
    fn new(rib: &Rib<A>, span: ShownSpan<A>, size: usize) -> Self {
        let routes = rib.iter().map(|(prefix, _)| prefix);
        let starts = routes.filter(|prefix| span.prefix.covers(prefix));
        let starts: Vec<A> = starts.map(|prefix| prefix.first()).collect();
        Self {
            span,
            outermost: outermost(rib, span),
            size,
            starts: (A::WIDTH > 64 && !starts.is_empty()).then_some(starts),
        }
    }

    /// The share of what is shown that is before `address`.
    fn before(&self, address: A) -> f64 {
        match &self.starts {
            Some(starts) => {
                starts.partition_point(|start| *start < address) as f64 / starts.len() as f64
            }
            None => self.span.at(address),
        }
    }

    /// How far around the circle the middle of these addresses is, which are within the span.
    fn turn(&self, first: A, last: A) -> f64 {
        let shown = self.span.prefix.last();
        let end = match last.checked_next() {
            Some(next) if last < shown => self.before(next),
            _ => 1.0,
        };
        (self.before(first) + end) / 2.0
    }

    /// The pixel of the block of the first `len` bits of `address`.
    fn place(&self, address: A, len: u8) -> (f64, f64) {
        let first = address & A::mask(len);
        self.place_of(first, first | !A::mask(len), len)
    }

    /// The pixel of these addresses, at a length. A block that contains all that is shown is at the centre.
    fn place_of(&self, first: A, last: A, len: u8) -> (f64, f64) {
        let shown = self.span.prefix;
        let (first, last) = (first.max(shown.first()), last.min(shown.last()));
        self.pixel(self.turn(first, last), self.outwards(len))
    }

    /// How far outwards a length is, 0 to 1.
    fn outwards(&self, len: u8) -> f64 {
        let shown = self.span.prefix.len();
        let all = f64::from(self.outermost.saturating_sub(shown).max(1));
        f64::from(len.saturating_sub(shown)) / all
    }

    /// The pixel at `turn`, a share of the circle, and `outwards`.
    fn pixel(&self, turn: f64, outwards: f64) -> (f64, f64) {
        let (sin, cos) = (turn * TAU).sin_cos();
        let half = self.size as f64 / 2.0;
        // A pixel less, for what is on the rim.
        let radius = outwards * (half - 1.0);
        (half + radius * sin, half - radius * cos)
    }

    /// Whether the block of the first `len` bits of `address` is shown, as a whole or in part.
    fn shows(&self, address: A, len: u8) -> bool {
        let shown = self.span.prefix;
        (address ^ shown.address()) & A::mask(len.min(shown.len())) == A::MIN
    }

    /// The rings, and what surrounds the disc.
    fn around(&self, svg: &mut Svg, (x, y): (f64, f64), rings: &[u8]) {
        for len in rings {
            let radius = self.outwards(*len) * RADIUS;
            svg.element(format_args!(
                "circle class=\"pf-axis\" fill=\"none\" stroke-width=\"0.7\" stroke-opacity=\"0.7\" \
                 cx=\"{}\" cy=\"{}\" r=\"{}\"",
                Coordinate(x),
                Coordinate(y),
                Coordinate(radius)
            ));
        }
        for len in rings {
            let radius = self.outwards(*len) * RADIUS;
            svg.label(
                (
                    x,
                    y - radius + if *len == self.outermost { 15.0 } else { 4.0 },
                ),
                Anchor::Middle,
                HALO,
                &format!("/{len}"),
            );
        }
        let regions = regions(
            self.span.prefix,
            1.0 / 16.0,
            self.longest_name(),
            &|address| self.before(address),
        );
        self.names(svg, (x, y), regions);
    }

    /// Ticks between the regions of the circle, and their names where there is room, those of the largest regions first.
    fn names(&self, svg: &mut Svg, (x, y): (f64, f64), mut regions: Vec<Region<A>>) {
        for region in &regions {
            let (sin, cos) = (region.from * TAU).sin_cos();
            let (from, to) = (RADIUS + 1.0, RADIUS + 6.0);
            svg.line(
                "pf-axis",
                (x + from * sin, y - from * cos),
                (x + to * sin, y - to * cos),
            );
        }
        regions.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
        let mut taken: Vec<[f64; 4]> = Vec::new();
        for region in regions {
            let (sin, cos) = ((region.from + region.to) / 2.0 * TAU).sin_cos();
            let anchor = match sin {
                0.25.. => Anchor::Start,
                ..=-0.25 => Anchor::End,
                _ => Anchor::Middle,
            };
            let at = (x + (RADIUS + 10.0) * sin, y - (RADIUS + 14.0) * cos + 4.0);
            let name = region.prefix.to_string();
            let width = width_of(&name, SOFT_SIZE);
            let left = at.0
                - match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => width / 2.0,
                    Anchor::End => width,
                };
            let place = [left, at.1 - SOFT_SIZE, left + width, at.1 + 3.0];
            let is_taken = |other: &[f64; 4]| {
                place[0] < other[2]
                    && other[0] < place[2]
                    && place[1] < other[3]
                    && other[1] < place[3]
            };
            let room = RADIUS + MARGIN_ACROSS;
            let is_inside = place[0] >= x - room && place[2] <= x + room;
            if is_inside && !taken.iter().any(is_taken) {
                svg.label(at, anchor, SOFT, &name);
                taken.push(place);
            }
        }
    }

    /// The longest prefix that is a name around the circle.
    fn longest_name(&self) -> u8 {
        let shown = self.span.prefix.len();
        (shown + 13).min(A::WIDTH).min(self.outermost.max(shown))
    }
}

/// What colours mean, to the left of and below `(right, top)`: lengths by hue, and numbers of edges by depth of colour.
fn legend(svg: &mut Svg, (right, top): (f64, f64), (first, last): (u8, u8), high: f32) {
    const CELL: f64 = 11.0;
    let left = right - CELL * BANDS as f64;
    let texts = |svg: &mut Svg, y: f64, name: &str, ends: [String; 2]| {
        let [from, to] = ends;
        svg.label((left - 40.0, y + 10.0), Anchor::End, SOFT, name);
        svg.label((left - 8.0, y + 10.0), Anchor::End, SOFT, &from);
        svg.label((right + 8.0, y + 10.0), Anchor::Start, SOFT, &to);
    };
    for at in 0..BANDS {
        let (x, depth) = (left + at as f64 * CELL, 1 + at * (TONES - 1) / (BANDS - 1));
        let (length, edges) = (filled(tone(at, TONES)), filled(tone(BANDS / 4, depth)));
        svg.rect(&length, (x, top), (CELL, CELL));
        svg.rect(&edges, (x, top + 20.0), (CELL, CELL));
    }
    texts(
        svg,
        top,
        "prefix length",
        [format!("/{first}"), format!("/{last}")],
    );
    let most = grouped(high.max(2.0) as u64);
    texts(
        svg,
        top + 20.0,
        "edges through a pixel",
        ["1".to_owned(), most],
    );
}

/// The edges of the binary radix tree; how many vertices are shown, and how many routes are not.
fn radix<A: Address>(rib: &Rib<A>, disc: &Disc<A>) -> (Density, u64, usize) {
    let mut density = Density::new(disc.size);
    let (mut vertices, mut left_out) = (1, 0);
    let mut before: Option<Prefix<A>> = None;
    let shown = disc.span.prefix.len();
    for (prefix, _) in rib.iter() {
        if !disc.shows(prefix.address(), prefix.len()) || prefix.len() < shown {
            continue;
        }
        // In this order a route shares no more bits with any earlier route than with the one before it.
        let common = before.map_or(shown, |before| {
            let same = (prefix.address() ^ before.address()).leading_zeros();
            same.min(prefix.len()).min(before.len()).max(shown)
        });
        before = Some(prefix);
        vertices += u64::from(prefix.len() - common);
        left_out += usize::from(prefix.len() > disc.outermost);
        let place = |len: u8| disc.place(prefix.address(), len);
        let mut from = place(common);
        for len in common + 1..=prefix.len().min(disc.outermost) {
            let to = place(len);
            density.line(from, to, 1.0);
            from = to;
        }
    }
    (density, vertices, left_out)
}

/// The edges of the Poptrie; how many nodes are shown, and in how many levels.
fn nodes<A: Address>(shape: &PoptrieShape, disc: &Disc<A>) -> (Density, u64, u8) {
    let mut density = Density::new(disc.size);
    let (mut nodes, mut levels) = (0, 0);
    shape.walk::<A>(&mut |part, (above, top), (address, depth), last| {
        if !disc.shows(address, depth) {
            return;
        }
        let weight = match part {
            ShapePart::Node => {
                nodes += 1;
                levels = levels.max((depth - shape.direct_bits) / 6 + 1);
                if top < shape.direct_bits || depth == shape.direct_bits {
                    FROM_ROOT
                } else {
                    1.0
                }
            }
            ShapePart::Leaf => LEAF,
        };
        if depth <= disc.outermost || top < disc.outermost {
            let to = disc.place_of(address, last, depth);
            density.line(disc.place(above, top), to, weight);
        }
    });
    (density, nodes, levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib::NextHop;

    fn draw<A: Address>(routes: &[&str], within: Option<&str>) -> String
    where
        Prefix<A>: std::str::FromStr<Err: std::fmt::Debug>,
    {
        let rib: Rib<A> = routes
            .iter()
            .map(|text| (text.parse().unwrap(), NextHop::MIN))
            .collect();
        let what = RadialTrees {
            title: "a < b",
            note: "\u{1}",
            within: within.map(|text| text.parse().unwrap()),
            size: 64,
        };
        let svg = radial_trees(&rib, &what).unwrap();
        roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(svg.matches("data:image/png;base64,").count(), 2);
        svg
    }

    #[test]
    fn vertices_are_those_of_the_binary_tree() {
        let vertices = |routes: &[&str], within| {
            let svg = draw::<u32>(routes, within);
            let before = svg.split(" vertices").next().unwrap();
            before[before.rfind('>').unwrap() + 1..].to_owned()
        };
        assert_eq!(vertices(&[], None), "1");
        assert_eq!(vertices(&["0.0.0.0/0"], None), "1");
        assert_eq!(vertices(&["10.0.0.0/8"], None), "9");
        assert_eq!(vertices(&["10.0.0.0/8", "11.0.0.0/8"], None), "10");
        assert_eq!(
            vertices(&["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32"], None),
            "33"
        );
        // Of the part that is shown its own root is the first.
        assert_eq!(
            vertices(&["10.0.0.0/8", "10.1.0.0/16"], Some("10.0.0.0/8")),
            "9"
        );
        assert_eq!(
            vertices(&["10.0.0.0/8", "10.1.0.0/16"], Some("11.0.0.0/8")),
            "1"
        );
        assert_eq!(vertices(&["10.0.0.1/32"], Some("10.0.0.1/32")), "1");
        draw::<u128>(&[], None);
        draw::<u128>(&["::/0", "2001:db8::1/128"], None);
        draw::<u128>(&["2001:db8::/32"], Some("2001:db8::/127"));
    }

    #[test]
    fn few_long_prefixes_do_not_push_the_others_to_the_centre() {
        let many: Vec<String> = (0..200).map(|i| format!("2001:db8:{i:x}::/48")).collect();
        let mut routes: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(!draw::<u128>(&routes, None).contains("not drawn"));
        routes.push("2001:db8::1/128");
        assert!(draw::<u128>(&routes, None).contains("longer than /64 and not drawn: 1 route"));
        assert!(!draw::<u128>(&routes[198..], None).contains("not drawn"));
    }
}
