//! Passes signals that end the command, or make it read its settings again, to its main loop as messages: a handler may do little.

use std::sync::mpsc::{Receiver, channel};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

use super::threads;

/// The request of a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    End,
    Reload,
}

/// Converts SIGTERM, SIGINT and, if settings can be read again, SIGHUP to messages from now on. A second SIGTERM or SIGINT
/// ends the process at once.
pub(super) fn listen(reloads: bool) -> Result<Receiver<Asked>, Failure> {
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
                let _ = send.send(Asked::Reload);
                continue;
            }
            if is_ending {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            is_ending = true;
            let _ = send.send(Asked::End);
        }
    };
    threads::start(pass).map_err(|reason| format!("signals: {reason}"))?;
    Ok(receive)
}
