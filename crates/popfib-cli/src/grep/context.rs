//! Lines around the selected ones, as grep prints them: whether each line is selected in; out come lines to print with it, and
//! whether `--` separates it from the group before.

use std::collections::VecDeque;

/// Which lines before and after a selected one are printed. It keeps as many lines as are printed before one.
#[derive(Debug)]
pub(super) struct LineContext {
    before: usize,
    after: u64,
    /// Whether groups are separated: if a context was asked for, even one of 0 lines.
    is_asked: bool,
    /// The last lines before the one at hand that were not printed.
    kept: VecDeque<Vec<u8>>,
    /// How many more lines are printed after the last selected one.
    pending: u64,
    /// The number of the line of this file that was printed last, if there was one.
    last: Option<u64>,
    /// Whether a line of any file was printed.
    is_used: bool,
}

impl LineContext {
    pub(super) fn new(before: Option<usize>, after: Option<u64>) -> Self {
        Self {
            before: before.unwrap_or(0),
            after: after.unwrap_or(0),
            is_asked: before.or(after.map(|_| 0)).is_some(),
            kept: VecDeque::new(),
            pending: 0,
            last: None,
            is_used: false,
        }
    }

    /// A file begins.
    pub(super) fn begin(&mut self) {
        self.kept.clear();
        self.pending = 0;
        self.last = None;
    }

    /// Line `number` is selected. Returns whether a separator comes before it and the lines [before](Self::before) it.
    pub(super) fn select(&mut self, number: u64) -> bool {
        let first = number - self.kept.len() as u64;
        let touches = self.last == Some(first - 1);
        let separates = self.is_asked && self.is_used && !touches;
        self.last = Some(number);
        self.pending = self.after;
        self.is_used = true;
        separates
    }

    /// Whether lines are still to be printed after the last selected one.
    pub(super) fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// The lines to be printed before a selected one, each once.
    pub(super) fn before(&mut self) -> VecDeque<Vec<u8>> {
        std::mem::take(&mut self.kept)
    }

    /// Line `number` is not selected. Returns whether it is printed after a selected one; otherwise it is kept for one that follows.
    pub(super) fn pass(&mut self, number: u64, line: &[u8]) -> bool {
        if self.pending > 0 {
            self.pending -= 1;
            self.last = Some(number);
            return true;
        }
        if self.before > 0 {
            let mut place = if self.kept.len() == self.before {
                self.kept.pop_front().unwrap_or_default()
            } else {
                Vec::new()
            };
            place.clear();
            place.extend_from_slice(line);
            self.kept.push_back(place);
        }
        false
    }
}
