//! The table of a running `popfib follow`, fetched again while a stream goes on.
//!
//! A stream is answered by an image, as by one in a file: each batch by one state of the table, at the rate of an image, and by
//! the same code. Asking the other process for each batch would answer from the table of that moment, but texts of
//! answers could not be made before addresses come, and the process would answer for all of its clients.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::args::ReadArgs;
use crate::failure::Failure;
use crate::live::{Live, Place};
use crate::output::note;

use super::table::NamedTable;

/// The least time from one image to the next, and how many times as long as the last one took to come.
const EVERY: Duration = Duration::from_secs(1);
const SHARE: u32 = 20;

/// A table, and where the next comes from.
pub(crate) struct Follower {
    place: Place,
    with_prefixes: bool,
    live: Option<Live>,
    version: Option<u64>,
    due: Instant,
    has_failed: bool,
}

impl Follower {
    /// Of the socket of `--live`, if there is one; nothing is asked yet.
    pub(crate) fn of(
        socket: Option<&Path>,
        read: &ReadArgs,
        with_prefixes: bool,
    ) -> Result<Option<Self>, Failure> {
        let place = socket.map(|socket| Place::new(socket, read)).transpose()?;
        Ok(place.map(|place| Self {
            place,
            with_prefixes,
            live: None,
            version: None,
            due: Instant::now(),
            has_failed: false,
        }))
    }

    /// The table as it is now.
    pub(crate) fn first(&mut self) -> Result<NamedTable, Failure> {
        self.version = None;
        Ok(self.fetch()?.expect("no version of it is known"))
    }

    /// The same; `None` if it has not changed since the last call.
    fn fetch(&mut self) -> Result<Option<NamedTable>, Failure> {
        let start = Instant::now();
        let live = match &mut self.live {
            Some(live) => live,
            none => {
                // Another process counts from 0 again.
                self.version = None;
                none.insert(self.place.connect()?)
            }
        };
        let current = live.image(self.version)?;
        self.due = start + EVERY.max(start.elapsed() * SHARE);
        let Some(current) = current else {
            return Ok(None);
        };
        self.version = Some(current.version);
        NamedTable::of_image(current.opened, self.with_prefixes).map(Some)
    }

    /// The same when it is time to ask again. Lines are not lost for a process that is gone: they are answered by what
    /// was fetched last, which is said once.
    pub(crate) fn newer(&mut self) -> Option<NamedTable> {
        if Instant::now() < self.due {
            return None;
        }
        match self.fetch() {
            Ok(table) => {
                self.has_failed = false;
                table
            }
            Err(failure) => {
                if !self.has_failed {
                    note(format_args!("{failure}; the routes of before are used"));
                }
                self.has_failed = true;
                self.live = None;
                self.due = Instant::now() + EVERY;
                None
            }
        }
    }
}
