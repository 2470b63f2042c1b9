//! `popfib draw`: a table in, an SVG picture of it or of one lookup out. The crate `popfib-draw` draws; here are the options, the titles
//! and what next hops are called.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use popfib::family::ByFamily;
use popfib::{IpPrefix, NextHop};
use popfib_draw::{
    Colouring, Depths, HilbertMap, Holder, LookupPicture, RadialTrees, Theme, heat_map,
    hilbert_map, lookup_picture, radial_trees, themed,
};
use popfib_formats::{LookupTable, Routes};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use popfib_table::{Column, ColumnType, Records, Ribs};

use crate::args::{FamilyArg, FileArgs, is_built_in, is_stdin};
use crate::destination::Destination;
use crate::records::{NO_AS, names, said};
use crate::table;

/// Draw a picture of a table or of a lookup.
///
/// Of a table: its tries, how deep they are, who holds what. Pictures are SVG with a light and a dark colour scheme.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib draw radial -o trie.svg
  popfib draw heatmap --table routes.txt.gz -o depth.svg
  popfib draw hilbert --family ipv6 -o ipv6.svg
  popfib draw lookup 8.8.8.8 -o lookup.svg
  popfib draw hilbert --prefix 10.0.0.0/8 --by length -o ten.svg --size 2048")]
pub(crate) struct DrawArgs {
    #[command(subcommand)]
    picture: Picture,
}

#[derive(Subcommand)]
enum Picture {
    /// The binary radix tree and the Poptrie side by side
    ///
    /// Addresses are around the circle, prefix lengths outwards.
    #[command(after_help = "\
Examples:
  popfib draw radial -o trie.svg
  popfib draw radial --prefix 8.0.0.0/8 -o eight.svg")]
    Radial(DrawRadialArgs),
    /// All addresses by the length of their match and its depth
    ///
    /// The depth is how many bits decide a match (Poptrie paper, Figure 7).
    #[command(after_help = "\
Examples:
  popfib draw heatmap -o depth.svg
  popfib draw heatmap routes.txt.gz --family ipv6 -o depth6.svg")]
    Heatmap(DrawCommonArgs),
    /// The address space along Hilbert's curve, coloured by holder
    #[command(after_help = "\
Examples:
  popfib draw hilbert --family ipv6 -o ipv6.svg
  popfib draw hilbert --prefix 10.0.0.0/8 --by length -o ten.svg --size 2048")]
    Hilbert(DrawHilbertArgs),
    /// One lookup, step by step: root table, page, blocks, answer
    #[command(after_help = "\
Examples:
  popfib draw lookup 8.8.8.8 -o lookup.svg
  popfib draw lookup 2001:db8::1 -t routes.txt -o lookup.svg")]
    Lookup(DrawLookupArgs),
}

#[derive(Args)]
struct DrawCommonArgs {
    /// Family to draw
    ///
    /// [default: that of the prefix or address, or IPv4 if the table has any]
    #[arg(long, value_name = "FAMILY", value_enum)]
    family: Option<FamilyArg>,

    /// File to write; its name ends in .svg
    ///
    /// An old file is replaced when the new one is complete.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Colours of one scheme [default: both, and the reader's setting chooses]
    #[arg(long, value_enum)]
    theme: Option<ColourScheme>,

    #[command(flatten)]
    table: FileArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ColourScheme {
    /// Dark ink on white
    Light,
    /// Light ink on near black
    Dark,
}

#[derive(Args)]
struct DrawRadialArgs {
    #[command(flatten)]
    part: DrawPartArgs,

    #[command(flatten)]
    common: DrawCommonArgs,
}

#[derive(Args)]
struct DrawHilbertArgs {
    #[command(flatten)]
    part: DrawPartArgs,

    /// What colours mean
    #[arg(long, value_enum, default_value_t = ColourBy::NextHop)]
    by: ColourBy,

    #[command(flatten)]
    common: DrawCommonArgs,
}

#[derive(Args)]
struct DrawLookupArgs {
    /// Address to look up
    address: std::net::IpAddr,

    #[command(flatten)]
    common: DrawCommonArgs,
}

#[derive(Args)]
struct DrawPartArgs {
    /// Draw the addresses of this prefix only
    ///
    /// [default: all of IPv4, 2000::/3 of IPv6]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<IpPrefix>,

    /// Side of the map, or of each trie, in pixels
    ///
    /// At most 4096; of a trie 2048.
    #[arg(long, value_name = "PIXELS", default_value_t = 1024,
          value_parser = clap::value_parser!(u32).range(64..=4096))]
    size: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum ColourBy {
    /// The next hop: in tables of origins the AS
    NextHop,
    /// The length of the matching prefix
    Length,
}

/// The largest trie of a radial picture, which has two side by side: files of larger ones are too large to share.
const MAX_RADIAL: u32 = 2048;

pub(crate) fn run(args: &DrawArgs) -> Result<Verdict, Failure> {
    let (common, prefix) = match &args.picture {
        Picture::Radial(args) => (&args.common, args.part.prefix),
        Picture::Heatmap(common) => (common, None),
        Picture::Hilbert(args) => (&args.common, args.part.prefix),
        Picture::Lookup(args) => (&args.common, Some(args.address.into())),
    };
    let is_svg = |end: &std::ffi::OsStr| end.eq_ignore_ascii_case("svg");
    if !common.output.extension().is_some_and(is_svg) {
        let reason = "the name of a picture ends in .svg";
        return Err(Failure::of_file(&common.output, reason));
    }
    if matches!(&args.picture, Picture::Radial(args) if args.part.size > MAX_RADIAL) {
        return Err(format!("--size of a radial picture is at most {MAX_RADIAL}").into());
    }
    let family = chosen_family(common.family, prefix)?;
    let mut destination = Destination::open(Some(&common.output))?;
    let is_asked = matches!(&args.picture, Picture::Lookup(_));
    let mut asked = common.table.or_stdin(is_asked);
    let name = match &asked.table {
        _ if asked.live.is_some() => "live table".to_owned(),
        Some(path) if is_stdin(path) => "standard input".to_owned(),
        Some(path) if !is_built_in(path) => file_name(path),
        _ => "built-in table".to_owned(),
    };
    if name == "built-in table" {
        asked.read.name_numbers();
    }
    // As a lookup reads it, so that the picture has its answers.
    let table: LookupTable = table::load(&asked, asked.read.options())?;
    let Routes { ribs, records, .. } = table.named()?.into_routes()?.content;
    let names = NextHopNames::of(records);
    let bar = progress::step("drawing");
    let svg = match family.unwrap_or(present(&ribs)) {
        FamilyArg::Ipv4 => draw::<u32>(&args.picture, &ribs, &names, &name, prefix)?,
        FamilyArg::Ipv6 => draw::<u128>(&args.picture, &ribs, &names, &name, prefix)?,
    };
    let svg = match common.theme {
        Some(ColourScheme::Light) => themed(&svg, Theme::Light),
        Some(ColourScheme::Dark) => themed(&svg, Theme::Dark),
        None => svg,
    };
    drop(bar);
    destination.bytes(svg.as_bytes())?;
    destination.finish()?;
    Ok(Verdict::Good)
}

/// The family that the options ask for, if any.
fn chosen_family(
    family: Option<FamilyArg>,
    prefix: Option<IpPrefix>,
) -> Result<Option<FamilyArg>, Failure> {
    let of_prefix = prefix.map(|prefix| match prefix {
        IpPrefix::V4(_) => FamilyArg::Ipv4,
        IpPrefix::V6(_) => FamilyArg::Ipv6,
    });
    match (family, of_prefix) {
        (Some(family), Some(of_prefix)) if family != of_prefix => Err(
            "--family is not that of the prefix or address, beside which it is not needed".into(),
        ),
        (family, of_prefix) => Ok(family.or(of_prefix)),
    }
}

/// IPv4 if the table has any of it, else IPv6.
fn present(ribs: &ByFamily<Ribs>) -> FamilyArg {
    if ribs.ipv4.is_empty() {
        FamilyArg::Ipv6
    } else {
        FamilyArg::Ipv4
    }
}

/// The picture, as SVG.
fn draw<A: popfib::family::Family>(
    picture: &Picture,
    ribs: &ByFamily<Ribs>,
    names: &NextHopNames,
    name: &str,
    prefix: Option<IpPrefix>,
) -> Result<String, Failure> {
    let (family, rib) = (A::NAME, A::of(ribs));
    if rib.is_empty() {
        let other = if A::WIDTH == 32 { "ipv6" } else { "ipv4" };
        return Err(format!(
            "{}: there is no {family} route in it; --family {other} draws the others",
            name.escape_debug()
        )
        .into());
    }
    let note = format!(
        "{name}, {}",
        popfib_draw::counted(rib.len() as u64, &format!("{family} route"))
    );
    let within = prefix.and_then(A::prefix);
    let holder = |next_hop: NextHop| names.holder(next_hop);
    Ok(match picture {
        Picture::Radial(args) => {
            let title = format!("Binary radix tree and Poptrie, {family}");
            let what = RadialTrees {
                title: &title,
                note: &note,
                within,
                size: args.part.size as usize,
            };
            radial_trees(rib, &what)?
        }
        Picture::Heatmap(_) => {
            let title = format!("Binary radix depth of all {family} addresses");
            let map = Depths::new(rib).map();
            heat_map(&title, &note, &map, A::WIDTH)
        }
        Picture::Hilbert(args) => {
            let (title, colouring) = match args.by {
                ColourBy::NextHop => ("Who holds what", Colouring::NextHop(&holder)),
                ColourBy::Length => ("Length of the matching prefix", Colouring::Length),
            };
            let title = format!("{title}, {family}");
            let what = HilbertMap {
                title: &title,
                note: &note,
                within,
                size: args.part.size as usize,
                colouring,
            };
            hilbert_map(rib, &what)
        }
        Picture::Lookup(args) => {
            let address = within.unwrap_or_default().address();
            let answer = rib
                .longest_match(address)
                .map(|(prefix, next_hop)| format!("{prefix}: {}", names.all(next_hop)));
            let title = format!("Lookup of {}", args.address);
            let what = LookupPicture {
                title: &title,
                note: &note,
                address,
                answer: answer.as_deref(),
                name: &|next_hop| names.first(next_hop),
            };
            lookup_picture(rib, &what)?
        }
    })
}

/// What the next hops of a table are called: values of the columns of its records.
struct NextHopNames {
    records: Records,
    columns: Vec<String>,
    /// The column that is read first: the first of texts.
    main: usize,
}

impl NextHopNames {
    fn of(records: Records) -> Self {
        let columns = names(&records, 0..records.columns().len());
        // As people write names.
        let columns = columns.iter().map(|name| name.replace('_', " ")).collect();
        let is_text = |column: &Column| column.column_type() == ColumnType::Text;
        Self {
            main: records.columns().iter().position(is_text).unwrap_or(0),
            columns,
            records,
        }
    }

    /// What a picture says for the value of a column, if there is one.
    fn said(&self, next_hop: NextHop, column: usize) -> Option<String> {
        let cell = self.records.cell(next_hop, column)?;
        Some(said(&self.columns[column], cell))
    }

    /// The first value there is, that of the main column before others, and these as details. `None` without any,
    /// or of no AS alone.
    fn holder(&self, next_hop: NextHop) -> Option<Holder> {
        let others = (0..self.columns.len()).filter(|column| *column != self.main);
        let columns = std::iter::once(self.main).chain(others);
        let said = columns.filter_map(|column| self.said(next_hop, column));
        let mut said = said.filter(|said| said != NO_AS);
        Some(Holder {
            name: said.next()?,
            detail: said.collect::<Vec<_>>().join(", "),
        })
    }

    /// The value of the first column alone, where there is little room.
    fn first(&self, next_hop: NextHop) -> String {
        let cell = self.records.cell(next_hop, 0);
        cell.map_or_else(|| "-".to_owned(), |cell| cell.to_text().into_owned())
    }

    /// The values of all columns.
    fn all(&self, next_hop: NextHop) -> String {
        let said = (0..self.columns.len()).filter_map(|column| self.said(next_hop, column));
        match said.collect::<Vec<_>>() {
            said if said.is_empty() => "without a value".to_owned(),
            said => said.join(", "),
        }
    }
}

/// The last part of a path, as a title shows it.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    if name == "-" || name == "<stdin>" {
        return "standard input".to_owned();
    }
    name.to_string_lossy().into_owned()
}
