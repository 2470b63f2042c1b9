//! Work that threads share: a closure in, run by as many threads as the system allows.

use std::thread::{self, Builder};

/// Runs `work` in this thread and in others, up to `threads` in all; returns in how many. The system may allow no more than there
/// are: then those do the work, so `work` has to take it piece by piece.
///
/// # Panics
/// If `work` does, after all threads have ended.
pub fn share(threads: usize, work: impl Fn() + Sync) -> usize {
    thread::scope(|scope| {
        let mut running = 1;
        while running < threads && Builder::new().spawn_scoped(scope, &work).is_ok() {
            running += 1;
        }
        work();
        running
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::share;

    #[test]
    fn each_thread_works_once() {
        for threads in [0, 1, 3] {
            let count = AtomicUsize::new(0);
            let running = share(threads, || {
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.into_inner(), running);
        }
    }
}
