//! Whether all of a piece of a file is accounted for: what a grammar says of a piece in, what it passed over out.
//!
//! Each piece gives a prefix, or the grammar says what else it is: a heading, more about a route, free text, or left out, of which
//! kind. Of a line, each word that is a prefix must have been read as one, or named as ignored. What is neither makes the piece
//! invalid, so that no grammar passes over anything unseen.

use std::cell::{Cell, RefCell};

use memchr::memchr;

use crate::error::quote;
use crate::names::note_left_out;
use crate::words::{is_long_prefix, not_a_route};

/// What a grammar said of the current piece, and what it left out of all so far.
#[derive(Debug, Default)]
pub(crate) struct Account {
    is_known: Cell<bool>,
    is_free: Cell<bool>,
    /// The prefixes that were read in the piece or are ignored, as written, with a blank after each.
    read: RefCell<String>,
    /// A noun, which of them, how many.
    left_out: Vec<(&'static str, &'static str, u64)>,
}

impl Account {
    /// The next piece.
    pub(crate) fn begin(&mut self) {
        self.is_known.set(false);
        self.is_free.set(false);
        self.read.get_mut().clear();
    }

    /// Something of the piece was read, or is known.
    pub(crate) fn known(&self) {
        self.is_known.set(true);
    }

    /// What is in the piece is not looked at.
    pub(crate) fn free_text(&self) {
        self.is_known.set(true);
        self.is_free.set(true);
    }

    /// A prefix of the piece was read, or is ignored for a reason that the grammar has.
    pub(crate) fn prefix(&self, text: &str) {
        self.is_known.set(true);
        if text.contains('/') {
            let mut read = self.read.borrow_mut();
            read.push_str(text);
            read.push(' ');
        }
    }

    /// Something was left out on purpose.
    pub(crate) fn leave_out(&mut self, noun: &'static str, which: &'static str) {
        self.is_known.set(true);
        let mut kinds = self.left_out.iter_mut();
        match kinds.find(|kind| (kind.0, kind.1) == (noun, which)) {
            Some((.., count)) => *count += 1,
            None => self.left_out.push((noun, which, 1)),
        }
    }

    /// What was left out, for the user: a line for each kind.
    pub(crate) fn notes(&self) -> Vec<String> {
        let kinds = self.left_out.iter();
        kinds
            .flat_map(|&(noun, which, count)| note_left_out(count, noun, which))
            .collect()
    }

    /// Whether anything of the piece was read, or is known.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known.get()
    }

    /// Looks whether the grammar accounted for all of the line `text`.
    pub(crate) fn of_line(&self, text: &str) -> Result<(), String> {
        if self.is_free.get() || text.trim_ascii().is_empty() {
            return Ok(());
        }
        if !self.is_known.get() {
            return Err(not_a_route(text));
        }
        let read = self.read.borrow();
        // What is in quotes is a comment or a description.
        let mut prefixes = text.split('"').step_by(2).flat_map(prefixes_of);
        let is_read = |prefix: &&str| prefixes_of(&read).any(|known| known == *prefix);
        match prefixes.find(|prefix| !is_read(prefix)) {
            Some(prefix) => Err(format!(
                "{}: a prefix where none is expected",
                quote(prefix)
            )),
            None => Ok(()),
        }
    }
}

/// The words of `text` that are prefixes with a length, up to what begins a comment.
fn prefixes_of(text: &str) -> impl Iterator<Item = &str> {
    const COMMENTS: [&str; 5] = ["#", "!", "//", "/*", ";;"];
    let may_have_any = memchr(b'/', text.as_bytes()).is_some();
    // Each character of most files comes by here: `str::contains` of one took a third of all time.
    let is_sign = |c| matches!(c, '"' | '\''..=',' | ';' | '=' | '>' | '[' | ']' | '{'..='}');
    let words = text.split(move |c: char| is_sign(c) || c.is_whitespace());
    words
        .take_while(move |word| may_have_any && !COMMENTS.iter().any(|sign| word.starts_with(sign)))
        .filter(|word| is_long_prefix(word))
}
