//! The clock in the orders in which a writer and readers can run, tried by loom: all with up to three
//! preemptions (`LOOM_MAX_PREEMPTIONS`), and with every value that a load may return by the language's memory model.
//!
//! The table is one pointer and two blocks. The writer fills the second block, switches the
//! pointer to it and, when the clock says so, uses the first again. Loom
//! fails a run in which a block is written while it is read, or a reader finds
//! what was never in the table.
//!
//! Readers that make their own barrier run as they are. `membarrier` is modelled by what it promises: at some point
//! of each reader's program, what the reader did before it precedes what the writer does after the call, and what the
//! writer did before the call precedes what the reader does after that point. So a reader is two threads, one up to the
//! point, which the writer's call waits for, and one from there on, which it starts; every point is tried.
//! That a Linux kernel keeps this promise is not modelled.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread::{self, JoinHandle};
// Counts runs, so no part of them.
use std::sync::atomic::AtomicUsize as Count;

use super::{BY_READER, BY_WRITER, Epochs, ReaderSlot};
use crate::memory::Global;

/// What a block holds when it is used again.
const REUSED: u32 = 99;

struct Table {
    epochs: Epochs,
    pointer: AtomicUsize,
    blocks: [UnsafeCell<u32>; 2],
}

// SAFETY: the clock keeps writes of a block and reads apart; that it does is what loom verifies.
unsafe impl Sync for Table {}

impl Table {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            epochs: Epochs::new_in(Global),
            pointer: AtomicUsize::new(0),
            blocks: [UnsafeCell::new(1), UnsafeCell::new(0)],
        })
    }

    fn read(&self, at: usize) -> u32 {
        // SAFETY: loom checks that nobody writes meanwhile.
        self.blocks[at].with(|block| unsafe { *block })
    }

    fn write(&self, at: usize, value: u32) {
        // SAFETY: loom checks that nobody reads meanwhile.
        self.blocks[at].with_mut(|block| unsafe { *block = value });
    }

    /// A lookup, by a reader that is inside.
    fn lookup(&self) -> u32 {
        self.read(self.pointer.load(Ordering::Acquire))
    }

    /// Replaces block 0 by block 1; the epoch that ended with that.
    fn change(&self) -> usize {
        self.write(1, 2);
        self.pointer.store(1, Ordering::Release);
        self.epochs.end_epoch()
    }

    /// Uses block 0 again if no reader is left. Whether it did.
    fn reuse(&self, ended: usize, barrier: impl FnOnce() -> bool) -> bool {
        let passed = self.epochs.all_passed_by(ended, barrier);
        if passed {
            self.write(0, REUSED);
        }
        passed
    }

    /// A reader that comes and goes `times` times; what it saw first.
    fn visit(&self, slot: &ReaderSlot, times: usize) {
        for _ in 0..times {
            self.epochs.enter(slot);
            let seen = self.lookup();
            slot.leave();
            assert!(seen == 1 || seen == 2, "{seen}");
        }
    }
}

fn refused() -> bool {
    false
}

#[test]
fn model_of_readers_that_come_and_go() {
    loom::model(|| {
        let table = Table::new();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let table = Arc::clone(&table);
                thread::spawn(move || {
                    let slot = table.epochs.register_as(BY_READER).expect("memory");
                    table.visit(slot, 1);
                    table.epochs.unregister(slot);
                })
            })
            .collect();
        table.reuse(table.change(), refused);
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

#[test]
fn model_of_a_reader_that_goes_on() {
    loom::model(|| {
        let table = Table::new();
        let reader = Arc::clone(&table);
        let reader = thread::spawn(move || {
            let slot = reader.epochs.register_as(BY_READER).expect("memory");
            reader.epochs.enter(slot);
            let first = reader.lookup();
            reader.epochs.show(slot);
            let second = reader.lookup();
            slot.leave();
            assert!((1..=2).contains(&first) && (first..=2).contains(&second));
        });
        if !table.reuse(table.change(), refused) {
            // Later, perhaps after `show`.
            table.reuse(table.epochs.end_epoch(), refused);
        }
        reader.join().expect("no panic");
    });
}

/// A reader that relies on the writer's barrier and is not given it, from the moment that it registers: it
/// is asked, answers, and only then is the block used again. Some runs get there in each way.
#[test]
fn model_of_a_barrier_that_is_refused() {
    static SOON: Count = Count::new(0);
    static LATER: Count = Count::new(0);
    static NEVER: Count = Count::new(0);
    loom::model(|| {
        let table = Table::new();
        let reader = Arc::clone(&table);
        let reader = thread::spawn(move || {
            let slot = reader.epochs.register_as(BY_WRITER).expect("memory");
            reader.visit(slot, 2);
        });
        let ended = table.change();
        let outcome = if table.reuse(ended, refused) {
            &SOON
        } else if table.reuse(ended, refused) {
            &LATER
        } else {
            &NEVER
        };
        outcome.fetch_add(1, Ordering::Relaxed);
        reader.join().expect("no panic");
    });
    for outcome in [&SOON, &LATER, &NEVER] {
        assert!(outcome.load(Ordering::Relaxed) > 0);
    }
}

/// The steps of a reader that relies on the writer's barrier: what `enter`, a lookup and `leave` do, one by one.
const STEPS: usize = 5;

/// A reader between two steps.
struct Visit {
    table: Arc<Table>,
    slot: &'static ReaderSlot,
    now: usize,
    at: usize,
}

impl Visit {
    fn steps(mut self, steps: core::ops::Range<usize>) -> Self {
        for step in steps {
            match step {
                0 => self.now = self.table.epochs.now(),
                1 => {
                    self.slot.show(self.now);
                    self.slot.barrier();
                }
                2 => self.at = self.table.pointer.load(Ordering::Acquire),
                3 => {
                    let seen = self.table.read(self.at);
                    assert!(seen == 1 || seen == 2, "{seen}");
                }
                _ => self.slot.leave(),
            }
        }
        self
    }

    fn spawn(self, steps: core::ops::Range<usize>) -> JoinHandle<Self> {
        thread::spawn(move || self.steps(steps))
    }
}

/// The writer's call of `membarrier` meets the reader before step `point`. Whether the block was used again.
fn meet(point: usize) -> bool {
    let table = Table::new();
    let slot = table.epochs.register_as(BY_WRITER).expect("memory");
    // SAFETY: slots live as long as the clock, and both threads have ended before the table goes.
    let slot = unsafe { &*core::ptr::from_ref(slot) };
    let visit = Visit {
        table: Arc::clone(&table),
        slot,
        now: 0,
        at: 0,
    };
    let before = visit.spawn(0..point);
    let go_on = || {
        let visit = before.join().expect("no panic");
        visit.spawn(point..STEPS)
    };
    let ended = table.change();
    let mut after = None;
    let mut go_on = Some(go_on);
    let reused = table.reuse(ended, || {
        after = go_on.take().map(|go_on| go_on());
        true
    });
    // It was not asked for: the reader was seen inside.
    let after = after.or_else(|| go_on.map(|go_on| go_on()));
    after.expect("one of the two").join().expect("no panic");
    reused
}

#[test]
fn model_of_the_writers_barrier() {
    for point in 0..=STEPS {
        static REUSED: Count = Count::new(0);
        REUSED.store(0, Ordering::Relaxed);
        loom::model(move || {
            REUSED.fetch_add(usize::from(meet(point)), Ordering::Relaxed);
        });
        // From where the reader has shown itself this needs a reader that came in after the change.
        assert!(REUSED.load(Ordering::Relaxed) > 0, "{point}");
    }
}

/// The model finds what is wrong: a barrier that does nothing is caught.
#[test]
#[should_panic(expected = "Causality violation")]
fn model_of_a_barrier_that_is_none() {
    loom::model(|| {
        let table = Table::new();
        let reader = Arc::clone(&table);
        let reader = thread::spawn(move || {
            let slot = reader.epochs.register_as(BY_WRITER).expect("memory");
            reader.visit(slot, 1);
        });
        table.reuse(table.change(), || true);
        reader.join().expect("no panic");
    });
}
