//! Threads that look up while a table changes, and how fast.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{Scope, ScopedJoinHandle, sleep};
use std::time::{Duration, Instant};

use popfib::live::Reader;
use popfib_eval::{Latencies, Traffic, TrafficAddress, generate, pin};

use super::family::Family;
use crate::program::Failure;

/// Addresses of a burst.
const BURST: usize = 64;
/// Addresses that a reader asks for again and again: a random host of a random route each.
const ADDRESSES: usize = 1 << 20;
/// How long readers run before the updates begin.
const ALONE: Duration = Duration::from_secs(1);

// What readers do.
const READ_ALONE: u8 = 0;
const READ_MEANWHILE: u8 = 1;
const PAUSE: u8 = 2;
const STOP: u8 = 3;

/// What readers did in one phase.
#[derive(Clone, Default)]
pub(crate) struct Phase {
    pub(crate) bursts: Latencies,
    /// Rates of all readers, added up.
    mlps: f64,
}

impl Phase {
    /// Million lookups a second of all readers together.
    pub(crate) fn mlps(&self) -> f64 {
        self.mlps
    }
}

/// What all readers did.
pub(crate) struct Reading {
    pub(crate) readers: usize,
    pub(crate) alone: Phase,
    pub(crate) meanwhile: Phase,
}

/// The cores of `readers` readers; the writer, this thread, is pinned to one of its own.
pub(crate) fn cores(readers: usize) -> Result<Vec<usize>, Failure> {
    let cores = popfib_eval::cores().map_err(|error| error.to_string())?;
    if readers > 0 && readers >= cores.len() {
        return Err(format!(
            "{readers} readers and the updates on {} cores would measure the scheduler",
            cores.len()
        )
        .into());
    }
    if let Some(first) = cores.first() {
        pin(*first).map_err(|error| error.to_string())?;
    }
    Ok(cores.into_iter().skip(1).take(readers).collect())
}

/// Readers at work.
pub(crate) struct Team<'scope> {
    doing: Arc<AtomicU8>,
    readers: Vec<ScopedJoinHandle<'scope, [Phase; 2]>>,
}

impl<'scope> Team<'scope> {
    /// Starts a reader on each of `cores` and lets them run alone for a while.
    pub(crate) fn start<'env, A: TrafficAddress>(
        scope: &'scope Scope<'scope, 'env>,
        family: &Family<A>,
        cores: &[usize],
    ) -> Result<Self, Failure> {
        let doing = Arc::new(AtomicU8::new(READ_ALONE));
        let mut readers = Vec::new();
        if !cores.is_empty() {
            let addresses = generate(&Traffic::Routes, family.rib(), ADDRESSES, 1)?;
            let addresses: Arc<[A]> = addresses.unwrap_or_else(|| vec![A::MIN; BURST]).into();
            for core in cores.iter().copied() {
                let (reader, doing) = (family.reader(), Arc::clone(&doing));
                let addresses = Arc::clone(&addresses);
                readers.push(scope.spawn(move || {
                    // The cores are those that this process may run on.
                    pin(core).expect("a core of this process");
                    read(reader, &addresses, &doing)
                }));
            }
            sleep(ALONE);
            doing.store(PAUSE, Ordering::Relaxed);
        }
        Ok(Self { doing, readers })
    }

    /// Runs `work` while the readers count.
    pub(crate) fn meanwhile<T>(&self, work: impl FnOnce() -> T) -> T {
        self.doing.store(READ_MEANWHILE, Ordering::Relaxed);
        let done = work();
        self.doing.store(PAUSE, Ordering::Relaxed);
        done
    }

    /// Ends the readers.
    pub(crate) fn stop(&mut self) -> Reading {
        self.doing.store(STOP, Ordering::Relaxed);
        let mut reading = Reading {
            readers: self.readers.len(),
            alone: Phase::default(),
            meanwhile: Phase::default(),
        };
        for reader in self.readers.drain(..) {
            let [alone, meanwhile] = reader.join().expect("a reader does not panic");
            for (to, from) in [
                (&mut reading.alone, alone),
                (&mut reading.meanwhile, meanwhile),
            ] {
                to.bursts.append(&from.bursts);
                to.mlps += from.mlps;
            }
        }
        reading
    }
}

impl Drop for Team<'_> {
    /// Lets readers end where an error ends the work: their scope waits for them.
    fn drop(&mut self) {
        self.doing.store(STOP, Ordering::Relaxed);
    }
}

/// Looks up burst by burst until it is told to stop.
fn read<A: TrafficAddress>(mut reader: Reader<A>, addresses: &[A], doing: &AtomicU8) -> [Phase; 2] {
    let mut phases = [Phase::default(), Phase::default()];
    let mut next_hops = [0; BURST];
    let mut guard = reader.pin();
    let mut bursts = addresses.chunks_exact(BURST).cycle();
    let mut last = None;
    loop {
        let now_doing = doing.load(Ordering::Relaxed);
        let Some(phase) = phases.get_mut(usize::from(now_doing)) else {
            if now_doing == STOP {
                break;
            }
            guard.quiescent();
            last = None;
            std::hint::spin_loop();
            continue;
        };
        let burst = bursts.next().expect("a cycle has no end");
        guard.lookup_batch(burst, &mut next_hops);
        guard.quiescent();
        black_box(&mut next_hops);
        let now = Instant::now();
        // The end of a burst is the start of the next; the first of a stretch has no start.
        if let Some(start) = last.replace(now) {
            phase.bursts.add(now - start);
        }
    }
    for phase in &mut phases {
        // Seconds per burst are 64 lookups.
        let mean_us = phase.bursts.mean_us();
        phase.mlps = if mean_us > 0.0 {
            BURST as f64 / mean_us
        } else {
            0.0
        };
    }
    phases
}
