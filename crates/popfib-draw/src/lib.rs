//! Pictures of routing tables as SVG, for light and dark.
//!
//! * [`heat_map`]: how deep each prefix length has to be searched (Poptrie paper, Fig. 7).
//! * [`radial`]: the binary radix tree and the Poptrie of a table, side by side.
//! * [`hilbert`]: the address space, coloured by holder.
//! * [`bars`]: figures from 0 on, side by side.
//! * [`lookup`]: one lookup, through the root table, a page and blocks.
//!
//! An SVG has a light and a dark colour scheme; [`themed`] fixes one of them, for
//! programs that turn it into pixels.

#![forbid(unsafe_code)]

mod bars;
mod curve;
mod density;
mod depths;
mod heatmap;
mod hilbert;
mod layer;
mod lookup;
mod palette;
mod poptrie;
mod radial;
mod regions;
mod span;
mod svg;
mod theme;
mod used;
mod way;

pub use bars::{Bar, Bars, Panel, Row, bars};
pub use depths::{DepthMap, Depths};
pub use heatmap::heat_map;
pub use hilbert::{Colouring, Hilbert, Holder, hilbert};
pub use lookup::{Lookup, lookup};
pub use palette::SERIES;
pub use radial::{Radial, radial};
pub use svg::{Escaped, counted, grouped};
pub use theme::{Theme, themed};
