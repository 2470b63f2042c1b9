//! Decides when changes of a connection are published to readers: at once if nothing more can be read from it, otherwise together
//! with the next changes, since many changes together take less time.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::state::FollowState;

/// This many changes are likely to be part of a whole table, so that more is worth waiting for, and for how long.
const MANY: usize = 1000;
const SOON: Duration = Duration::from_millis(10);

/// Publishes the changes that were read from `source`. If more can be read, they may wait for it, but not for long.
pub(super) fn publish(state: &FollowState, source: impl AsFd) {
    let waiting = state.tables().waiting();
    if waiting > 0 {
        let patience = if waiting < MANY { Duration::ZERO } else { SOON };
        let is_behind = has_more(source, patience);
        state.publish(Instant::now(), is_behind);
    }
}

/// Whether data or the end of the file can be read within that time.
fn has_more(source: impl AsFd, within: Duration) -> bool {
    let within = Timespec {
        tv_sec: 0,
        tv_nsec: within.subsec_nanos().into(),
    };
    let mut asked = [PollFd::new(&source, PollFlags::IN)];
    poll(&mut asked, Some(&within)).is_ok_and(|ready| ready > 0)
}
