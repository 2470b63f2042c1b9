//! Millions of lines in, an image out that shows how many of them cross each pixel.
//!
//! A line adds its weight to the pixels that it crosses, shared by the two nearest ones of each step. How dark a pixel is follows the
//! logarithm of its sum, so that a single line is seen beside a thousand.

use crate::palette::{LENGTHS, between};
use crate::pixel_image::{Colour, PixelImage};

/// How many tones, and how many colours, a density is shown in. With one index for transparency they fill a palette.
pub(crate) const TONES: usize = 15;
pub(crate) const BANDS: usize = 17;

/// The faintest that is visible on light and on dark ground.
const FAINTEST: f64 = 0.2;

/// The colour of a tone, from 1 on, in a band from the centre outwards.
pub(crate) fn tone(band: usize, tone: usize) -> Colour {
    let [red, green, blue] = between(&LENGTHS, band as f64 / (BANDS - 1) as f64);
    let opacity = FAINTEST + (1.0 - FAINTEST) * (tone as f64 / TONES as f64);
    [red, green, blue, (opacity * 255.0) as u8]
}

/// Weights by pixel.
pub(crate) struct Density {
    side: usize,
    weights: Vec<f32>,
}

impl Density {
    pub(crate) fn new(side: usize) -> Self {
        let weights = vec![0.0; side * side];
        Self { side, weights }
    }

    /// Adds a line between two places, in pixels.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), weight: f32) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        let is_steep = dy.abs() > dx.abs();
        for step in 0..steps as usize {
            let share = (step as f64 + 0.5) / steps;
            let (x, y) = (from.0 + share * dx - 0.5, from.1 + share * dy - 0.5);
            if is_steep {
                let (low, part) = (x.floor(), x - x.floor());
                self.add(low, y.round(), weight * (1.0 - part) as f32);
                self.add(low + 1.0, y.round(), weight * part as f32);
            } else {
                let (low, part) = (y.floor(), y - y.floor());
                self.add(x.round(), low, weight * (1.0 - part) as f32);
                self.add(x.round(), low + 1.0, weight * part as f32);
            }
        }
    }

    #[inline]
    fn add(&mut self, x: f64, y: f64, weight: f32) {
        let side = self.side as f64;
        if (0.0..side).contains(&x) && (0.0..side).contains(&y) {
            self.weights[y as usize * self.side + x as usize] += weight;
        }
    }

    /// The weight that one pixel in a thousand exceeds, of those that have any.
    pub(crate) fn high(&self) -> f32 {
        let mut weights: Vec<f32> = self.weights.iter().copied().filter(|w| *w > 0.0).collect();
        if weights.is_empty() {
            return 1.0;
        }
        let at = (weights.len() - 1) * 999 / 1000;
        *weights.select_nth_unstable_by(at, f32::total_cmp).1
    }

    /// The picture, in colours from the centre outwards; `high` and more has the full tone.
    pub(crate) fn image(&self, high: f32) -> PixelImage {
        let mut image = PixelImage::new(self.side);
        for band in 0..BANDS {
            image.palette.extend((1..=TONES).map(|at| tone(band, at)));
        }
        let full = f64::from(high).max(2.0).ln_1p();
        let middle = self.side as f64 / 2.0;
        for (at, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.04) {
            let tone = (f64::from(*weight).ln_1p() / full * TONES as f64).ceil();
            let (x, y) = ((at % self.side) as f64 + 0.5, (at / self.side) as f64 + 0.5);
            let radius = (x - middle).hypot(y - middle) / middle;
            let band = (radius.min(1.0) * (BANDS - 1) as f64).round() as usize;
            image.pixels[at] =
                (1 + band * TONES + tone.clamp(1.0, TONES as f64) as usize - 1) as u8;
        }
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_leaves_its_weight_where_it_goes() {
        let mut density = Density::new(16);
        density.line((0.0, 4.5), (16.0, 4.5), 2.0);
        let sum: f32 = density.weights.iter().sum();
        assert_eq!(sum, 32.0);
        assert!(density.weights[4 * 16..5 * 16].iter().all(|w| *w == 2.0));
        // Partly and wholly outside.
        density.line((8.5, -8.0), (8.5, 2.0), 1.0);
        density.line((-50.0, -3.0), (-40.0, 90.0), 1.0);
        assert_eq!(density.weights.iter().sum::<f32>(), 34.0);
        let image = density.image(density.high());
        assert!(image.palette.len() <= 256);
        assert!(
            image
                .pixels
                .iter()
                .all(|p| usize::from(*p) < image.palette.len())
        );
        assert_eq!(image.pixels.iter().filter(|p| **p > 0).count(), 18);
        assert_eq!(Density::new(4).high(), 1.0);
    }
}
