//! `popfib-lab info`: a Poptrie in numbers, those of the paper's Table 2, in any form.

use std::collections::BTreeSet;

use clap::Args;
use popfib::Rib;
use popfib_baselines::Key;
use popfib_eval::Algorithm;
use serde::Serialize;

use crate::args::FibArgs;
use crate::program::{Failure, Verdict, print, print_json};
use crate::structures::compile;
use crate::table::TableArgs;

/// Compile the table into a Poptrie of any form and print its size for each family.
///
/// The numbers are those of `popfib info`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  popfib-lab info --table routes.txt.gz --direct-bits 18
  popfib-lab info --no-leafvec --no-aggregation --direct-bits 0 --json

JSON, one object: ipv4 and ipv6, each with routes, next_hops, nodes, leaves, direct_bits, size (of popfib's own layout), bytes,
compile_ms, rib_bytes.")]
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
    ipv4: FamilyInfo,
    ipv6: FamilyInfo,
}

#[derive(Serialize)]
struct FamilyInfo {
    routes: usize,
    next_hops: usize,
    nodes: usize,
    leaves: usize,
    direct_bits: u8,
    /// Of popfib's own layout: a smaller one than was asked for, where that does not suit the routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    bytes: usize,
    compile_ms: f64,
    rib_bytes: usize,
}

pub(crate) fn run(args: &InfoArgs) -> Result<Verdict, Failure> {
    if let Algorithm::Baseline(other) = args.fib.form.algorithm()? {
        let name = other.name();
        let reason =
            format!("{name} has no nodes and leaves as a Poptrie has them: see `popfib-lab bench`");
        return Err(reason.into());
    }
    let table = args.table.load()?;
    let info = Info {
        ipv4: family(&table.ribs.ipv4, &args.fib)?,
        ipv6: family(&table.ribs.ipv6, &args.fib)?,
    };
    match args.json {
        true => print_json(&info)?,
        false => print(text(&info))?,
    }
    Ok(Verdict::Good)
}

fn family<A: Key>(rib: &Rib<A>, args: &FibArgs) -> Result<FamilyInfo, Failure> {
    let compiled = compile(rib, args.direct_bits, &args.form)?;
    let next_hops: BTreeSet<_> = rib.iter().map(|(_, next_hop)| next_hop).collect();
    Ok(FamilyInfo {
        routes: rib.len(),
        next_hops: next_hops.len(),
        nodes: compiled.fib.node_count(),
        leaves: compiled.fib.leaf_count(),
        direct_bits: compiled.fib.direct_bits(),
        size: (compiled.fib.size()).map(|size| format!("{size:?}").to_lowercase()),
        bytes: compiled.fib.bytes(),
        compile_ms: (compiled.compile_time.as_secs_f64() * 1e6).round() / 1e3,
        rib_bytes: rib.bytes(),
    })
}

fn text(Info { ipv4: a, ipv6: b }: &Info) -> String {
    let rows = [
        ("", "IPv4".into(), "IPv6".into()),
        ("routes", a.routes.to_string(), b.routes.to_string()),
        (
            "next hops",
            a.next_hops.to_string(),
            b.next_hops.to_string(),
        ),
        ("nodes", a.nodes.to_string(), b.nodes.to_string()),
        ("leaves", a.leaves.to_string(), b.leaves.to_string()),
        (
            "direct bits",
            a.direct_bits.to_string(),
            b.direct_bits.to_string(),
        ),
        (
            "size",
            a.size.clone().unwrap_or_default(),
            b.size.clone().unwrap_or_default(),
        ),
        ("bytes", a.bytes.to_string(), b.bytes.to_string()),
        (
            "compile ms",
            a.compile_ms.to_string(),
            b.compile_ms.to_string(),
        ),
        (
            "RIB bytes",
            a.rib_bytes.to_string(),
            b.rib_bytes.to_string(),
        ),
    ];
    let line = |(name, a, b): &(&str, String, String)| format!("{name:<12}{a:>14}{b:>14}\n");
    rows.iter().map(line).collect()
}
