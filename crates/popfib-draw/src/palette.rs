//! The colours that mean something. They are chosen so that people with deuteranopia or protanopia can tell them apart, too; the tests
//! below measure by how much. The colours of ground, ink and grid are in [`theme`](crate::theme).

use crate::pixel_image::Colour;

/// Red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// For the values with the most addresses; each is seen on white and on near black.
pub(crate) const STRONG: [Rgb; 10] = [
    [0x35, 0xad, 0xe9],
    [0xec, 0xb8, 0x51],
    [0xbf, 0x40, 0x80],
    [0x1d, 0x87, 0x52],
    [0x51, 0x6a, 0xec],
    [0xef, 0x6c, 0x82],
    [0x27, 0xb9, 0xa1],
    [0x93, 0x10, 0x26],
    [0x16, 0x34, 0xca],
    [0xe6, 0x19, 0x19],
];

/// For all other values: greys that let the ground through, so that they are pale on white and dim on black, and differ only enough to
/// show borders.
pub(crate) const OTHERS: [Colour; 4] = [
    [0x7d, 0x8a, 0x99, 0x50],
    [0x7d, 0x8a, 0x99, 0x68],
    [0x8a, 0x84, 0x7c, 0x58],
    [0x8a, 0x84, 0x7c, 0x70],
];

/// For routes without a known value.
pub(crate) const UNKNOWN: Colour = [0x64, 0x58, 0x4e, 0xff];

/// From short prefixes to long ones; each is seen on white and on near black.
pub(crate) const LENGTHS: [Rgb; 6] = [
    [0x64, 0x32, 0xb4],
    [0x3d, 0x7a, 0xe8],
    [0x2c, 0xb0, 0xd6],
    [0x5c, 0xc3, 0x91],
    [0xdb, 0xa7, 0x28],
    [0xd2, 0x4a, 0x2a],
];

/// From little to much: on white and on near black, from close to the ground to far from it.
pub(crate) const RAMPS: [[Rgb; 5]; 2] = [
    [
        [0xb9, 0xdc, 0xf0],
        [0x6a, 0xae, 0xd8],
        [0x2c, 0x73, 0xb8],
        [0x45, 0x2f, 0x8f],
        [0x2a, 0x0d, 0x45],
    ],
    [
        [0x22, 0x35, 0x55],
        [0x2f, 0x6a, 0xae],
        [0x2f, 0xa3, 0xbd],
        [0x78, 0xc9, 0x87],
        [0xfd, 0xf2, 0xa0],
    ],
];

/// For the lines of a chart, on white and on near black.
pub const SERIES_COLOURS: [[&str; 8]; 2] = [
    [
        "#2d9bd2", "#d2802d", "#10937d", "#9b2dd2", "#e93571", "#17346d", "#77420d", "#6d1734",
    ],
    [
        "#88abf2", "#e6a219", "#1d8763", "#a257c7", "#e892a0", "#6cefef", "#ca5216", "#e7f5a3",
    ],
];

/// The colour at `share`, 0 to 1, of the way along `anchors`.
pub(crate) fn between(anchors: &[Rgb], share: f64) -> Rgb {
    let at = share.clamp(0.0, 1.0) * (anchors.len() - 1) as f64;
    let first = (at as usize).min(anchors.len() - 2);
    let part = at - first as f64;
    let mix = |i: usize| {
        let (low, high) = (
            f64::from(anchors[first][i]),
            f64::from(anchors[first + 1][i]),
        );
        (low + part * (high - low)).round() as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// A colour as CSS writes it.
pub(crate) fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests;
