//! From SVG to PNG, with the same text on every machine.
//!
//! The library that draws, resvg, knows neither the reader's colour scheme nor,
//! as it is built here, the fonts of the system. So the picture is drawn in the
//! colours of one theme, and all text is set in the font that this crate
//! carries: Inter (regular and semibold), cut down to Latin-1 and a few signs.
//! Letters beyond that are left out of a PNG; an SVG has them.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, LazyLock};

use popfib_draw::{Theme, themed};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Most pixels along a side.
pub const MAX_PIXELS: u32 = 16_384;

/// Why there is no PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PngError {
    /// The picture is no SVG; the reason is the parser's.
    Svg(String),
    /// A side would have no pixel, or more than [`MAX_PIXELS`].
    Size,
    /// There is no memory for the pixels, or they could not be encoded.
    Encode,
}

impl fmt::Display for PngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Svg(reason) => write!(f, "the picture is no SVG: {reason}"),
            Self::Size => write!(f, "a picture has 1 to {MAX_PIXELS} pixels a side"),
            Self::Encode => f.write_str("the pixels could not be encoded"),
        }
    }
}

impl Error for PngError {}

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(include_bytes!("../assets/inter-regular.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../assets/inter-semibold.ttf").to_vec());
    Arc::new(fonts)
});

/// Draws `svg`, `scale` pixels for each of its units, as a PNG.
///
/// A picture of popfib's is drawn in `theme`, any other as it is.
/// Takes time and memory by the number of pixels, four bytes each.
///
/// # Errors
/// [`PngError`].
pub fn png(svg: &str, scale: f64, theme: Theme) -> Result<Vec<u8>, PngError> {
    let options = Options {
        fontdb: FONTS.clone(),
        font_family: "Inter".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(&themed(svg, theme), &options)
        .map_err(|error| PngError::Svg(error.to_string()))?;
    let side = |length: f32| {
        let pixels = (f64::from(length) * scale).round();
        let allowed = 1.0..=f64::from(MAX_PIXELS);
        allowed.contains(&pixels).then_some(pixels as u32)
    };
    let (Some(width), Some(height)) = (side(tree.size().width()), side(tree.size().height()))
    else {
        return Err(PngError::Size);
    };
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Encode)?;
    let transform = Transform::from_scale(
        width as f32 / tree.size().width(),
        height as f32 / tree.size().height(),
    );
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(|_| PngError::Encode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use popfib_draw::{DepthMap, heat_map};

    /// Width, height, and the pixels in red, green, blue, opacity.
    fn decoded(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgba);
        (info.width, info.height, pixels)
    }

    /// A picture of popfib's, 720 by 420 units or so.
    fn picture() -> String {
        let cells = vec![(Some(8), 8, 1 << 24)];
        heat_map("Äbc 1", "", &DepthMap { cells }, 32)
    }

    #[test]
    fn a_theme_colours_ground_and_text() {
        for (theme, ground) in [(Theme::Light, [255; 3]), (Theme::Dark, [0x12, 0x16, 0x1b])] {
            let svg = picture();
            let (width, height, pixels) = decoded(&super::png(&svg, 1.5, theme).unwrap());
            let attributes = format!("width=\"{}\" height=\"{}\"", width / 3 * 2, height / 3 * 2);
            assert!(svg.contains(&attributes), "{attributes}");
            assert_eq!(pixels[..3], ground);
            // The title is of ink, so there is a font.
            let title = &pixels[..4 * (width * 40) as usize];
            let inked = title.chunks(4).filter(|p| p[..3] != ground).count();
            assert!((100..5_000).contains(&inked), "{theme:?}: {inked}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        for scale in [0.0, -1.0, 0.0005, 300.0, f64::NAN, f64::INFINITY] {
            let error = super::png(&picture(), scale, Theme::Light);
            assert_eq!(error, Err(PngError::Size), "{scale}");
        }
        let error = super::png("<p>", 1.0, Theme::Light).unwrap_err();
        assert!(error.to_string().starts_with("the picture is no SVG: "));
    }
}
