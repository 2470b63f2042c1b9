//! Lines about connections in, of which others make as many as they like; a few a minute of each address come out, and how many more there
//! were.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use popfib_program::note;

/// The number of lines of an address in a minute, and of addresses that have lines of their own.
const FEW: u64 = 20;
const ADDRESSES: usize = 64;

/// The lines of a minute by listener and address; those of more addresses have none.
#[derive(Default)]
pub(super) struct ConnectionLines(Mutex<(Option<Instant>, BTreeMap<LinesOf, u64>)>);

type LinesOf = (&'static str, Option<IpAddr>);

impl ConnectionLines {
    /// Writes a line about a connection to the listener `what`, unless there were many of its address.
    pub(super) fn note(&self, what: &'static str, of: Option<IpAddr>, line: impl Display) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, counts) = &mut *lines;
        began.get_or_insert_with(Instant::now);
        let has_room = counts.len() < ADDRESSES || counts.contains_key(&(what, of));
        let count = counts.entry((what, of.filter(|_| has_room))).or_default();
        *count += 1;
        if *count <= FEW {
            note!("{what}: {line}");
        }
    }

    /// Writes how many lines more there were, once a minute and at the end.
    pub(super) fn sum_up(&self, is_last: bool) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (began, counts) = &mut *lines;
        if !is_last && began.is_none_or(|began| began.elapsed() < Duration::from_secs(60)) {
            return;
        }
        *began = None;
        for ((what, of), count) in std::mem::take(counts) {
            let of = of.map_or("others".to_owned(), |of| of.to_string());
            if count > FEW {
                let more = count - FEW;
                note!("{what}: {more} more lines about connections of {of} in a minute");
            }
        }
    }
}
