//! `popfib watch`: the changes of a live table, as lines, from the socket of a running `popfibd` to standard output as they come.

use std::path::PathBuf;

use clap::Args;
use popfib::IpPrefix;
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;

use crate::live::FollowSocket;
use crate::output::StandardOutput;

/// Print the changes of a live table as they happen.
///
/// The table is one of a running `popfibd`. Lines are `announce PREFIX VALUE` and `withdraw PREFIX`, separated by tabs.
/// `popfibd --updates -` reads these lines if values are single words. Changes that came faster than
/// they were read are lost; a line `# lost N changes` reports them. A changed next-hop object is not a change
/// of its routes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib watch popfib.sock
  popfib watch popfib.sock --table loc-rib --covered 192.0.2.0/24")]
pub(crate) struct WatchArgs {
    /// Unix socket of the `popfibd`
    #[arg(value_name = "SOCKET")]
    socket: PathBuf,

    /// Table to watch [default: the one that lookups use]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// Print only changes of prefixes inside this one
    #[arg(long, value_name = "PREFIX")]
    covered: Option<IpPrefix>,
}

pub(crate) fn run(args: &WatchArgs) -> Result<Verdict, Failure> {
    let live = FollowSocket::of_table(&args.socket, args.table.clone());
    let mut output = StandardOutput::new();
    live.watch(args.covered, |bytes| {
        output.bytes(bytes)?;
        output.flush()
    })?;
    Ok(Verdict::Good)
}
