//! Messages that were left out as invalid go in one by one; for each reason their number and the first of them come out.

use std::fmt::Write;

/// The number of bytes of a message that are shown.
const SHOWN: usize = 48;

/// The messages of a connection that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutMessages {
    /// What is wrong with the messages.
    pub reason: &'static str,
    /// How many were left out.
    pub count: u64,
    /// The first of them as text: what is known about it, then its first bytes in hexadecimal.
    pub first: String,
}

/// All that was left out, in the order in which the reasons came up.
#[derive(Debug, Default)]
pub(crate) struct LeftOutByReason(Vec<LeftOutMessages>);

impl LeftOutByReason {
    /// Counts a message; `about` says what is known about it, and is asked only for the first.
    pub(crate) fn add(
        &mut self,
        reason: &'static str,
        about: impl FnOnce() -> String,
        message: &[u8],
    ) {
        if let Some(known) = self.0.iter_mut().find(|known| known.reason == reason) {
            known.count += 1;
            return;
        }
        let mut first = about();
        for byte in &message[..message.len().min(SHOWN)] {
            // Writing to a String cannot fail.
            let _ = write!(first, "{byte:02x}");
        }
        if message.len() > SHOWN {
            let _ = write!(first, "... ({} bytes)", message.len());
        }
        self.0.push(LeftOutMessages {
            reason,
            count: 1,
            first,
        });
    }

    pub(crate) fn all(&self) -> &[LeftOutMessages] {
        &self.0
    }
}
