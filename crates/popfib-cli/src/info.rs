//! `popfib info`: the compiled table in numbers, those of the paper's Table 2.

use std::collections::HashSet;
use std::fmt::Display;
use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use popfib::{ImageTable, Rib};
use popfib_baselines::Key;
use serde::Serialize;

use crate::Verdict;
use crate::any_fib::{compile, milliseconds};
use crate::args::{Algorithm, FibArgs, TableArgs};
use crate::failure::Failure;
use crate::image::{self, Opened};
use crate::output::Output;
use crate::table;

/// Compile the table and print its size, per family.
///
/// Nodes and leaves are counted, sizes are in bytes (FIB: direct table, nodes and leaves; RIB: its
/// heap), the compile time is in milliseconds. Next hops are counted once each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib info
  popfib info --table routes.txt.gz --direct-bits 18
  popfib info --no-leafvec --no-aggregation --direct-bits 0 --json

JSON, one object: ipv4 and ipv6, each with routes, next_hops, nodes, leaves, direct_bits, bytes,
compile_ms, rib_bytes. With --fib also image: file, bytes, source, created (seconds since 1970),
writer, has_routes, open_ms; compile_ms and rib_bytes are 0 then.")]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    fib: FibArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Info {
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<ImageInfo>,
    ipv4: FamilyInfo,
    ipv6: FamilyInfo,
}

/// Where an image comes from.
#[derive(Serialize)]
struct ImageInfo {
    file: String,
    bytes: usize,
    source: String,
    created: u64,
    writer: String,
    has_routes: bool,
    open_ms: f64,
}

#[derive(Serialize)]
struct FamilyInfo {
    routes: usize,
    next_hops: usize,
    nodes: usize,
    leaves: usize,
    direct_bits: u8,
    bytes: usize,
    compile_ms: f64,
    rib_bytes: usize,
}

pub(crate) fn run(args: &InfoArgs) -> Result<Verdict, Failure> {
    if let Algorithm::Baseline(other) = args.fib.form.algorithm()? {
        let name = other.name();
        let reason =
            format!("{name} has no nodes and leaves as a Poptrie has them: see `popfib bench`");
        return Err(reason.into());
    }
    let info = match image::open(&args.table)? {
        Some(opened) => Info {
            ipv4: image_family::<u32>(&opened, &args.fib)?,
            ipv6: image_family::<u128>(&opened, &args.fib)?,
            image: Some(image_info(opened)),
        },
        None => {
            let table = table::load(&args.table)?;
            Info {
                image: None,
                ipv4: family(&table.ipv4, &args.fib)?,
                ipv6: family(&table.ipv6, &args.fib)?,
            }
        }
    };
    let mut output = Output::new();
    if args.json {
        output.json(&info)?;
    } else {
        text(&mut output, &info)?;
    }
    output.flush()?;
    Ok(Verdict::Good)
}

fn family<A: Key>(rib: &Rib<A>, args: &FibArgs) -> Result<FamilyInfo, Failure> {
    let compiled = compile(rib, args.direct_bits, &args.form)?;
    let next_hops: HashSet<_> = rib.iter().map(|(_, next_hop)| next_hop).collect();
    Ok(FamilyInfo {
        routes: rib.len(),
        next_hops: next_hops.len(),
        nodes: compiled.fib.node_count(),
        leaves: compiled.fib.leaf_count(),
        direct_bits: compiled.fib.direct_bits(),
        bytes: compiled.fib.bytes(),
        compile_ms: milliseconds(compiled.compile_time),
        rib_bytes: rib.bytes(),
    })
}

/// One family of an image, in which nothing is compiled and there is no RIB.
fn image_family<A: Key>(opened: &Opened, args: &FibArgs) -> Result<FamilyInfo, Failure> {
    let compiled = opened.compiled::<A>(args.direct_bits, &args.form)?;
    let table = opened.image.table::<A>();
    Ok(FamilyInfo {
        routes: table.map_or(0, ImageTable::route_count),
        next_hops: table.map_or(0, ImageTable::next_hop_count),
        nodes: compiled.fib.node_count(),
        leaves: compiled.fib.leaf_count(),
        direct_bits: compiled.fib.direct_bits(),
        bytes: compiled.fib.bytes(),
        compile_ms: 0.0,
        rib_bytes: 0,
    })
}

fn image_info(
    Opened {
        name,
        image,
        open_time,
    }: Opened,
) -> ImageInfo {
    let has_routes = image.table::<u32>().is_some_and(ImageTable::has_routes)
        || image.table::<u128>().is_some_and(ImageTable::has_routes);
    ImageInfo {
        file: name,
        bytes: image.bytes(),
        source: image.source().to_owned(),
        created: image.created(),
        writer: image.writer().to_owned(),
        has_routes,
        open_ms: milliseconds(open_time),
    }
}

/// A time in seconds since 1970, as RFC 3339 writes it.
fn date(seconds: u64) -> String {
    const YEAR_10000: u64 = 253_402_300_800;
    if seconds == 0 || seconds >= YEAR_10000 {
        // Not told, or damaged.
        return "unknown".to_owned();
    }
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string()
}

fn text(output: &mut Output, info: &Info) -> Result<(), Failure> {
    if let Some(image) = &info.image {
        let mut row =
            |name: &str, value: &dyn Display| output.text(format_args!("{name:<12}  {value}\n"));
        // Text from the image may hold anything.
        row("image", &image.file.escape_debug())?;
        row("source", &image.source.escape_debug())?;
        row("created", &date(image.created))?;
        row("writer", &image.writer.escape_debug())?;
        row("bytes", &image.bytes)?;
        row(
            "routes",
            &if image.has_routes { "kept" } else { "left out" },
        )?;
        row("open ms", &format_args!("{:.3}", image.open_ms))?;
        output.text("\n")?;
    }
    let Info {
        ipv4: a, ipv6: b, ..
    } = info;
    let mut row = |name: &str, ipv4: &dyn Display, ipv6: &dyn Display| {
        output.text(format_args!("{name:<12}{ipv4:>14}{ipv6:>14}\n"))
    };
    row("", &"IPv4", &"IPv6")?;
    row("routes", &a.routes, &b.routes)?;
    row("next hops", &a.next_hops, &b.next_hops)?;
    row("nodes", &a.nodes, &b.nodes)?;
    row("leaves", &a.leaves, &b.leaves)?;
    row("direct bits", &a.direct_bits, &b.direct_bits)?;
    row("FIB bytes", &a.bytes, &b.bytes)?;
    row("RIB bytes", &a.rib_bytes, &b.rib_bytes)?;
    row(
        "compile ms",
        &format!("{:.3}", a.compile_ms),
        &format!("{:.3}", b.compile_ms),
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates() {
        assert_eq!(date(1_779_000_000), "2026-05-17T06:40:00Z");
        assert_eq!(date(253_402_300_799), "9999-12-31T23:59:59Z");
        for seconds in [0, 253_402_300_800, u64::MAX] {
            assert_eq!(date(seconds), "unknown");
        }
    }
}
