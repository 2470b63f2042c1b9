//! `popfib-lab draw`: the pictures of `popfib draw`, as PNG too.

use clap::{Args, ValueEnum};
use popfib_cli::draw::{self, Form};
use popfib_cli::failure::Failure;
use popfib_cli::program::Verdict;
use popfib_report::png;

/// Draw a picture of a table like `popfib draw`, as SVG or PNG.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab draw heatmap --table routes.txt.gz -o depth.png --theme dark
  popfib-lab draw hilbert --prefix 10.0.0.0/8 --by length -o ten.png --size 2048")]
pub(crate) struct ThemedArgs {
    #[command(flatten)]
    draw: draw::DrawArgs,

    /// Colours of a PNG
    #[arg(long, global = true, value_enum, default_value_t = Theme::Light)]
    theme: Theme,
}

#[derive(Clone, Copy, ValueEnum)]
enum Theme {
    /// Dark ink on white
    Light,
    /// Light ink on near black
    Dark,
}

pub(crate) fn run(args: &ThemedArgs) -> Result<Verdict, Failure> {
    let theme = match args.theme {
        Theme::Light => popfib_draw::Theme::Light,
        Theme::Dark => popfib_draw::Theme::Dark,
    };
    let encode =
        |svg: &str, scale| png(svg, scale, theme).map_err(|error| error.to_string().into());
    let form = Form {
        extension: "png",
        encode: &encode,
    };
    draw::run(&args.draw, &[form])
}
