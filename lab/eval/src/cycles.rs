//! The time of single lookups by the CPU's timestamp counter (Poptrie paper,
//! section 4.6).
//!
//! A lookup stands between two readings of the counter, each between fences
//! that let no instruction pass, so that a lookup overlaps with nothing before
//! and after it. The readings take time themselves: as much as with a lookup
//! that does nothing, which is measured in the same way and subtracted, as the
//! paper does. The paper read the count of core cycles; the timestamp counter
//! can be read by anyone, ticks at a fixed rate whatever that of the core, and
//! so counts time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::distribution::Distribution;

/// Lookups that the overhead is measured over.
const EMPTY_LOOKUPS: usize = 1 << 16;

/// A counter that ticks steadily.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    megahertz: f64,
    overhead: u32,
}

impl Counter {
    /// The counter of this CPU. Takes some 20 ms, to compare it with the clock.
    ///
    /// # Errors
    /// Why there is none to rely on, in one line.
    pub fn new() -> Result<Self, &'static str> {
        is_steady()?;
        let mut counter = Self {
            megahertz: megahertz(),
            overhead: 0,
        };
        let addresses = vec![0u32; EMPTY_LOOKUPS];
        // A call that cannot be inlined, as that of a structure.
        let nothing: fn(u32) -> u32 = black_box(|_| 0);
        let mut times = Distribution::new();
        // Twice: once for the caches.
        for _ in 0..2 {
            times = Distribution::new();
            counter.each(&addresses, nothing, |_, ticks| times.add(ticks));
        }
        counter.overhead = times.percentile(0.5);
        Ok(counter)
    }

    /// Ticks in a microsecond.
    pub fn megahertz(&self) -> f64 {
        self.megahertz
    }

    /// Ticks that a lookup takes which does nothing. They are subtracted.
    pub fn overhead(&self) -> u32 {
        self.overhead
    }

    /// Looks up each of `addresses` alone and tells its place and ticks, without the overhead.
    pub fn each<A: Copy>(
        &self,
        addresses: &[A],
        lookup: impl Fn(A) -> u32,
        mut tell: impl FnMut(usize, u32),
    ) {
        for (place, &address) in addresses.iter().enumerate() {
            let start = now();
            black_box(lookup(black_box(address)));
            let ticks = now().wrapping_sub(start);
            let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
            tell(place, ticks.saturating_sub(self.overhead));
        }
    }
}

/// Ticks a microsecond, compared with the clock.
fn megahertz() -> f64 {
    let (clock, ticks) = (Instant::now(), now());
    while clock.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let elapsed = clock.elapsed();
    now().wrapping_sub(ticks) as f64 / (elapsed.as_secs_f64() * 1e6)
}

/// Whether the counter ticks at one rate, whatever the core does, and while it sleeps.
#[cfg(target_arch = "x86_64")]
fn is_steady() -> Result<(), &'static str> {
    use std::arch::x86_64::__cpuid;

    const POWER: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    if __cpuid(0x8000_0000).eax < POWER || __cpuid(POWER).edx & INVARIANT_TSC == 0 {
        return Err("the CPU does not promise a steady timestamp counter (invariant TSC)");
    }
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn is_steady() -> Result<(), &'static str> {
    Err("single lookups are timed by the timestamp counter of x86-64 only")
}

/// The counter; what stands before is done, and what stands after has not begun.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn now() -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};

    // SAFETY: every x86-64 CPU has both instructions; they touch no memory. A system that
    // forbids `rdtsc` to programs ends the program, which is sound.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn now() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any_fib::build;
    use crate::{Algorithm, Random};
    use popfib::{NextHop, Options, Prefix, Rib};
    use popfib_baselines::Baseline;

    #[test]
    fn a_deep_lookup_takes_longer_than_none() {
        let counter = match Counter::new() {
            Ok(counter) => counter,
            Err(reason) => {
                eprintln!("skipped: {reason}");
                return;
            }
        };
        assert!(counter.overhead() > 0 && counter.megahertz() > 1.0);
        let mut rib = Rib::<u32>::new();
        rib.insert(Prefix::host(0x0a00_0001), NextHop::MIN);
        let radix = Algorithm::Baseline(Baseline::Radix);
        let radix = build(&rib, radix, &Options::default()).unwrap().fib;
        let addresses = vec![0x0a00_0001u32; 10_000];
        let (mut deep, mut none) = (Distribution::new(), Distribution::new());
        counter.each(&addresses, |a| radix.lookup(a), |_, ticks| deep.add(ticks));
        counter.each(&addresses, |_| 0, |_, ticks| none.add(ticks));
        assert_eq!((deep.count(), none.count()), (10_000, 10_000));
        assert!(deep.percentile(0.5) > none.percentile(0.5));
        // Every place is reported once, in order.
        let mut random = Random::new(1);
        let addresses: Vec<u32> = (0..100).map(|_| random.address()).collect();
        let mut places = Vec::new();
        counter.each(&addresses, |_| 0, |place, _| places.push(place));
        assert!(places.into_iter().eq(0..100));
    }
}
