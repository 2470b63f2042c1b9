//! Keeps the measured thread on one core, so that no pass pays for a move.

use crate::failure::Failure;

/// Pins this thread to core `cpu`, or to the last that it may run on.
///
/// The last, since systems put their own work on the first ones.
#[cfg(target_os = "linux")]
pub(crate) fn pin(cpu: Option<usize>) -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let allowed = sched_getaffinity(None).map_err(|error| format!("cores: {error}"))?;
    let last = (0..CpuSet::MAX_CPU)
        .rev()
        .find(|&core| allowed.is_set(core));
    let cpu = match (cpu, last) {
        (Some(cpu), _) if cpu < CpuSet::MAX_CPU && allowed.is_set(cpu) => cpu,
        (Some(cpu), _) => return Err(format!("core {cpu} is not among those to run on").into()),
        (None, Some(last)) => last,
        (None, None) => return Ok(()),
    };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("core {cpu}: {error}").into())
}

/// Other systems have no common way to pin a thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(cpu: Option<usize>) -> Result<(), Failure> {
    match cpu {
        None => Ok(()),
        Some(_) => Err("--pin works on Linux only".into()),
    }
}
