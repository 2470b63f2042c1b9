//! What was looked at in lines: which of the parts that were asked for were there, and which lines could not be read.
//!
//! Threads that find addresses in blocks of one source share it. Each block counts for itself and adds up at its end, so that the
//! threads do not wait for each other at every line.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::json_path;
use super::options::LinePart;
use crate::error::quote;

/// The tally of all blocks so far.
#[derive(Debug)]
pub(super) struct PartsTally {
    /// By part, whether a line had it.
    has: Box<[AtomicBool]>,
    /// Lines that are no JSON where a path was asked for.
    unread: AtomicU64,
    /// Lines that ended before a field that was asked for.
    short: AtomicU64,
    /// Lines in which a path led to several values, and one address was asked for.
    several: AtomicU64,
    /// The fields of the longest of them.
    fields: AtomicUsize,
    /// A JSON object in which a path led nowhere.
    object: OnceLock<Box<[u8]>>,
}

/// The same of one block.
#[derive(Default)]
pub(super) struct BlockTally {
    pub(super) has: Vec<bool>,
    pub(super) unread: u64,
    pub(super) short: u64,
    pub(super) several: u64,
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

impl PartsTally {
    /// Of so many parts.
    pub(super) fn new(parts: usize) -> Self {
        Self {
            has: (0..parts).map(|_| AtomicBool::new(false)).collect(),
            unread: AtomicU64::new(0),
            short: AtomicU64::new(0),
            several: AtomicU64::new(0),
            fields: AtomicUsize::new(0),
            object: OnceLock::new(),
        }
    }

    /// Adds what a block had.
    pub(super) fn add(&self, block: &BlockTally) {
        for (all, _) in self.has.iter().zip(&block.has).filter(|(_, has)| **has) {
            all.store(true, Ordering::Relaxed);
        }
        self.unread.fetch_add(block.unread, Ordering::Relaxed);
        self.short.fetch_add(block.short, Ordering::Relaxed);
        self.several.fetch_add(block.several, Ordering::Relaxed);
        self.fields.fetch_max(block.fields, Ordering::Relaxed);
    }

    /// Keeps the JSON object `line` to say what there is instead of a path, if it is the first.
    pub(super) fn keep(&self, line: &[u8]) {
        self.object.get_or_init(|| line.into());
    }

    /// For each of `parts`, what to say if no line had it.
    pub(super) fn missing(&self, parts: &[LinePart]) -> Vec<Option<String>> {
        let parts = parts.iter().zip(&self.has);
        parts.map(|(part, has)| self.reason(part, has)).collect()
    }

    /// Why no line had this part: what there is in its place, if that is known.
    fn reason(&self, part: &LinePart, has: &AtomicBool) -> Option<String> {
        if has.load(Ordering::Relaxed) {
            return None;
        }
        match part {
            LinePart::Line => None,
            LinePart::Field(number, _) => match self.fields.load(Ordering::Relaxed) {
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
                    None if self.unread.load(Ordering::Relaxed) > 0 => {
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
        let unread = self.unread.load(Ordering::Relaxed);
        if unread > 0 {
            let are = if unread == 1 { " is" } else { "s are" };
            notes.push(format!(
                "{unread} line{are} no JSON, in which nothing was looked for"
            ));
        }
        let several = self.several.load(Ordering::Relaxed);
        if several > 0 {
            let have = if several == 1 { " has" } else { "s have" };
            notes.push(format!(
                "{several} line{have} several values at a path, and one address was taken"
            ));
        }
        let short = self.short.load(Ordering::Relaxed);
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
