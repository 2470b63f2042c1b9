//! The updates of several files in the order of their times: paths of files in, messages out.
//!
//! Collectors write a file every few minutes. Only those are open whose time has come: a day of one collector has hundreds, and
//! each may take megabytes to decompress. A file keeps the order in which it was written, whatever its clock says; of equal
//! times, the file that began earlier comes first.

use std::mem;
use std::path::{Path, PathBuf};

use crate::error::ReadError;
use crate::input::Input;
use crate::names::counted;
use crate::table_format::UpdateFiles;
use crate::update::{Message, UpdateOptions, UpdateSource};
use crate::updates::open_updates;

/// The messages of all files.
pub(crate) struct UpdatesInOrder {
    options: UpdateOptions,
    max_size: u64,
    skip_invalid: bool,
    /// Those whose time has not come, the last one first, by the time of their first message.
    waiting: Vec<(u64, WaitingFile)>,
    open: Vec<OpenUpdates>,
    /// The one whose message was returned last.
    current: Option<usize>,
    notes: Vec<String>,
    out_of_order: u64,
}

/// A file whose time has not come.
enum WaitingFile {
    /// A file, which is opened again: hundreds of open ones would take buffers and file descriptors.
    File(PathBuf),
    /// What can be read once only, at its first message.
    Open(OpenUpdates),
}

/// A file whose time has come, at one of its messages.
struct OpenUpdates {
    name: String,
    source: Box<dyn UpdateSource>,
    /// How many invalid lines were skipped.
    skipped: u64,
    /// The latest time so far.
    time: u64,
    /// Whether it stands at a message that has not been returned.
    is_ready: bool,
}

impl OpenUpdates {
    fn open(path: &Path, max_size: u64, options: &UpdateOptions) -> Result<Self, ReadError> {
        let input = Input::open(path)?.max_size(max_size);
        Ok(Self {
            name: input.name().to_owned(),
            source: open_updates(input, options)?,
            skipped: 0,
            time: 0,
            is_ready: false,
        })
    }

    /// Goes on to the next message, with `skip_invalid` past invalid lines; false at the end.
    fn advance(&mut self, skip_invalid: bool) -> Result<bool, ReadError> {
        loop {
            match self.source.advance() {
                Err(e) if skip_invalid && e.is_invalid_line() => self.skipped += 1,
                advanced => return advanced,
            }
        }
    }

    /// What was left out of it.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.source.notes();
        if self.skipped > 0 {
            let lines = counted(self.skipped, "invalid line");
            notes.push(format!("{lines} of {} skipped", self.name.escape_debug()));
        }
        notes
    }
}

impl UpdatesInOrder {
    /// Reads the first message of each file; those that begin after the last time are left out.
    ///
    /// # Errors
    /// A file that cannot be read; with `skip_invalid`, invalid lines and truncated files are none. Several files without times.
    pub(crate) fn new(
        files: &UpdateFiles,
        options: UpdateOptions,
        skip_invalid: bool,
    ) -> Result<Self, ReadError> {
        let mut waiting = Vec::new();
        let mut notes = Vec::new();
        for path in &files.files {
            let mut opened = OpenUpdates::open(path, files.max_size, &options)?;
            let is_some = opened.advance(skip_invalid).or_else(|e| {
                let is_cut = skip_invalid && e.is_cut();
                notes.extend(is_cut.then(|| format!("truncated, read up to the end: {e}")));
                if is_cut { Ok(false) } else { Err(e) }
            });
            if !is_some? {
                notes.extend(opened.notes());
                continue;
            }
            let time = opened.source.message().time();
            if time.is_none() && files.files.len() > 1 {
                let reason =
                    "updates without times, which cannot be put in order with those of other files";
                return Err(ReadError::file(&opened.name, reason));
            }
            if time.is_none() && files.until.is_some() {
                let reason = "updates without times, of which `until` chooses none";
                return Err(ReadError::file(&opened.name, reason));
            }
            if files
                .until
                .is_none_or(|until| time.is_none_or(|time| time <= until))
            {
                let waits = match path.is_file() {
                    true => WaitingFile::File(path.clone()),
                    false => WaitingFile::Open(opened),
                };
                waiting.push((time.unwrap_or_default(), waits));
            }
        }
        waiting.sort_by_key(|(time, _)| *time);
        waiting.reverse();
        Ok(Self {
            options,
            max_size: files.max_size,
            skip_invalid,
            waiting,
            open: Vec::new(),
            current: None,
            notes,
            out_of_order: 0,
        })
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// Those of a file, after which the next call goes on with the others.
    pub(crate) fn next(&mut self) -> Result<Option<Message<'_>>, ReadError> {
        if let Some(current) = self.current.take() {
            self.advance(current)?;
        }
        loop {
            let next = (0..self.open.len()).min_by_key(|&index| self.open[index].time);
            let begins = self
                .waiting
                .pop_if(|(time, _)| next.is_none_or(|next| *time <= self.open[next].time));
            if let Some((time, begins)) = begins {
                self.begin(time, begins)?;
                continue;
            }
            let Some(next) = next else { return Ok(None) };
            self.current = Some(next);
            self.open[next].is_ready = false;
            return Ok(Some(self.open[next].source.message()));
        }
    }

    /// Opens a file, which goes to its first message.
    fn begin(&mut self, time: u64, waiting: WaitingFile) -> Result<(), ReadError> {
        self.open.push(match waiting {
            WaitingFile::Open(opened) => OpenUpdates {
                time,
                is_ready: true,
                ..opened
            },
            WaitingFile::File(path) => OpenUpdates {
                time,
                ..OpenUpdates::open(&path, self.max_size, &self.options)?
            },
        });
        self.advance(self.open.len() - 1)
    }

    /// Goes on to the next message of a file, which is closed at its end.
    fn advance(&mut self, index: usize) -> Result<(), ReadError> {
        let stream = &mut self.open[index];
        if mem::replace(&mut stream.is_ready, true) {
            return Ok(());
        }
        let is_more = stream.advance(self.skip_invalid);
        match &is_more {
            Ok(true) => {
                let time = stream.source.message().time().unwrap_or_default();
                stream.time = stream.time.max(time);
            }
            _ => {
                let ended = self.open.remove(index);
                self.out_of_order += ended.source.out_of_order();
                self.notes.extend(ended.notes());
            }
        }
        is_more.map(|_| ())
    }

    /// How many updates so far were older than one before them in their file.
    pub(crate) fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// What was left out of the files that have been read, one line for each kind and file.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}
