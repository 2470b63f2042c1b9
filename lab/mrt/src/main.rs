//! MRT files read by popfib and by bgpkit-parser: every peer's routes (or every
//! update) compared, then the time that each takes for the whole file.
//!
//!     cargo run --release -- FILE...      files as unpacked by gzip or bzip2 before
//!
//! Exit 1 if the two disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Cursor;
use std::net::IpAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bgpkit_parser::BgpkitParser;
use bgpkit_parser::models::ElemType;
use popfib_formats::{
    Change, Input, LoadOptions, PeerFilter, RouteValue, Routes, UpdateOptions, load, open_routes,
    open_updates,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Each figure is the best of so many passes.
const PASSES: usize = 5;

fn main() -> ExitCode {
    let mut good = true;
    for file in std::env::args().skip(1) {
        match std::fs::read(&file).map_err(Into::into).and_then(compare) {
            Ok(report) => println!("{file}: {report}"),
            Err(error) => {
                println!("{file}: {error}");
                good = false;
            }
        }
    }
    ExitCode::from(u8::from(!good))
}

fn input(data: &[u8]) -> Input {
    Input::from_reader("file", Cursor::new(data.to_vec()))
}

/// The time of the fastest pass, and what the passes counted.
fn best(mut pass: impl FnMut() -> Result<u64>) -> Result<(Duration, u64)> {
    let mut least = (Duration::MAX, 0);
    for _ in 0..PASSES {
        let start = Instant::now();
        let count = pass()?;
        least = least.min((start.elapsed(), count));
    }
    Ok(least)
}

fn elements(data: &[u8]) -> bgpkit_parser::ElemIterator<Cursor<Vec<u8>>> {
    BgpkitParser::from_reader(Cursor::new(data.to_vec())).into_elem_iter()
}

fn count_elements(data: &[u8]) -> Result<u64> {
    Ok(elements(data).count() as u64)
}

fn compare(data: Vec<u8>) -> Result<String> {
    // The type of the first record shows what the file is.
    let (checked, ours) = match data.get(4..6) {
        Some([0, 12 | 13]) => (compare_tables(&data)?, best(|| count_routes(&data))?),
        _ => (compare_updates(&data)?, best(|| count_updates(&data))?),
    };
    let theirs = best(|| count_elements(&data))?;
    let ratio = ours.0.as_secs_f64() / theirs.0.as_secs_f64();
    Ok(format!(
        "{checked}; popfib {:?} ({}), bgpkit-parser's elements {:?} ({}): ratio {ratio:.3}",
        ours.0, ours.1, theirs.0, theirs.1
    ))
}

fn count_routes(data: &[u8]) -> Result<u64> {
    let table = load::<Routes>(input(data), &options(None, RouteValue::NextHop))?;
    Ok(table.route_count() as u64)
}

fn count_updates(data: &[u8]) -> Result<u64> {
    let mut source =
        open_updates(input(data), &UpdateOptions::default()).expect("opening reads nothing yet");
    let mut count = 0;
    while source.next_update()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn options(peer: Option<usize>, value: RouteValue) -> LoadOptions {
    LoadOptions {
        peer: peer.map(PeerFilter::Index),
        value,
        skip_invalid: true,
        ..LoadOptions::new()
    }
}

/// What a prefix leads to, by either reading.
type Table = BTreeMap<String, String>;

fn compare_tables(data: &[u8]) -> Result<String> {
    let mut theirs: BTreeMap<(IpAddr, u32), [Table; 2]> = BTreeMap::new();
    for element in elements(data) {
        let peer = (element.peer_ip, element.peer_asn.to_u32());
        let [next_hops, origins] = theirs.entry(peer).or_default();
        let prefix = element.prefix.to_string();
        let next_hop = element.next_hop.ok_or("an element without a next hop")?;
        next_hops.insert(prefix.clone(), next_hop.to_string());
        let origin = match element.origin_asns.as_deref() {
            None | Some([]) => peer.1.to_string(),
            Some([one]) => one.to_u32().to_string(),
            Some(set) => {
                let texts: Vec<_> = set.iter().map(|n| n.to_u32().to_string()).collect();
                format!("{{{}}}", texts.join(","))
            }
        };
        origins.insert(prefix, origin);
    }

    let mut source = open_routes(input(data), &LoadOptions::new())?;
    while let Ok(Some(_)) = source.next_route() {}
    let mut routes = 0;
    let mut peers = 0;
    for (index, peer) in source.peers().iter().enumerate() {
        if peer.ipv4_routes + peer.ipv6_routes == 0 {
            continue;
        }
        let wanted = theirs.remove(&(peer.address, peer.asn));
        let wanted = wanted.ok_or_else(|| format!("bgpkit-parser has no peer {peer:?}"))?;
        for (value, wanted) in [RouteValue::NextHop, RouteValue::OriginAs]
            .iter()
            .zip(wanted)
        {
            let mut source = open_routes(input(data), &options(Some(index), *value))?;
            let mut seen = Table::new();
            while let Ok(Some(route)) = source.next_route() {
                let value = route.value.and_then(|number| source.values().get(number));
                seen.insert(
                    route.prefix.to_string(),
                    value.unwrap_or_default().to_owned(),
                );
            }
            if seen != wanted {
                let seen: BTreeSet<_> = seen.into_iter().collect();
                let wanted: BTreeSet<_> = wanted.into_iter().collect();
                let differ: Vec<_> = seen.symmetric_difference(&wanted).take(4).collect();
                return Err(format!("{value:?} of {peer:?} differ: {differ:?}").into());
            }
            routes += seen.len();
        }
        peers += 1;
    }
    if let Some(peer) = theirs.keys().next() {
        return Err(format!("popfib has no peer {peer:?}").into());
    }
    Ok(format!("{routes} values of {peers} peers agree"))
}

fn compare_updates(data: &[u8]) -> Result<String> {
    let mut theirs: Vec<String> = elements(data)
        .map(|element| {
            let change = match (element.elem_type, element.next_hop) {
                (ElemType::ANNOUNCE, Some(next_hop)) => format!("A {next_hop}"),
                _ => "W".to_owned(),
            };
            format!("{} {} {change}", element.peer_ip, element.prefix)
        })
        .collect();
    let mut ours = Vec::new();
    let mut source =
        open_updates(input(data), &UpdateOptions::default()).expect("opening reads nothing yet");
    while let Some(update) = source.next_update()? {
        let (peer, _) = update.peer.ok_or("an update without a peer")?;
        let change = match update.change {
            Change::Announce(next_hop) => format!("A {next_hop}"),
            Change::Withdraw => "W".to_owned(),
        };
        ours.push(format!("{peer} {} {change}", update.prefix));
    }
    // Within one message, bgpkit-parser tells the announcements first. It also
    // tells multicast routes, without a mark.
    ours.sort_unstable();
    theirs.sort_unstable();
    let mut left = theirs.iter().peekable();
    for update in &ours {
        while left.next_if(|other| *other < update).is_some() {}
        if left.next() != Some(update) {
            return Err(format!("bgpkit-parser has no {update:?}").into());
        }
    }
    Ok(format!(
        "{} updates agree, {} not unicast",
        ours.len(),
        theirs.len() - ours.len()
    ))
}
