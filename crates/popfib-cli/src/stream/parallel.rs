//! A stream on several threads, its order kept.
//!
//! Each thread reads a block, works on it and writes it, the first and the last in turn: a block stays in
//! one core's cache. Rejected: a thread that reads and hands blocks to workers, which takes a third more CPU
//! time and gains next to nothing (docs/experiments.md). There are as many blocks as threads, so memory does
//! not grow with the file, and none waits for input to come before it is written.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::thread;

use popfib_formats::AddressBatch;

use super::lines::Work;
use super::source::Source;
use crate::failure::Failure;

struct Reading<'a> {
    source: &'a mut Source,
    /// Blocks that have been read.
    blocks: u64,
    skipped: u64,
}

struct Writing<W> {
    write: W,
    /// Blocks that have been written.
    blocks: u64,
    /// How it ended, if it has: what comes after that is not written.
    end: Option<Result<(), Failure>>,
}

/// Reads all of `source`; `work` makes bytes of each batch, on `threads` threads, and `write` gets them in
/// order, with whether more lies ready. How many records `skip` told to leave out.
pub(super) fn run(
    source: &mut Source,
    threads: usize,
    skip: &(dyn Fn(&Failure) -> bool + Sync),
    work: impl Fn(&AddressBatch, &mut Work) -> Result<(), Failure> + Sync,
    write: impl FnMut(&[u8], bool) -> Result<(), Failure> + Send,
) -> Result<u64, Failure> {
    let finder = source.finder();
    let is_over = AtomicBool::new(false);
    let reading = Mutex::new(Reading {
        source,
        blocks: 0,
        skipped: 0,
    });
    let writing = Mutex::new(Writing {
        write,
        blocks: 0,
        end: None,
    });
    let turn = Condvar::new();

    let share = || {
        let over = Over(&is_over, &writing, &turn);
        let mut batch = AddressBatch::default();
        let mut made = Work::default();
        while !is_over.load(Relaxed) {
            let (block, read) = read_block(&mut lock(&reading), &mut batch, skip);
            let done = match read {
                Ok(true) => {
                    if let Some(finder) = &finder {
                        finder.find(&mut batch);
                    }
                    work(&batch, &mut made).map(|()| true)
                }
                end => end,
            };
            // Whoever has ended early wakes those that wait for their turn.
            let writing = turn.wait_while(lock(&writing), |writing| {
                writing.blocks != block && !is_over.load(Relaxed)
            });
            let mut writing = writing.unwrap_or_else(|poisoned| poisoned.into_inner());
            if writing.blocks != block {
                break;
            }
            writing.blocks += 1;
            let done = done.and_then(|more| match more {
                true => (writing.write)(made.bytes(), batch.is_full()).map(|()| true),
                false => Ok(false),
            });
            if !matches!(done, Ok(true)) {
                writing.end = Some(done.map(drop));
                break;
            }
            turn.notify_all();
        }
        drop(over);
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(share);
        }
        share();
    });

    let reading = reading.into_inner();
    let skipped = reading
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .skipped;
    let writing = writing.into_inner();
    let end = writing.unwrap_or_else(|poisoned| poisoned.into_inner()).end;
    end.unwrap_or_else(|| Err("a thread has ended early".into()))?;
    Ok(skipped)
}

/// The number of the next block, and whether there is one.
fn read_block(
    reading: &mut Reading<'_>,
    batch: &mut AddressBatch,
    skip: &dyn Fn(&Failure) -> bool,
) -> (u64, Result<bool, Failure>) {
    let block = reading.blocks;
    reading.blocks += 1;
    loop {
        match reading.source.next_block(batch) {
            Err(failure) if skip(&failure) => reading.skipped += 1,
            read => return (block, read),
        }
    }
}

/// A thread that panics leaves nothing half done that others would see: they end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Ends all threads when it is dropped, by a panic as well.
struct Over<'a, W>(&'a AtomicBool, &'a Mutex<Writing<W>>, &'a Condvar);

impl<W> Drop for Over<'_, W> {
    fn drop(&mut self) {
        let Self(is_over, writing, turn) = self;
        // Under the lock, or a thread that is about to wait would miss it.
        let _writing = lock(writing);
        is_over.store(true, Relaxed);
        turn.notify_all();
    }
}
