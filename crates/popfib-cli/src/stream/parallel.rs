//! A stream on several threads, its order kept.
//!
//! The thread that reads and writes hands blocks to workers and takes what they made of them, in
//! turn. Few blocks are under way, so memory does not grow with the file; when the input pauses, all of
//! them are written before it is waited for.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use popfib_formats::{AddressBatch, AddressFinder};

use super::lines::Work;
use super::source::Source;
use crate::failure::Failure;

/// Blocks under way for each worker: one to work on, and one that waits.
const BLOCKS: usize = 2;

/// A block with room for its answers, and where they go.
type Job = (Block, Sender<Done>);
/// The same block, which has its answers now, and is used again.
type Done = (Block, Result<(), Failure>);

#[derive(Default)]
struct Block {
    batch: AddressBatch,
    work: Work,
}

/// Reads all of `source`; `work` makes bytes of each batch, on `threads` threads, and `write` gets them in
/// order, with whether more lies ready. How many records `skip` told to leave out.
pub(super) fn run(
    source: &mut Source,
    threads: usize,
    skip: impl Fn(&Failure) -> bool,
    work: impl Fn(&AddressBatch, &mut Work) -> Result<(), Failure> + Sync,
    mut write: impl FnMut(&[u8], bool) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let (jobs, queue) = channel::<Job>();
    let queue = Mutex::new(queue);
    let finder = source.finder();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| worker(&queue, finder.as_ref(), &work));
        }
        let mut under_way: VecDeque<(Receiver<Done>, bool)> = VecDeque::new();
        let mut free = Vec::new();
        let mut skipped = 0;
        // Dropped at the end of this scope, which ends the workers.
        let jobs = jobs;
        let mut take =
            |under_way: &mut VecDeque<(Receiver<Done>, bool)>| match under_way.pop_front() {
                None => Ok(None),
                Some((done, is_full)) => {
                    let (block, done) = done.recv().map_err(|_| "a thread has ended early")?;
                    done?;
                    write(block.work.bytes(), is_full)?;
                    Ok::<_, Failure>(Some(block))
                }
            };
        loop {
            let mut block: Block = free.pop().unwrap_or_default();
            let read = source.next_block(&mut block.batch);
            let is_full = block.batch.is_full();
            match read {
                Ok(true) => {
                    let (sender, done) = channel();
                    jobs.send((block, sender))
                        .map_err(|_| "a thread has ended early")?;
                    under_way.push_back((done, is_full));
                }
                Err(failure) if skip(&failure) => {
                    skipped += 1;
                    continue;
                }
                end => {
                    // What came before the end or the error is written all the same.
                    while take(&mut under_way)?.is_some() {}
                    return end.map(|_| skipped);
                }
            }
            let most = if is_full { BLOCKS * threads } else { 0 };
            while under_way.len() > most {
                free.extend(take(&mut under_way)?);
            }
        }
    })
}

fn worker(
    queue: &Mutex<Receiver<Job>>,
    finder: Option<&AddressFinder>,
    work: &impl Fn(&AddressBatch, &mut Work) -> Result<(), Failure>,
) {
    loop {
        // A worker that panicked has poisoned nothing: it held the lock while it waited only.
        let next = queue
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .recv();
        let Ok((mut block, sender)) = next else {
            return;
        };
        if let Some(finder) = finder {
            finder.find(&mut block.batch);
        }
        let done = work(&block.batch, &mut block.work);
        // Nobody waits for it where another block has failed.
        let _ = sender.send((block, done));
    }
}
