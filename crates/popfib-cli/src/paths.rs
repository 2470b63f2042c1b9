//! `popfib paths`: every path of a collector's dump to the prefixes asked for.

mod conditions;

use std::net::IpAddr;

use clap::Args;
use popfib::IpPrefix;
use popfib_formats::{BgpPath, LoadOptions, PeerFilter, Wanted, open_paths};
use serde::Serialize;

use crate::args::{DumpArgs, ReadArgs, is_stdin};
use crate::failure::Failure;
use crate::output::{AsText, Output};
use crate::places::{PlaceArgs, set_of};
use crate::program::Verdict;
use crate::progress;
use crate::rows::{Field, Form};
use crate::screen::PREFIX;
use crate::table::{note_skipped, take_all};

use conditions::Conditions;

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
    conditions: Conditions,

    /// Print the prefixes with more than one origin AS (MOAS)
    ///
    /// And these origins, instead of paths.
    #[arg(long)]
    moas: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    mask: bool,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    dump: DumpArgs,
}

impl PathsArgs {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let read = ReadArgs {
            skip_invalid: self.dump.skip_invalid,
            mask: self.mask,
            max_size: self.dump.max_size,
            ..ReadArgs::default()
        };
        let places = self.places.read(&read, is_stdin(self.dump.path()))?;
        let places: Vec<_> = places.iter().map(|(r, p)| (*r, set_of(p))).collect();
        Ok(Box::new(move |prefix| match prefix {
            IpPrefix::V4(prefix) => places.iter().all(|(r, set)| r.holds(prefix, set)),
            IpPrefix::V6(prefix) => places.iter().all(|(r, set)| r.holds(prefix, set)),
        }))
    }
}

#[derive(Serialize)]
struct Line<'a> {
    prefix: AsText<IpPrefix>,
    peer: IpAddr,
    peer_as: u32,
    time: u64,
    id: Option<u32>,
    as_path: &'a str,
    origin_as: &'a str,
    origin: &'a str,
    next_hop: Option<IpAddr>,
    local_preference: Option<u32>,
    med: Option<u32>,
    communities: Vec<&'a str>,
    atomic: bool,
    aggregator: Option<&'a str>,
}

#[derive(Serialize)]
struct Moas<'a> {
    prefix: AsText<IpPrefix>,
    origins: &'a [String],
}

pub(crate) fn run(args: &PathsArgs) -> Result<Verdict, Failure> {
    let wanted = args.wanted()?;
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
    let mut report = Report {
        json: args.json,
        output: Output::of_rows(Form {
            separator: Some(if args.moas { ' ' } else { '|' }),
            ..Form::TABS
        }),
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
    report.output.flush()?;
    Ok(if report.is_found {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

/// Prints paths, or collects the origins of a prefix, whose paths follow each other in a dump.
struct Report {
    json: bool,
    output: Output,
    is_found: bool,
    origins: Option<(Option<IpPrefix>, Vec<String>)>,
}

impl Report {
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
        if self.json {
            return self.output.json(&Line {
                prefix: AsText(path.prefix),
                peer: path.peer,
                peer_as: path.peer_as,
                time: path.seconds,
                id: path.id,
                as_path: &path.as_path,
                origin_as: &path.origin_as(),
                origin: &path.origin,
                next_hop: path.next_hop,
                local_preference: path.local_preference,
                med: path.med,
                communities: path.communities.split_ascii_whitespace().collect(),
                atomic: path.is_atomic,
                aggregator: (!path.aggregator.is_empty()).then_some(&path.aggregator),
            });
        }
        let kind = match path.id {
            Some(_) => "TABLE_DUMP2_AP",
            None => "TABLE_DUMP2",
        };
        let next_hop = path.next_hop.map(|address| address.to_string());
        let next_hop = next_hop.unwrap_or_default();
        let local_preference = path.local_preference.unwrap_or_default();
        let med = path.med.unwrap_or_default();
        let atomic = if path.is_atomic { "AG" } else { "NAG" };
        let head = [
            Field::new(&kind),
            Field::new(&path.seconds),
            Field::new(&"B"),
            Field::new(&path.peer),
            Field::new(&path.peer_as),
            Field::styled(PREFIX, &path.prefix),
        ];
        let id = path.id.as_ref().map(|id| Field::new(id));
        let tail = [
            Field::new(&path.as_path),
            Field::new(&path.origin),
            Field::new(&next_hop),
            Field::new(&local_preference),
            Field::new(&med),
            Field::new(&path.communities),
            Field::new(&atomic),
            Field::new(&path.aggregator),
            Field::new(&""),
        ];
        self.output.row(head.into_iter().chain(id).chain(tail))
    }

    /// Prints the prefix whose paths are done, if it comes from several ASes.
    fn finish_prefix(&mut self) -> Result<(), Failure> {
        let Some((prefix, origins)) = &mut self.origins else {
            return Ok(());
        };
        if let Some(prefix) = prefix.take().filter(|_| origins.len() > 1) {
            self.is_found = true;
            if self.json {
                self.output.json(&Moas {
                    prefix: AsText(prefix),
                    origins,
                })?;
            } else {
                let origins = origins.join(" ");
                self.output
                    .row([Field::styled(PREFIX, &prefix), Field::new(&origins)])?;
            }
        }
        origins.clear();
        Ok(())
    }
}
