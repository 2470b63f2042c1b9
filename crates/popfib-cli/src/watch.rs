//! `popfib watch`: the changes of a live table as they come.

use std::path::PathBuf;

use clap::Args;
use popfib::IpPrefix;

use crate::failure::Failure;
use crate::live::Place;
use crate::output::Output;
use crate::program::Verdict;

/// Print the changes of a table of a running `popfib follow` as they come: `announce PREFIX VALUE` and `withdraw PREFIX`, with tabs.
///
/// `popfib follow --updates -` reads the lines where values are one word. Changes that came faster than they were read are missing,
/// which a line `# lost N changes` says. A next-hop object that leads elsewhere is no change of its routes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib watch popfib.sock
  popfib watch popfib.sock --table loc-rib --covered 192.0.2.0/24")]
pub(crate) struct WatchArgs {
    /// The Unix socket of the other process
    #[arg(value_name = "SOCKET")]
    socket: PathBuf,

    /// Table to watch [default: that which lookups ask]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// Only prefixes inside of this one
    #[arg(long, value_name = "PREFIX")]
    covered: Option<IpPrefix>,
}

pub(crate) fn run(args: &WatchArgs) -> Result<Verdict, Failure> {
    let place = Place::of_table(&args.socket, args.table.clone());
    let mut live = place.connect()?;
    let mut output = Output::new();
    live.watch(args.covered, |bytes| {
        output.bytes(bytes)?;
        output.flush()
    })?;
    Ok(Verdict::Good)
}
