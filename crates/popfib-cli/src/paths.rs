//! `popfib paths`: a route collector's dump in; out come all paths that meet the conditions, in the order of the dump, or the prefixes
//! that several AS originate (`--moas`).

use clap::Args;
use popfib::IpPrefix;
use popfib_formats::bgp::{BgpPath, open_paths};
use popfib_formats::{LoadOptions, PeerFilter};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use serde::Serialize;

use crate::args::{DumpArgs, ReadArgs, is_stdin};
use crate::bgp_lines::{BgpPathLine, BgpdumpHead, FORM, NAMES};
use crate::forms::FormArgs;
use crate::output::{AsText, StandardOutput};
use crate::path_conditions::PathConditions;
use crate::places::PlaceArgs;
use crate::rows::RowForm;
use crate::screen::PREFIX;
use crate::table::{note_skipped, take_all};

/// Print all paths in a route collector's dump.
///
/// Those of every peer that meet all conditions; the exit status is 1 if there are none. Lines have the format of `bgpdump -m` and
/// the order of the dump: type, time, B, peer, its AS, prefix, AS path, origin, next hop, local preference, MED, communities, AG
/// or NAG, aggregator. A PREFIX may also be an address, or @FILE for the prefixes of a list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib paths rib.mrt.gz --covering 8.8.8.8
  popfib paths rib.mrt.gz --exact 193.0.0.0/21 --peer AS3333 --json
  popfib paths rib.mrt.gz --origin AS15169 --as-path '^3356_'
  popfib paths rib.mrt.gz --moas")]
#[command(after_long_help = "
JSON, one object a line: prefix, peer, peer_as, time, id, as_path, origin_as,
origin, next_hop, local_preference, med, communities, atomic, aggregator; null
where a path has none. With --moas: prefix, origins.

Exit status: 0 paths were found, 1 none, 2 bad usage or input.")]
pub(crate) struct PathsArgs {
    #[command(flatten)]
    places: PlaceArgs,

    /// Paths of this peer only
    ///
    /// Index, address or AS, as `popfib peers` lists them.
    #[arg(long, value_name = "PEER")]
    peer: Option<PeerFilter>,

    #[command(flatten)]
    conditions: PathConditions,

    /// Print the prefixes with more than one origin AS (MOAS)
    ///
    /// And these origins, instead of paths.
    #[arg(long)]
    moas: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    mask: bool,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    dump: DumpArgs,
}

/// The members of what `--moas` prints, and what its lines look like.
pub(crate) const MOAS_NAMES: &str = "prefix origins";
pub(crate) const MOAS_FORM: RowForm = RowForm::separated(' ');

/// Prints a prefix with several origins.
pub(crate) fn write_moas(
    output: &mut StandardOutput,
    prefix: IpPrefix,
    origins: &[String],
) -> Result<(), Failure> {
    if !output.is_text() {
        let prefix = AsText(prefix);
        return output.record(&MoasLine { prefix, origins });
    }
    let origins = origins.join(" ");
    output.led_by(PREFIX, &prefix, &[&origins])
}

/// A prefix with several origins, as JSON.
#[derive(Serialize)]
struct MoasLine<'a> {
    prefix: AsText<IpPrefix>,
    origins: &'a [String],
}

pub(crate) fn run(args: &PathsArgs) -> Result<Verdict, Failure> {
    let read = ReadArgs {
        skip_invalid: args.dump.skip_invalid,
        mask: args.mask,
        max_size: args.dump.max_size,
        ..ReadArgs::default()
    };
    let wanted = args.places.wanted(&read, is_stdin(args.dump.path()))?;
    let input = args.dump.open()?;
    let name = input.name().to_owned();
    let bar = progress::is_apart().then(|| progress::watch(input.progress()));
    let options = LoadOptions {
        format: args.dump.format,
        peer: args.peer,
        mask: args.mask,
        ..LoadOptions::new()
    };
    let mut source = open_paths(input, &options, wanted)?;
    let mut report = PathsReport {
        output: match args.moas {
            true => StandardOutput::of_form(MOAS_FORM, args.form, MOAS_NAMES)?,
            false => StandardOutput::of_form(FORM, args.form, NAMES)?,
        },
        is_found: false,
        origins: args.moas.then(|| (None, Vec::new())),
    };
    let mut path = BgpPath::default();
    let skipped = take_all(args.dump.skip_invalid, || {
        let is_path = source.next_path(&mut path)?;
        if is_path && args.conditions.hold(&path) {
            report.path(&path)?;
        }
        Ok(is_path)
    })?;
    drop(bar);
    note_skipped(&name, skipped);
    report.finish_prefix()?;
    report.output.end(Verdict::good_if(report.is_found))
}

/// Prints paths, or with `--moas` collects the origins of each prefix, whose paths follow one another in a dump.
struct PathsReport {
    output: StandardOutput,
    is_found: bool,
    /// With `--moas`, the prefix at hand and its origins so far.
    origins: Option<(Option<IpPrefix>, Vec<String>)>,
}

impl PathsReport {
    fn path(&mut self, path: &BgpPath) -> Result<(), Failure> {
        if let Some((prefix, _)) = &self.origins {
            if *prefix != Some(path.prefix) {
                self.finish_prefix()?;
            }
            if let Some((prefix, origins)) = &mut self.origins {
                *prefix = Some(path.prefix);
                let origin_as = path.origin_as();
                if !origins.contains(&origin_as) {
                    origins.push(origin_as);
                }
            }
            return Ok(());
        }
        self.is_found = true;
        if !self.output.is_text() {
            return self.output.record(&BgpPathLine::new(path, path.seconds));
        }
        let head = BgpdumpHead {
            record_type: match path.id {
                Some(_) => "TABLE_DUMP2_AP",
                None if path.is_table_dump => "TABLE_DUMP",
                None => "TABLE_DUMP2",
            },
            time: &path.seconds,
            what: "B",
        };
        head.line(path, false, &mut self.output)
    }

    /// Prints the prefix whose paths are done, if it comes from several AS.
    fn finish_prefix(&mut self) -> Result<(), Failure> {
        let Some((prefix, origins)) = &mut self.origins else {
            return Ok(());
        };
        if let Some(prefix) = prefix.take().filter(|_| origins.len() > 1) {
            self.is_found = true;
            write_moas(&mut self.output, prefix, origins)?;
        }
        origins.clear();
        Ok(())
    }
}
