//! What was found to look up in the files of a command: counts of each file in, notes and errors at the end out. So a file in
//! which there was nothing to look up does not pass for one without a match.

use popfib_program::failure::Failure;

use crate::output::note;

/// What the files so far had to look up.
#[derive(Default)]
pub(crate) struct FilesSeen {
    /// For each part or column that was asked for, why the first file does not have it; `None` once a file has it.
    missing: Option<Vec<Option<String>>>,
    /// A note for each file without an address.
    without: Vec<String>,
    /// Whether a file had an address.
    has_address: bool,
}

impl FilesSeen {
    /// Adds the file `name`: for each part that was asked for, why it is missing, and how many rows and addresses there were.
    /// `without` says what it lacks if it has no address.
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

    /// An error for a part that no file has; otherwise a note for each file without an address. If `many` files are searched for
    /// something rare, there is only a note if none has an address.
    pub(crate) fn finish(self, many: bool) -> Result<(), Failure> {
        if let Some(reason) = self.missing.into_iter().flatten().flatten().next() {
            return Err(reason.into());
        }
        match &self.without[..] {
            [] => {}
            _ if many && self.has_address => {}
            files if many && files.len() > 1 => {
                note!("no line of {} files has an address", files.len());
            }
            files => files.iter().for_each(note),
        }
        Ok(())
    }
}
