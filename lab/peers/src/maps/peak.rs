//! What a map takes at most while it is built and changed: each in a process of its own, which has
//! freed nothing before that could be used again, by the system's count of resident memory.

use std::fs;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Read, Write, stdin};
use std::process::{Command, Stdio};

use popfib::map::{Own, Shared, Stores};
use popfib::{Prefix, PrefixMap};
use popfib_eval::Random;

use super::Routes;
use super::contestants::{Bitmap, Map, Trie, answering};
use crate::algorithms::PeerFamily;
use crate::exchange::Failure;

/// Changes after a map is built.
const CHANGES: usize = 100_000;

/// What can be measured: as rows name it.
pub(super) const BUILDS: [&str; 4] = ["collect", "insert", "prefix-trie", "treebitmap"];

/// The bytes that the map takes at most, in a new process, which reads the routes from its input.
pub(super) fn ask<A: PeerFamily>(
    routes: &Routes<A>,
    values: &str,
    build: &str,
) -> Result<f64, Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["peak", A::FOLDER, values, build, &routes.len().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = BufWriter::new(child.stdin.take().ok_or("no input")?);
    for (prefix, value) in routes {
        input.write_all(&prefix.address().to_u128().to_le_bytes())?;
        input.write_all(&[prefix.len()])?;
        input.write_all(&value.to_le_bytes())?;
    }
    input.flush()?;
    drop(input);
    let done = child.wait_with_output()?;
    if !done.status.success() {
        return Err(format!("the peak of {build} could not be measured").into());
    }
    Ok(String::from_utf8(done.stdout)?.trim().parse()?)
}

/// Reads the routes, builds the map, changes it and prints the bytes that this took at most.
pub(crate) fn print<A: PeerFamily>(values: &str, build: &str, count: usize) -> Result<(), Failure> {
    let mut input = BufReader::new(stdin().lock());
    let mut routes = Vec::with_capacity(count);
    for _ in 0..count {
        let mut bytes = [0; 21];
        input.read_exact(&mut bytes)?;
        let (address, rest) = bytes.split_first_chunk().ok_or("too short")?;
        let (len, value) = rest.split_first_chunk::<1>().ok_or("too short")?;
        let address = A::truncate(u128::from_le_bytes(*address));
        let value = u32::from_le_bytes(value.try_into()?);
        routes.push((Prefix::new(address, len[0])?, value));
    }
    let routes = &routes[..];
    // Counts from here on. Refused where there is no such count, as in some containers.
    fs::write("/proc/self/clear_refs", "5")?;
    let before = status("VmRSS:")?;
    match (build, values) {
        ("collect", "shared") => collected::<A, Shared>(routes),
        ("collect", _) => collected::<A, Own>(routes),
        ("insert", "shared") => changed(answering::<A, PrefixMap<A, u32, Shared>>(routes), routes),
        ("insert", _) => changed(answering::<A, PrefixMap<A, u32, Own>>(routes), routes),
        ("prefix-trie", _) => changed(answering::<A, Trie<A>>(routes), routes),
        ("treebitmap", _) => changed(answering::<A, Bitmap<A>>(routes), routes),
        _ => return Err(format!("there is no map `{build}`").into()),
    }
    println!("{}", status("VmHWM:")?.saturating_sub(before));
    Ok(())
}

fn collected<A: PeerFamily, S: Stores<u32>>(routes: &Routes<A>) {
    let map: PrefixMap<A, u32, S> = routes.iter().copied().collect();
    changed(map, routes);
}

/// Random routes go and come back, as in the mixed passes.
fn changed<A: PeerFamily, M: Map<A>>(mut map: M, routes: &Routes<A>) {
    let mut random = Random::new(1);
    for _ in 0..CHANGES / 2 {
        let (prefix, _) = routes[random.below(routes.len())];
        let (_, value) = routes[random.below(routes.len())];
        map.remove(prefix);
        map.insert(prefix, value);
    }
    black_box(&map);
}

/// Bytes of a line of the process' status.
fn status(name: &str) -> Result<usize, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next());
    let kib: usize = kib
        .ok_or_else(|| format!("no {name} in /proc/self/status"))?
        .parse()?;
    Ok(kib * 1024)
}
