//! Pixels of few colours in, a PNG in base64 out, for an image inside an SVG.
//!
//! A million shapes would make the SVG as large; an image has the size of its pixels. Each pixel is the index of a colour in one byte. The
//! PNG compresses these bytes, even of noisy densities to about half. Pixels where nothing is are transparent, so the same image lies on
//! light and on dark ground.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

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
        let side = (self.side as u32).to_be_bytes();
        // Indices of 8 bits, in no order of their own.
        let header = [&side[..], &side, &[8, 3, 0, 0, 0]].concat();
        let rgb = self.palette.iter().flat_map(|colour| &colour[..3]);
        let opacity = self.palette.iter().map(|colour| colour[3]);
        let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in self.pixels.chunks(self.side) {
            // Numbers of colours have no slope that a filter could take away.
            let written = rows.write_all(&[0]).and_then(|()| rows.write_all(row));
            written.expect("memory takes every byte");
        }
        let rows = rows.finish().expect("memory takes every byte");
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        put_chunk(&mut bytes, b"IHDR", &header);
        put_chunk(&mut bytes, b"PLTE", &rgb.copied().collect::<Vec<u8>>());
        put_chunk(&mut bytes, b"tRNS", &opacity.collect::<Vec<u8>>());
        put_chunk(&mut bytes, b"IDAT", &rows);
        put_chunk(&mut bytes, b"IEND", &[]);
        bytes
    }
}

/// Adds a part of the file: its length, name and data, and a checksum of the last two.
fn put_chunk(bytes: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let mut checksum = Crc::new();
    checksum.update(name);
    checksum.update(data);
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(name);
    bytes.extend(data);
    bytes.extend(checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn another_library_reads_the_pixels() {
        let mut image = PixelImage::new(130);
        image.palette.extend([[1, 2, 3, 255], [250, 0, 9, 77]]);
        for (at, pixel) in image.pixels.iter_mut().enumerate() {
            *pixel = (at * at % 7 % 3) as u8;
        }
        let png = image.png();
        let mut reader = png::Decoder::new(io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height), (130, 130));
        assert_eq!(pixels, image.pixels);
        let info = reader.info();
        let palette = info.palette.as_ref().unwrap().chunks(3);
        let opacity = info.trns.as_ref().unwrap();
        let colours = palette.zip(&opacity[..]);
        let colours = colours.map(|(rgb, &a)| [rgb[0], rgb[1], rgb[2], a]);
        assert_eq!(colours.collect::<Vec<_>>(), image.palette);
        reader.finish().unwrap();
    }
}
