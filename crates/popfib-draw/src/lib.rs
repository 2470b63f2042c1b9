//! Pictures of routing tables: a RIB, routes or figures in, the text of an SVG or a PNG out.
//!
//! * [`heat_map()`]: how deep each prefix length has to be searched (Poptrie paper, Fig. 7).
//! * [`radial_trees()`]: the binary radix tree and the Poptrie of a table, side by side.
//! * [`hilbert_map()`]: the address space, coloured by holder.
//! * [`thumbnail()`]: the IPv4 space as a PNG without texts, for notebooks.
//! * [`bar_chart()`]: figures from 0 on, side by side.
//! * [`lookup_picture()`]: one lookup, through the root table, a page and blocks.
//!
//! An SVG has a light and a dark colour scheme. [`themed`] fixes one of them, for programs that turn the SVG into pixels.

#![forbid(unsafe_code)]

mod bar_chart;
mod density;
mod depths;
mod heat_map;
mod hilbert_curve;
mod hilbert_map;
mod lookup_picture;
mod lookup_steps;
mod palette;
mod pixel_image;
mod poptrie_shape;
mod radial_trees;
mod regions;
mod shown_span;
mod svg;
mod theme;
mod thumbnail;
mod used_space;

pub use bar_chart::{Bar, BarChart, BarPanel, BarRow, bar_chart};
pub use depths::{DepthMap, Depths};
pub use heat_map::heat_map;
pub use hilbert_map::{Colouring, HilbertMap, Holder, hilbert_map};
pub use lookup_picture::{LookupPicture, lookup_picture};
pub use palette::SERIES_COLOURS;
pub use radial_trees::{RadialTrees, radial_trees};
pub use svg::{XmlEscaped, counted, grouped};
pub use theme::{Theme, themed};
pub use thumbnail::{Thumbnail, ThumbnailRow, thumbnail};

#[cfg(test)]
fn built_in() -> popfib_formats::RouteTable {
    let input = popfib_formats::Input::built_in();
    popfib_formats::load(input, &popfib_formats::LoadOptions::new()).unwrap()
}
