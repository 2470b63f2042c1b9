//! `popfib-lab png`: a picture of `popfib draw` in pixels.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use popfib_formats::OutputFile;
use popfib_report::png;

use crate::program::{Failure, Verdict};

/// Draw an SVG of `popfib draw`, or a figure of a report, as PNG.
///
/// Text is set in Inter, which this command contains: no font has to be installed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab png depth.svg -o depth.png --theme dark
  popfib-lab png report/figures/threads.svg -o threads.png --scale 3")]
pub(crate) struct PngArgs {
    /// Picture to draw
    #[arg(value_name = "SVG")]
    picture: PathBuf,

    /// File to write. An old file is replaced when the new one is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Pixels for each unit of the SVG
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    scale: f64,

    /// Colours of a picture that has both
    #[arg(long, value_enum, default_value_t = Theme::Light)]
    theme: Theme,
}

#[derive(Clone, Copy, ValueEnum)]
enum Theme {
    /// Dark ink on white
    Light,
    /// Light ink on near black
    Dark,
}

pub(crate) fn run(args: &PngArgs) -> Result<Verdict, Failure> {
    let theme = match args.theme {
        Theme::Light => popfib_draw::Theme::Light,
        Theme::Dark => popfib_draw::Theme::Dark,
    };
    let (from, to) = (args.picture.display(), args.output.display());
    let svg = fs::read_to_string(&args.picture).map_err(|error| format!("{from}: {error}"))?;
    let pixels = png(&svg, args.scale, theme).map_err(|error| format!("{from}: {error}"))?;
    let written = OutputFile::create(&args.output).and_then(|mut file| {
        file.write_all(&pixels)?;
        file.finish()
    });
    written.map_err(|error| format!("{to}: {error}"))?;
    Ok(Verdict::Good)
}
