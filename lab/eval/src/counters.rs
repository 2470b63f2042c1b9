//! What the CPU counts while lookups run: cycles, instructions, cache misses,
//! mispredicted branches.
//!
//! Linux gives these to programs by `perf_event_open`, where the CPU and the
//! rights of the program allow it; virtual machines mostly have none. Each event
//! is a counter of its own and not one of a group: a CPU that lacks one still
//! gives the others, and a count that had to share its register with another is
//! scaled by the share of the time that it ran.

use std::io;

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Cycles of the core, whatever its clock.
    Cycles,
    /// Instructions that were completed.
    Instructions,
    /// Loads that the first cache of data had to fetch.
    L1Misses,
    /// Accesses that the last cache had to fetch from memory.
    LastLevelMisses,
    /// Branches that went another way than was predicted.
    BranchMisses,
    /// Nanoseconds of the thread: not of the hardware, so that every system has it.
    TaskClock,
}

impl Event {
    /// Those of the hardware.
    pub const HARDWARE: [Self; 5] = [
        Self::Cycles,
        Self::Instructions,
        Self::L1Misses,
        Self::LastLevelMisses,
        Self::BranchMisses,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::L1Misses => "L1 misses",
            Self::LastLevelMisses => "last-level misses",
            Self::BranchMisses => "branch misses",
            Self::TaskClock => "task clock, ns",
        }
    }
}

/// Counters of this thread, one for each event that was asked for, where there is one.
#[derive(Debug)]
pub struct Counters {
    counters: Vec<Option<system::One>>,
}

impl Counters {
    /// Counters of `events`, each of the calling thread without the system's part.
    ///
    /// # Errors
    /// Why not one of them can be had, in one line.
    pub fn new(events: &[Event]) -> Result<Self, String> {
        Self::opened_by(events, system::One::open)
    }

    fn opened_by(
        events: &[Event],
        open: impl Fn(Event) -> io::Result<system::One>,
    ) -> Result<Self, String> {
        let mut refused = None;
        let counters: Vec<_> = events
            .iter()
            .map(|event| open(*event).map_err(|error| refused = Some(error)).ok())
            .collect();
        match refused {
            Some(error) if counters.iter().all(Option::is_none) => Err(reason(&error)),
            _ => Ok(Self { counters }),
        }
    }

    /// Counts while `work` runs; in the order of the events, `None` where there is no counter or it
    /// did not run at all.
    pub fn count(&mut self, work: impl FnOnce()) -> Vec<Option<f64>> {
        // Those that fail to start are read as such.
        for one in self.counters.iter_mut().flatten() {
            one.start();
        }
        work();
        for one in self.counters.iter_mut().flatten() {
            one.stop();
        }
        let counters = self.counters.iter_mut();
        counters.map(|one| one.as_mut()?.read()).collect()
    }
}

/// Why there are no counters, in one line.
fn reason(error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::Unsupported => {
            "this machine has none for programs, as most virtual ones"
        }
        io::ErrorKind::PermissionDenied => {
            "the system forbids them (/proc/sys/kernel/perf_event_paranoid)"
        }
        _ => "the system refuses them",
    };
    format!("{why}: {error}")
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;

    use perf_event::events::{
        Cache, CacheOp, CacheResult, Event as SystemEvent, Hardware, Software, WhichCache,
    };
    use perf_event::{Builder, Counter};

    use super::Event;

    /// The counter of one event.
    #[derive(Debug)]
    pub(super) struct One {
        counter: Counter,
        /// Nanoseconds that it should have run and did run, at the last reading.
        before: (u64, u64),
        is_running: bool,
    }

    impl One {
        pub(super) fn open(event: Event) -> io::Result<Self> {
            let misses = |which, operation| {
                SystemEvent::from(Cache {
                    which,
                    operation,
                    result: CacheResult::MISS,
                })
            };
            let event = match event {
                Event::Cycles => Hardware::CPU_CYCLES.into(),
                Event::Instructions => Hardware::INSTRUCTIONS.into(),
                Event::L1Misses => misses(WhichCache::L1D, CacheOp::READ),
                Event::LastLevelMisses => Hardware::CACHE_MISSES.into(),
                Event::BranchMisses => Hardware::BRANCH_MISSES.into(),
                Event::TaskClock => Software::TASK_CLOCK.into(),
            };
            Ok(Self {
                counter: Builder::new().kind(event).build()?,
                before: (0, 0),
                is_running: false,
            })
        }

        pub(super) fn start(&mut self) {
            let counter = &mut self.counter;
            self.is_running = counter.reset().and_then(|()| counter.enable()).is_ok();
        }

        pub(super) fn stop(&mut self) {
            self.is_running &= self.counter.disable().is_ok();
        }

        /// What was counted between start and stop, as if it had run all the time.
        pub(super) fn read(&mut self) -> Option<f64> {
            let read = self.counter.read_count_and_time().ok()?;
            // A reset is of the count; the times go on.
            let (enabled, running) = (
                read.time_enabled - self.before.0,
                read.time_running - self.before.1,
            );
            self.before = (read.time_enabled, read.time_running);
            (self.is_running && running > 0)
                .then(|| read.count as f64 * enabled as f64 / running as f64)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use super::Event;

    /// There is none.
    #[derive(Debug)]
    pub(super) enum One {}

    impl One {
        pub(super) fn open(_: Event) -> io::Result<Self> {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "hardware counters are read on Linux only",
            ))
        }

        pub(super) fn start(&mut self) {}

        pub(super) fn stop(&mut self) {}

        pub(super) fn read(&mut self) -> Option<f64> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn spin(turns: u64) {
        for turn in 0..turns {
            black_box(turn);
        }
    }

    #[test]
    fn more_work_counts_more_and_each_count_begins_at_nothing() {
        let mut counters = match Counters::new(&[Event::TaskClock]) {
            Ok(counters) => counters,
            Err(reason) => {
                eprintln!("skipped: more_work_counts_more: {reason}");
                return;
            }
        };
        let mut of = |turns| counters.count(|| spin(turns))[0].expect("a clock runs");
        let long = of(10_000_000);
        let short = of(1_000);
        assert!(short > 0.0 && short * 10.0 < long, "{short} {long}");
    }

    #[test]
    fn what_is_refused_is_told_or_left_out() {
        let refuse = |code| move |_| Err(io::Error::from_raw_os_error(code));
        for (code, told) in [
            (2, "this machine has none"),
            (13, "perf_event_paranoid"),
            (22, "refuses"),
        ] {
            let reason = Counters::opened_by(&Event::HARDWARE, refuse(code)).unwrap_err();
            assert!(reason.contains(told), "{reason}");
            assert!(reason.contains(&format!("(os error {code})")), "{reason}");
        }
        // One of two: the other has no count.
        let open = |event| match event {
            Event::TaskClock => system::One::open(event),
            _ => Err(io::Error::from_raw_os_error(2)),
        };
        if let Ok(mut some) = Counters::opened_by(&[Event::L1Misses, Event::TaskClock], open) {
            let counts = some.count(|| spin(1_000));
            assert!(counts[0].is_none() && counts[1].is_some(), "{counts:?}");
        }
    }

    #[test]
    fn the_hardware_counts_or_says_why_not() {
        match Counters::new(&Event::HARDWARE) {
            Ok(mut counters) => {
                let counts = counters.count(|| spin(1_000_000));
                assert!(
                    counts[1].is_none_or(|instructions| instructions > 1e6),
                    "{counts:?}"
                );
            }
            Err(reason) => assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}"),
        }
    }
}
