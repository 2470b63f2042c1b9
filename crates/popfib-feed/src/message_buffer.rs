//! Pieces of a stream of bytes in, whole messages out, for protocols whose messages begin with their length.

use std::sync::Arc;

use crate::memory_budget::{BudgetShare, MemoryBudget};
use crate::received::DecodeError;

/// The beginning of a message of this length need not be drawn from the budget: those that are common are shorter.
const FREE: usize = 16 << 10;

/// The beginning of a message whose end has not arrived. It grows with received bytes, never by a length in a header.
#[derive(Debug, Default)]
pub(crate) struct MessageBuffer {
    bytes: Vec<u8>,
    share: BudgetShare,
}

impl MessageBuffer {
    /// Draws what it needs for long messages from the budget.
    pub(crate) fn within(budget: &Arc<MemoryBudget>) -> Self {
        Self {
            bytes: Vec::new(),
            share: BudgetShare::brief(budget),
        }
    }

    /// Whether the beginning of a message has arrived, and not its end.
    pub(crate) fn is_begun(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Passes all messages that these bytes complete to `each`; `length` reads the length of a message from its header of `head` bytes.
    ///
    /// # Errors
    /// Those of `length` and `each`, or there is no memory for the beginning of a message.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        head: usize,
        length: impl Fn(&[u8]) -> Result<usize, DecodeError>,
        mut each: impl FnMut(&[u8]) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let wanted = |bytes: &[u8]| bytes.get(..head).map_or(Ok(head), &length);
        loop {
            if self.bytes.is_empty() {
                let whole = wanted(bytes)?;
                // Those that are whole are not copied.
                match bytes.split_at_checked(whole) {
                    Some((message, rest)) => {
                        bytes = rest;
                        each(message)?;
                    }
                    None => return self.keep(bytes, whole),
                }
                continue;
            }
            let whole = wanted(&self.bytes)?;
            let (more, rest) = bytes.split_at(bytes.len().min(whole - self.bytes.len()));
            bytes = rest;
            self.keep(more, whole)?;
            if self.bytes.len() < whole {
                return Ok(());
            }
            if wanted(&self.bytes)? == whole {
                each(&self.bytes)?;
                self.bytes.clear();
                if self.bytes.capacity() > FREE {
                    self.bytes = Vec::new();
                    // Less is never refused.
                    let _ = self.share.set(0);
                }
            }
        }
    }

    /// Keeps more of a message that will have `whole` bytes.
    fn keep(&mut self, more: &[u8], whole: usize) -> Result<(), DecodeError> {
        let len = self.bytes.len() + more.len();
        if len > self.bytes.capacity() {
            let room = len.next_power_of_two().min(whole);
            if room > FREE && !self.share.set(room) {
                let reason = "no memory is left for a long message: others have begun more";
                return Err(DecodeError(reason.to_owned()));
            }
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }
}
