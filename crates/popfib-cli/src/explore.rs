//! `popfib explore`: tables in, a page for the browser out, which looks up, shows and maps them without a server or a network.
//!
//! The page is made by popfib-explore.

mod serve;

use std::path::{Path, PathBuf};

use clap::Args;
use popfib::Options;
use popfib::image::Keep;
use popfib_explore::special_purposes;
use popfib_formats::text::counted;
use popfib_formats::{LookupTable, SPECIAL_TABLE_NAME};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::destination::{Destination, form_by_name};
use crate::draw::file_name;
use crate::image::{created, image_of};
use crate::stream::tables::{self, TablesArgs};

/// Look at tables in the browser: look up, map, search, count.
///
/// Makes a page of one file, which needs no server and no network, and sends nothing. It looks up addresses and log lines, and shows
/// the table as a map, what it has for each value, and what of it a log uses.
#[derive(Args)]
#[command(arg(tables::files()))]
#[command(after_help = "\
Examples:
  popfib explore
  popfib explore -o page.html
  popfib explore asn=asn.csv geo=city.mmdb --columns '*' -o page.html")]
pub(crate) struct ExploreArgs {
    /// File to write [default: serve the page on 127.0.0.1 until Ctrl-C]
    ///
    /// `-` is standard output. An old file is replaced when the new one is complete.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Heading of the page [default: the names of its tables]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    #[command(flatten)]
    tables: TablesArgs,
}

pub(crate) fn run(mut args: ExploreArgs) -> Result<Verdict, Failure> {
    let output = args.output.as_deref();
    form_by_name(output, None, &[])?;
    let destination = output.map(|path| Destination::open(Some(path)));
    let destination = destination.transpose()?;
    args.tables.name_numbers();
    let mut named: Vec<(String, LookupTable)> = Vec::new();
    for (name, mut table) in args.tables.read()? {
        // The page is for others, who need not know the folders of its maker.
        for source in &mut table.sources {
            source.name = file_name(Path::new(&source.name));
        }
        let name = name.unwrap_or_else(|| match table.sources.first() {
            Some(source) => source.name.clone(),
            None => file_name(Path::new(&table.name)),
        });
        named.push((name, table));
    }
    let names: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
    let title = args.title.unwrap_or_else(|| names.join(", "));
    if named.iter().all(|(name, _)| name != SPECIAL_TABLE_NAME) {
        named.push((SPECIAL_TABLE_NAME.to_owned(), special_purposes()?));
    }
    let image = image_of(&named, created()?, &Options::default(), Keep::Prefixes)?;
    let tables = named.iter().map(|(_, table)| &table.content);
    let page = popfib_explore::page(&title, &image.to_bytes(), tables)?;
    match destination {
        Some(mut destination) => {
            destination.bytes(page.as_bytes())?;
            destination.finish()?;
        }
        None => {
            let routes = named[0].1.route_count() as u64;
            serve::serve(&page, &counted(routes, "route"))?;
        }
    }
    Ok(Verdict::Good)
}
