//! What was looked at in lines: which of the parts that were asked for were there, and which lines could not be read.
//!
//! Threads that find addresses in blocks of one source share it. Each block counts for itself and adds up at its end, so that the
//! threads do not wait for each other at every line.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::json_path;
use super::options::LinePart;
use crate::error::quote;

/// What was looked at in a block, or in all blocks so far.
#[derive(Debug, Default)]
pub(super) struct BlockTally {
    /// By part, whether a line had it.
    pub(super) has: Vec<bool>,
    /// Lines that are no JSON where a path was asked for.
    pub(super) unread: u64,
    /// Lines that ended before a field that was asked for.
    pub(super) short: u64,
    /// Lines in which a path led to several values, and one address was asked for.
    pub(super) several: u64,
    /// The fields of the longest of them.
    pub(super) fields: usize,
}

impl BlockTally {
    /// Of so many parts.
    pub(super) fn new(parts: usize) -> Self {
        Self {
            has: vec![false; parts],
            ..Self::default()
        }
    }
}

/// The tally of all blocks.
#[derive(Debug)]
pub(super) struct PartsTally {
    blocks: Mutex<BlockTally>,
    /// A JSON object in which a path led nowhere.
    object: OnceLock<Box<[u8]>>,
}

impl PartsTally {
    /// Of so many parts.
    pub(super) fn new(parts: usize) -> Self {
        Self {
            blocks: Mutex::new(BlockTally::new(parts)),
            object: OnceLock::new(),
        }
    }

    fn all(&self) -> MutexGuard<'_, BlockTally> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a block had.
    pub(super) fn add(&self, block: &BlockTally) {
        let mut all = self.all();
        for (all, has) in all.has.iter_mut().zip(&block.has) {
            *all |= has;
        }
        all.unread += block.unread;
        all.short += block.short;
        all.several += block.several;
        all.fields = all.fields.max(block.fields);
    }

    /// Keeps the JSON object `line` to say what there is instead of a path, if it is the first.
    pub(super) fn keep(&self, line: &[u8]) {
        self.object.get_or_init(|| line.into());
    }

    /// For each of `parts`, what to say if no line had it.
    pub(super) fn missing(&self, parts: &[LinePart]) -> Vec<Option<String>> {
        let all = self.all();
        let parts = parts.iter().zip(&all.has);
        parts
            .map(|(part, has)| self.reason(part, &all).filter(|_| !has))
            .collect()
    }

    /// Why no line had this part: what there is in its place, if that is known.
    fn reason(&self, part: &LinePart, all: &BlockTally) -> Option<String> {
        match part {
            LinePart::Line => None,
            LinePart::Field(number, _) => match all.fields {
                0 => None,
                most => Some(format!(
                    "no line has a field {number}; the longest has {most}"
                )),
            },
            LinePart::Path(path) => {
                let path = quote(path);
                match self.object.get() {
                    Some(object) => {
                        let there = json_path::paths(object, 20).join(", ");
                        Some(format!("no line has a value at {path}; there are {there}"))
                    }
                    None if all.unread > 0 => {
                        Some(format!("no line is JSON, so none has a value at {path}"))
                    }
                    None => None,
                }
            }
        }
    }

    /// What lines could not be looked at, a line each.
    pub(super) fn notes(&self, parts: &[LinePart]) -> Vec<String> {
        let mut notes = Vec::new();
        let BlockTally {
            unread,
            short,
            several,
            ..
        } = *self.all();
        if unread > 0 {
            let are = if unread == 1 { " is" } else { "s are" };
            notes.push(format!(
                "{unread} line{are} no JSON, in which nothing was looked for"
            ));
        }
        if several > 0 {
            let have = if several == 1 { " has" } else { "s have" };
            notes.push(format!(
                "{several} line{have} several values at a path, and one address was taken"
            ));
        }
        let last = parts.iter().filter_map(|part| match part {
            LinePart::Field(number, _) => Some(number),
            LinePart::Line | LinePart::Path(_) => None,
        });
        if let Some(last) = last.max().filter(|_| short > 0) {
            let ends = if short == 1 { " ends" } else { "s end" };
            notes.push(format!("{short} line{ends} before field {last}"));
        }
        notes
    }
}
