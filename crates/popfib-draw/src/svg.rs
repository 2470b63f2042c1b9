//! Elements in, the text of an SVG out: the few elements that the pictures need, in one style.
//!
//! Nothing has an `id`, so that many pictures can stand in one HTML page.

use std::fmt::{self, Display, Write};

use crate::palette::hex;
use crate::pixel_image::Colour;
use crate::theme;

/// Which point of a text its position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document that is being written.
pub(crate) struct Svg {
    text: String,
    width: f64,
}

impl Svg {
    /// Begins a picture of this size, with a ground, the title, which is also for readers who can't see it, and a line below that.
    pub(crate) fn new(width: f64, height: f64, title: &str, note: &str) -> Self {
        let whole = width;
        let (width, height) = (Coordinate(width), Coordinate(height));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pf\" role=\"img\" aria-label=\"{}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <style>{}</style>\n<rect class=\"pf-ground\" width=\"{width}\" height=\"{height}\"/>\n",
            XmlEscaped(title),
            theme::style(),
        );
        let mut svg = Self { text, width: whole };
        svg.line_of_head(30.0, (TITLE, TITLE_SIZE), title);
        svg.line_of_head(50.0, (SOFT, SOFT_SIZE), note);
        svg
    }

    /// A line of text from the left margin, cut where the picture ends.
    pub(crate) fn line_of_head(&mut self, y: f64, (style, size): (&str, f64), text: &str) {
        let text = fitted(text, size, self.width - 2.0 * MARGIN);
        self.label((MARGIN, y), Anchor::Start, style, &text);
    }

    /// Ends the picture.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    /// An element without content: its name and attributes.
    pub(crate) fn element(&mut self, content: fmt::Arguments<'_>) {
        self.write(format_args!("<{content}/>\n"));
    }

    /// Begins an element: its name and attributes.
    pub(crate) fn begin(&mut self, content: fmt::Arguments<'_>) {
        self.write(format_args!("<{content}>\n"));
    }

    /// Ends an element.
    pub(crate) fn end(&mut self, name: &str) {
        self.write(format_args!("</{name}>\n"));
    }

    /// A line of text; `style` is any of [`TITLE`], [`LABEL`], [`SOFT`].
    pub(crate) fn label(&mut self, (x, y): (f64, f64), anchor: Anchor, style: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        self.write(format_args!(
            "<text x=\"{}\" y=\"{}\"{anchor} {style}>{}</text>\n",
            Coordinate(x),
            Coordinate(y),
            XmlEscaped(text)
        ));
    }

    /// A line of text turned by `degrees` around its position.
    pub(crate) fn turned(
        &mut self,
        (x, y): (f64, f64),
        degrees: f64,
        anchor: Anchor,
        style: &str,
        text: &str,
    ) {
        self.begin(format_args!(
            "g transform=\"translate({} {}) rotate({})\"",
            Coordinate(x),
            Coordinate(y),
            Coordinate(degrees)
        ));
        self.label((0.0, 0.0), anchor, style, text);
        self.end("g");
    }

    /// A straight line of a class.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.element(format_args!(
            "line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"",
            Coordinate(from.0),
            Coordinate(from.1),
            Coordinate(to.0),
            Coordinate(to.1)
        ));
    }

    /// A rectangle with these attributes.
    pub(crate) fn rect(&mut self, style: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.element(format_args!(
            "rect {style} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Coordinate(x),
            Coordinate(y),
            Coordinate(width),
            Coordinate(height)
        ));
    }

    fn write(&mut self, content: fmt::Arguments<'_>) {
        self.text
            .write_fmt(content)
            .expect("a string takes everything");
    }
}

/// The attributes of what has this colour.
pub(crate) fn filled([red, green, blue, opacity]: Colour) -> String {
    let (colour, opacity) = (hex([red, green, blue]), f64::from(opacity) / 255.0);
    format!("fill=\"{colour}\" fill-opacity=\"{}\"", Coordinate(opacity))
}

/// From the edge of a picture to its title.
pub(crate) const MARGIN: f64 = 16.0;
/// Attributes of a picture's title, and the size by which it is measured: the bold letters of other fonts are wider.
pub(crate) const TITLE: &str = "class=\"pf-ink\" font-size=\"17\" font-weight=\"600\"";
pub(crate) const TITLE_SIZE: f64 = 20.0;
/// Attributes of what is read first, and its size.
pub(crate) const LABEL: &str = "class=\"pf-ink\" font-size=\"12.5\"";
pub(crate) const LABEL_SIZE: f64 = 12.5;
/// The attributes of a heading.
pub(crate) const HEADING: &str = "class=\"pf-ink\" font-size=\"12.5\" font-weight=\"600\"";
/// Attributes of ticks and remarks, and their size.
pub(crate) const SOFT: &str = "class=\"pf-soft\" font-size=\"12\"";
pub(crate) const SOFT_SIZE: f64 = 12.0;
/// Attributes of a label on a picture, around which the ground shows, and its size.
pub(crate) const HALO: &str = "class=\"pf-ink pf-halo\" font-size=\"11\" font-weight=\"600\" \
                               stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
pub(crate) const HALO_SIZE: f64 = 11.0;

/// Advance widths of ASCII from the space on, in thousandths of the font size: those of Inter semibold, which are wider than those of
/// the regular weight and of Arial.
const ADVANCES: [u16; 95] = [
    252, 321, 523, 644, 650, 1004, 663, 326, 373, 373, 540, 673, 319, 465, 319, 379, 660, 423, 623,
    636, 666, 612, 640, 576, 640, 640, 319, 329, 673, 673, 673, 543, 999, 728, 659, 737, 722, 605,
    588, 749, 746, 277, 580, 703, 565, 922, 759, 769, 645, 773, 652, 650, 660, 736, 728, 1020, 720,
    713, 652, 373, 379, 373, 481, 469, 351, 574, 624, 583, 624, 591, 389, 625, 612, 262, 262, 569,
    262, 900, 612, 609, 624, 624, 397, 549, 353, 612, 587, 839, 569, 588, 566, 455, 359, 455, 673,
];

/// About how wide a text is at this font size, rather more than less.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    let advance = |c: char| match ADVANCES.get((c as usize).wrapping_sub(0x20)) {
        // Of digits the widest: the font of a browser may give all of them the same width.
        Some(_) if c.is_ascii_digit() => 666,
        Some(advance) => *advance,
        None if (c as u32) < 0x250 => 700,
        None => 1000,
    };
    text.chars()
        .map(|c| f64::from(advance(c)) * size / 1000.0)
        .sum()
}

/// As much of a text as there is room for at this font size, with an ellipsis if that isn't all.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width_of(text, size) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width_of(&cut, size) + size > room {
            cut.pop();
            break;
        }
    }
    format!("{}\u{2026}", cut.trim_end())
}

/// A coordinate: at most two digits after the point.
pub(crate) struct Coordinate(pub(crate) f64);

impl Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 100.0).round() / 100.0;
        // Not "-0", and nothing that is no number.
        let finite = if rounded.is_finite() {
            rounded + 0.0
        } else {
            0.0
        };
        Display::fmt(&finite, f)
    }
}

/// Text as XML content or attribute.
#[derive(Debug)]
pub struct XmlEscaped<'a>(pub &'a str);

impl Display for XmlEscaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // XML has no form for the others.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A count with separators between thousands: `1,042,325`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 route`, `1,042,325 routes`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}
