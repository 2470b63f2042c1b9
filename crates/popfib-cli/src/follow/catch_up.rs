//! When readers see what feeds have sent: at once where nothing more is there to be read, else together with what is, as many
//! changes take less time together.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::state::State;

/// So many changes are the flood of a table, of which more is likely to come soon.
const MANY: usize = 1000;
const SOON: Duration = Duration::from_millis(10);

/// Publishes what was taken from `source`, unless there is more and the first has not waited for long.
pub(super) fn publish(state: &State, source: impl AsFd) {
    let waiting = state.tables().waiting();
    if waiting > 0 {
        let patience = if waiting < MANY { Duration::ZERO } else { SOON };
        let is_behind = has_more(source, patience);
        state.tables().publish(Instant::now(), is_behind);
    }
}

/// Whether something can be read within that time, the end of the file among it.
fn has_more(source: impl AsFd, within: Duration) -> bool {
    let within = Timespec {
        tv_sec: 0,
        tv_nsec: within.subsec_nanos().into(),
    };
    let mut asked = [PollFd::new(&source, PollFlags::IN)];
    poll(&mut asked, Some(&within)).is_ok_and(|ready| ready > 0)
}
