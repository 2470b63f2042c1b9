//! The signals that end the command, as messages for its loop: what a handler may do is little.

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

/// Takes SIGTERM and SIGINT from now on: each is a message. The second ends the process at once, as if the first had
/// not been heard.
pub(super) fn listen() -> Result<Receiver<()>, Failure> {
    let failed = |error| format!("signals: {error}");
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(failed)?;
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut is_ending = false;
        for signal in &mut signals {
            if is_ending {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            is_ending = true;
            let _ = send.send(());
        }
    });
    Ok(receive)
}
