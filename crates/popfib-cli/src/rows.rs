//! Rows of fields in, lines out: in aligned columns on a terminal, else with a separator between fields or in columns that have a least width there, too.
//!
//! Where columns are aligned, rows are kept until there are many or nothing more lies ready, and a column is as wide as the longest field of these
//! and of all before. A field that is longer than any range of addresses moves the rest of its row, and no other rows. Nothing is cut.

use std::cell::RefCell;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::screen::{self, BAR, Screen};

/// How rows look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowForm {
    /// The separator of fields if the output is no terminal; without one, columns have their least width there.
    pub(crate) separator: Option<char>,
    /// The first columns, and all after these.
    pub(crate) columns: &'static [Alignment],
    pub(crate) rest: Alignment,
}

impl RowForm {
    pub(crate) const TABS: Self = Self::tabs(&[]);

    pub(crate) const fn tabs(columns: &'static [Alignment]) -> Self {
        Self {
            separator: Some('\t'),
            columns,
            rest: LEFT,
        }
    }

    /// Fields with this between them, in place of tabs.
    pub(crate) const fn separated(separator: char) -> Self {
        Self {
            separator: Some(separator),
            ..Self::TABS
        }
    }

    /// The same form, with columns after the first ones like `rest`.
    pub(crate) const fn then(self, rest: Alignment) -> Self {
        Self { rest, ..self }
    }

    pub(crate) const fn fixed(columns: &'static [Alignment]) -> Self {
        Self {
            separator: None,
            columns,
            rest: LEFT,
        }
    }

    fn column(&self, index: usize) -> Alignment {
        self.columns.get(index).copied().unwrap_or(self.rest)
    }
}

/// On which side the fields of a column are aligned, and how wide it is at least.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alignment {
    Left(usize),
    Right(usize),
}

/// The alignment of texts, and that of numbers.
pub(crate) const LEFT: Alignment = Alignment::Left(0);
pub(crate) const RIGHT: Alignment = Alignment::Right(0);

/// A field of a row.
#[derive(Clone, Copy)]
pub(crate) enum RowField<'f> {
    /// A text without control characters.
    Text(&'f dyn Display, Style),
    /// A bar, as long as this part of the longest; on a terminal only.
    Bar(f64),
}

impl<'f> RowField<'f> {
    pub(crate) fn new(text: &'f dyn Display) -> Self {
        Self::styled(Style::new(), text)
    }

    pub(crate) fn styled(style: Style, text: &'f dyn Display) -> Self {
        Self::Text(text, style)
    }
}

/// The blanks between two columns.
const GAP: usize = 2;

/// How many rows, and how many bytes of them, are kept.
const ROWS: usize = 1000;
const BYTES: usize = 1 << 20;

/// The widest that a column gets: that of two IPv6 addresses with all their digits, and a hyphen.
const WIDEST: usize = 79;

/// The shortest bar, and the longest, if there is room.
const BARS: (usize, usize) = (10, 50);

/// Writes rows of one form.
#[derive(Debug)]
pub(crate) struct RowWriter {
    form: RowForm,
    screen: Screen,
    /// Those of the columns so far.
    widths: Vec<usize>,
    kept: Vec<Vec<KeptField>>,
    /// The bytes of the kept rows.
    size: usize,
}

/// A field of a row that is kept.
#[derive(Debug)]
enum KeptField {
    Text {
        text: String,
        style: Style,
        width: usize,
    },
    Bar(f64),
}

impl RowWriter {
    pub(crate) fn new(form: RowForm, screen: Screen) -> Self {
        Self {
            form,
            screen,
            widths: Vec::new(),
            kept: Vec::new(),
            size: 0,
        }
    }

    /// Writes a row to `out`, or keeps it.
    pub(crate) fn row<'f>(
        &mut self,
        fields: impl IntoIterator<Item = RowField<'f>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut fields = fields.into_iter();
        self.row_of(&mut || fields.next(), out)
    }

    /// The same, one code for all kinds of rows.
    fn row_of<'f>(
        &mut self,
        next: &mut dyn FnMut() -> Option<RowField<'f>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let fields = std::iter::from_fn(next);
        if let (Some(separator), false) = (self.form.separator, self.screen.is_terminal) {
            let fields = RefCell::new(fields.enumerate());
            // As one text: to begin one takes longer than most fields.
            let line = fmt::from_fn(|f| {
                for (index, field) in &mut *fields.borrow_mut() {
                    if index > 0 {
                        f.write_char(separator)?;
                    }
                    match field {
                        RowField::Text(text, style) if self.screen.is_coloured => {
                            self.screen.paint(style, text).fmt(f)?;
                        }
                        RowField::Text(text, _) => text.fmt(f)?,
                        RowField::Bar(_) => {}
                    }
                }
                f.write_char('\n')
            });
            return write!(out, "{line}");
        }
        let keep = |field| match field {
            RowField::Text(text, style) => {
                let text = text.to_string();
                let width = text.width();
                self.size += text.len();
                KeptField::Text { text, style, width }
            }
            RowField::Bar(part) => KeptField::Bar(part),
        };
        self.kept.push(fields.map(keep).collect());
        if self.kept.len() >= ROWS || self.size >= BYTES {
            self.settle(out)?;
        }
        Ok(())
    }

    /// Whether there are rows that are kept.
    #[inline]
    pub(crate) fn are_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Writes all rows that are kept.
    #[cold]
    pub(crate) fn settle(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let kept = std::mem::take(&mut self.kept);
        self.size = 0;
        self.widen(&kept);
        for fields in kept {
            self.write(&fields, out)?;
        }
        Ok(())
    }

    /// Widens the columns to the fields of these rows.
    fn widen(&mut self, rows: &[Vec<KeptField>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        self.widths.resize(self.widths.len().max(columns), 0);
        let mut bar = None;
        for (index, field) in rows.iter().flat_map(|fields| fields.iter().enumerate()) {
            match field {
                KeptField::Text { width, .. } => {
                    let before = self.widths[index];
                    self.widths[index] = before.max((*width).min(WIDEST));
                }
                KeptField::Bar(_) => bar = Some(index),
            }
        }
        // A bar's heading is its first field, and it has the room that is left.
        if let Some(bar) = bar.filter(|&bar| self.widths[bar] < BARS.0) {
            let others: usize = self.widths.iter().map(|width| width + GAP).sum();
            let room = screen::width().saturating_sub(others);
            self.widths[bar] = room.clamp(BARS.0, BARS.1);
        }
    }

    fn write(&self, fields: &[KeptField], out: &mut dyn Write) -> io::Result<()> {
        // On a terminal no blanks are written at the end of a line.
        let is_seen = |field: &KeptField| !matches!(field, KeptField::Text { width: 0, .. });
        let fields = match self.screen.is_terminal {
            true => &fields[..fields.iter().rposition(is_seen).map_or(0, |at| at + 1)],
            false => fields,
        };
        for (index, field) in fields.iter().enumerate() {
            let width = self.widths.get(index).copied().unwrap_or(0);
            let is_last = index + 1 == fields.len();
            let column = self.form.column(index);
            let (Alignment::Left(least) | Alignment::Right(least)) = column;
            let bar;
            let (text, style, taken) = match field {
                KeptField::Text { text, style, width } => (&text[..], *style, *width),
                KeptField::Bar(part) => {
                    let len = (part.clamp(0.0, 1.0) * width as f64).ceil() as usize;
                    bar = "█".repeat(len);
                    (&bar[..], BAR, len)
                }
            };
            let blanks = width.max(least).saturating_sub(taken);
            let (before, after) = match column {
                Alignment::Left(_) if is_last => (0, 0),
                Alignment::Left(_) => (0, blanks),
                Alignment::Right(_) => (blanks, 0),
            };
            let gap = if is_last { 0 } else { GAP };
            let style = if text.is_empty() { Style::new() } else { style };
            let (painted, after) = (self.screen.paint(style, text), after + gap);
            write!(out, "{:before$}{painted}{:after$}", "", "")?;
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: Screen = Screen {
        is_terminal: true,
        is_coloured: false,
    };

    /// What is written of rows of texts; `settled` rows go together.
    fn written(form: RowForm, screen: Screen, rows: &[&str], settled: usize) -> String {
        let mut all = RowWriter::new(form, screen);
        let mut out = Vec::new();
        for rows in rows.chunks(settled) {
            for row in rows {
                let fields: Vec<&str> = row.split(' ').collect();
                let fields = fields.iter().map(|text| RowField::new(text));
                all.row(fields, &mut out).unwrap();
            }
            all.settle(&mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_longest_field() {
        let form = RowForm::tabs(&[LEFT, RIGHT]);
        let rows = ["a 1 x", "bbb 100 yy", "cc 20 z"];
        let aligned = "a      1  x\nbbb  100  yy\ncc    20  z\n";
        assert_eq!(written(form, SHOWN, &rows, 3), aligned);
        // One by one each has room for those before.
        let one_by_one = "a  1  x\nbbb  100  yy\ncc    20  z\n";
        assert_eq!(written(form, SHOWN, &rows, 1), one_by_one);
        let in_a_pipe = "a\t1\tx\nbbb\t100\tyy\ncc\t20\tz\n";
        assert_eq!(written(form, Screen::NONE, &rows, 3), in_a_pipe);
    }

    #[test]
    fn characters_that_take_two_places_are_counted_so() {
        let rows = ["東京 1", "Ürö 2"];
        assert_eq!(
            written(RowForm::TABS, SHOWN, &rows, 2),
            "東京  1\nÜrö   2\n"
        );
    }

    #[test]
    fn one_long_field_leaves_the_other_rows_alone() {
        let long = "x".repeat(100);
        let row = format!("{long} 1");
        let text = written(RowForm::TABS, SHOWN, &["a 1", &row], 2);
        let wide = " ".repeat(WIDEST + GAP - 1);
        assert_eq!(text, format!("a{wide}1\n{long}  1\n"));
    }

    #[test]
    fn fixed_columns_have_their_least_width_everywhere() {
        let form = RowForm::fixed(&[Alignment::Left(6), Alignment::Right(10), LEFT]);
        let rows = ["IPv4 12 x", "longest 1 y"];
        let aligned = "IPv4             12  x\nlongest           1  y\n";
        for screen in [Screen::NONE, SHOWN] {
            assert_eq!(written(form, screen, &rows, 2), aligned);
        }
    }

    #[test]
    fn no_more_than_some_rows_are_kept() {
        let mut rows = RowWriter::new(RowForm::TABS, SHOWN);
        let mut out = Vec::new();
        for _ in 0..ROWS - 1 {
            rows.row([RowField::new(&1), RowField::new(&2)], &mut out)
                .unwrap();
        }
        assert!(out.is_empty());
        rows.row([RowField::new(&1)], &mut out).unwrap();
        assert!(out.ends_with(b"1  2\n1\n") && rows.kept.is_empty());
        let long = "x".repeat(BYTES);
        out.clear();
        rows.row([RowField::new(&long)], &mut out).unwrap();
        assert_eq!(out.len(), BYTES + 1);
    }

    #[test]
    fn a_style_is_that_of_the_field_and_not_of_the_blanks() {
        let screen = Screen {
            is_terminal: true,
            is_coloured: true,
        };
        let mut rows = RowWriter::new(RowForm::TABS, screen);
        let mut out = Vec::new();
        let fields = [RowField::styled(screen::PREFIX, &"a"), RowField::new(&"b")];
        rows.row(fields, &mut out).unwrap();
        rows.settle(&mut out).unwrap();
        assert_eq!(out, b"\x1b[36ma\x1b[0m  b\n");
    }
}
