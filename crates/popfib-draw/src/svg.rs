//! A small writer of SVG: the few elements that the pictures need, in one style.
//!
//! Nothing has an `id`, so that many pictures can stand in one HTML page.

use std::fmt::{self, Display, Write};

use crate::theme;

/// Where a text's position is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document that is being written.
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// Begins a picture of this size, with a ground and a name for those who can't see it.
    pub(crate) fn new(width: f64, height: f64, label: &str) -> Self {
        let (width, height) = (Number(width), Number(height));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pf\" role=\"img\" aria-label=\"{}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <style>{}</style>\n<rect class=\"pf-ground\" width=\"{width}\" height=\"{height}\"/>\n",
            Escaped(label),
            theme::style(),
        );
        Self { text }
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
            Number(x),
            Number(y),
            Escaped(text)
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
            Number(x),
            Number(y),
            Number(degrees)
        ));
        self.label((0.0, 0.0), anchor, style, text);
        self.end("g");
    }

    /// A straight line of a class.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.element(format_args!(
            "line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"",
            Number(from.0),
            Number(from.1),
            Number(to.0),
            Number(to.1)
        ));
    }

    /// A rectangle of a class.
    pub(crate) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.element(format_args!(
            "rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Number(x),
            Number(y),
            Number(width),
            Number(height)
        ));
    }

    fn write(&mut self, content: fmt::Arguments<'_>) {
        self.text
            .write_fmt(content)
            .expect("a string takes everything");
    }
}

/// Attributes of a picture's title.
pub(crate) const TITLE: &str = "class=\"pf-ink\" font-size=\"17\" font-weight=\"600\"";
/// Attributes of what is read first.
pub(crate) const LABEL: &str = "class=\"pf-ink\" font-size=\"12.5\"";
/// Attributes of ticks and remarks.
pub(crate) const SOFT: &str = "class=\"pf-soft\" font-size=\"12\"";

/// A coordinate: at most two digits after the point.
pub(crate) struct Number(pub(crate) f64);

impl Display for Number {
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
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
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
