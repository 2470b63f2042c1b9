//! Signals in, requests to the main loop out: to end, or to read the settings again. A thread passes them on, since a signal
//! handler itself may do very little.

use std::sync::mpsc::{Receiver, channel};

use popfib_program::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::threads;

/// What a signal asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalRequest {
    End,
    Reload,
}

/// Receives SIGTERM, SIGINT and, if settings can be read again, SIGHUP from now on. A second SIGTERM or SIGINT ends the process at
/// once.
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
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            is_ending = true;
            let _ = send.send(SignalRequest::End);
        }
    };
    threads::start(pass).map_err(|reason| format!("signals: {reason}"))?;
    Ok(receive)
}
