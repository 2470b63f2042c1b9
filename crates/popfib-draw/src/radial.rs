//! A table's binary radix tree and its Poptrie, side by side, as trees around
//! their roots (WIDE's report on Poptrie, Figures 1 and 2): addresses go
//! clockwise around the circle from the top, prefix lengths go outwards.
//!
//! On the left every vertex of the binary tree has an edge to its parent, one
//! bit outwards. On the right the root table resolves s bits at once; each node
//! resolves six more, and has an edge for each child and each run of equal
//! leaves. Both are densities of one scale: how much fuller the left one is, is
//! how much more there is.

use std::f64::consts::TAU;

use popfib::{Address, CompileError, Prefix, Rib};

use crate::density::Density;
use crate::poptrie::{Part, Shape};
use crate::span::Span;
use crate::svg::{Anchor, LABEL, Number, SOFT, Svg, TITLE, grouped};

/// What a radial picture shows.
#[derive(Clone, Copy)]
pub struct Radial<'a, A> {
    /// The title.
    pub title: &'a str,
    /// A line below it: which table this is.
    pub note: &'a str,
    /// The addresses shown; `None` for all of them, of IPv6 for 2000::/3.
    pub within: Option<Prefix<A>>,
    /// Pixels along a side of each of the two densities.
    pub size: usize,
}

/// How long a side of each density is, in units of the SVG.
pub const SIDE: f64 = 2.0 * RADIUS;

/// Of a disc, and of the space around it that its labels need.
const RADIUS: f64 = 300.0;
const MARGIN: f64 = 40.0;
const TOP: f64 = 96.0;
const BELOW: f64 = 70.0;
/// How much of an edge counts that comes from the root table, which is no pointer of a node.
const FROM_ROOT: f32 = 0.3;
const LEAF: f32 = 0.5;

/// Draws the tree and the Poptrie of `rib`.
///
/// O(routes * key width) time; for keys beyond 32 bits half a second more for
/// the root table, which takes 64 MiB meanwhile.
///
/// # Errors
/// [`CompileError`], where the table cannot be compiled.
pub fn radial<A: Address>(rib: &Rib<A>, what: &Radial<'_, A>) -> Result<String, CompileError> {
    let span = Span::of(what.within);
    let disc = Disc::new(span, outermost(rib, span), what.size);
    let (tree, vertices, left_out) = radix(rib, &disc);
    let shape = Shape::new(rib)?;
    let (poptrie, inside, levels) = nodes(&shape, &disc);
    let high = tree.high().max(poptrie.high());

    let width = 2.0 * (2.0 * (RADIUS + MARGIN));
    let centre_y = TOP + MARGIN + RADIUS;
    let height = centre_y + RADIUS + MARGIN + BELOW;
    let mut svg = Svg::new(width, height, what.title);
    svg.label((16.0, 30.0), Anchor::Start, TITLE, what.title);
    svg.label((16.0, 50.0), Anchor::Start, SOFT, what.note);
    let mut note = "Address clockwise from the top, prefix length outwards".to_owned();
    if left_out > 0 {
        let routes = grouped(left_out as u64);
        note += &format!(
            "; longer than /{} and not drawn: {routes} routes",
            disc.outermost
        );
    }
    svg.label((16.0, 67.0), Anchor::Start, SOFT, &note);

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
                "a root table of 2^{s} entries, {} nodes of six bits in up to {levels} level{}; \
                 the whole takes {:.1} MiB",
                grouped(inside),
                if levels == 1 { "" } else { "s" },
                shape.bytes as f64 / f64::from(1 << 20)
            ),
        ),
    ];
    for (side, (density, rings, name, about)) in halves.into_iter().enumerate() {
        let centre = ((2 * side + 1) as f64 * (RADIUS + MARGIN), centre_y);
        svg.element(format_args!(
            "image x=\"{}\" y=\"{}\" width=\"{d}\" height=\"{d}\" href=\"{}\"",
            Number(centre.0 - RADIUS),
            Number(centre.1 - RADIUS),
            density.layer(high).data_url(),
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

/// The prefix length at the rim: the key's, or /64 where hardly anything is longer.
fn outermost<A: Address>(rib: &Rib<A>, span: Span<A>) -> u8 {
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

/// From addresses and lengths to places.
struct Disc<A> {
    span: Span<A>,
    outermost: u8,
    size: usize,
}

impl<A: Address> Disc<A> {
    fn new(span: Span<A>, outermost: u8, size: usize) -> Self {
        Self {
            span,
            outermost,
            size,
        }
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
                Number(x),
                Number(y),
                Number(radius)
            ));
        }
        for len in rings {
            let radius = self.outwards(*len) * RADIUS;
            // Around the lettering the ground, since it lies on lines.
            let halo = "class=\"pf-ink pf-halo\" font-size=\"11.5\" font-weight=\"600\" \
                        stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
            svg.label(
                (x, y - radius + 4.0),
                Anchor::Middle,
                halo,
                &format!("/{len}"),
            );
        }
        for eighth in 0..8u8 {
            let turn = f64::from(eighth) / 8.0;
            let (sin, cos) = (turn * TAU).sin_cos();
            let (from, to) = (RADIUS + 2.0, RADIUS + 7.0);
            svg.line(
                "pf-axis",
                (x + from * sin, y - from * cos),
                (x + to * sin, y - to * cos),
            );
            let anchor = match eighth {
                0 | 4 => Anchor::Middle,
                1..4 => Anchor::Start,
                _ => Anchor::End,
            };
            let at = (x + (to + 4.0) * sin, y - (to + 6.0) * cos + 4.0);
            svg.label(at, anchor, SOFT, &self.eighth(eighth));
        }
    }

    /// The first address of an eighth of what is shown.
    fn eighth(&self, eighth: u8) -> String {
        let shown = self.span.prefix;
        let len = (shown.len() + 3).min(A::WIDTH);
        let below = A::from_leading(eighth.into(), 3).shift_down(len - 3);
        let address = if len - 3 == shown.len() {
            shown.address() | below
        } else {
            shown.address()
        };
        let text = Prefix::new_masked(address, len)
            .expect("within the key")
            .to_string();
        let text = text.split('/').next().unwrap_or_default().to_owned();
        // 64.0.0.0 is 64, 2400:: is 2400.
        match A::WIDTH {
            32 if shown.len() <= 5 => text.split('.').next().unwrap_or_default().to_owned(),
            128 => text
                .strip_suffix("::")
                .map_or(text.clone(), |t| format!("{t}::")),
            _ => text,
        }
    }
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
        // In this order, what two routes share is all that a route shares with any before it.
        let common = before.map_or(shown, |before| {
            let same = (prefix.address() ^ before.address()).leading_zeros();
            same.min(prefix.len()).min(before.len()).max(shown)
        });
        before = Some(prefix);
        vertices += u64::from(prefix.len() - common);
        left_out += usize::from(prefix.len() > disc.outermost);
        let place =
            |len: u8| disc.pixel(disc.span.middle(prefix.address(), len), disc.outwards(len));
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
fn nodes<A: Address>(shape: &Shape, disc: &Disc<A>) -> (Density, u64, u8) {
    let mut density = Density::new(disc.size);
    let (mut nodes, mut levels) = (0, 0);
    shape.walk::<A>(&mut |part, (above, top), (address, depth), blocks| {
        if !disc.shows(address, depth) {
            return;
        }
        let place = |address: A, len: u8, blocks: u8| {
            // What holds all that is shown is its centre.
            let turn = disc.span.at(address & A::mask(len))
                + 0.5 * f64::from(blocks) * disc.span.share(len);
            disc.pixel(turn, disc.outwards(len))
        };
        let weight = match part {
            Part::Node => {
                nodes += 1;
                levels = levels.max((depth - shape.direct_bits) / 6 + 1);
                if top < shape.direct_bits || depth == shape.direct_bits {
                    FROM_ROOT
                } else {
                    1.0
                }
            }
            Part::Leaf => LEAF,
        };
        if depth <= disc.outermost || top < disc.outermost {
            density.line(place(above, top, 1), place(address, depth, blocks), weight);
        }
    });
    (density, nodes, levels)
}
