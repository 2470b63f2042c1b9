//! Pictures as SVG and PNG, for light and dark: charts of measurements, and
//! what a routing table looks like.
//!
//! * [`chart`]: lines, bars and quartiles, in one style.
//! * [`png`]: any of them as pixels, in the [`Theme`] that is asked for.
//!
//! Everything is made as SVG text first. It is a crate of its own for the
//! libraries that turn SVG into pixels, which nobody else should have to build.

pub mod chart;
mod png;
mod svg;
mod theme;

pub use png::{MAX_PIXELS, PngError, png};
pub use theme::Theme;
