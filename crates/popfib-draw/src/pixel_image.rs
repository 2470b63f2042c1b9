//! Pixels of few colours in, a PNG in base64 out, for an image inside an SVG.
//!
//! A million shapes would make the SVG as large; an image has the size of its pixels. Each pixel is the index of a colour in one byte. The
//! PNG compresses these bytes, even of noisy densities to about half. Pixels where nothing is are transparent, so the same image lies on
//! light and on dark ground.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use png::{BitDepth, ColorType, Compression, Encoder, Filter};

/// Red, green, blue and opacity.
pub(crate) type Colour = [u8; 4];

/// A picture of `side` times `side` pixels, from the upper left on.
pub(crate) struct PixelImage {
    pub(crate) side: usize,
    /// What each pixel's colour is in the palette.
    pub(crate) pixels: Vec<u8>,
    /// At most 256; the first is for pixels with nothing there.
    pub(crate) palette: Vec<Colour>,
}

impl PixelImage {
    /// Nothing anywhere.
    pub(crate) fn new(side: usize) -> Self {
        Self {
            side,
            pixels: vec![0; side * side],
            palette: vec![[0; 4]],
        }
    }

    /// The picture as the value of an `href`.
    pub(crate) fn data_url(&self) -> String {
        let mut url = "data:image/png;base64,".to_owned();
        STANDARD.encode_string(self.png(), &mut url);
        url
    }

    fn png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let side = self.side as u32;
        let mut encoder = Encoder::new(&mut bytes, side, side);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Eight);
        let rgb = self.palette.iter().flat_map(|colour| &colour[..3]);
        encoder.set_palette(rgb.copied().collect::<Vec<u8>>());
        let opacity = self.palette.iter().map(|colour| colour[3]);
        encoder.set_trns(opacity.collect::<Vec<u8>>());
        // Numbers of colours have no slope that a filter could take away.
        encoder.set_filter(Filter::NoFilter);
        encoder.set_compression(Compression::Balanced);
        let written = encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.pixels));
        written.expect("memory takes every byte, and every pixel has a colour");
        bytes
    }
}
