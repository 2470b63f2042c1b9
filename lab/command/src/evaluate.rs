//! `popfib-lab evaluate`: the papers' tables and figures, on the user's tables and traffic.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use popfib::family::ByFamily;
use popfib_eval::{Trace, skewed_next_hops};
use popfib_report::{
    Effort, NamedTrace, NamedUpdates, Plan, Table, Watcher, evaluate, forget, prepare,
};
use popfib_table::Dictionary;

use crate::program::{Failure, Verdict, note, print};
use crate::table::{ReadArgs, is_stdin, texts};

/// Next hops of the built-in table, as in the comparison with other implementations.
const NEXT_HOPS: u32 = 500;

/// The most next hops that all structures hold.
const NARROW: u32 = (1 << 15) - 1;

/// The most addresses that are taken of a trace.
const MOST_ADDRESSES: usize = 1 << 27;

/// Repeat the Poptrie paper's evaluation on your tables and write a report: every algorithm is verified and
/// measured, and every figure is shown beside the paper's.
///
/// The report is DIR/report.html, which needs no other file and no network. DIR also gets every figure as SVG
/// and PNG, every table as CSV and Markdown, and all results as JSON. An interrupted run continues when it is
/// started again: what the same build has measured on the same tables is not measured again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab evaluate --quick -o report
  popfib-lab evaluate --table rib.mrt.gz --trace capture.pcap --exclude-source 192.0.2.1 -o report
  popfib-lab evaluate --table a.txt.gz --table b.txt.gz --updates updates.mrt.gz -o report

The first table is looked at most closely; updates are changes of that one. Nothing else should run
meanwhile. docs/evaluate.md says what is measured and how to read it.")]
pub(crate) struct EvaluateArgs {
    /// Routing table, compressed or not; may be given several times [default: the built-in table]
    #[arg(long, value_name = "FILE")]
    table: Vec<PathBuf>,

    /// Recorded traffic: a list or column of addresses, or the destinations of a capture; may be given
    /// several times
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,

    /// Ignore packets of captures from this source address; may be given several times
    #[arg(long, value_name = "ADDR", requires = "trace")]
    exclude_source: Vec<IpAddr>,

    /// Recorded updates of the first table; may be given several times
    #[arg(long, value_name = "FILE")]
    updates: Vec<PathBuf>,

    /// Replace the next hops of all tables by N next hops, distributed by Zipf's law as in a router [default:
    /// 500 for the built-in table, which has origin AS numbers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    next_hops: Option<u32>,

    /// Finish within three minutes: short passes, fewer measurements
    #[arg(long)]
    quick: bool,

    /// Pass over the tables in no time, to test the report
    #[arg(long, hide = true, conflicts_with = "quick")]
    tiny: bool,

    /// Measure everything again, including what is already in DIR
    #[arg(long)]
    fresh: bool,

    /// Directory of the report, created if missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &EvaluateArgs) -> Result<Verdict, Failure> {
    // Before tables are read, which an error here would waste.
    let prepared = prepare(&args.output);
    let prepared = prepared.and_then(|()| {
        if args.fresh {
            forget(&args.output)
        } else {
            Ok(())
        }
    });
    prepared?;
    let mut plan = Plan {
        tables: tables(args)?,
        traces: traces(args)?,
        updates: Vec::new(),
        effort: match (args.quick, args.tiny) {
            (true, _) => Effort::quick(),
            (_, true) => Effort::tiny(),
            (false, false) => Effort::full(),
        },
    };
    plan.updates = updates(args, &plan.tables)?;
    let mut progress = Progress::new();
    let report = evaluate(&plan, &args.output, &mut progress);
    progress.end();
    print(format_args!("{}\n", report?.display()))?;
    Ok(Verdict::Good)
}

fn tables(args: &EvaluateArgs) -> Result<Vec<Table>, Failure> {
    if args.table.is_empty() {
        let mut table = Table {
            name: "built-in".into(),
            routes: args.read.default_table()?,
        };
        draw_next_hops(&mut table, args.next_hops.unwrap_or(NEXT_HOPS));
        return Ok(vec![table]);
    }
    if args.table.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err("standard input can be one of the tables, not several".into());
    }
    let mut names = Names::default();
    let read = |path: &PathBuf| {
        let mut table = Table {
            routes: args.read.load(path)?,
            name: names.of(path),
        };
        match args.next_hops {
            Some(count) => draw_next_hops(&mut table, count),
            None => note_many(&table),
        }
        Ok(table)
    };
    args.table.iter().map(read).collect()
}

/// Gives the routes of `table` next hops of a router's kind.
fn draw_next_hops(table: &mut Table, count: u32) {
    let routes = &mut table.routes;
    routes.ribs.ipv4 = skewed_next_hops(&routes.ribs.ipv4, count, 4);
    routes.ribs.ipv6 = skewed_next_hops(&routes.ribs.ipv6, count, 6);
    table.name = format!("{}, {count} next hops", table.name);
}

/// Notes that structures with narrow entries cannot hold the table.
fn note_many(table: &Table) {
    let bounds = [
        table.routes.ribs.ipv4.next_hop_bound(),
        table.routes.ribs.ipv6.next_hop_bound(),
    ];
    if bounds.into_iter().any(|bound| bound > NARROW) {
        note(format_args!(
            "{}: SAIL, DIR-24-8 and DXR hold no such many next hops; --next-hops 500 draws others",
            table.name.escape_debug()
        ));
    }
}

fn traces(args: &EvaluateArgs) -> Result<Vec<NamedTrace>, Failure> {
    let mut names = Names::default();
    let read = |path: &PathBuf| {
        let trace = Trace::read(path, &args.exclude_source, Some(MOST_ADDRESSES))?;
        let ByFamily { ipv4, ipv6 } = &trace.addresses;
        if ipv4.is_empty() && ipv6.is_empty() {
            return Err(format!("{}: there is no address in it", path.display()).into());
        }
        Ok(NamedTrace {
            name: names.of(path),
            trace,
        })
    };
    args.trace.iter().map(read).collect()
}

fn updates(args: &EvaluateArgs, tables: &[Table]) -> Result<Vec<NamedUpdates>, Failure> {
    let Some(first) = tables.first() else {
        return Ok(Vec::new());
    };
    let mut names = Names::default();
    let mut texts = texts(&first.routes);
    let mut all = Vec::new();
    for path in &args.updates {
        let mut named = read_updates(path, &args.read, &mut texts)?;
        if named.ipv4.is_empty() && named.ipv6.is_empty() {
            return Err(format!("{}: there is no update in it", path.display()).into());
        }
        named.name = names.of(path);
        all.push(named);
    }
    Ok(all)
}

fn read_updates(
    path: &Path,
    read: &ReadArgs,
    texts: &mut Dictionary,
) -> Result<NamedUpdates, Failure> {
    let mut updates = read.updates(path, None, None)?;
    let mut named = NamedUpdates {
        name: String::new(),
        ipv4: Vec::new(),
        ipv6: Vec::new(),
    };
    while let Some((prefix, next_hop)) = updates.next(texts)? {
        match prefix {
            popfib::IpPrefix::V4(prefix) => named.ipv4.push((prefix, next_hop)),
            popfib::IpPrefix::V6(prefix) => named.ipv6.push((prefix, next_hop)),
        }
    }
    updates.note();
    Ok(named)
}

/// Short names for files, none twice.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// The file's name without what tells its form; numbered if there was one before.
    fn of(&mut self, path: &Path) -> String {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let mut name = name.to_string_lossy().into_owned();
        for end in [
            ".gz", ".bz2", ".zst", ".txt", ".csv", ".mrt", ".pcap", ".pcapng",
        ] {
            match name.strip_suffix(end) {
                Some(shorter) if !shorter.is_empty() => name.truncate(shorter.len()),
                _ => {}
            }
        }
        let mut unique = name.clone();
        let mut number = 1;
        while !self.0.insert(unique.clone()) {
            number += 1;
            unique = format!("{name} ({number})");
        }
        unique
    }
}

/// Tells how far it is: a bar on a terminal, else a line for each part. The bar
/// is drawn between parts only: a thread that draws would take time from what is measured.
struct Progress {
    bar: Option<ProgressBar>,
    parts: usize,
    begun: usize,
}

impl Progress {
    fn new() -> Self {
        Self {
            bar: io::stderr().is_terminal().then(|| {
                let template = "{pos}/{len} {bar:24} {msg}";
                let style = ProgressStyle::with_template(template).expect("a valid template");
                ProgressBar::no_length().with_style(style)
            }),
            parts: 0,
            begun: 0,
        }
    }

    fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }
}

impl Watcher for Progress {
    fn planned(&mut self, parts: usize, reused: usize, estimate: Duration) {
        (self.parts, self.begun) = (parts, reused);
        let earlier = match reused {
            0 => String::new(),
            reused => format!(", {reused} of them measured earlier"),
        };
        self.line(&format!(
            "{parts} parts{earlier}; takes about {}, and can be interrupted and started again",
            about(estimate)
        ));
        if let Some(bar) = &self.bar {
            bar.set_length(parts as u64);
            bar.set_position(reused as u64);
        }
    }

    fn begins(&mut self, title: &str, remaining: Duration) {
        self.begun += 1;
        let remaining = about(remaining);
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.begun as u64 - 1);
                bar.set_message(format!("{title} (about {remaining} left)"));
                bar.tick();
            }
            None => note(format_args!(
                "{}/{} {title} (about {remaining} left)",
                self.begun, self.parts
            )),
        }
    }

    fn note(&mut self, line: &str) {
        self.line(line);
    }
}

/// A length of time, as exact as an estimate is.
fn about(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..90 => format!("{} s", seconds.max(1)),
        seconds @ 90..5_400 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_told_apart() {
        let mut names = Names::default();
        let mut of = |path: &str| names.of(Path::new(path));
        assert_eq!(of("a/ris.v4.txt.gz"), "ris.v4");
        assert_eq!(of("b/ris.v4.mrt.bz2"), "ris.v4 (2)");
        assert_eq!(of("b/ris.v4"), "ris.v4 (3)");
        assert_eq!(of(".txt"), ".txt");
        assert_eq!(of("-"), "-");
    }

    #[test]
    fn estimates_are_round() {
        let of = |seconds| about(Duration::from_secs(seconds));
        assert_eq!(of(0), "1 s");
        assert_eq!((of(89), of(91)), ("89 s".into(), "2 min".into()));
        assert_eq!(of(7_200), "2.0 h");
    }
}
