//! A stream on several threads: blocks of a file in, the bytes that are made of them out, in the order of the file.
//!
//! Each thread reads a block and works on it, so that the block stays in one core's cache. A thread with the next block in order
//! writes it, and then all finished blocks that follow. Rejected: a thread that reads and hands blocks to workers, which takes a
//! third more CPU time and gains next to nothing (docs/experiments/command.md).
//!
//! There are two blocks for each thread, so memory does not grow with the file. No block waits for further input before it is
//! written.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

use popfib_formats::{AddressBatch, threads as shared};
use popfib_program::failure::Failure;

use super::lines::LineBuffers;
use super::source::StreamSource;
use crate::output::note;

/// Blocks for each thread: one to work on, and one that waits for its turn.
const BLOCKS: usize = 2;

#[derive(Default)]
struct InputBlock {
    batch: AddressBatch,
    buffers: LineBuffers,
}

/// What the thread needs that reads; under a lock.
struct Reading<'a> {
    source: &'a mut StreamSource,
    /// Blocks that have been read.
    blocks: u64,
    has_ended: bool,
}

/// What the thread needs that writes; under a lock.
struct Writing<W> {
    /// `None` while a thread writes.
    write: Option<W>,
    /// The block whose turn it is.
    next: u64,
    /// Blocks that wait for their turn, by number, each with whether it has content, or the error in its place.
    done: BTreeMap<u64, (InputBlock, Result<bool, Failure>)>,
    free: Vec<InputBlock>,
    /// How it ended, if it has; nothing is written after that.
    end: Option<Result<(), Failure>>,
    /// Whether no other block is to be begun.
    is_over: bool,
}

/// Reads all of `source` on `threads` threads. `work` makes bytes of each batch; `write` gets them in order, and whether more lies
/// ready. Records are left out that `skip` says.
pub(crate) fn run(
    source: &mut StreamSource,
    threads: usize,
    skip: &(dyn Fn(&Failure) -> bool + Sync),
    work: impl Fn(&AddressBatch, &mut LineBuffers) -> Result<(), Failure> + Sync,
    write: impl FnMut(&[u8], bool) -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let finder = source.finder();
    let reading = Mutex::new(Reading {
        source,
        blocks: 0,
        has_ended: false,
    });
    let writing = Mutex::new(Writing {
        write: Some(write),
        next: 0,
        done: BTreeMap::new(),
        free: (0..BLOCKS * threads)
            .map(|_| InputBlock::default())
            .collect(),
        end: None,
        is_over: false,
    });
    let freed = Condvar::new();

    let share = || {
        let _over = EndsOnDrop(&writing, &freed);
        while let Some(mut block) = free_block(&writing, &freed) {
            let Some((number, read)) = lock(&reading).next(&mut block.batch, skip) else {
                break;
            };
            let done = read.and_then(|more| {
                if more {
                    if let Some(finder) = &finder {
                        finder.find(&mut block.batch);
                    }
                    work(&block.batch, &mut block.buffers)?;
                }
                Ok(more)
            });
            finish(&writing, &freed, number, block, done);
        }
    };
    let running = shared::share(threads, share);
    if running < threads {
        note!("{running} of {threads} threads: the system allows no more");
    }

    let end = lock(&writing).end.take();
    end.unwrap_or_else(|| Err("a thread has ended early".into()))
}

impl Reading<'_> {
    /// Reads the next block; returns its number and whether it has content. `None` after the end has been read.
    fn next(
        &mut self,
        batch: &mut AddressBatch,
        skip: &dyn Fn(&Failure) -> bool,
    ) -> Option<(u64, Result<bool, Failure>)> {
        if self.has_ended {
            return None;
        }
        let number = self.blocks;
        self.blocks += 1;
        loop {
            match self.source.next_block(batch) {
                Err(failure) if skip(&failure) => {}
                read => {
                    self.has_ended = !matches!(read, Ok(true));
                    return Some((number, read));
                }
            }
        }
    }
}

/// Waits for a free block; `None` if no other is to be begun.
fn free_block<W>(writing: &Mutex<Writing<W>>, freed: &Condvar) -> Option<InputBlock> {
    let writing = freed.wait_while(lock(writing), |writing| {
        writing.free.is_empty() && !writing.is_over
    });
    let mut writing = writing.unwrap_or_else(|poisoned| poisoned.into_inner());
    if writing.is_over {
        return None;
    }
    writing.free.pop()
}

/// Adds a block to those that wait for their turn, and writes those whose turn it is, unless another thread does.
fn finish<W: FnMut(&[u8], bool) -> Result<(), Failure>>(
    shared: &Mutex<Writing<W>>,
    freed: &Condvar,
    number: u64,
    block: InputBlock,
    done: Result<bool, Failure>,
) {
    let mut writing = lock(shared);
    writing.done.insert(number, (block, done));
    while writing.end.is_none() && writing.write.is_some() {
        let next = writing.next;
        let Some((block, done)) = writing.done.remove(&next) else {
            return;
        };
        let mut write = writing.write.take();
        drop(writing);
        let written = done.and_then(|more| {
            if more && let Some(write) = &mut write {
                write(block.buffers.bytes(), block.batch.is_full())?;
            }
            Ok(more)
        });
        writing = lock(shared);
        writing.write = write;
        writing.next += 1;
        writing.free.push(block);
        if !matches!(written, Ok(true)) {
            writing.end = Some(written.map(drop));
            writing.is_over = true;
        }
        freed.notify_all();
    }
}

/// Locks, also after a panic: [`EndsOnDrop`] then lets the other threads end, so none of them uses what is half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// When it is dropped, as a thread ends or panics, no other block is begun.
struct EndsOnDrop<'a, W>(&'a Mutex<Writing<W>>, &'a Condvar);

impl<W> Drop for EndsOnDrop<'_, W> {
    fn drop(&mut self) {
        lock(self.0).is_over = true;
        self.1.notify_all();
    }
}
