//! Signals in, requests to the main loop out: to end, or to read the settings again. A thread passes them on, since a signal
//! handler itself may do very little.

use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::Duration;

use popfib_program::failure::Failure;
use popfib_program::message::wait_for_lines;
use popfib_program::note;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::threads;

/// What a signal asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalRequest {
    End,
    Reload,
}

/// How long the last image and snapshot may take, as a disk may never answer.
const LAST_WORK: Duration = Duration::from_secs(10);

/// Receives SIGTERM, SIGINT and, if settings can be read again, SIGHUP from now on. A second SIGTERM or SIGINT ends the process at
/// once, and so does the end of [`LAST_WORK`].
pub(super) fn listen(reloads: bool) -> Result<Receiver<SignalRequest>, Failure> {
    let failed = |error: std::io::Error| format!("signals: {error}");
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(failed)?;
    if reloads {
        signals.handle().add_signal(SIGHUP).map_err(failed)?;
    }
    let (send, receive) = channel();
    let pass = move || {
        let mut is_ending = false;
        for signal in &mut signals {
            if signal == SIGHUP {
                let _ = send.send(SignalRequest::Reload);
                continue;
            }
            if is_ending {
                let _ = emulate_default_handler(signal);
            }
            is_ending = true;
            let _ = send.send(SignalRequest::End);
            let _ = threads::start(move || {
                sleep(LAST_WORK);
                note("the last image or snapshot takes too long; ended without it");
                wait_for_lines(Duration::from_secs(1));
                emulate_default_handler(signal)
            });
        }
    };
    threads::start(pass).map_err(|reason| format!("signals: {reason}"))?;
    Ok(receive)
}
