//! Routes in, a small map of IPv4 without texts out: for a cell of a notebook, where titles and legend are in the words around it.
//!
//! It is a PNG alone, as notebooks that are opened again drop SVG. A pixel is a /16. Unlike in [`hilbert_map`](crate::hilbert_map()), no
//! route is too small to be seen: a pixel that no route covers has the colour of the first route inside it.

use std::collections::HashMap;

use popfib::Prefix;

use crate::hilbert_curve::place;
use crate::palette::{OTHERS, STRONG, hex};
use crate::pixel_image::PixelImage;

/// A small map of the IPv4 space.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// Pixels along a side.
    pub side: usize,
    /// The picture, a PNG that is transparent where no route is, as a `data:` URL.
    pub url: String,
    /// The values with a colour of their own, those with most pixels first.
    pub legend: Vec<ThumbnailRow>,
}

/// A value of a map and its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct ThumbnailRow {
    /// The value.
    pub value: u32,
    /// Its colour, as CSS writes it.
    pub colour: String,
    /// Its share of the pixels.
    pub share: f64,
}

const ORDER: u32 = 8;
const COUNT: usize = 1 << (2 * ORDER);

/// Draws the routes, each with a number for its value, which come in prefix order. All other values than those of the legend share a
/// few pale colours. O(routes) time.
pub fn thumbnail(routes: impl IntoIterator<Item = (Prefix<u32>, u32)>) -> Thumbnail {
    let values = pixel_values(routes);
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    for value in values.iter().flatten() {
        *sizes.entry(*value).or_default() += 1;
    }
    let mut ranks: Vec<(u32, usize)> = sizes.into_iter().collect();
    ranks.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    ranks.truncate(STRONG.len());

    let mut image = PixelImage::new(1 << ORDER);
    image
        .palette
        .extend(STRONG.map(|[red, green, blue]| [red, green, blue, 255]));
    image.palette.extend(OTHERS);
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let rank = ranks.iter().position(|(strong, _)| strong == value);
        let colour = rank.unwrap_or(STRONG.len() + *value as usize % OTHERS.len());
        let (x, y) = place(ORDER, at);
        image.pixels[y * image.side + x] = colour as u8 + 1;
    }
    let legend = ranks.iter().zip(STRONG);
    Thumbnail {
        side: image.side,
        url: image.data_url(),
        legend: legend
            .map(|(&(value, size), colour)| ThumbnailRow {
                value,
                colour: hex(colour),
                share: size as f64 / COUNT as f64,
            })
            .collect(),
    }
}

/// What each /16 has, in their order.
fn pixel_values(routes: impl IntoIterator<Item = (Prefix<u32>, u32)>) -> Vec<Option<u32>> {
    let mut values = vec![None; COUNT];
    for (prefix, value) in routes {
        let [first, last] = [prefix.first(), prefix.last()].map(|address| address as usize >> 16);
        match prefix.len() {
            // Those that cover it came before.
            0..=16 => values[first..=last].fill(Some(value)),
            _ => _ = values[first].get_or_insert(value),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(texts: &[(&str, u32)]) -> Vec<(Prefix<u32>, u32)> {
        let routes = texts.iter();
        routes
            .map(|(text, value)| (text.parse().unwrap(), *value))
            .collect()
    }

    #[test]
    fn a_pixel_has_its_longest_cover_or_the_first_route_inside() {
        let values = pixel_values(routes(&[
            ("0.0.0.0/14", 1),
            ("0.1.0.0/16", 2),
            ("0.2.0.0/24", 3),
            ("10.0.0.1/32", 4),
            ("10.0.0.2/32", 5),
        ]));
        assert_eq!(
            values[..5],
            [Some(1), Some(2), Some(1), Some(1), None],
            "a short route is not hidden by a longer one in it"
        );
        assert_eq!(values[0x0a00], Some(4));
        assert_eq!(values.iter().flatten().count(), 5);
        let all = pixel_values(routes(&[("0.0.0.0/0", 7)]));
        assert_eq!(all, vec![Some(7); COUNT]);
    }

    #[test]
    fn values_with_most_pixels_are_in_the_legend() {
        let empty = thumbnail([]);
        assert!(empty.legend.is_empty() && empty.url.starts_with("data:image/png;base64,"));
        let many: Vec<_> = (0..20u32)
            .flat_map(|value| routes(&[(format!("{value}.0.0.0/16").as_str(), value)]))
            .chain(routes(&[("30.0.0.0/15", 15), ("31.0.0.0/16", 3)]))
            .collect();
        let map = thumbnail(many);
        let legend: Vec<_> = map.legend.iter().map(|row| row.value).collect();
        assert_eq!(legend, [15, 3, 0, 1, 2, 4, 5, 6, 7, 8]);
        assert_eq!(map.legend[0].share, 3.0 / 65536.0);
        assert_eq!(map.legend[0].colour, hex(STRONG[0]));
    }
}
