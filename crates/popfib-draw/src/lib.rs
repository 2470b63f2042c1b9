//! Pictures as SVG and PNG, for light and dark: charts of measurements, and
//! what a routing table looks like.
//!
//! * [`chart`]: lines, bars and quartiles, in one style.
//! * [`heat_map`]: how deep each prefix length has to be searched (Poptrie paper, Fig. 7).
//! * [`radial`]: the binary radix tree and the Poptrie of a table, side by side.
//! * [`hilbert`]: who holds what in the address space.
//! * [`png`]: any of them as pixels, in the [`Theme`] that is asked for.
//!
//! Everything is made as SVG text first. It is a crate of its own for the
//! libraries that turn SVG into pixels, which nobody else should have to build.

pub mod chart;
mod density;
mod heatmap;
mod hilbert;
mod layer;
mod png;
mod poptrie;
mod radial;
mod span;
mod svg;
mod theme;

pub use heatmap::{SIDE as HEAT_MAP_SIDE, heat_map};
pub use hilbert::{Colouring, Hilbert, SIDE as HILBERT_SIDE, hilbert};
pub use png::{MAX_PIXELS, PngError, png};
pub use radial::{Radial, SIDE as RADIAL_SIDE, radial};
pub use svg::counted;
pub use theme::Theme;
