//! The lock of the tables: fair, and it measures for how long it is held.
//!
//! The thread that waits comes next. Another that has much to do takes the lock again and again for short pieces of work, and an
//! unfair lock, as std's is, would give it to that thread each time. The longest hold is measured in CPU time of the thread, which
//! does not depend on what else the machine does. To ask for it is a system call, which would be a third of the time of a message; so a
//! thread asks before a hold if it has not done so for [`RECENT`], and after one that was longer than all before it by the clock.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that a thread uses in this time before a hold may count as part of it.
const RECENT: Duration = Duration::from_micros(100);

thread_local! {
    /// When this thread last asked for its CPU time before a hold, and the answer.
    static ASKED: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// A value under a fair lock.
#[derive(Default)]
pub(super) struct FairLock<T> {
    /// Held by the thread that comes next. The thread that lets go of the value has to wait here before it takes it again.
    turn: Mutex<()>,
    value: Mutex<T>,
    /// In nanoseconds.
    longest: AtomicU64,
}

impl<T> FairLock<T> {
    pub(super) fn new(value: T) -> Self {
        Self {
            turn: Mutex::default(),
            value: Mutex::new(value),
            longest: AtomicU64::new(0),
        }
    }

    /// Waits for the turn, and holds the value until the result is dropped.
    pub(super) fn hold(&self) -> LockHold<'_, T> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turn);
        let since = Instant::now();
        let asked = match ASKED.get() {
            Some((asked, time)) if since - asked < RECENT => time,
            _ => {
                let time = cpu_time();
                ASKED.set(Some((since, time)));
                time
            }
        };
        LockHold {
            since,
            asked,
            longest: &self.longest,
            value,
        }
    }

    /// The longest time so far for which a thread has held the value, as CPU time of that thread.
    pub(super) fn longest_hold(&self) -> Duration {
        Duration::from_nanos(self.longest.load(Ordering::Relaxed))
    }
}

/// A value that is held, until this is dropped.
pub(super) struct LockHold<'l, T> {
    since: Instant,
    /// The CPU time of the thread, shortly before.
    asked: Duration,
    longest: &'l AtomicU64,
    value: MutexGuard<'l, T>,
}

impl<T> Deref for LockHold<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for LockHold<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for LockHold<'_, T> {
    fn drop(&mut self) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let held = self.since.elapsed();
        if nanoseconds(held) > self.longest.load(Ordering::Relaxed) {
            let used = cpu_time().saturating_sub(self.asked);
            self.longest
                .fetch_max(nanoseconds(used.min(held)), Ordering::Relaxed);
        }
    }
}

/// The CPU time of this thread so far.
pub(super) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_longest_hold_is_cpu_time_and_not_waiting() {
        let lock = FairLock::new(0u64);
        let held = lock.hold();
        thread::sleep(Duration::from_millis(100));
        drop(held);
        assert!(lock.longest_hold() < Duration::from_millis(50));
        let mut held = lock.hold();
        let begin = cpu_time();
        while cpu_time() - begin < Duration::from_millis(60) {
            *held += 1;
        }
        drop(held);
        assert!(lock.longest_hold() >= Duration::from_millis(60));
    }

    /// One thread takes the lock for a millisecond, again and again; another gets it between two of these.
    #[test]
    fn who_waits_comes_next() {
        let lock = FairLock::new(0u64);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let mut turns = lock.hold();
                    *turns += 1;
                    let begin = Instant::now();
                    while begin.elapsed() < Duration::from_millis(1) {}
                }
            });
            let turns = || *lock.hold();
            let mut before = turns();
            for _ in 0..20 {
                while turns() == before {}
                before = turns();
            }
            // With a lock that is not fair these would be hundreds.
            let mut most = 0;
            for _ in 0..50 {
                let begin = turns();
                most = most.max(turns() - begin);
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(most <= 20, "{most} turns of the other thread");
        });
    }
}
