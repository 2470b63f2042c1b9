//! `popfib peers`: a route collector's dump in, its peers with the numbers of their routes out. The whole dump is read, for nothing but
//! the routes themselves says how many there are.

use clap::Args;
use popfib_formats::{LoadOptions, RouteValue, open_routes};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;

use crate::args::DumpArgs;
use crate::forms::FormArgs;
use crate::output::StandardOutput;
use crate::records::{number, text};
use crate::rows::{LEFT, RIGHT, RowForm};
use crate::table::{note_skipped, take_all};

/// List the peers of a route collector's dump.
///
/// Columns are index, address, AS, IPv4 and IPv6 routes, separated by tabs. `--peer` takes the index, the address or the AS.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib peers bview.20020722.2337.gz
  popfib info bview.20020722.2337.gz --peer AS1853")]
#[command(after_long_help = "
JSON, one object a line: index, address, as, ipv4_routes, ipv6_routes.")]
pub(crate) struct PeersArgs {
    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    dump: DumpArgs,
}

pub(crate) fn run(args: &PeersArgs) -> Result<Verdict, Failure> {
    let input = args.dump.open()?;
    let name = input.name().to_owned();
    let options = LoadOptions {
        format: args.dump.format,
        // Not the next hop, which a route of a dump may lack.
        value: RouteValue::Peer,
        ..LoadOptions::new()
    };
    let bar = progress::watch(input.progress());
    let mut source = open_routes(input, &options)?;
    let skipped = take_all(args.dump.skip_invalid, || {
        Ok(source.next_route()?.is_some())
    })?;
    drop(bar);
    note_skipped(&name, skipped);
    if source.peers().is_empty() {
        return Err(format!(
            "{}: this file has no peers; dumps of route collectors have (MRT, bgpdump -m)",
            name.escape_debug()
        )
        .into());
    }
    let columns = &[RIGHT, LEFT, LEFT, RIGHT, RIGHT];
    let names = "index address as ipv4_routes ipv6_routes";
    let mut output = StandardOutput::of_form(RowForm::tabs(columns), args.form, names)?;
    for (index, peer) in source.peers().iter().enumerate() {
        let [address, asn] = [peer.address.to_string(), format!("AS{}", peer.asn)];
        let asn = match output.is_text() {
            true => text(&asn),
            false => number(peer.asn),
        };
        let [ipv4, ipv6] = [peer.ipv4_routes, peer.ipv6_routes].map(number);
        let cells = [number(index as u64), text(&address), asn, ipv4, ipv6];
        output.values(&[], &cells.map(Some))?;
    }
    output.end(Verdict::Good)
}
