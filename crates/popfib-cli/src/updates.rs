//! `popfib updates`: a route collector's files of updates in; out come those that meet the conditions, and changes of sessions, in
//! the order of the files.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use popfib::IpPrefix;
use popfib_formats::bgp::{BgpPath, PrefixFilter, unpack_path};
use popfib_formats::updates::{Message, Session};
use popfib_formats::{
    Change, Input, PeerFilter, Update, UpdateFormat, UpdateOptions, open_updates,
};
use popfib_program::failure::Failure;
use popfib_program::program::Verdict;
use popfib_program::progress;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::{ReadArgs, at_most_one_stdin, is_stdin};
use crate::bgp_lines::{BgpPathLine, BgpdumpHead, FORM, NAMES};
use crate::forms::FormArgs;
use crate::output::{AsText, StandardOutput, note};
use crate::path_conditions::PathConditions;
use crate::paths::{MOAS_FORM, MOAS_NAMES, write_moas};
use crate::places::PlaceArgs;
use crate::table::{note_skipped, take_all};

/// Print updates of route collectors.
///
/// Those that meet all conditions; the exit status is 1 if there are none. Lines have the format of `bgpdump -m` and the order of the
/// files: type, time, A, peer, its AS, prefix, AS path, origin, next hop, local preference, MED, communities, AG or
/// NAG, aggregator; with W for a withdrawal, up to the prefix. Without conditions on prefixes and paths, changes of the state of a
/// peer's session are printed, too: STATE, peer, its AS, old and new state. A PREFIX may also be an address, or @FILE for the prefixes
/// of a list.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib updates updates.*.gz --covered-by 193.0.0.0/21
  popfib updates updates.gz --origin AS15169 --as-path '^3356_'
  curl -s https://example.net/updates.gz | popfib updates --peer AS3333 --json")]
#[command(after_long_help = "
JSON, one object a line: type (announce, withdraw, state), peer, peer_as, time;
of announce and withdraw also prefix and id; of announce the members of
`popfib paths`; of state old and new, from 1 (idle) to 6 (established).

Exit status: 0 updates were found, 1 none, 2 bad usage or input.")]
pub(crate) struct UpdatesArgs {
    /// Files of updates (MRT, bgpdump -m, JSON) [default: standard input]
    ///
    /// They may be compressed; `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    places: PlaceArgs,

    /// Updates of this peer only
    ///
    /// Address or AS, or its index in the order of appearance.
    #[arg(long, value_name = "PEER")]
    peer: Option<PeerFilter>,

    #[command(flatten)]
    conditions: PathConditions,

    /// Print the prefixes that more than one origin AS announced (MOAS)
    ///
    /// And these origins, in prefix order after the last update, instead of updates.
    #[arg(long)]
    moas: bool,

    /// Clear host bits (10.1.2.3/8 becomes 10.0.0.0/8)
    #[arg(long)]
    mask: bool,

    #[command(flatten)]
    form: FormArgs,

    /// Format of the updates [default: recognised by content]
    #[arg(long, value_name = "NAME")]
    format: Option<UpdateFormat>,

    /// Skip and count what cannot be read
    #[arg(long)]
    skip_invalid: bool,

    /// Maximum size of decompressed data, in bytes
    #[arg(hide_short_help = true, long, value_name = "BYTES", default_value_t = Input::DEFAULT_MAX_SIZE)]
    max_size: u64,
}

pub(crate) fn run(args: &UpdatesArgs) -> Result<Verdict, Failure> {
    let stdin = [PathBuf::from("-")];
    let files = match &args.files[..] {
        [] => &stdin,
        files => files,
    };
    at_most_one_stdin(files, "files")?;
    let is_stdin_taken = files.iter().any(|path| is_stdin(path));
    let read = ReadArgs {
        skip_invalid: args.skip_invalid,
        mask: args.mask,
        max_size: args.max_size,
        ..ReadArgs::default()
    };
    let mut report = UpdatesReport {
        args,
        wanted: args.places.wanted(&read, is_stdin_taken)?,
        has_conditions: args.places.are_given() || args.conditions.are_given() || args.moas,
        output: match args.moas {
            true => StandardOutput::of_form(MOAS_FORM, args.form, MOAS_NAMES)?,
            false => StandardOutput::of_form(FORM, args.form, &format!("type {NAMES} old new"))?,
        },
        origins: BTreeMap::new(),
        path: BgpPath::default(),
        is_found: false,
        invalid: 0,
    };
    for file in files {
        report.file(file)?;
    }
    for (prefix, origins) in std::mem::take(&mut report.origins) {
        if origins.len() > 1 {
            report.is_found = true;
            write_moas(&mut report.output, prefix, &origins)?;
        }
    }
    report.output.end(Verdict::good_if(report.is_found))
}

/// Prints updates.
struct UpdatesReport<'a> {
    args: &'a UpdatesArgs,
    wanted: PrefixFilter,
    /// Whether there are conditions on prefixes or paths: a change of a session has neither, and is left out then.
    has_conditions: bool,
    output: StandardOutput,
    path: BgpPath,
    is_found: bool,
    /// With `--moas`, the origins of each prefix so far.
    origins: BTreeMap<IpPrefix, Vec<String>>,
    /// How many updates were skipped because their attributes are invalid.
    invalid: u64,
}

/// An update as JSON.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum UpdatesLine<'a> {
    Announce(BgpPathLine<'a, Box<RawValue>>),
    Withdraw {
        prefix: AsText<IpPrefix>,
        peer: IpAddr,
        peer_as: u32,
        time: Box<RawValue>,
        id: Option<u32>,
    },
    State {
        peer: IpAddr,
        peer_as: u32,
        time: Box<RawValue>,
        old: u16,
        new: u16,
    },
}

impl UpdatesReport<'_> {
    /// Prints the updates of a file.
    fn file(&mut self, file: &Path) -> Result<(), Failure> {
        let args = self.args;
        let input = Input::open(file)?.max_size(args.max_size);
        let name = input.name().to_owned();
        let bar = progress::is_apart().then(|| progress::watch(input.progress()));
        let options = UpdateOptions {
            format: args.format,
            peer: args.peer,
            mask: args.mask,
            ..UpdateOptions::default()
        };
        let mut source = open_updates(input, &options)?;
        let skipped = take_all(args.skip_invalid, || {
            let is_more = source.advance()?;
            if is_more {
                match source.message() {
                    Message::Update(update) => self.update(&name, &update)?,
                    Message::End { .. } => {}
                    Message::Session(_) if self.has_conditions => {}
                    Message::Session(session) => self.session(session)?,
                }
            }
            Ok(is_more)
        })?;
        drop(bar);
        note_skipped(&name, skipped + std::mem::take(&mut self.invalid));
        for line in source.notes() {
            note!("{}: {line}", name.escape_debug());
        }
        Ok(())
    }

    /// Prints an update if it meets the conditions. `path` is used again for each: most attributes are texts.
    fn update(&mut self, name: &str, update: &Update<'_>) -> Result<(), Failure> {
        if !(self.wanted)(update.prefix) {
            return Ok(());
        }
        let (Some(time), Some((peer, peer_as))) = (update.time, update.peer) else {
            let name = name.escape_debug();
            return Err(format!("{name}: updates without times and peers, which lines of bgpdump have; their own text is searched by `popfib grep`").into());
        };
        let is_withdrawn = update.change == Change::Withdraw;
        let path = &mut self.path;
        match (update.change, update.attributes) {
            (Change::Withdraw, _) if self.args.conditions.are_given() => return Ok(()),
            (Change::Withdraw, _) => {}
            (Change::Announce(_), Some(packed)) => {
                if let Err(reason) = unpack_path(packed, path) {
                    if self.args.skip_invalid {
                        self.invalid += 1;
                        return Ok(());
                    }
                    let (name, prefix) = (name.escape_debug(), update.prefix);
                    return Err(format!(
                        "{name}: an update of {prefix}: {reason}; --skip-invalid goes on without it"
                    )
                    .into());
                }
            }
            (Change::Announce(next_hop), None) => {
                *path = BgpPath::default();
                path.next_hop = next_hop.parse().ok();
            }
        }
        (path.prefix, path.id) = (update.prefix, update.path_id);
        (path.peer, path.peer_as) = (peer, peer_as);
        if !is_withdrawn && !self.args.conditions.hold(path) {
            return Ok(());
        }
        if self.args.moas {
            let origin = path.origin_as();
            let origins = self.origins.entry(update.prefix).or_default();
            if !is_withdrawn && !origins.contains(&origin) {
                origins.push(origin);
            }
            return Ok(());
        }
        self.is_found = true;
        if !self.output.is_text() {
            let time = number(time)?;
            return self.output.record(&match is_withdrawn {
                false => UpdatesLine::Announce(BgpPathLine::new(path, time)),
                true => UpdatesLine::Withdraw {
                    prefix: AsText(path.prefix),
                    peer,
                    peer_as,
                    time,
                    id: path.id,
                },
            });
        }
        let record_type = match (is_exact(time), path.id) {
            (false, None) => "BGP4MP",
            (false, Some(_)) => "BGP4MP_AP",
            (true, None) => "BGP4MP_ET",
            (true, Some(_)) => "BGP4MP_ET_AP",
        };
        let head = BgpdumpHead {
            record_type,
            time: &seconds(time),
            what: if is_withdrawn { "W" } else { "A" },
        };
        head.line(path, is_withdrawn, &mut self.output)
    }

    fn session(&mut self, session: Session) -> Result<(), Failure> {
        self.is_found = true;
        let Session {
            time,
            peer: (peer, peer_as),
            old,
            new,
        } = session;
        if !self.output.is_text() {
            let time = number(time)?;
            return self.output.record(&UpdatesLine::State {
                peer,
                peer_as,
                time,
                old,
                new,
            });
        }
        let record_type = if is_exact(time) {
            "BGP4MP_ET"
        } else {
            "BGP4MP"
        };
        self.output.cells(&[
            &record_type,
            &seconds(time),
            &"STATE",
            &peer,
            &peer_as,
            &old,
            &new,
        ])
    }
}

/// Whether a time in microseconds is not one of whole seconds.
fn is_exact(time: u64) -> bool {
    !time.is_multiple_of(1_000_000)
}

/// The seconds of a time in microseconds, with six digits after the point if they are not whole.
fn seconds(time: u64) -> String {
    let (seconds, rest) = (time / 1_000_000, time % 1_000_000);
    match rest {
        0 => seconds.to_string(),
        rest => format!("{seconds}.{rest:06}"),
    }
}

/// The same as a number of JSON.
fn number(time: u64) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(seconds(time)).map_err(|error| error.to_string().into())
}
