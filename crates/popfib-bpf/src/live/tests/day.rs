//! A recorded day of updates over a full table, in a minute, while programs look up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use popfib::{NextHop, Prefix, Rib};

use super::{BpfFolder, COUNT, ChangeLog, MirroredRoutes, Programs, Random};
use crate::pinned::PinnedMap;

type Change = (Prefix<u32>, Option<NextHop>);

/// The day takes so long, and its changes are flushed so often.
const TIME: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_millis(1);

/// A file of `shared/data` beside the project.
fn data(name: &str) -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut found = folders.map(|folder| folder.join("shared/data").join(name));
    found
        .find(|path| path.exists())
        .unwrap_or_else(|| name.into())
}

/// The lines of a compressed file, as changes.
fn read(path: &Path) -> Option<Vec<Change>> {
    if !path.exists() {
        println!("skipped: a day of updates: no {}", path.display());
        return None;
    }
    let output = Command::new("gzip").arg("-dc").arg(path).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let change = |line: &str| {
        let line = line.strip_prefix("A ").unwrap_or(line);
        if let Some(prefix) = line.strip_prefix("W ") {
            return Some((prefix.trim().parse().ok()?, None));
        }
        let (prefix, number) = line.split_once(' ')?;
        Some((prefix.parse().ok()?, NextHop::new(number.parse().ok()?)))
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    Some(lines.map(|line| change(line).expect("a change")).collect())
}

/// The CPU time of this thread so far.
fn cpu_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux kernel");
    let nanoseconds = text.split(' ').next().and_then(|text| text.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a number"))
}

/// Addresses in routes, and in those that change.
fn addresses(routes: &[Change], updates: &[Change]) -> Vec<u32> {
    let mut random = Random(1);
    let mut addresses = Vec::new();
    for from in [routes, updates] {
        for _ in 0..COUNT / 2 {
            let (route, _) = from[random.next() as usize % from.len()];
            let host = route.first() ^ route.last();
            addresses.push(route.first() | random.next() & host);
        }
    }
    addresses
}

#[test]
#[ignore = "a minute, and a full table"]
fn heavy_a_day_of_updates() {
    let (Some(routes), Some(updates)) = (
        read(&data("tables/ris-as3333-20260511-v4.fib64.txt.gz")),
        read(&data("updates/ris-as3333-20260511-v4.fib64.updates.txt.gz")),
    ) else {
        return;
    };
    let Some(folder) = BpfFolder::new("heavy_a_day_of_updates") else {
        return;
    };
    let path = folder.0.join("popfib");
    let map = PinnedMap::open_or_create(&path).expect("a map");
    let Some(programs) = Programs::load(&folder.0.join("programs"), &map, COUNT) else {
        return;
    };
    let mut to = MirroredRoutes::new(map);
    let log = ChangeLog::new();
    let begin = Instant::now();
    log.make(&mut to, &routes);
    let (count, time) = (routes.len(), begin.elapsed());
    let bytes = to.table.table().expect("it was flushed").bytes();
    println!("{count} routes in {time:?}; bytes of the map: {bytes}");
    let addresses = addresses(&routes, &updates);
    programs.set(&addresses);
    let idle = programs.rate::<u32>(Duration::from_secs(5));
    let (cpu, begin) = (cpu_time(), Instant::now());
    let mut longest = Duration::ZERO;
    let (right, wrong, rate) = thread::scope(|scope| {
        let watcher = scope.spawn(|| log.watch(&programs, &addresses, Rib::new()));
        let mut done = 0;
        while done < updates.len() {
            let share = begin.elapsed().as_secs_f64() / TIME.as_secs_f64();
            let due = ((share * updates.len() as f64) as usize).min(updates.len());
            let flush = Instant::now();
            log.make(&mut to, &updates[done..due]);
            longest = longest.max(flush.elapsed());
            done = due;
            thread::sleep(EVERY);
        }
        log.end();
        watcher.join().expect("no panic")
    });
    let each = (cpu_time() - cpu).as_secs_f64() * 1e6 / updates.len() as f64;
    let (count, time, counts) = (updates.len(), begin.elapsed(), to.table.counts());
    println!(
        "{count} updates in {time:?}, {each:.2} us of CPU each, a flush {longest:?} at most, {counts:?}"
    );
    let (idle, rate, kept) = (idle / 1e6, rate / 1e6, rate / idle);
    println!(
        "{right} right answers, {wrong} wrong; {idle:.1} M lookups/s alone, {rate:.1} meanwhile: {kept:.3}"
    );
    assert!(right > 1_000_000 && wrong == 0, "{wrong} wrong");
}
