//! Keeps measured threads on their cores, so that no pass pays for a move.

use std::io;

/// The cores that this thread may run on, the last first: systems put their own
/// work on the first ones. Empty where there is no way to tell.
///
/// # Errors
/// The system's, if it does not say.
pub fn cores() -> io::Result<Vec<usize>> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity};

        let allowed = sched_getaffinity(None)?;
        Ok((0..CpuSet::MAX_CPU)
            .rev()
            .filter(|core| allowed.is_set(*core))
            .collect())
    }
    #[cfg(not(target_os = "linux"))]
    Ok(Vec::new())
}

/// Pins this thread to `core`, one of [`cores`].
///
/// # Errors
/// A core that this thread may not run on, and any on other systems than Linux.
pub fn pin(core: usize) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_setaffinity};

        if core >= CpuSet::MAX_CPU {
            return Err(io::Error::other(format!("there is no core {core}")));
        }
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(None, &set)
            .map_err(|_| io::Error::other(format!("core {core} is not among those to run on")))
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::Error::other(format!(
        "threads can't be pinned to core {core} on this system"
    )))
}

/// Runs `pass` on this thread and at the same time on each of the cores `helpers`.
///
/// # Panics
/// If one of `helpers` is no core that this process may run on, see [`cores`].
pub fn together(helpers: &[usize], pass: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for core in helpers {
            scope.spawn(|| {
                pin(*core).expect("a core of this process");
                pass();
            });
        }
        pass();
    });
}
