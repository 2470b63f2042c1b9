//! Routes that change while programs look up: each answer is one that the table had during the run.
//!
//! What takes a kernel that lets this process load programs, bpftool and clang is skipped, by name, where these are not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use popfib::family::Family;
use popfib::map::Shared;
use popfib::{Address, LiveIpMap, NextHop, Prefix, Rib};

use super::MirroredTable;
use crate::layout::ValueKind;
use crate::pinned::PinnedMap;
use crate::sys::{self, MapMemory};

mod day;

/// Addresses of a run, as tests/lookups.bpf.c has it: of quick programs, and of slow ones.
const COUNT: usize = 1024;
const SLOW_COUNT: usize = 8;

/// Answers that a run compares at least, with quick programs and with slow ones.
const ENOUGH: usize = 50_000;
const ENOUGH_SLOW: usize = 3 * SLOW_COUNT;

/// A BPF file system of the test's own.
struct BpfFolder(PathBuf);

impl BpfFolder {
    /// `None` where there can be none.
    fn new(name: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("popfib-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        let mount = Command::new("mount")
            .args(["-t", "bpf", "bpf"])
            .arg(&path)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(path));
        }
        let _ = std::fs::remove_dir(&path);
        println!("skipped: {name}: no BPF file system can be mounted");
        None
    }
}

impl Drop for BpfFolder {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The programs of tests/lookups.bpf.c, loaded beside a map.
struct Programs {
    folder: PathBuf,
    addresses: MapMemory,
    answers: MapMemory,
    /// Addresses of a run.
    count: usize,
}

impl Programs {
    fn load(folder: &Path, map: &PinnedMap, count: usize) -> Option<Self> {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lookups.bpf.c");
        let headers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../engines/bpf");
        let object = std::env::temp_dir().join(format!("popfib-lookups-{}.o", std::process::id()));
        let mut clang = Command::new("clang");
        clang.args(["-O2", "-g", "-target", "bpf", "-I", headers]);
        if count == SLOW_COUNT {
            clang.arg("-DSLOW");
        }
        // Where Debian has the kernel's headers.
        clang.args(["-I", "/usr/include/x86_64-linux-gnu", "-c", source, "-o"]);
        if !run(clang.arg(&object)) {
            return None;
        }
        std::fs::create_dir(folder).expect("a folder");
        let mut bpftool = Command::new("bpftool");
        bpftool.args(["prog", "loadall"]).arg(&object).arg(folder);
        bpftool
            .args(["map", "name", "popfib", "pinned"])
            .arg(&map.path);
        let is_loaded = run(bpftool.arg("pinmaps").arg(folder));
        let _ = std::fs::remove_file(&object);
        let memory = |name| {
            let map = sys::open_pinned(&folder.join(name)).expect("pinned");
            MapMemory::new(&map, 4 * count).expect("memory of a map")
        };
        is_loaded.then(|| Self {
            addresses: memory("addresses"),
            answers: memory("answers"),
            count,
            folder: folder.to_owned(),
        })
    }

    /// Sets the addresses that are looked up.
    fn set(&self, addresses: &[impl ProgramAddress]) {
        let words = addresses.iter().flat_map(|address| address.words());
        for (to, word) in self.addresses.words().iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
    }

    /// Lookups a second in so much time.
    fn rate<A: ProgramAddress>(&self, time: Duration) -> f64 {
        let mut timed = TimedLookups::default();
        while timed.time < time {
            self.run::<A>(&mut timed).for_each(drop);
        }
        timed.rate()
    }

    /// Looks all of them up.
    fn run<A: ProgramAddress>(&self, timed: &mut TimedLookups) -> impl Iterator<Item = u32> {
        let program = sys::open_pinned(&self.folder.join(A::PROGRAM)).expect("pinned");
        timed.time += sys::run_program(&program).expect("the program runs");
        timed.count += self.count;
        let answers = self.answers.words()[..self.count].iter();
        answers.map(|answer| answer.load(Ordering::Relaxed))
    }
}

/// Lookups that were timed.
#[derive(Default)]
struct TimedLookups {
    count: usize,
    time: Duration,
}

impl TimedLookups {
    /// Lookups a second.
    fn rate(&self) -> f64 {
        self.count as f64 / self.time.as_secs_f64()
    }
}

/// Runs a command; whether it is there.
fn run(command: &mut Command) -> bool {
    let name = command.get_program().display().to_string();
    let Ok(output) = command.output() else {
        println!("skipped: lookups of BPF programs: no {name}");
        return false;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    true
}

/// An address as the programs take it.
trait ProgramAddress: Family {
    const PROGRAM: &'static str;

    fn words(self) -> impl Iterator<Item = u32>;
}

impl ProgramAddress for u32 {
    const PROGRAM: &'static str = "lookups4";

    fn words(self) -> impl Iterator<Item = u32> {
        [self.to_be()].into_iter()
    }
}

impl ProgramAddress for u128 {
    const PROGRAM: &'static str = "lookups6";

    fn words(self) -> impl Iterator<Item = u32> {
        let bytes = self.to_be_bytes();
        (0..4).map(move |at| u32::from_ne_bytes(bytes[4 * at..][..4].try_into().expect("4 bytes")))
    }
}

/// Changes in their order: how many the writer has begun to make, and how many programs see.
struct ChangeLog<A> {
    changes: Mutex<Vec<(Prefix<A>, Option<NextHop>)>>,
    begun: AtomicUsize,
    seen: AtomicUsize,
    /// Answers of programs that were compared.
    compared: AtomicUsize,
    is_over: AtomicBool,
}

/// The routes of a run, and the table that programs look up in.
struct MirroredRoutes {
    routes: LiveIpMap<u32, Shared>,
    table: MirroredTable,
}

impl MirroredRoutes {
    fn new(map: PinnedMap) -> Self {
        Self {
            routes: LiveIpMap::shared(),
            table: MirroredTable::new(map, ValueKind::Numbers),
        }
    }
}

impl<A: ProgramAddress> ChangeLog<A> {
    fn new() -> Self {
        Self {
            changes: Mutex::default(),
            begun: AtomicUsize::new(0),
            seen: AtomicUsize::new(0),
            compared: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Makes a batch of changes, which programs see when it returns.
    fn make(&self, to: &mut MirroredRoutes, batch: &[(Prefix<A>, Option<NextHop>)]) {
        // As `LiveMap::apply` makes them: in prefix order, and the last for each prefix. Programs see the states in between.
        let made: BTreeMap<_, _> = batch.iter().copied().collect();
        let mut changes = self.changes.lock().expect("no panic");
        changes.extend(made);
        let count = changes.len();
        drop(changes);
        self.begun.store(count, Ordering::SeqCst);
        let batch = batch.iter();
        let batch = batch.map(|&(prefix, value)| (A::ip_prefix(prefix), value.map(NextHop::get)));
        to.routes.apply(batch).expect("fits");
        to.table
            .bring(&mut to.routes, |value| *value)
            .expect("memory");
        self.seen.store(count, Ordering::SeqCst);
    }

    /// The writer is done.
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Looks up `addresses` until the writer is done; the numbers of right and of wrong answers, and the lookups a second.
    fn watch(&self, programs: &Programs, addresses: &[A], mut rib: Rib<A>) -> (usize, usize, f64) {
        let mut timed = TimedLookups::default();
        let (mut at, mut right, mut wrong) = (0, 0, 0);
        programs.set(addresses);
        while !self.is_over.load(Ordering::SeqCst) {
            // All that was begun before is seen from here on.
            while self.seen.load(Ordering::SeqCst) < at {
                thread::yield_now();
            }
            let seen = self.seen.load(Ordering::SeqCst);
            self.replay(&mut rib, at..seen, |_, _| {});
            let mut allowed: Vec<Vec<u32>> =
                addresses.iter().map(|a| vec![answer(&rib, *a)]).collect();
            let found: Vec<u32> = programs.run::<A>(&mut timed).collect();
            at = self.begun.load(Ordering::SeqCst);
            self.replay(&mut rib, seen..at, |rib, prefix| {
                for (address, allowed) in addresses.iter().zip(&mut allowed) {
                    if prefix.contains(*address) {
                        allowed.push(answer(rib, *address));
                    }
                }
            });
            for (allowed, found) in allowed.iter().zip(found) {
                *if allowed.contains(&found) {
                    &mut right
                } else {
                    &mut wrong
                } += 1;
            }
            self.compared.store(right + wrong, Ordering::SeqCst);
        }
        (right, wrong, timed.rate())
    }

    fn replay(
        &self,
        rib: &mut Rib<A>,
        range: std::ops::Range<usize>,
        mut after: impl FnMut(&Rib<A>, Prefix<A>),
    ) {
        let changes = self.changes.lock().expect("no panic")[range].to_vec();
        for (prefix, next_hop) in changes {
            change(rib, (prefix, next_hop));
            after(rib, prefix);
        }
    }
}

fn change<A: Address>(rib: &mut Rib<A>, (prefix, next_hop): (Prefix<A>, Option<NextHop>)) {
    match next_hop {
        Some(next_hop) => rib.insert(prefix, next_hop),
        None => rib.remove(prefix),
    };
}

/// The prefix of this length that contains an address.
fn prefix<A: Address>(address: A, len: u8) -> Prefix<A> {
    Prefix::new(address & A::mask(len), len).expect("no host bits")
}

fn answer<A: Address>(rib: &Rib<A>, address: A) -> u32 {
    rib.lookup(address).map_or(0, NextHop::get)
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 32) as u32
    }
}

/// Random routes of some addresses change while programs look these up, in a table of so many others; the numbers of right and
/// of wrong answers.
fn changes_under_lookups<A: ProgramAddress>(
    map: &Path,
    programs: &Programs,
    others: usize,
    skips_graces: bool,
) -> (usize, usize) {
    let mut random = Random(3);
    let map = PinnedMap::open(map).expect("pinned");
    let mut routes = MirroredRoutes::new(map);
    routes.table.skips_graces = skips_graces;
    // Slow programs wait seconds for a table that is made again: their numbers have the bits that they need from the start.
    let is_slow = programs.count == SLOW_COUNT;
    let values = if is_slow { others } else { 64 } as u32;
    let base = (0..others as u32).map(|number| {
        let prefix = prefix(A::from_leading(random.next(), 32), 24);
        (prefix, NextHop::new(1 + number % values))
    });
    let log = ChangeLog::<A>::new();
    log.make(&mut routes, &base.collect::<Vec<_>>());
    let addresses: Vec<A> = (0..programs.count)
        .map(|_| A::from_leading(0x0a00_0000 | random.next() & 0x3_f0ff, 32))
        .collect();
    let mut flushes = 0;
    let result = thread::scope(|scope| {
        let watcher = scope.spawn(|| log.watch(programs, &addresses, Rib::new()));
        let begin = Instant::now();
        // Until enough was compared, however slow the machine; quick ones also until numbers have outgrown their bits, and the
        // tables that are made again for that are few beside the rest.
        let (time, most, enough) = match is_slow {
            true => (4, 0, ENOUGH_SLOW),
            false => (2, 50_000, ENOUGH),
        };
        let is_early = |flushes| {
            let compared = log.compared.load(Ordering::SeqCst);
            flushes < most || compared < enough || begin.elapsed() < Duration::from_secs(time)
        };
        while is_early(flushes) && !watcher.is_finished() {
            let batch = (0..1 + random.next() % 8).map(|_| {
                // Each address has next hops of its own.
                let at = random.next() as usize % addresses.len();
                let len = 18 + random.next() as u8 % 15;
                let next_hop = NextHop::new(at as u32 * 64 + random.next() % 64);
                (prefix(addresses[at], len), next_hop)
            });
            log.make(&mut routes, &batch.collect::<Vec<_>>());
            flushes += 1;
        }
        log.end();
        let (right, wrong, _) = watcher.join().expect("no panic");
        (right, wrong)
    });
    println!(
        "{}: {flushes} flushes, {:?}, {result:?} right and wrong",
        A::PROGRAM,
        routes.table.counts()
    );
    result
}

#[test]
fn programs_see_each_change_and_nothing_else() {
    let Some(folder) = BpfFolder::new("programs_see_each_change_and_nothing_else") else {
        return;
    };
    let path = folder.0.join("popfib");
    let map = PinnedMap::open_or_create(&path).expect("a map");
    let load = |name, count| Programs::load(&folder.0.join(name), &map, count);
    let (Some(quick), Some(slow)) = (load("quick", COUNT), load("slow", SLOW_COUNT)) else {
        return;
    };
    let is_right = |enough, (right, wrong)| {
        assert!(right >= enough && wrong == 0, "{right}, {wrong} wrong");
    };
    is_right(
        ENOUGH,
        changes_under_lookups::<u32>(&path, &quick, 70_000, false),
    );
    is_right(
        ENOUGH,
        changes_under_lookups::<u128>(&path, &quick, 70_000, false),
    );
    is_right(
        ENOUGH_SLOW,
        changes_under_lookups::<u32>(&path, &slow, 2000, false),
    );
    // The control: where nobody waits for programs, words are used again under them.
    let mut tries = 0..5;
    let is_wrong = |_| changes_under_lookups::<u32>(&path, &slow, 2000, true).1 > 0;
    assert!(tries.any(is_wrong), "the test finds what is wrong");
}
