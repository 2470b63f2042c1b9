//! A full barrier in every running thread of this process, at the cost of the caller alone
//! (Linux, `membarrier`).
//!
//! Asked for once, by the first reader. It may be refused then or at any time later: a program that
//! gives up system calls (seccomp) does so when all is set up, and the kernel may lack memory. Once
//! refused, it is not asked for again.

#[cfg(not(all(feature = "std", target_os = "linux", not(any(loom, miri)))))]
pub(super) use absent::{is_offered, run};
#[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
pub(super) use linux::{is_offered, run};

#[cfg(all(feature = "std", target_os = "linux", not(any(loom, miri))))]
mod linux {
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Goes from false to true when the system grants it, and back at most once.
    static OFFERED: AtomicBool = AtomicBool::new(false);

    /// Whether new readers may rely on [`run`].
    pub(in super::super) fn is_offered() -> bool {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let granted = call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
            OFFERED.store(granted, Ordering::Relaxed);
        });
        OFFERED.load(Ordering::Relaxed)
    }

    /// Makes the barrier; false if the system refuses, and then nothing has been ordered.
    #[cold]
    pub(in super::super) fn run() -> bool {
        let done = is_offered() && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        if !done {
            OFFERED.store(false, Ordering::Relaxed);
        }
        done
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: the call takes two numbers and touches no memory.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(not(all(feature = "std", target_os = "linux", not(any(loom, miri)))))]
mod absent {
    pub(in super::super) fn is_offered() -> bool {
        false
    }

    pub(in super::super) fn run() -> bool {
        false
    }
}
