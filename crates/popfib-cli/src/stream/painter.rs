//! Colours for answers: lines of text in, the same lines out with colours in their last fields.
//!
//! Lines are coloured after they are made, so that making them is the same code, at the same speed, with colours and without.

use anstyle::Style;

use super::lines::Query;
use crate::screen::{PREFIX, VALUE};

/// Colours prefixes and values, which are the last fields of each line.
pub(crate) struct Painter {
    styles: Vec<Style>,
    painted: Vec<u8>,
}

impl Painter {
    pub(crate) fn new(query: &Query) -> Self {
        let of_table = query.tables.iter().flat_map(|table| {
            let prefix = table.with_prefixes.then_some(PREFIX);
            prefix.into_iter().chain(vec![VALUE; table.width()])
        });
        let of_table: Vec<_> = of_table.collect();
        Self {
            styles: of_table.repeat(query.cells.len()),
            painted: Vec::new(),
        }
    }

    /// The same lines with colours.
    pub(crate) fn paint(&mut self, lines: &[u8]) -> &[u8] {
        self.painted.clear();
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            let body = line.strip_suffix(b"\n").unwrap_or(line);
            let body = body.strip_suffix(b"\r").unwrap_or(body);
            let mut fields = body.rsplitn(self.styles.len() + 1, |&byte| byte == b'\t');
            let answers: Vec<_> = fields.by_ref().take(self.styles.len()).collect();
            let mut separator: &[u8] = b"";
            if let Some(lead) = fields.next() {
                self.painted.extend_from_slice(lead);
                separator = b"\t";
            }
            for (answer, style) in answers.iter().rev().zip(&self.styles) {
                self.painted.extend_from_slice(separator);
                separator = b"\t";
                let is_none = *answer == b"-";
                let style = if is_none { Style::new() } else { *style };
                paint(style, answer, &mut self.painted);
            }
            self.painted.extend_from_slice(&line[body.len()..]);
        }
        &self.painted
    }
}

/// Writes bytes between the escapes of a style.
pub(crate) fn paint(style: Style, text: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(style.render().to_string().as_bytes());
    to.extend_from_slice(text);
    to.extend_from_slice(style.render_reset().to_string().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fields_are_coloured() {
        let mut painter = Painter {
            styles: vec![PREFIX, VALUE],
            painted: Vec::new(),
        };
        let mut shown = |lines: &str| {
            let painted = painter.paint(lines.as_bytes()).to_vec();
            String::from_utf8(painted).unwrap().replace('\x1b', "E")
        };
        assert_eq!(
            shown("a\tb\t10.0.0.0/8\teast\n-\t-\t-\r\n"),
            "a\tb\tE[36m10.0.0.0/8E[0m\tE[32meastE[0m\n-\t-\t-\r\n"
        );
        // Without a line before.
        assert_eq!(shown("1\t2\n"), "E[36m1E[0m\tE[32m2E[0m\n");
    }
}
