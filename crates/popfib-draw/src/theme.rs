//! Light and dark: the style sheet of every picture, and a picture in one of the two.
//!
//! Most elements of an SVG here name classes, and one `<style>` has the light colours and, under `prefers-color-scheme: dark`, the dark
//! ones. So a file, or a page that contains it, follows its reader. A picture that is made pixels cannot, so it is asked for in one
//! [`Theme`].

use crate::palette::{RAMPS, SERIES_COLOURS, between, hex};

/// What a picture of pixels is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near black.
    Dark,
}

/// Ground, ink, softer ink, grid, axes.
pub(crate) const GROUND: [[&str; 5]; 2] = [
    ["#ffffff", "#1b2128", "#59636e", "#e4e8ec", "#8b949e"],
    ["#12161b", "#e8edf2", "#9ca7b3", "#2a313a", "#6b7683"],
];

/// How many colours a ramp from little to much has.
pub(crate) const RAMP: usize = 16;

impl Theme {
    /// The rules that turn classes into this theme's colours.
    pub(crate) fn rules(self) -> String {
        let [ground, ink, soft, grid, axis] = GROUND[self as usize];
        let strong = SERIES_COLOURS[self as usize][0];
        let mut css = format!(
            ".pf-ground{{fill:{ground}}}.pf-halo{{stroke:{ground}}}.pf-ink{{fill:{ink}}}\
             .pf-soft{{fill:{soft}}}.pf-rule{{stroke:{ink}}}.pf-grid{{stroke:{grid}}}\
             .pf-axis{{stroke:{axis}}}.pf-strong{{fill:{strong}}}.pf-weak{{fill:{axis}}}"
        );
        for i in 0..RAMP {
            let colour = between(&RAMPS[self as usize], i as f64 / (RAMP - 1) as f64);
            css.push_str(&format!(".pf-h{i}{{fill:{}}}", hex(colour)));
        }
        css
    }
}

const FONT: &str = ".pf{font-family:Inter,'Helvetica Neue',Arial,sans-serif}";

/// The contents of an SVG's `<style>`.
pub(crate) fn style() -> String {
    format!(
        "{}@media (prefers-color-scheme:dark){{{}}}",
        style_of(Theme::Light),
        Theme::Dark.rules()
    )
}

/// A picture of this crate with the colours of one theme; any other SVG is returned unchanged.
///
/// The style sheet is replaced: one beside it would lose against the picture's.
pub fn themed(svg: &str, theme: Theme) -> String {
    svg.replacen(&style(), &style_of(theme), 1)
}

fn style_of(theme: Theme) -> String {
    format!("{FONT}{}", theme.rules())
}
