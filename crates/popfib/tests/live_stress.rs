//! Readers on other threads while a writer announces and withdraws as fast as it can.
//!
//! Each prefix has two next hops of its own, so an answer tells whose it is: a
//! reader may find any prefix that holds the address, or none, and nothing else.
//! What was freed too early, half written or of another place shows as a wrong
//! answer, and under the address or thread sanitizer as what it is.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::random::Random;
use common::rounds::rounds;
use popfib::live::{MapReader, Reader};
use popfib::{Address, Kernel, LiveFib, LiveMap, NextHop, Options, Prefix, Size};

/// Prefixes of a table: few enough to be met often, enough to be moved and compiled again.
const PREFIXES: usize = 1500;
const BURST: usize = 64;

struct Scene<A> {
    prefixes: Vec<Prefix<A>>,
    addresses: Vec<A>,
    stop: AtomicBool,
    lookups: AtomicU64,
}

impl<A: Address> Scene<A> {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut prefixes: Vec<Prefix<A>> = (0..PREFIXES).map(|_| random.prefix()).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let addresses = prefixes
            .iter()
            .flat_map(|p| [p.first(), p.last()])
            .collect();
        Self {
            prefixes,
            addresses,
            stop: AtomicBool::new(false),
            lookups: AtomicU64::new(0),
        }
    }

    /// One of the two next hops of a prefix.
    fn next_hop(index: usize, other: bool) -> NextHop {
        NextHop::MIN.saturating_add(2 * index as u32 + u32::from(other))
    }

    fn judge(&self, address: A, answer: u32) {
        if answer != 0 {
            let prefix = self.prefixes[(answer as usize - 1) / 2];
            assert!(
                prefix.contains(address),
                "{address:?} found the next hop of {prefix:?}"
            );
        }
    }

    /// Looks up until it is told to stop; `stay` inside, or come and go.
    fn read(&self, mut reader: Reader<A>, kernel: Kernel, stay: bool) {
        let mut answers = [0; BURST];
        let mut bursts = self.addresses.chunks(BURST).cycle();
        while !self.stop.load(Ordering::Relaxed) {
            let mut guard = reader.pin();
            for _ in 0..if stay { 1000 } else { 1 } {
                let burst = bursts.next().expect("a cycle has no end");
                let answers = &mut answers[..burst.len()];
                guard.lookup_batch_with(kernel, burst, answers);
                for (address, answer) in burst.iter().zip(answers) {
                    self.judge(*address, *answer);
                }
                self.judge(burst[0], guard.lookup(burst[0]));
                guard.quiescent();
                self.lookups
                    .fetch_add(burst.len() as u64, Ordering::Relaxed);
            }
        }
    }

    /// Whether the writer goes on: for that long, and on a busy machine until a reader has had its turn, a minute at most.
    fn goes_on(&self, start: Instant, time: Duration) -> bool {
        let elapsed = start.elapsed();
        let is_read = self.lookups.load(Ordering::Relaxed) > 0;
        elapsed < time || !is_read && elapsed < Duration::from_secs(60)
    }

    /// Changes routes for that long: at random, then all gone, and again.
    fn write(&self, table: &mut LiveFib<A>, time: Duration) -> u64 {
        let mut random = Random(77);
        let mut changes = 0;
        let start = Instant::now();
        while self.goes_on(start, time) {
            for _ in 0..rounds(4_000, 20_000) {
                let index = random.below(self.prefixes.len());
                let prefix = self.prefixes[index];
                if random.below(3) == 0 {
                    table.withdraw(prefix).expect("fits");
                } else {
                    let next_hop = Self::next_hop(index, random.below(2) == 0);
                    table.announce(prefix, next_hop).expect("fits");
                }
                changes += 1;
            }
            assert_eq!(table.check(), Ok(()));
            for address in &self.addresses {
                let expected = table.rib().lookup(*address).map_or(0, NextHop::get);
                assert_eq!(table.lookup(*address), expected);
            }
            for prefix in &self.prefixes {
                table.withdraw(*prefix).expect("fits");
            }
        }
        changes
    }
}

/// Also when the writer finds a fault, so that the readers end.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn stress<A: Address>(options: Options, time: Duration) {
    let scene = Scene::<A>::new(0x9e37_79b9_7f4a_7c15);
    let mut table: LiveFib<A> = LiveFib::new(options).expect("the options fit");
    let changes = std::thread::scope(|scope| {
        let scalar = Kernel::by_name("scalar").expect("everywhere");
        for stay in [false, true] {
            // The thread sanitizer does not see through vector kernels, whose loads are
            // inline assembly: it needs POPFIB_KERNEL=scalar.
            for kernel in [Kernel::best(), scalar] {
                let (reader, scene) = (table.reader(), &scene);
                scope.spawn(move || scene.read(reader, kernel, stay));
            }
        }
        let _stop = Stop(&scene.stop);
        scene.write(&mut table, time)
    });
    let lookups = scene.lookups.into_inner();
    assert!(lookups > 0 && changes > 0);
    println!("{changes} changes, {lookups} lookups");
    table.reclaim();
    assert_eq!(table.bytes().waiting, 0, "no reader is left");
}

/// A value that says which prefix it is of, and nothing once it is dropped.
struct Named<A>(Option<Prefix<A>>);

impl<A> Drop for Named<A> {
    fn drop(&mut self) {
        // Not optimised away: a reader that is too late shall find it.
        *std::hint::black_box(&mut self.0) = None;
    }
}

/// Readers of a live map find values that are alive, of a prefix that holds the address.
fn values<A: Address>(time: Duration) {
    let scene = Scene::<A>::new(0x9e37_79b9_7f4a_7c15);
    let mut map: LiveMap<A, Named<A>> = LiveMap::new();
    let read = |mut reader: MapReader<A, Named<A>>| {
        let mut bursts = scene.addresses.chunks(BURST).cycle();
        while !scene.stop.load(Ordering::Relaxed) {
            let burst = bursts.next().expect("a cycle has no end");
            let guard = reader.pin();
            let mut matches = [None; BURST];
            guard.longest_match_batch(burst, &mut matches[..burst.len()]);
            for (address, found) in burst.iter().zip(matches) {
                for (prefix, value) in [found, guard.longest_match(*address)].into_iter().flatten()
                {
                    assert_eq!(value.0, Some(prefix));
                    assert!(prefix.contains(*address));
                }
            }
            scene
                .lookups
                .fetch_add(burst.len() as u64, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let reader = map.reader();
            scope.spawn(|| read(reader));
        }
        let _stop = Stop(&scene.stop);
        let mut random = Random(77);
        let start = Instant::now();
        while scene.goes_on(start, time) {
            for _ in 0..rounds(1_000, 5_000) {
                let prefix = scene.prefixes[random.below(scene.prefixes.len())];
                if random.below(3) == 0 {
                    map.withdraw(prefix).expect("fits");
                } else {
                    map.announce(prefix, Named(Some(prefix))).expect("fits");
                }
            }
            map.check().unwrap();
            // All at once: compiled beside the table in use, then gone.
            let all = scene.prefixes.iter();
            let changes = all.map(|prefix| {
                (
                    *prefix,
                    (random.below(2) == 0).then(|| Named(Some(*prefix))),
                )
            });
            map.apply(changes).expect("fits");
        }
    });
    assert!(scene.lookups.into_inner() > 0);
    map.reclaim();
    assert_eq!(map.waiting(), 0, "no reader is left");
}

/// Half a minute, or a small part of a second.
#[test]
fn readers_find_what_was_announced() {
    let time = Duration::from_millis(rounds(10, 2_000));
    stress::<u16>(Options::default(), time);
    stress::<u32>(Options::default(), time);
    stress::<u32>(Options::default().direct_bits(Some(16)), time);
    stress::<u128>(Options::default().direct_bits(Some(20)), time);
    // Of short keys: a short prefix changes all entries, which takes long under a sanitizer.
    let flat = Options::default()
        .direct_bits(Some(10))
        .size(Size::Balanced);
    stress::<u16>(flat, time);
    values::<u32>(time);
    values::<u128>(time);
    stress::<u128>(Options::default(), time);
    let options = Options::default().direct_bits(Some(0));
    stress::<u32>(options.aggregation(false), time);
}
