//! What the system does to a process: system calls refused, and forks.

use std::io;

/// Whether the system offers `membarrier` at all.
pub(crate) fn has_membarrier() -> bool {
    // SAFETY: the call takes two numbers and touches no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_QUERY, 0, 0) > 0 }
}

/// Makes every `membarrier` of this thread, and of those that it starts, fail with `EPERM` from now on.
pub(crate) fn refuse_membarrier() -> io::Result<()> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the system call; the one is passed on to the next step, others skip it.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_membarrier as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program is whole and lives until the system has copied it.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER as libc::c_ulong,
                &raw const program,
            ) == 0
    };
    if done {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Runs `body` in a child process after `fork`; whether it returned, and did so with true.
pub(crate) fn forked(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs `body` and ends, without a return to what the parent's threads are about.
    unsafe {
        match libc::fork() {
            -1 => panic!("fork: {}", io::Error::last_os_error()),
            0 => {
                let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
                libc::_exit(i32::from(!matches!(good, Ok(true))));
            }
            child => {
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0) == child && status == 0
            }
        }
    }
}
