//! What was looked at in the files of a command, so that one in which nothing could be looked at does not pass for one
//! without a match.

use crate::failure::Failure;
use crate::output::note;

/// Of all files so far.
#[derive(Default)]
pub(crate) struct Seen {
    /// By part or column that was asked for: what to say if no file has it, which is of the first, or `None` once one has.
    missing: Option<Vec<Option<String>>>,
    /// What to say of each file without an address.
    without: Vec<String>,
    /// Whether a file had an address.
    has_address: bool,
}

impl Seen {
    /// Adds the file `name`, of which `without` is said if it has no address: for each part that was asked for why it has none,
    /// and how many rows and addresses there were.
    pub(super) fn add(
        &mut self,
        name: &str,
        without: &str,
        missing: Vec<Option<String>>,
        [rows, addresses]: [u64; 2],
    ) {
        self.has_address |= addresses > 0;
        if rows == 0 {
            return;
        }
        let named = missing
            .into_iter()
            .map(|reason| reason.map(|reason| format!("{name}: {reason}")));
        self.missing = Some(match self.missing.take() {
            None => named.collect(),
            // Of several files, one is enough.
            Some(before) => before
                .into_iter()
                .zip(named)
                .map(|(a, b)| a.and(b))
                .collect(),
        });
        if addresses == 0 {
            self.without.push(format!("{name}: {without}"));
        }
    }

    /// Says what the files were without: an error for a part that none has, a note of each without an address, or only if
    /// all are, as where `many` are searched for something rare.
    pub(crate) fn finish(self, many: bool) -> Result<(), Failure> {
        if let Some(reason) = self.missing.into_iter().flatten().flatten().next() {
            return Err(reason.into());
        }
        match &self.without[..] {
            [] => {}
            _ if many && self.has_address => {}
            files if many && files.len() > 1 => {
                note(format_args!(
                    "no line of {} files has an address",
                    files.len()
                ));
            }
            files => files.iter().for_each(note),
        }
        Ok(())
    }
}
