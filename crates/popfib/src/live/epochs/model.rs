//! Every order in which a writer and two readers can run, tried by loom.
//!
//! The table is one pointer and two blocks. The writer fills the second block, switches the
//! pointer to it and, when the clock says so, uses the first again. Loom
//! fails a run in which a block is written while it is read, or a reader finds
//! what was never in the table.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Epochs;
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

    /// A lookup, by a reader that is inside.
    fn lookup(&self) -> u32 {
        let at = self.pointer.load(Ordering::Acquire);
        // SAFETY: loom checks that nobody writes meanwhile.
        self.blocks[at].with(|block| unsafe { *block })
    }

    fn write(&self, at: usize, value: u32) {
        // SAFETY: loom checks that nobody reads meanwhile.
        self.blocks[at].with_mut(|block| unsafe { *block = value });
    }

    /// Replaces block 0 by block 1; uses block 0 again if no reader is left. Whether it did.
    fn change(&self) -> bool {
        self.write(1, 2);
        self.pointer.store(1, Ordering::Release);
        let ended = self.epochs.end_epoch();
        let passed = self.epochs.all_passed(ended);
        if passed {
            self.write(0, REUSED);
        }
        passed
    }
}

#[test]
fn model_of_readers_that_come_and_go() {
    loom::model(|| {
        let table = Table::new();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let table = Arc::clone(&table);
                thread::spawn(move || {
                    let slot = table.epochs.register().expect("memory");
                    table.epochs.enter(slot);
                    let seen = table.lookup();
                    slot.leave();
                    table.epochs.unregister(slot);
                    assert!(seen == 1 || seen == 2, "{seen}");
                })
            })
            .collect();
        table.change();
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
            let slot = reader.epochs.register().expect("memory");
            reader.epochs.enter(slot);
            let first = reader.lookup();
            reader.epochs.show(slot);
            let second = reader.lookup();
            slot.leave();
            assert!((1..=2).contains(&first) && (first..=2).contains(&second));
        });
        let passed = table.change();
        if !passed {
            // Later, perhaps behind `show`.
            let ended = table.epochs.end_epoch();
            if table.epochs.all_passed(ended) {
                table.write(0, REUSED);
            }
        }
        reader.join().expect("no panic");
    });
}

/// The model finds what is wrong: a writer that does not ask is caught.
#[test]
#[should_panic(expected = "Causality violation")]
fn model_of_a_writer_that_does_not_wait() {
    loom::model(|| {
        let table = Table::new();
        let reader = Arc::clone(&table);
        let reader = thread::spawn(move || {
            let slot = reader.epochs.register().expect("memory");
            reader.epochs.enter(slot);
            reader.lookup();
            slot.leave();
        });
        table.write(1, 2);
        table.pointer.store(1, Ordering::Release);
        table.write(0, REUSED);
        reader.join().expect("no panic");
    });
}
