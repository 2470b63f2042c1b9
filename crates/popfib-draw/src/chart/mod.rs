//! Charts of measurements as SVG: [`LineChart`] (distributions), [`BarChart`]
//! (rates, with errors) and [`BoxChart`] (quartiles), all in one style.
//!
//! What is public is data; each chart has one method, `to_svg`. Values that are
//! not finite, and those that a logarithmic axis has no place for, are left out.
//!
//! Written here because no library at hand fits. Charts stand in a report that
//! follows the reader's light or dark: colours have to be classes of a style
//! sheet, where kuva, plotters, poloto and charts-rs write them into each
//! element, and charming is a browser's library. plotive has themes, one a
//! file. What is left to do (ticks, a legend, three shapes) is less than the
//! code that would turn their output inside out.
//!
//! ```
//! use popfib_draw::chart::{Axis, LineChart, Series};
//!
//! let svg = LineChart {
//!     title: "Cycles of a lookup".into(),
//!     x: Axis::log("cycles"),
//!     y: Axis::linear("share of lookups").between(0.0, 1.0),
//!     series: vec![Series::new("popfib", vec![(10.0, 0.2), (40.0, 0.9), (200.0, 1.0)])],
//!     ..LineChart::default()
//! }
//! .to_svg();
//! assert!(svg.starts_with("<svg "));
//! ```

mod axis;
mod bars;
mod boxes;
mod frame;
mod lines;
mod ticks;

pub use axis::{Axis, Scale};
pub use bars::{Bar, BarChart, Bars};
pub use boxes::{BoxChart, Boxes, Quartiles};
pub use lines::{LineChart, Series};
